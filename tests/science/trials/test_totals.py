"""The law of sums of noise against laws that are known."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from dither.science.trials.totals import Total


@pytest.mark.parametrize("t", [0.1, 1.0, 3.0, 7.0])
def test_one_laplace(t: float) -> None:
    assert Total((2.0,)).outside(t) == pytest.approx(math.exp(-t / 2), abs=2e-6)


@pytest.mark.parametrize("t", [0.1, 1.0, 3.0])
def test_normal(t: float) -> None:
    known = 2 * NormalDist().cdf(-t)
    assert Total((), 1.0).outside(t) == pytest.approx(known, abs=1e-7)


@pytest.mark.parametrize("t", [0.1, 1.0, 4.0, 9.0])
def test_two_laplaces_of_the_same_scale(t: float) -> None:
    known = (1 + t / 2) * math.exp(-t)
    assert Total((1.0, 1.0)).outside(t) == pytest.approx(known, abs=1e-7)


def test_far_tails_are_not_understated() -> None:
    law = Total((1.0, 0.3), 0.5)
    for t in (15.0, 30.0, 200.0):
        assert math.exp(-t) <= law.outside(t) <= 100 * t * math.exp(-t)


def test_quantiles_turn_tails_round() -> None:
    law = Total((1.0, 0.2), 2.0)
    for rate in (0.5, 0.95, 0.999, 1 - 1e-9):
        assert law.outside(law.quantile(rate)) <= 1 - rate
        assert law.outside(0.99 * law.quantile(rate)) > 1 - rate


def test_tails_fall_all_along() -> None:
    law = Total((1.0, 1.0), 1.0)
    tails = [law.outside(step / 20) for step in range(2000)]
    assert tails == sorted(tails, reverse=True)
    assert law.beyond(-1.0) == pytest.approx(1 - law.beyond(1.0))
