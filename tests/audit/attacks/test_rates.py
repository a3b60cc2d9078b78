"""Rates beside their bounds: closed forms, ties, and when a promise counts as kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.audit.attacks.rates import Rate, coin, rate, right_among, with_or_without
from dither.privacy import GaussianDP, PureDP


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0])
def test_a_coin_is_told_as_often_as_epsilon_allows(epsilon: float) -> None:
    expected = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert coin(PureDP(epsilon)) == pytest.approx(expected, abs=1e-9)


def test_a_coin_under_gaussian_noise() -> None:
    expected = (1 + math.erf(1 / (2 * math.sqrt(2)))) / 2
    assert coin(GaussianDP(1.0)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("without", [0.0, 0.1, 0.3, 0.9, 1.0])
def test_the_bound_by_what_the_others_tell(without: float) -> None:
    expected = min(math.e * without, 1 - (1 - without) / math.e)
    assert with_or_without(PureDP(1.0), without) == pytest.approx(expected, abs=1e-9)


def test_a_tie_counts_in_part() -> None:
    scores = np.array([[3.0, 1.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
    found = right_among(scores, np.array([0, 1, 0]))
    assert found == pytest.approx([1 / 2, 1 / 3, 0])


def test_how_far_off_a_share_may_be() -> None:
    # Wilson's interval of 60 of 60 begins at 60/(60 + 1.96^2).
    assert Rate("a", 60, 60, 0.5).within == pytest.approx(1 - 60 / (60 + 1.96**2))
    assert Rate("a", 0, 60, 0.5).within == Rate("a", 60, 60, 0.5).within
    half = Rate("a", 5000, 10_000, 0.5)
    assert half.within == pytest.approx(1.96 * half.standard_error, rel=1e-3)


def test_how_far_above_its_bound() -> None:
    assert Rate("a", 230, 400, 0.5, 0.5).above == pytest.approx(3.0)
    assert Rate("a", 180, 400, 0.5, 0.5).above == pytest.approx(-2.0)
    assert Rate("a", 200, 400, 0.5, 0.5).above == 0
    assert Rate("a", 1, 400, 0.0, 0.0).above == math.inf
    assert Rate("a", 0, 400, 0.0, 0.0).above == 0
    assert Rate("a", 400, 400, 0.5).above is None


def test_what_counts_as_kept() -> None:
    limit = 0.5 + 3 * math.sqrt(0.25 / 400)
    assert Rate("a", 400 * limit - 1e-6, 400, 0.5, 0.5).kept
    assert not Rate("a", 400 * limit + 1, 400, 0.5, 0.5).kept
    assert Rate("a", 400, 400, 0.5).kept is None
    assert not Rate("a", 1, 400, 0.0, 0.0).kept
    assert Rate("a", 0, 0, 0.5).share == 0


def test_tries_become_a_rate() -> None:
    found = rate("a", [True, False, True, 0.5], 0.25)
    assert (found.share, found.tries) == (0.625, 4)
    assert found.standard_error == pytest.approx(math.sqrt(0.625 * 0.375 / 4))
    assert found.to_dict()["bound"] is None


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_a_share_of_all_or_none_has_an_error(right: float) -> None:
    found = rate("some", [right] * 60, 0.5)
    assert found.standard_error == pytest.approx(math.sqrt(1 / 60 * 59 / 60 / 60))
    assert rate("one", [right], 0.5).standard_error == 0.5
    assert rate("none", [], 0.5).standard_error == 0.5
