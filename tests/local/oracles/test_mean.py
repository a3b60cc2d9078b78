"""Exact distributions of what devices send about a number."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.local.oracles import BinaryMean, HybridMean, Mean, OneBitMean
from dither.local.oracles.response import kept
from dither.local.words import FRESH, ONE
from tests.local.oracles.test_laws import worst
from tests.local.paths import Law, law

LEVELS = (0.5, 1.0, 2.0, 4.0)


def small_hybrid(items: int, epsilon: float, steps: int) -> HybridMean:
    """With few steps, so that all its coins can be enumerated."""
    window = max(round(steps * math.exp(-epsilon / 2)), 1)
    share = window * math.exp(epsilon) / (window * math.exp(epsilon) + steps)
    inside = math.floor(share * ONE * (1 - 1e-9))
    return HybridMean(items, kept(epsilon, 2), ONE // 3, steps, window, inside)


def small(epsilon: float) -> dict[str, Mean]:
    return {
        "binary": BinaryMean.at(4, epsilon),
        "hybrid, rounded": small_hybrid(6, epsilon, 3),
        "hybrid, exact": small_hybrid(3, epsilon, 6),
        "one bit": OneBitMean.at(4, epsilon, 1.7 * epsilon),
    }


NAMES = list(small(1.0))


def laws(monkeypatch: pytest.MonkeyPatch, oracle: Mean) -> list[Law]:
    items = [np.array([item]) for item in range(oracle.items)]
    return [
        law(monkeypatch, lambda one=one: oracle.randomize(one, FRESH).tobytes())
        for one in items
    ]


def said(outcome: object) -> int:
    assert isinstance(outcome, bytes)
    return int.from_bytes(outcome, "little")


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_the_largest_ratio_is_the_derived_epsilon(
    monkeypatch: pytest.MonkeyPatch, name: str, epsilon: float
) -> None:
    oracle = small(epsilon)[name]
    found = laws(monkeypatch, oracle)
    assert all(sum(one.values()) == 1 for one in found)
    assert worst(found) == pytest.approx(oracle.epsilon, rel=1e-9)
    assert worst(found) <= oracle.epsilon
    assert oracle.epsilon == pytest.approx(epsilon, rel=1e-6)
    assert oracle.epsilon <= epsilon


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_scores_are_unbiased_and_their_variance_is_exact(
    monkeypatch: pytest.MonkeyPatch, name: str, epsilon: float
) -> None:
    oracle = small(epsilon)[name]
    for item, found in enumerate(laws(monkeypatch, oracle)):
        share = item / (oracle.items - 1)
        scores = {one: oracle.scores[said(one)] for one in found}
        mean = sum(float(found[one]) * score for one, score in scores.items())
        square = sum(float(found[one]) * score**2 for one, score in scores.items())
        assert mean == pytest.approx(share, abs=1e-9)
        assert oracle.variance(share) == pytest.approx(square - mean**2, rel=1e-9)


@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("name", NAMES)
def test_distance_and_what_is_common(
    monkeypatch: pytest.MonkeyPatch, name: str, epsilon: float
) -> None:
    oracle = small(epsilon)[name]
    found = laws(monkeypatch, oracle)
    messages = set().union(*found)
    least = {y: min(one.get(y, Fraction(0)) for one in found) for y in messages}
    apart = sum(max(found[0][y] - found[-1].get(y, Fraction(0)), 0) for y in found[0])
    assert float(apart) <= oracle.distance * (1 + 1e-12)
    if oracle.common is None:
        return
    # ω has the shape of the least probabilities
    assert oracle.common == sum(least.values())
    most = max(float(one[y] / least[y]) for one in found for y in one)
    assert math.log(most) <= oracle.epsilon


def test_one_side_is_kept_and_loses_what_is_derived(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    oracle = OneBitMean.at(4, 1.0, 1.7)

    def keep(item: int) -> bytes:
        keys = oracle.memo_keys(np.array([item]), oracle.seeds(FRESH, 1))
        return oracle.permanent(keys, FRESH).tobytes()

    found = [law(monkeypatch, lambda item=item: keep(item)) for item in range(4)]
    assert worst(found) == pytest.approx(oracle.epsilon_for_ever, rel=1e-9)
    assert oracle.epsilon_for_ever <= 1.7


@pytest.mark.parametrize("item", [0, 1, 3])
def test_kept_sides_repeat_the_stated_part_of_the_variance(
    monkeypatch: pytest.MonkeyPatch, item: int
) -> None:
    oracle = OneBitMean.at(4, 1.0, 1.7)

    def twice() -> bytes:
        seeds = oracle.seeds(FRESH, 1)
        kept_bit = oracle.permanent(oracle.memo_keys(np.array([item]), seeds), FRESH)
        sent = [oracle.instant(kept_bit, seeds, FRESH) for _ in range(2)]
        return b"".join(one.tobytes() for one in sent)

    products = [
        float(weight) * oracle.scores[outcome[0]] * oracle.scores[outcome[1]]
        for outcome, weight in law(monkeypatch, twice).items()
    ]
    share = item / 3
    covariance = sum(products) - share**2
    stated = oracle.shared(share) * oracle.variance(share)
    assert covariance == pytest.approx(stated, rel=1e-9)


def test_the_hybrid_wins_above_a_threshold() -> None:
    """Wang et al. 2019: at ε = 0.61 the worst variances are equal."""
    worst_of = [
        (BinaryMean.at(1001, epsilon).worst, HybridMean.at(1001, epsilon).worst)
        for epsilon in (0.4, 0.55, 0.7, 1.0, 4.0)
    ]
    assert [binary < hybrid for binary, hybrid in worst_of] == [
        *(True, True),
        *(False, False, False),
    ]


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 4.0])
def test_the_grid_costs_little_beside_the_continuous_mechanism(epsilon: float) -> None:
    """The piecewise mechanism's variance at an end of [−1, 1], in shares of the range,
    mixed with Duchi's (Wang et al. 2019).
    """
    root = math.exp(epsilon / 2)
    piecewise = (1 / (root - 1) + (root + 3) / (3 * (root - 1) ** 2)) / 4
    gain = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    duchi = (gain**2 - 1) / 4
    mixed = (1 - 1 / root) * piecewise + duchi / root
    assert HybridMean.at(1001, epsilon).variance(1.0) == pytest.approx(mixed, rel=0.01)


def test_thresholds_split_the_grid_evenly() -> None:
    oracle = OneBitMean.at(6, 1.0, 2.0)
    ones = [
        sum(
            int(oracle.memo_keys(np.array([item]), np.array([seed]))[0])
            for seed in range(5)
        )
        for item in range(6)
    ]
    assert all(later - earlier == 1 for earlier, later in pairwise(ones))
    assert ones[0] == 0


@pytest.mark.parametrize(
    "made",
    [
        lambda: BinaryMean(1, ONE - 5),
        lambda: BinaryMean(3, ONE // 2),
        lambda: HybridMean(3, ONE - 5, ONE // 2, 0, 3, ONE // 2),
        lambda: HybridMean(3, ONE - 5, ONE // 2, 6, 3, ONE // 4),
        lambda: HybridMean(3, ONE - 5, 0, 6, 3, ONE - 5),
        lambda: OneBitMean(3, ONE // 2, ONE - 5),
        lambda: OneBitMean(3, ONE - 5, ONE // 3),
    ],
)
def test_what_is_no_mechanism_is_refused(made) -> None:
    with pytest.raises(ArgumentError):
        made()
