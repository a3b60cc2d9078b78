"""Distributions: quantiles, shares and their intervals, from tallies that are written
down.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dither import local
from dither.errors import ArgumentError
from dither.local.distribution import rising
from dither.local.numbers import Numbers
from dither.local.oracles import Sampled
from dither.local.tally import Tally

TOP = 15


def task_of(epsilon: float = 2.0, branching: int = 4, none: bool = False) -> Any:
    numbers = Numbers(0, TOP, ask="distribution", branching=branching, none=none)
    return local.task("steps", domain=numbers, epsilon=epsilon, n=10_000)


def expected(task: Any, places: np.ndarray, n: int, none: float = 0.0) -> Tally:
    """The tally without noise: every count is its mean, rounded."""
    domain, oracle = task.domain, task.oracle
    each = oracle.parts if isinstance(oracle, Sampled) else (oracle,)
    counts: list[Any] = []
    for part, width in zip(each, domain.widths, strict=True):
        shares = np.add.reduceat(places, np.arange(0, len(places), width))
        shares = np.append(shares, none) if domain.none else shares
        one, other = part.rates
        said = other + (one - other) * shares
        counts.append(np.rint(said * n / len(each)).astype(np.int64))
    sizes = np.full(len(each), n // len(each)) if len(each) > 1 else np.empty(0)
    cells = np.concatenate([sizes, *counts]).astype(np.int64)
    return Tally(task, cells[None, :], {0: n}, np.array([n]))


def some_shares() -> np.ndarray:
    shares = np.zeros(TOP + 1)
    shares[[2, 3, 7, 12]] = 0.1, 0.4, 0.3, 0.2
    return shares


@pytest.mark.parametrize("branching", [2, 3, 4, 16])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_without_noise_everything_is_true(branching: int, epsilon: float) -> None:
    tally = expected(task_of(epsilon, branching), some_shares(), 8_000_000)
    found = tally.estimate()
    assert found.value == pytest.approx(some_shares(), abs=1e-4)
    assert found.value.sum() == pytest.approx(1)
    levels = (0.05, 0.3, 0.6, 0.75, 0.95)
    assert [found.quantile(one).value for one in levels] == [2, 3, 7, 7, 12]
    assert [found.up_to(one).value for one in (1, 3, 20)] == pytest.approx(
        [0, 0.5, 1], abs=1e-4
    )
    for level, truth in zip(levels, (2, 3, 7, 7, 12), strict=True):
        low, high = found.quantile(level).interval()
        assert low <= truth <= high


def test_devices_with_no_number_are_left_out() -> None:
    task = task_of(none=True)
    found = expected(task, 0.5 * some_shares(), 8_000_000, none=0.5).estimate()
    assert found.none == pytest.approx(0.5, abs=1e-4)
    assert found.quantile(0.5).value == 3
    assert found.up_to(3).value == pytest.approx(0.5, abs=1e-4)
    low, high = found.up_to(3).interval()
    assert low < 0.5 < high
    assert found.value.sum() == pytest.approx(0.5, abs=1e-4)


def two_leaves(epsilon: float, hits: int, n: int) -> Any:
    numbers = Numbers(0, 1, 1, ask="distribution")
    task = local.task("switch", domain=numbers, epsilon=epsilon, n=n)
    counts = np.array([[hits, n - hits]])
    return Tally(task, counts, {0: n}, np.array([n])).estimate()


def test_one_of_two_leaves_has_the_error_of_binary_response() -> None:
    """It had half the variance when the two were taken as independent."""
    found = two_leaves(1.0, 6000, 10_000)
    truth = np.e / (1 + np.e)
    error = np.sqrt(truth * (1 - truth) / 10_000) / (2 * truth - 1)
    assert found.standard_errors == pytest.approx(error, rel=1e-2)


@cache
def all_ends(epsilon: float, n: int) -> list[Any]:
    return [two_leaves(epsilon, hits, n).up_to(0).interval() for hits in range(n + 1)]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("held", [0, 1, 20, 60, 100, 120])
def test_intervals_of_shares_hold_over_all_tallies(epsilon: float, held: int) -> None:
    """One tally in six missed before."""
    n = 120
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    yes = binom.pmf(np.arange(held + 1), held, truth)
    lies = binom.pmf(np.arange(n - held + 1), n - held, 1 - truth)
    chances = np.convolve(yes, lies)
    ends = all_ends(epsilon, n)
    hold = [low - 1e-12 <= held / n <= high + 1e-12 for low, high in ends]
    assert chances @ hold >= 0.91  # counts are whole numbers


def test_a_rising_curve_is_the_nearest_one() -> None:
    random = np.random.default_rng(2)
    curve, weights = random.normal(0, 1, 12).cumsum(), random.uniform(0.5, 2, 12)

    def mean(low: int, high: int) -> float:
        return float(np.average(curve[low : high + 1], weights=weights[low : high + 1]))

    nearest = [
        max(min(mean(low, high) for high in range(at, 12)) for low in range(at + 1))
        for at in range(12)
    ]
    assert rising(curve, weights) == pytest.approx(nearest)
    assert (np.diff(rising(curve, weights)) >= 0).all()


def test_a_curve_that_turns_back_is_crossed_once() -> None:
    """The interval was as wide as all crossings of the noisy curve."""
    task = task_of(1.0)
    tally = expected(task, np.full(TOP + 1, 1 / (TOP + 1)), 400_000)
    counts = tally.counts.copy()
    leaves = counts[0, -(TOP + 1) :]
    leaves[::2] += 4000
    leaves[1::2] -= 4000
    found = Tally(task, counts, {0: 400_000}, np.array([400_000])).estimate()
    assert (np.diff(found.known.up_to) < 0).any()
    assert (np.diff(found.known.rising) >= 0).all()
    low, high = found.quantile(0.5).interval()
    assert low <= found.quantile(0.5).value <= high
    assert high - low <= 4


def test_consistent_shares_are_not_negative() -> None:
    task = task_of(1.0)
    tally = expected(task, some_shares(), 100_000)
    tally.counts[0, -1] -= 500
    found = tally.estimate()
    assert found.value.min() < 0
    nearest = found.consistent()
    assert nearest.value.min() >= 0
    assert nearest.value.sum() == pytest.approx(1)
    low, high = nearest.interval()
    assert (low <= nearest.value).all()
    assert (nearest.value <= high).all()


def test_bad_questions_are_refused() -> None:
    found = expected(task_of(), some_shares(), 100_000).estimate()
    with pytest.raises(ArgumentError, match="level"):
        found.quantile(1.5)
    with pytest.raises(ArgumentError, match="number"):
        found.up_to(float("nan"))
