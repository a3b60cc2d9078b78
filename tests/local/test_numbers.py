"""Numbers on a grid: where each lies, and what each part sees of it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither import local
from dither.errors import ArgumentError
from dither.local.words import FRESH
from tests.chance import chance

HALVES = local.Numbers(-5, 5, 0.5)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (-5, 0),
        (-4.76, 0),
        (-4.75, 1),
        (0, 10),
        (4.74, 19),
        (4.75, 20),
        (5, 20),
        (1e300, 20),
        (-math.inf, 0),
        (math.inf, 20),
        (10**400, 20),
        (np.float32(0.25), 11),
        (np.int8(-4), 2),
        (Decimal("0.25"), 11),
        (Decimal("0.2499999999999999999999"), 10),
        (Fraction(1, 4) - Fraction(1, 10**30), 10),
        (Decimal("Infinity"), 20),
        (Decimal("1E-999999999999999999"), 10),  # a fraction of so many digits
        (Decimal("0E-999999999999999999"), 10),
        (Decimal("-1E+999999999999999999"), 0),
        (-0.0, 10),
    ],
)
def test_a_number_goes_to_the_nearest_place(value: object, place: int) -> None:
    assert HALVES.place(value) == place


@pytest.mark.parametrize(
    "value",
    [
        None,
        "1",
        True,
        math.nan,
        Decimal("NaN"),
        Decimal("sNaN"),
        1j,
        [1],
        b"1",
        pytest.param(object(), id="object"),
    ],
    ids=str,
)
def test_what_is_no_number_has_no_place(value: object) -> None:
    assert HALVES.place(value) == -1
    assert HALVES.answer(value) == (None, -1)


NUMBERS = st.one_of(
    st.floats(allow_nan=False), st.integers(-(2**62), 2**62), st.floats(-6, 6)
)


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_arrays_go_where_single_numbers_go(values: list[float]) -> None:
    each = [HALVES.place(value) for value in values]
    assert HALVES.places(values, FRESH).tolist() == each
    array = np.array(values, np.float64)
    assert HALVES.places(array, FRESH).tolist() == [
        HALVES.place(value) for value in array.tolist()
    ]


@given(st.lists(st.integers(0, 255), min_size=1, max_size=20))
def test_narrow_types_are_not_rounded_twice(values: list[int]) -> None:
    numbers = local.Numbers(-1, 300)
    each = [numbers.place(value) for value in values]
    for kind in (np.uint8, np.int16, np.float32, np.uint64, np.longdouble):
        assert numbers.places(np.array(values, kind), FRESH).tolist() == each


@chance(1e-20)
def test_no_number_is_a_random_place() -> None:
    numbers = local.Numbers(0, 3, 1)
    places = numbers.places([None] * 4000, FRESH)
    counts = np.bincount(places, minlength=4)
    assert counts.sum() == 4000
    assert counts.min() > 700  # of 1,000 expected


def test_a_variance_asks_for_two_things() -> None:
    numbers = local.Numbers(0, 10, ask="variance")
    assert numbers.sizes == (11, 101)
    assert numbers.places([0, 5, 7, 10], FRESH).tolist() == [
        *([0, 100], [5, 0], [7, 16], [10, 100])
    ]
    assert numbers.answer(7, 1) == (b"i:16", 16)


def test_a_distribution_asks_for_levels_of_a_tree() -> None:
    numbers = local.Numbers(0, 10, ask="distribution", none=True, branching=4)
    assert numbers.widths == (4, 1)
    assert numbers.sizes == (4, 12)
    assert numbers.places([0, 3, 4, 10, None], FRESH).tolist() == [
        *([0, 0], [0, 3], [1, 4], [2, 10], [3, 11])
    ]
    assert [numbers.name(0, item) for item in range(4)] == [
        *("0 to 3", "4 to 7", "8 to 10", "none")
    ]
    assert numbers.name(1, 10) == "10"


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ({"low": 1, "high": 1}, "high"),
        ({"low": 2, "high": 1}, "high"),
        ({"low": math.nan}, "low"),
        ({"high": math.inf}, "high"),
        ({"high": "10"}, "high"),
        ({"low": True}, "low"),
        ({"step": 0}, "high"),
        ({"high": 9}, "step"),
        ({"high": 10.5}, "step"),
        ({"step": -1}, "high"),
        ({"step": 3}, "step"),
        ({"step": 1e-5}, "step"),
        ({"high": 1e16}, "high"),
        ({"ask": "median"}, "ask"),
        ({"ask": "mean", "none": True}, "none"),
        ({"high": 40_000, "ask": "variance"}, "step"),
        ({"ask": "mean", "branching": 4}, "branching"),
        ({"ask": "distribution", "branching": 1}, "branching"),
        ({"ask": "distribution", "branching": True}, "branching"),
    ],
    ids=str,
)
def test_what_is_no_grid_is_refused(about: dict, named: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        local.Numbers(**({"low": 0, "high": 10} | about))
    assert named in str(caught.value)


def test_a_tree_is_chosen_when_a_task_is_made() -> None:
    numbers = local.Numbers(0, 99, ask="distribution")
    task = local.task("t", domain=numbers, epsilon=1, n=10_000)
    assert task.domain.branching >= 2
    assert task.oracle.sizes == task.domain.sizes
    with pytest.raises(ArgumentError, match="branching"):
        local.Task(**(vars_of(task) | {"domain": numbers}))


def vars_of(task: local.Task) -> dict:
    names = ("name", "oracle", "domain", "epsilon", "for_ever", "starts", "expires")
    return {name: getattr(task, name) for name in names}


@pytest.mark.parametrize("top", [1, 99])
def test_a_tree_may_have_a_place_for_no_answer(top: int) -> None:
    numbers = local.Numbers(0, top, 1, ask="distribution", none=True)
    task = local.task("x", domain=numbers, epsilon=1, n=1000)
    assert task.oracle.sizes[-1] == top + 2


def test_the_largest_grid_has_a_tree() -> None:
    numbers = local.Numbers(0, 1 << 20, ask="distribution")
    task = local.task("x", domain=numbers, epsilon=1, n=1000)
    assert task.oracle.sizes[-1] == (1 << 20) + 1


def test_a_step_is_said_or_meant() -> None:
    assert local.Numbers(0, 10).step == 1
    with pytest.raises(ArgumentError, match="smallest difference"):
        local.Numbers(0, 1)
    task = local.task("t", domain=local.Numbers(0, 1, 0.01), epsilon=1, n=100)
    assert "in steps of 0.01" in str(task)


def test_numbers_that_change_need_to_say_how_many_are_told_apart() -> None:
    """Otherwise all but the first would be sent as no answer."""
    numbers = local.Numbers(0, 100, ask="distribution")
    daily = {"epsilon": 1, "for_ever": 2, "every": "day", "n": 1000}
    with pytest.raises(ArgumentError, match="distinct"):
        local.task("t", domain=numbers, **daily)
    assert local.task("t", domain=numbers, distinct=5, **daily).distinct == 5
    assert local.task("t", domain=numbers, epsilon=1, n=1000).distinct == 1
