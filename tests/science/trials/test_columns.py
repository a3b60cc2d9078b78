"""Each record is read by itself."""

import io
from decimal import Decimal
from fractions import Fraction
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dither.errors import ArgumentError
from dither.privacy import PureDP
from dither.question import Paid
from dither.release import Source
from dither.science.trials.columns import (
    given,
    labels,
    listed,
    names,
    numbers,
    together,
)

PAID = Paid(Source(PureDP(1.0)))


class Nasty:
    def __float__(self) -> float:
        raise RuntimeError("private")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("private")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("item", "value"),
    [
        (1, 1.0),
        (True, 1.0),
        (np.int8(-3), -3.0),
        (2.5, 2.5),
        ("2.5", 2.5),
        (b"2.5", 2.5),
        (" 1e3 ", 1000.0),
        (Decimal("0.5"), 0.5),
        (Fraction(1, 4), 0.25),
        (10**400, np.inf),
        (-np.inf, -np.inf),
        (None, np.nan),
        (pd.NA, np.nan),
        ("unknown", np.nan),
        ("nan", np.nan),
        ("inf", np.inf),
        ("-Infinity", -np.inf),
        ("TRUE", 1.0),
        ("1_000", np.nan),
        ("9" * 500, np.inf),
        ("1e-99999", 0.0),
        (np.float32(0.1), 0.1),
        (Nasty(), np.nan),
        (1j, np.nan),
        ([1, 2], np.nan),
    ],
)
def test_an_odd_record_leaves_the_others_alone(item, value):
    np.testing.assert_array_equal(numbers([item, 3, 4.5]), [value, 3.0, 4.5])


