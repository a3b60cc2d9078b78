"""Bounds and keys as curators write them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.query.catalogue.types import Range, Type
from dither.query.catalogue.values import (
    bounds_of,
    keys_of,
    place_of,
    type_of_bounds,
    type_of_keys,
    value_at,
    value_of,
)

DAY, TIME = date(2024, 2, 29), datetime(2024, 2, 29, 12, 30)
SOON = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("type_", "written", "value"),
    [
        (Type.INTEGER, 5, 5),
        (Type.INTEGER, 5.0, 5),
        (Type.INTEGER, np.int32(5), 5),
        (Type.REAL, 5, 5.0),
        (Type.REAL, Decimal("0.5"), 0.5),
        (Type.REAL, np.float32(0.5), 0.5),
        (Type.TEXT, "A", "A"),
        (Type.TEXT, np.str_("é"), "é"),
        (Type.BOOLEAN, np.True_, True),
        (Type.DATE, "2024-02-29", DAY),
        (Type.DATE, DAY, DAY),
        (Type.TIMESTAMP, "2024-02-29T12:30", TIME),
        (Type.TIMESTAMP, DAY, datetime(2024, 2, 29)),
        (Type.TIMESTAMP, datetime(2024, 2, 29, 14, 30, tzinfo=SOON), TIME),
        (Type.TIMESTAMP, "2024-02-29T12:30Z", TIME),
    ],
)
def test_values_have_one_form(type_: Type, written: Any, value: Any) -> None:
    found = value_of("x", written, type_)
    assert (found, type(found)) == (value, type(value))
    if type_ not in (Type.TEXT, Type.BOOLEAN):
        assert value_at(place_of(found, type_), type_) == found


@pytest.mark.parametrize(
    ("type_", "written"),
    [
        (Type.INTEGER, True),
        (Type.INTEGER, 0.5),
        (Type.INTEGER, "5"),
        (Type.INTEGER, float("inf")),
        (Type.REAL, True),
        (Type.REAL, "0.5"),
        (Type.REAL, float("nan")),
        (Type.REAL, 10**400),
        (Type.TEXT, 5),
        (Type.TEXT, "\ud800"),
        (Type.BOOLEAN, 1),
        (Type.DATE, TIME),
        (Type.DATE, "29.2.2024"),
        (Type.DATE, 5),
        (Type.TIMESTAMP, "noon"),
        (Type.TIMESTAMP, 5),
        (Type.TIMESTAMP, datetime(1, 1, 1, tzinfo=SOON)),
    ],
)
def test_values_of_another_type(type_: Type, written: Any) -> None:
    with pytest.raises(
        ArgumentError, match=f"cannot contain .*, as the type {type_} requires"
    ):
        value_of("x", written, type_)


@pytest.mark.parametrize(
    ("type_", "low", "high", "range_"),
    [
        (Type.INTEGER, 0, 110, Range(0, 110)),
        (Type.INTEGER, None, 110, Range(None, 110)),
        (Type.INTEGER, -(2**56), 2**56, Range(-(2**56), 2**56)),
        (Type.REAL, 0, 0.5, Range(0.0, 0.5)),
        (Type.REAL, 5, 5, Range(5.0, 5.0)),
        (Type.DATE, "1970-01-02", date(1971, 1, 1), Range(1, 365)),
        (
            Type.TIMESTAMP,
            "1970-01-01T00:00:01",
            datetime(1970, 1, 1, 0, 1, tzinfo=UTC),
            Range(1_000_000, 60_000_000),
        ),
    ],
)
def test_bounds(type_: Type, low: Any, high: Any, range_: Range) -> None:
    assert bounds_of("x", low, high, type_) == range_


@pytest.mark.parametrize(
    ("type_", "low", "high", "words"),
    [
        (Type.INTEGER, 5, 4, "swap them"),
        (Type.INTEGER, 0, 2**56 + 1, "narrower"),
        (Type.INTEGER, 0.5, 1, "a whole number"),
        (Type.REAL, 0, 1e151, "narrower"),
        (Type.REAL, float("-inf"), 0, "a number"),
        (Type.TEXT, "a", "b", "cannot be given for the type"),
        (Type.BOOLEAN, False, True, "cannot be given for the type"),
        (Type.DATE, "2024-01-02", "2024-01-01", "swap them"),
    ],
)
def test_bounds_that_are_none(type_: Type, low: Any, high: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        bounds_of("x", low, high, type_)


def test_keys_have_one_form_and_null_is_last() -> None:
    assert keys_of("x", [None, "A", "b"], Type.TEXT) == ("A", "b", None)
    assert keys_of("x", ["2024-02-29"], Type.DATE) == (DAY,)
    assert keys_of("x", ["a", "A"], Type.TEXT) == ("a", "A")


@pytest.mark.parametrize(
    ("type_", "keys", "words"),
    [
        (Type.TEXT, "AB", "must be a list of values"),
        (Type.TEXT, [], "keys, not 0;"),
        (Type.TEXT, ["A", "A"], "must list each value once"),
        (Type.TEXT, [1], "write a string"),
        (Type.INTEGER, [1, 1.0], "must list each value once"),
        (Type.INTEGER, [111], "outside the bounds and never occurs"),
        (Type.INTEGER, range(100_001), "not 100,001;"),
        (Type.REAL, [0.0, -0.0], "must list each value once"),
    ],
)
def test_keys_that_are_none(type_: Type, keys: Any, words: str) -> None:
    range_ = Range(0, 110) if type_ is Type.INTEGER else Range()
    with pytest.raises(ArgumentError, match=words):
        keys_of("x", keys, type_, range_)


def test_keys_beyond_64_bits() -> None:
    with pytest.raises(ArgumentError, match="outside the bounds and never occurs"):
        keys_of("x", [2**63], Type.INTEGER)


@pytest.mark.parametrize(
    ("low", "high", "type_"),
    [
        (0, 110, Type.INTEGER),
        (0, 110.0, Type.REAL),
        (None, 0.5, Type.REAL),
        ("2024-01-01", "2024-12-31", Type.DATE),
        (DAY, DAY, Type.DATE),
        ("2024-01-01", "2024-12-31T10:00", Type.TIMESTAMP),
        (TIME, TIME, Type.TIMESTAMP),
        (Decimal("0.5"), 1, Type.REAL),
    ],
)
def test_what_bounds_say(low: Any, high: Any, type_: Type) -> None:
    assert type_of_bounds("x", low, high) is type_


@pytest.mark.parametrize(
    ("low", "high"),
    [(None, None), ("a", "b"), (0, "2024-01-01"), (True, False), (0, DAY)],
)
def test_bounds_that_say_nothing(low: Any, high: Any) -> None:
    with pytest.raises(ArgumentError, match="pass a low and a high"):
        type_of_bounds("x", low, high)


@pytest.mark.parametrize(
    ("keys", "type_"),
    [
        (["A", None], Type.TEXT),
        ([1, np.int64(2)], Type.INTEGER),
        ([True, False], Type.BOOLEAN),
        ([DAY], Type.DATE),
        ([TIME], Type.TIMESTAMP),
        (["2024-01-01"], Type.TEXT),
    ],
)
def test_what_keys_say(keys: list[Any], type_: Type) -> None:
    assert type_of_keys("x", keys) is type_


@pytest.mark.parametrize("keys", [["A", 1], [0.5], [None], [object()], [1, True]])
def test_keys_that_say_nothing(keys: list[Any]) -> None:
    with pytest.raises(ArgumentError, match="declare the type"):
        type_of_keys("x", keys)
