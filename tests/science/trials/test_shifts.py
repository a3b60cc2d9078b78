"""A shift between two arms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.mechanisms import PermuteAndFlip
from dither.science.trials.order import Pair
from dither.science.trials.shifts import location_shift, pairs_outside
from tests.chance import at_least, chance

PATIENT = Unit("patient", "replace")
RNG = np.random.default_rng(6)
GRID = np.array([-2.0, -1.0, 0.0, 0.5, 2.0])
VALUES = [-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf, np.nan]


def penalties(rank: int, x: Any, y: Any) -> np.ndarray:
    choice = PermuteAndFlip(sensitivity=3, epsilon=1.0, unit=PATIENT)
    counts = pairs_outside(np.array(x), np.array(y), GRID, len(x) * len(y))
    return Pair(choice, points=4, rank=rank).penalties(*counts)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_no_neighbour_moves_a_penalty_by_more_than_the_other_arm(rank: int) -> None:
    moved = 0
    for y in itertools.combinations_with_replacement([-1.0, 0.0, 1.0, np.nan], 3):
        for rest in (0.0, 1.0, np.nan):
            found = [penalties(rank, [rest, value], y) for value in VALUES]
            for first, second in itertools.combinations(found, 2):
                moved = max(moved, np.abs(first - second).max())
    for x in itertools.combinations_with_replacement([-1.0, 0.5, np.nan], 2):
        found = [penalties(rank, x, [0.0, 1.0, value]) for value in VALUES]
        for first, second in itertools.combinations(found, 2):
            assert np.abs(first - second).max() <= 2
    assert moved == 3  # the larger arm, and it is reached


def test_pairs_are_counted_as_they_are() -> None:
    x, y = [0.0, 1.0, np.nan], [0.5, -0.5]
    less, more = pairs_outside(np.array(x), np.array(y), GRID, 6)
    differences = [a - b for a in x[:2] for b in y]
    wanted = [2 + sum(one < shift for one in differences) for shift in GRID]
    assert less.tolist() == [0, *wanted[1:-1], 6]
    wanted = [2 + sum(one > shift for one in differences) for shift in GRID]
    assert more.tolist() == [6, *wanted[1:-1], 0]


@chance(1e-9)
def test_the_interval_holds_the_shift() -> None:
    covered = 0
    for _ in range(60):
        x, y = RNG.lognormal(0, 1, 100) + 2, RNG.lognormal(0, 1, 100)
        x[RNG.random(100) < 0.05] = np.nan
        found = location_shift(x, y, within=(-20, 20), sizes=(100, 100), epsilon=1)
        low, high = found.confidence_interval()
        covered += low <= 2 <= high
        assert found.confidence_interval(0.99) == (-20, 20)
    assert covered >= at_least(60, 0.95, 1e-9)


@chance(1e-12)
def test_with_many_people_it_is_short() -> None:
    x, y = RNG.normal(1, 1, 2000), RNG.normal(0, 1, 2000)
    found = location_shift(x, y, within=(-10, 10), sizes=(2000, 2000), rho=1)
    low, high = found.confidence_interval()
    assert high - low < 1
    assert low - 0.3 < 1 < high + 0.3


def test_odd_data_and_bad_questions() -> None:
    budget = Budget(epsilon=1, unit=PATIENT)
    words: dict[str, Any] = {"sizes": (100, 100), "epsilon": 1, "budget": budget}
    odd = ["a", None, np.inf, -np.inf, 10**400, 1.797e308, -1e308, object()]
    for bad in ({"within": (1, -1)}, {"within": (-1, 1), "sizes": None}):
        with pytest.raises(ArgumentError):
            location_shift(odd, odd, **(words | bad))
    assert budget.spent == 0
    found = location_shift(odd, odd[::-1], within=(-9e299, 9e299), **words)
    assert -9e299 <= found.value <= 9e299
    coming = Budget(epsilon=1, unit=Unit("patient"))
    with pytest.raises(UnitMismatch):
        location_shift(odd, odd, within=(-1, 1), **(words | {"budget": coming}))
