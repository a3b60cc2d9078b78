"""Quasi-identifiers are made coarser along ranges and hierarchies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit.attacks.generalized import Categories, Numbers, quasi_identifier

REGIONS = {"a": ("n", "all"), "b": ("n", "all"), "c": ("s", "all")}


def test_numbers_become_ranges() -> None:
    found = quasi_identifier("age", [30, 35, 40, 60], None)
    assert isinstance(found, Numbers)
    rows = np.arange(4)
    assert found.width(rows) == 1
    assert found.width(rows[:2]) == pytest.approx(5 / 30)
    assert [part.tolist() for part in found.splits(rows)[0]] == [[0, 1], [2, 3]]
    assert found.label(rows) == "30 to 60"
    assert found.label(rows[:1]) == "30"
    assert found.holds("30 to 60", 44)
    assert not found.holds("30", 31)


def test_ranges_hold_everybody_to_the_last_digit() -> None:
    values = [1_234_567, 1_234_568, 0.1 + 0.2, -1e-17, 2.0**60]
    found = quasi_identifier("id", values, None)
    for rows in (
        np.arange(5),
        np.array([0, 1]),
        *(np.array([one]) for one in range(5)),
    ):
        assert all(found.holds(found.label(rows), values[one]) for one in rows)
    assert found.label(np.array([0, 1])) == "1234567 to 1234568"


def test_equal_numbers_stay_together() -> None:
    found = quasi_identifier("age", [1, 5, 5, 5], None)
    for parts in found.splits(np.arange(4)):
        assert sorted(map(len, parts)) == [1, 3]
    assert quasi_identifier("age", [5, 5], None).splits(np.arange(2)) == []


def test_categories_go_up_their_hierarchy() -> None:
    found = quasi_identifier("region", ["a", "b", "c", "a"], REGIONS)
    assert isinstance(found, Categories)
    rows = np.arange(4)
    # All are under one category that is declared, and * is above it.
    assert found.label(rows) == "all"
    assert [part.tolist() for part in found.splits(rows)[0]] == [[0, 1, 3], [2]]
    assert found.label(rows[:2]) == "n"
    assert found.label(np.array([0, 3])) == "a"
    assert found.splits(np.array([0, 3])) == []
    assert found.width(rows) == 1
    assert found.width(rows[:2]) == 0.5
    assert [found.holds(one, "a") for one in ("*", "all", "n", "a", "s", "b")] == [
        True,
        True,
        True,
        True,
        False,
        False,
    ]


def test_without_a_hierarchy_all_or_nothing() -> None:
    found = quasi_identifier("sex", ["f", "m", None, "f"], None)
    assert found.label(np.arange(4)) == "*"
    assert len(found.splits(np.arange(4))[0]) == 3
    assert found.holds("*", "nobody")


@pytest.mark.parametrize(
    ("hierarchy", "problem"),
    [
        ({"a": ("n",)}, "must have an entry for every value"),
        ({"a": ("n",), "b": ("n", "x"), "c": ("s",)}, "same number of coarser"),
        ({"a": ("n", "x"), "b": ("n", "y"), "c": ("s", "x")}, "one parent"),
        ({"a": 1, "b": 1, "c": 1}, "tuple of coarser categories"),
        (["a", "b"], "must map each value"),
    ],
)
def test_what_is_no_hierarchy(hierarchy: Any, problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        quasi_identifier("region", ["a", "b", "c"], hierarchy)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
def test_numbers_must_be_finite(value: float) -> None:
    with pytest.raises(ArgumentError, match="'age' has numbers that are not finite"):
        quasi_identifier("age", [1.0, value], None)
