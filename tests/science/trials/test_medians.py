"""Medians and their difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.science.trials.medians import Middles, median, median_difference
from dither.science.trials.moments import Scale
from tests.chance import at_least, chance

PATIENT = Unit("patient", "replace")
RNG = np.random.default_rng(5)
BOUNDS = (0.0, 20.0)


@chance(2e-9)
def test_intervals_hold_the_medians_of_people_and_population() -> None:
    rounds, covered, here = 60, 0, 0
    for _ in range(rounds):
        x, y = RNG.lognormal(1, 1, 200), RNG.lognormal(0, 1, 200)
        found = median_difference(x, y, bounds=BOUNDS, sizes=(200, 200), epsilon=1)
        low, high = found.confidence_interval()
        covered += low <= np.e - 1 <= high
        inner, outer = found.interval()
        here += inner <= np.median(x) - np.median(y) <= outer
    assert covered >= at_least(rounds, 0.95, 1e-9)
    assert here >= at_least(rounds, 0.95, 1e-9)


@chance(1e-9)
def test_arms_may_be_skewed_to_opposite_sides() -> None:
    covered = 0
    for _ in range(60):
        x, y = RNG.lognormal(1, 1, 50), 20 - RNG.lognormal(1, 1, 50)
        found = median_difference(x, y, bounds=BOUNDS, sizes=(50, 50), epsilon=1)
        low, high = found.confidence_interval()
        covered += low <= 2 * np.e - 20 <= high
    assert covered >= at_least(60, 0.95, 1e-9)


@chance(1e-12)
def test_the_interval_gets_short_with_people_and_budget() -> None:
    x = RNG.normal(10, 2, 100_000)
    found = median(x, bounds=BOUNDS, size=100_000, epsilon=5)
    low, high = found.confidence_interval()
    assert high - low < 1
    assert low - 0.1 < 10 < high + 0.1
    assert low <= found.value <= high


def test_a_higher_rate_than_was_asked_for_says_the_bounds() -> None:
    found = median([10.0] * 200, bounds=BOUNDS, size=200, epsilon=1)
    assert found.confidence_interval(0.99) == BOUNDS
    assert found.confidence_interval(0.5) == found.confidence_interval(0.95)


@chance(1e-20)
def test_constant_outcomes_on_a_point_have_no_width() -> None:
    found = median([10.0] * 2000, bounds=BOUNDS, size=2000, points=20, epsilon=5)
    assert tuple(found.confidence_interval()) == (10.0, 10.0)


def test_ends_are_the_points_themselves() -> None:
    grid = np.linspace(0, 1, 7)
    for low in range(6):
        for high in range(low, 7):
            ends = (float(grid[low]), float(grid[high]))
            assert Middles((ends,), Scale(0.0, 1.0), 0.95).ends(0.9) == ends


@chance(1e-12)
def test_missing_outcomes_widen_the_interval_and_do_not_move_it() -> None:
    there = [10.0] * 1200
    found = median([*there, *[None] * 800], bounds=BOUNDS, size=2000, epsilon=5)
    low, high = found.confidence_interval()
    assert low <= 10 <= high
    half = median([*there[:900], *[None] * 1100], bounds=BOUNDS, size=2000, epsilon=5)
    assert tuple(half.confidence_interval()) == BOUNDS


def test_rho_and_add_remove() -> None:
    x = RNG.normal(10, 2, 500)
    found = median(x, bounds=BOUNDS, size=500, rho=0.5)
    assert found.guarantee.unit.relation.value == "replace"
    budget = Budget(epsilon=1, unit=Unit("patient"))
    with pytest.raises(UnitMismatch, match="mean_difference"):
        median(x, bounds=BOUNDS, size=500, epsilon=1, budget=budget)
    assert budget.spent == 0


def test_in_a_table_each_arm_has_half_of_the_cost() -> None:
    rows = {"pid": range(400), "arm": ["a", "b"] * 200, "pain": [5.0] * 400}
    with dither.open(
        pd.DataFrame(rows), name="study", unit=Unit("pid", "replace"), rows=1,
        keys={"arm": ["a", "b"]}, bounds={"pain": (0, 20)}, budget=10, ledger=":memory:",
    ) as data:  # fmt: skip
        asked: dict[str, Any] = {"outcome": "pain", "arm": "arm", "sizes": (200, 200)}
        found = data.trial("median_difference", **asked, epsilon=2)
        assert data.account.spent == pytest.approx(0.2)
    half = median_difference(
        [5.0] * 200, [5.0] * 200, bounds=(0, 20), sizes=(200, 200), epsilon=1
    )
    assert found.notes[1] == half.notes[1]  # as many points as for half of it


ODD: list[Any] = [
    [],
    [5.0],
    [None] * 200,
    ["a", "7", b"x", None, float("inf"), 10**400, -(10**400), object()],
    np.ma.masked_array([1.0, 2.0, 3.0], [True, False, True]),
    np.array([np.inf, -np.inf, np.nan, 1e308, -1e308]),
]


@pytest.mark.parametrize("column", ODD)
def test_odd_data_gets_a_normal_answer(column: Any) -> None:
    budget = Budget(epsilon=1, unit=PATIENT)
    found = median_difference(
        column, [1.0] * 300, bounds=BOUNDS, sizes=(200, 200), epsilon=1, budget=budget
    )
    low, high = found.confidence_interval()
    assert -20 <= low <= high <= 20
    assert str(found)
    assert budget.spent == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"bounds": (20, 0)}, "bounds"),
        ({"bounds": (0, float("nan"))}, "bounds"),
        ({"sizes": (200,)}, "sizes"),
        ({"sizes": (0, 200)}, "sizes"),
        ({"confidence": 1}, "confidence"),
        ({"points": 1}, "points"),
        ({"points": 2.5}, "points"),
        ({"epsilon": 0.01}, "epsilon"),
    ],
)
def test_a_bad_question_is_refused_before_the_charge(
    words: dict[str, Any], problem: str
) -> None:
    budget = Budget(epsilon=1, unit=PATIENT)
    asked = {"bounds": BOUNDS, "sizes": (200, 200), "epsilon": 1, "budget": budget}
    with pytest.raises(ArgumentError, match=problem):
        median_difference([1.0], [2.0], **(asked | words))
    assert budget.spent == 0
