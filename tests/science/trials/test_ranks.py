"""Comparisons are scipy's, and one person moves them by no more than is claimed."""

from __future__ import annotations

from itertools import combinations_with_replacement as bags
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dither.science import trials
from dither.science.trials.columns import Reals
from dither.science.trials.ranks import capped, signed, wins

NAN = float("nan")
OUTCOMES = (NAN, -np.inf, 0.0, 1.0, 2.0)


def drawn(seed: int, size: int, kind: str) -> Reals:
    source = np.random.default_rng(seed)  # allowed: test inputs, not noise
    values = source.normal(0.2, 1, size)
    return np.round(values) if kind == "ties" else values


@pytest.mark.parametrize("kind", ["free", "ties"])
@pytest.mark.parametrize("sizes", [(1, 1), (7, 3), (40, 55)])
def test_wins_are_scipys_statistic(kind: str, sizes: tuple[int, int]) -> None:
    x, y = drawn(1, sizes[0], kind), drawn(2, sizes[1], kind)
    wanted = stats.mannwhitneyu(x, y).statistic
    assert wins(x, y) == 2 * wanted - x.size * y.size
    assert capped(x, y, sizes) == wins(x, y)
    assert capped(x, y, (99, 99)) == wins(x, y)


def test_missing_outcomes_are_neither_above_nor_below() -> None:
    assert wins(np.array([NAN, 1.0]), np.array([NAN, 0.0, 2.0, -np.inf])) == 1
    assert wins(np.array([]), np.array([1.0])) == 0
    assert wins(np.array([np.inf]), np.array([np.inf, -np.inf])) == 1


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (2, 2), (2, 1), (3, 3)])
def test_one_outcome_that_comes_or_goes(sizes: tuple[int, int]) -> None:
    """All arms of up to three outcomes, also those that are more than declared: the
    bound is met, and by no more.
    """
    arms = [bag for size in range(4) for bag in bags(OUTCOMES, size)]
    found = {
        (x, y): capped(np.array(x), np.array(y), sizes) for x, y in product(arms, arms)
    }
    farthest = 0
    for (x, y), value in found.items():
        fewer = [(x[:at] + x[at + 1 :], y) for at in range(len(x))]
        fewer += [(x, y[:at] + y[at + 1 :]) for at in range(len(y))]
        for pair in fewer:
            farthest = max(farthest, abs(value - found[pair]))
    assert farthest == max(sizes)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (2, 2), (3, 1)])
def test_one_person_who_is_replaced(sizes: tuple[int, int]) -> None:
    """All neighbours, even one who changes the arm: twice that, met and no more."""
    people = [(arm, value) for arm in (0, 1) for value in (NAN, 0.0, 1.0, 2.0)]
    farthest = 0
    for others in bags(people, sum(sizes) - 1):
        values = [
            capped(arm_of((*others, person), 0), arm_of((*others, person), 1), sizes)
            for person in people
        ]
        farthest = max(farthest, max(values) - min(values))
    assert farthest == 2 * max(sizes)


def arm_of(people: tuple[tuple[int, float], ...], arm: int) -> Reals:
    return np.array([value for where, value in people if where == arm])


@pytest.mark.parametrize("kind", ["free", "ties"])
@pytest.mark.parametrize("size", [1, 2, 9, 60])
def test_signed_ranks_are_scipys(kind: str, size: int) -> None:
    d = drawn(3, size, kind)
    if not d.any():
        d[0] = 1.0
    sums = [
        stats.wilcoxon(one, zero_method="pratt", alternative="greater").statistic
        for one in (d, -d)
    ]
    assert signed(d) == sums[0] - sums[1]


def test_signed_ranks_are_signs_of_sums_of_pairs() -> None:
    for d in bags((-2.0, -1.0, 0.0, 1.0, 3.0), 5):
        pairs = sum(np.sign(d[i] + d[j]) for i in range(5) for j in range(i + 1))
        assert signed(np.array(d)) == pairs


def test_differences_that_are_not_there_count_as_zeros() -> None:
    d = np.array([1.0, -2.0, NAN, 3.0, 0.0])
    zeros = np.array([1.0, -2.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    assert signed(d, 7) == signed(zeros)
    assert signed(np.array([2.0]), 1 << 31) == 1 << 31


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_one_difference_that_is_replaced(size: int) -> None:
    """All neighbours: 2n is met, and never exceeded."""
    amounts = (NAN, -np.inf, -2.0, -1.0, 0.0, 1.0, 2.0, np.inf)
    farthest = 0
    for others in bags(amounts, size - 1):
        values = [signed(np.array([*others, one])) for one in amounts]
        farthest = max(farthest, max(values) - min(values))
    assert farthest == 2 * size


def test_statistics_lie_in_their_intervals() -> None:
    x, y, z = (drawn(seed, 5, "free") for seed in range(3))
    asked = (
        lambda: trials.mannwhitneyu(x, y, sizes=(5, 5), epsilon=0.3),
        lambda: trials.wilcoxon(x, y, size=5, epsilon=0.3),
        lambda: trials.kruskal(x, y, z, sizes=(5, 5, 5), epsilon=0.3),
    )
    for test in asked:
        for _ in range(50):
            found = test()
            low, high = found.interval()
            assert low <= found.value <= high
