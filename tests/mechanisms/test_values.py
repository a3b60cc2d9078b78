import math
from collections import OrderedDict, deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dither
from dither.mechanisms.values import (
    HIGH,
    LOW,
    WIDEST,
    exact,
    numbers,
    plus,
    present,
    real,
)


@pytest.mark.parametrize("value", [3, True, np.int8(3), np.uint64(2**64 - 1), 2**200])
def test_ints_stay_python_ints(value):
    assert type(numbers(value)) is int
    assert numbers(value) == int(value)


@pytest.mark.parametrize("value", [1.5, np.float32(1.5), math.nan])
def test_floats_stay_floats(value):
    assert type(numbers(value)) is float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 2], [1, 2]),
        (np.array([1, 2], np.uint8), [1, 2]),
        (np.array([2**64 - 1], np.uint64), [HIGH]),
        ([2**70, -(2**70), 5], [HIGH, LOW, 5]),
        ([2**63, -1], [HIGH, -1]),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        ([], []),
    ],
)
def test_integers_in_arrays_become_int64(value, expected):
    result = numbers(value)
    assert result.dtype == np.int64 or result.size == 0
    assert result.tolist() == expected


def test_reals_and_what_is_no_number():
    assert numbers([1.0, None, "x", [1]]).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert numbers([1.0, None], missing=0.25).tolist() == [1.0, 0.25]
    assert numbers(np.array([1e10], np.float32)).dtype == np.float64
    assert numbers([np.float32(0.5), 2.5, math.inf]).tolist() == [0.5, 2.5, math.inf]


WIDE = 2**60 + 129
"""No float: the nearest ones are 127 below and above."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal(WIDE), WIDE),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        (np.longdouble(2) ** 60 + 1, 2**60 + 1),
        (Decimal("1e300"), 10**300),
    ],
)
def test_exact_numbers_become_fractions(value, expected):
    found = numbers(value)
    assert type(found) is Fraction
    assert found == expected
    assert numbers([value])[0] == expected
    assert (
        numbers(np.array(value))[()] == expected
        if np.ndim(numbers(np.array(value)))
        else True
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 2.5], [1, Fraction(5, 2)]),
        ([WIDE, 0.5], [WIDE, Fraction(1, 2)]),
        ([WIDE, Decimal("0.1"), None, "x", math.nan], [WIDE, Fraction(1, 10), 0, 0, 0]),
        (
            [Fraction(1, 3), np.float32(0.5), np.int8(3), True],
            [Fraction(1, 3), Fraction(1, 2), 3, 1],
        ),
        ([10**400, 1.0, -math.inf], [WIDEST, 1, -WIDEST]),
        (np.array([0.5, 1], np.longdouble), [Fraction(1, 2), 1]),
        (np.array([WIDE, 0.5], object), [WIDE, Fraction(1, 2)]),
        ([[WIDE, 0.5], [1, None]], [[WIDE, Fraction(1, 2)], [1, 0]]),
        (deque([WIDE, 0.5]), [WIDE, Fraction(1, 2)]),
        (pl.Series([Decimal("0.1"), None]), [Fraction(1, 10), 0]),
        (pa.array([Decimal("0.1"), None]), [Fraction(1, 10), 0]),
    ],
    ids=str,
)
def test_mixed_lists_keep_every_number_exactly(value, expected):
    found = numbers(value)
    assert found.dtype == object
    assert found.tolist() == expected
    assert all(type(item) is Fraction for item in found.reshape(-1))


@pytest.mark.parametrize(
    "value",
    [
        pl.Series([WIDE, None]),
        pa.array([WIDE, None]),
        pa.chunked_array([[WIDE], [None]]),
        pd.Series([WIDE, None], dtype="Int64"),
        np.ma.array([WIDE, 5], mask=[False, True]),
        [WIDE, None],
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_null_does_not_turn_integers_into_floats(value):
    found = numbers(value)
    assert found.dtype == np.int64
    assert found.tolist() == [WIDE, 0]


class Rounded:
    """A number that can only be had as a float."""

    def __float__(self):
        return 1.0


@pytest.mark.parametrize(
    "value",
    ["5", b"5", bytearray(b"5"), None, 1j, np.array(["a"]), np.array([1j]), pd.NA],
)
def test_other_types_are_refused(value):
    with pytest.raises(dither.ArgumentError, match="value"):
        numbers(value)


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        {},
        {1, 2},
        frozenset({1}),
        OrderedDict(a=1),
        {"a": 1}.values(),
        (i for i in (1, 2)),
        object(),
        Rounded(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_number_and_no_list_is_refused(value):
    """These once counted as 0, because numpy makes an array of one object of them."""
    with pytest.raises(
        dither.ArgumentError, match=r"value must be a number or an array of numbers"
    ):
        numbers(value)
    with pytest.raises(
        dither.ArgumentError, match=r"value must be a number or an array of numbers"
    ):
        numbers(np.array(value, dtype=object))


class Raising:
    def as_integer_ratio(self):
        raise RuntimeError("not today")


DAY = np.datetime64("2024-01-01")


@pytest.mark.parametrize(
    "item", ["5", None, 1j, object(), {}, [1], Raising(), Rounded(), DAY, pd.NA]
)
def test_an_odd_item_is_missing_and_raises_nothing(item):
    assert exact(item) is None
    assert math.isnan(real(item))
    assert numbers([1, item]).dtype == np.int64


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Decimal("1e999999"), math.inf),
        (Decimal("-1e999999"), -math.inf),
        (Decimal("1e-999999"), 0.0),
        (Decimal("Infinity"), math.inf),
        (Decimal("sNaN"), None),
        (Decimal("0e999999"), 0),
        (np.longdouble("nan"), None),
    ],
)
def test_decimals_that_would_take_a_million_digits(item, expected):
    assert exact(item) == expected


def test_sums_never_wrap():
    values = np.array([HIGH, LOW, HIGH, 0], np.int64)
    noise = np.array([1, -1, -1, 7], np.int64)
    assert plus(values, noise).tolist() == [HIGH, LOW, HIGH - 1, 7]


def test_what_is_missing_counts_as_zero():
    for value in (None, math.nan, np.float32(math.nan), np.ma.masked):
        assert present(value) == 0
    assert present(math.inf) == math.inf
    assert present("x") == "x"


def test_gaps_in_a_list_leave_its_kind_alone():
    """One missing value must not turn the others into floats: 2^60 + 127 and 2^60 + 129
    are 256 apart as floats.
    """
    whole = numbers([2**60 + 1, None, math.nan, "x", np.ma.masked])
    assert whole.dtype == np.int64
    assert whole.tolist() == [2**60 + 1, 0, 0, 0, 0]
    assert numbers([[1, None], [2, 3]]).tolist() == [[1, 0], [2, 3]]
    assert numbers((1.5, None)).tolist() == [1.5, 0]
    assert numbers(np.array([1, None], object)).dtype == np.int64
    assert numbers([1, None], missing=0.5).tolist() == [1, Fraction(1, 2)]


@pytest.mark.parametrize("fill", [None, 7.0])
def test_masked_items_are_missing_whatever_their_fill_value(fill):
    held = np.ma.MaskedArray([1.0, 2.0, 3.0], [False, True, False], fill_value=fill)
    assert held.fill_value != 2.0  # asking for it sets it
    assert numbers(held, missing=-1.0).tolist() == [1, -1, 3]
    assert numbers(held.astype(object), missing=-1.0).tolist() == [1, -1, 3]
    table = held.reshape(3, 1)
    assert numbers(table, missing=-1.0).tolist() == [[1], [-1], [3]]
