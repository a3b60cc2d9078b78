"""Means and variances over all tallies that a few devices can send: no draw is left to
chance.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dither import local
from dither.local.averages import MeanSpread, VarianceSpread
from dither.local.numbers import Numbers
from dither.local.oracles import BinaryMean, HybridMean, OneBitMean
from dither.local.parts import Part
from dither.local.tally import Tally

EPSILONS = (0.5, 1.0, 4.0)
FEW = 24


def spread_of(oracle: Any, ones: int, n: int, periods: int = 1) -> MeanSpread:
    return MeanSpread(Part(oracle, np.array([n - ones, ones]), n, n, periods))


def law(oracle: Any, share: float, n: int) -> Any:
    """How likely each number of ones is, if all devices are at one place."""
    start, stop = oracle.scores
    said = (share - start) / (stop - start)
    return binom.pmf(np.arange(n + 1), n, said)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_intervals_of_a_mean_hold_in_19_of_20_tallies(
    epsilon: float, share: float
) -> None:
    oracle = BinaryMean.at(11, epsilon)
    spreads = [spread_of(oracle, ones, 100) for ones in range(101)]
    ends = np.array([spread.ends(0.95) for spread in spreads])
    chances = law(oracle, share, 100)
    held = (ends[:, 0] <= share + 1e-12) & (share - 1e-12 <= ends[:, 1])
    assert chances @ held >= 0.95
    assert chances @ [spread.value for spread in spreads] == pytest.approx(share)
    assert ends.min() >= 0
    assert ends.max() <= 1


@pytest.mark.parametrize("periods", [2, 30])
def test_kept_bits_count_once_for_each_device(periods: int) -> None:
    oracle = OneBitMean.at(11, 1.0, 2.0)
    once = spread_of(oracle, 400, 1000)
    again = spread_of(oracle, 400 * periods, 1000 * periods, periods)
    low, high = once.ends(0.95)
    low_again, high_again = again.ends(0.95)
    assert once.error / np.sqrt(periods) < again.error < once.error
    narrowest = (high - low) / np.sqrt(periods)
    assert narrowest < high_again - low_again < high - low


def test_a_mean_of_scores_has_the_error_of_the_sample() -> None:
    oracle = HybridMean.at(11, 2.0)
    counts = np.zeros(oracle.outcomes, np.int64)
    counts[[0, 1, 5, 300]] = 10, 20, 30, 40
    spread = MeanSpread(Part(oracle, counts, 100, 100, 1))
    sample = np.repeat(oracle.scores, counts)
    assert spread.value == pytest.approx(sample.mean())
    assert spread.error == pytest.approx(sample.std(ddof=1) / 10)
    low, high = spread.uncut(0.95)
    assert high - low == pytest.approx(2 * 1.96 * spread.error, rel=1e-4)


@cache
def variance_spread(epsilon: float, first: int, second: int) -> VarianceSpread:
    oracle = BinaryMean.at(11, epsilon)
    return VarianceSpread(spread_of(oracle, first, FEW), spread_of(oracle, second, FEW))


@cache
def variance_ends(epsilon: float, first: int, second: int) -> tuple[float, float]:
    low, high = variance_spread(epsilon, first, second).ends(0.95)
    return float(low), float(high)


CASES = {
    "at an end": (0.0, 1.0),
    "in the middle": (0.5, 0.0),
    "at both ends": (0.5, 1.0),
    "spread": (0.5, 1 / 3),
    "off the middle": (0.7, 0.4),
}
"""The mean of x, and that of (2x − 1)²."""


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("case", CASES)
def test_intervals_of_a_variance_hold_next_to_its_bounds(
    epsilon: float, case: str
) -> None:
    """They did in half of all tallies, when intervals of means were cut first."""
    mean, square = CASES[case]
    truth = square / 4 - (mean - 0.5) ** 2
    oracle = BinaryMean.at(11, epsilon)
    chances = np.outer(law(oracle, mean, FEW), law(oracle, square, FEW))
    held = np.zeros_like(chances)
    for ones in product(range(FEW + 1), repeat=2):
        low, high = variance_ends(epsilon, *ones)
        assert 0 <= low <= high <= 0.25
        held[ones] = low <= truth + 1e-12 and truth - 1e-12 <= high
    assert (chances * held).sum() >= 0.93


@pytest.mark.parametrize("case", CASES)
def test_a_variance_is_right_on_average(case: str) -> None:
    mean, square = CASES[case]
    oracle = BinaryMean.at(11, 1.0)
    chances = np.outer(law(oracle, mean, FEW), law(oracle, square, FEW))
    every = product(range(FEW + 1), repeat=2)
    values = np.array([variance_spread(1.0, *ones).value for ones in every])
    average = (chances * values.reshape(chances.shape)).sum()
    assert average == pytest.approx(square / 4 - (mean - 0.5) ** 2)


def test_releases_are_in_the_units_of_the_numbers() -> None:
    numbers = Numbers(10, 30, ask="variance")
    task = local.task("age", domain=numbers, epsilon=0.5, n=2000)
    counts = np.array([[1000, 1000, 500, 500, 600, 400]])
    tally = Tally(task, counts, {0: 2000}, np.array([2000]))
    found = tally.estimate()
    assert found.mean.value == pytest.approx(20)
    low, high = found.mean.interval()
    assert 10 <= low < 20 < high <= 30
    first, second = (part.scores for part in task.oracle.parts)
    square = (0.6 * second[0] + 0.4 * second[1]) / 4
    error = found.mean.standard_error / 20
    assert first.sum() == pytest.approx(1)
    assert found.value == pytest.approx(400 * (square + error**2))
    low, high = found.interval()
    assert 0 <= low <= high <= 100
    assert found.deviation.interval() == pytest.approx((low**0.5, high**0.5))