@pytest.mark.parametrize(
    "column",
    [
        [1.0, None, 3.0],
        ["1", "?", "3"],
        np.array([1.0, np.nan, 3.0]),
        np.array([1.0, b"x", 3.0]),
        np.array([1, "x", 3], dtype=object),
        np.ma.masked_array([1, 2, 3], [False, True, False]),
        pd.Series([1, None, 3]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series(["1", None, "3"]),
        pd.Series([1, None, 3], index=[5, 5, 9]),
        pl.Series([1, None, 3]),
        pl.Series(["1", "", "3"]),
    ],
)
def test_one_meaning_whatever_holds_the_column(column):
    np.testing.assert_array_equal(given("x", column).read(PAID), [1, np.nan, 3])


@pytest.mark.parametrize(
    "column",
    ["pain", 3, None, {"a": 1}, {1, 2}, np.zeros((2, 2)), pd.DataFrame({"a": [1]})],
)
def test_what_is_no_column_is_refused(column):
    with pytest.raises(ArgumentError, match="must be a column, not"):
        given("x", column)


@pytest.mark.parametrize(
    "column",
    [np.array(["2020-01-01"], "M8[D]"), np.array([1], "m8[s]")],
)
def test_a_type_that_is_no_number_is_refused_by_its_type(column):
    with pytest.raises(ArgumentError, match="must hold numbers or labels, not"):
        given("x", column)


def test_labels_are_places_in_the_declared_list():
    column = ["drug", "placebo", "Drug", None, 7, Nasty(), "placebo"]
    found = labels("arm", column, ("drug", "placebo")).read(PAID)
    assert found.tolist() == [0, 1, -1, -1, -1, -1, 1]


@pytest.mark.parametrize(
    "column",
    [[0, 1, 1], [0.0, 1.0, 1.0], ["0", "1", "1"], [False, True, True], ["00", 1, "1"]],
)
def test_labels_do_not_depend_on_the_type_that_holds_them(column):
    assert labels("arm", column, (0, 1)).read(PAID).tolist() == [0, 1, 1]


SCALARS = [
    [True, False, True],
    [0.5, 1.5, np.inf],
    [0.1, 1e300, 2.0],
    [1, 2, 10**25],
    [1e3, 2.5e-7, -0.0],
]


@pytest.mark.parametrize("held", SCALARS, ids=str)
def test_one_odd_text_leaves_the_others_what_they_are(held):
    """However it makes numpy or a reader of CSV hold them."""
    among = list(dict.fromkeys(one for one in held if np.isfinite(float(one))))
    ways = [
        (held, [*held, "x"]),
        (np.array(held), np.array([*held, "x"])),
        (csv(held), csv([*held, "x"])),
        (np.array(held, object), np.array([*held, "x"], object)),
        (np.array(held, object), np.array([*map(str, held), b"x"], "S")),
    ]
    for plain, odd in ways:
        np.testing.assert_array_equal(numbers(plain), numbers(odd)[:-1])
        codes = labels("arms", plain, among).read(PAID)
        assert labels("arms", odd, among).read(PAID)[:-1].tolist() == codes.tolist()


def csv(items):
    text = "v\n" + "\n".join(map(str, items))
    return pd.read_csv(io.StringIO(text))["v"]


def test_what_only_pretends_to_be_a_text_is_missing():
    np.testing.assert_array_equal(numbers([Mock(spec=str), 3]), [np.nan, 3])


def test_a_long_text_takes_no_longer_than_reading_it():
    long = "1" * 1_000_000  # a day, if each digit was looked at for each other
    odd = [long + "x", "0" * 1_000_000 + "x", long + ".", "1e" + long]
    found = numbers([*odd, 3])
    np.testing.assert_array_equal(found, [np.nan, np.nan, np.inf, np.inf, 3])
    assert labels("arms", [*odd, 3], (3,)).read(PAID).tolist() == [-1, -1, -1, -1, 0]


def test_short_floats_are_the_numbers_that_are_written():
    held = np.array([0.1, 2.5], np.float32)
    assert numbers(held).tolist() == [0.1, 2.5]
    assert labels("arms", held, (0.1, 2.5)).read(PAID).tolist() == [0, 1]


def test_one_complex_number_leaves_the_others_alone():
    np.testing.assert_array_equal(numbers(np.array([1, 2, 1j])), [1, 2, np.nan])


def test_large_numbers_are_told_apart_as_floats_are():
    held = [2**60, 2**60 + 1, 2**70]
    forms = [held, list(map(float, held)), list(map(str, held)), [str(float(2**60))]]
    found = [labels("arms", form, (2**60, 2**70)).read(PAID).tolist() for form in forms]
    assert found == [[0, 0, 1], [0, 0, 1], [0, 0, 1], [0]]


def test_what_is_no_number_is_no_label_as_text_either():
    odd = [np.inf, "inf", "-Infinity", np.nan, "NaN", 2 + 1j, np.complex64(0.5)]
    found = labels("arms", odd, (0.5,)).read(PAID).tolist()
    assert found == [-1, -1, -1, -1, -1, -1, 0]


@pytest.mark.parametrize("among", [(), "drug", None, (1, "1"), (None, 1), {"a": 1}])
def test_declared_labels_are_checked(among):
    with pytest.raises(ArgumentError, match="arms"):
        names("arms", among)


def test_columns_of_different_lengths_do_not_go_together():
    together(given("x", [1, 2]), given("y", [1, 2]))
    with pytest.raises(ArgumentError, match="one record for each person"):
        together(given("x", [1, 2]), given("y", [1, 2, 3]))


@pytest.mark.parametrize("fill", [None, "b"])
def test_masked_labels_are_no_texts(fill):
    held = np.ma.MaskedArray(["a", "b", "?"], [False, True, False], fill_value=fill)
    assert listed(held) == ["a", None, "?"]
    codes = labels("arm", held, ["?", "b", "a"])
    assert codes.read(PAID).tolist() == [2, -1, 0]
    reals = np.ma.MaskedArray([1.0, 2.0], [False, True], fill_value=5.0)
    assert np.isnan(numbers(reals)).tolist() == [False, True]
