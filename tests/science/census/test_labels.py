"""Labels in one form: how a record is read depends on that record alone."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dither.errors import ArgumentError
from dither.science.arrays import items_of
from dither.science.census import edges
from dither.science.census.labels import Coding, canonical, declared


@pytest.mark.parametrize(
    ("item", "label"),
    [
        ("a", "a"),
        (" a", " a"),
        ("01", "1"),
        (" 1 ", "1"),
        ("1.0", "1"),
        ("1e3", "1e3"),
        ("0E1", "0E1"),
        ("12E400", "12E400"),
        (".", "."),
        ("-", "-"),
        (".0", "0"),
        ("-0", "0"),
        (-5, "-5"),
        (1.0, "1"),
        (np.float32(2), "2"),
        (Decimal("3.0"), "3"),
        (True, "1"),
        (np.False_, "0"),
        ("True", "1"),
        ("false ", "0"),
        (b"x", "x"),
        (2**53 - 1, "9007199254740991"),
    ],
)
def test_labels_have_one_form(item: Any, label: str) -> None:
    assert canonical(item) == label


@pytest.mark.parametrize(
    "item",
    [
        None,
        "",
        "  ",
        "nan",
        "-inf",
        float("nan"),
        float("inf"),
        1.5,
        "1.5",
        "4503599627370496.5",
        ".5",
        2**53,
        "9" * 30,
        10**60,
        "x" * 201,
        pd.NA,
        pd.NaT,
        [1],
        {},
        1j,
        object(),
    ],
)
def test_what_is_no_label_is_none(item: Any) -> None:
    assert canonical(item) is None


class Odd:
    """Equal to everything, and raises where it can."""

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        raise RuntimeError


class Named(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "b"

    def __hash__(self) -> int:
        return hash("b")

    def __eq__(self, other: object) -> bool:
        return True


@pytest.mark.parametrize("odd", [Odd(), Named("a"), None, [1], 1.5, "x", 10**60])
def test_an_odd_record_leaves_the_others_alone(odd: Any) -> None:
    for items in (["a", odd, "b", 7], [odd, "a", "b", 7]):
        codes = Coding(["b", "a", "7"]).codes(items).tolist()
        codes.pop(
            items.index(odd)
            if not isinstance(odd, Odd | Named)
            else items[0] is not odd
        )
        assert codes == [1, 0, 2]


def test_columns_of_all_kinds_have_the_same_items() -> None:
    codes = []
    for column in (
        ["01", "02", None],
        pd.Series(["1", "2", None]),
        pd.Series([1.0, 2.0, float("nan")]),
        pd.Series([1, 2, None], dtype="Int64"),
        np.ma.MaskedArray([1, 2, 2], [False, False, True]),
        np.array([1, 2, 3], np.uint8),
    ):
        codes.append(Coding(["1", "2"]).codes(items_of(column)).tolist())
    assert codes == [[0, 1, -1]] * 6


@pytest.mark.parametrize("fill", [None, "b"])
def test_masked_labels_are_no_texts(fill: str | None) -> None:
    held = np.ma.MaskedArray(["a", "b", "?"], [False, True, False], fill_value=fill)
    assert items_of(held) == ["a", None, "?"]
    assert Coding(["?", "b", "a"]).codes(items_of(held)).tolist() == [2, -1, 0]


@pytest.mark.parametrize("pair", [("1", "01"), ("true", "1"), ("1.0", "1")])
def test_two_texts_that_are_one_label_are_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(ArgumentError, match="are the same label"):
        declared("keys", "level 'state'", ["a", *pair])
    assert declared("keys", "level 'state'", [1, pair[0], 1.0, pair[0]])


TEXTS = ["1", "01", " 2", "a", "b", "true", "", "nan", "1e3", "1.5", "7.0", "-3", "é"]
WHOLE = [1, 2, 0, -3, 7, 10**6, 2**53 - 1, 2**53, 2**53 + 1, -(2**53), 2**63 - 1]
REALS = [1.0, 2.5, -0.0, float("nan"), float("inf"), -3.0, 1e300, 2.0**53]


def columns() -> list[Any]:
    """Columns of all types that are read at once, with what is missing in them."""
    whole, reals = np.array(WHOLE), np.array(REALS)
    small = np.array([1, 0, 7, 100], np.int8)
    mask = np.arange(len(WHOLE)) % 2 == 0
    some = [None if i % 3 == 0 else one for i, one in enumerate(TEXTS)]
    found: list[Any] = [whole, reals, small, small.astype(np.uint16), reals > 1]
    found += [np.array([2**64 - 1, 1, 2**63], np.uint64), reals[:4].astype(np.float32)]
    found += [reals.astype(complex), np.array([1j, 1, 2 + 0j, 7]), whole[::-2]]
    found += [reals.astype(np.longdouble), np.array(TEXTS), np.array(TEXTS, object)]
    found += [np.array([1, 1 + np.finfo(np.longdouble).eps], np.longdouble)]
    found += [np.array([b"1", b"a", b"x"]), np.ma.MaskedArray(whole, mask)]
    found += [np.ma.MaskedArray(np.array(TEXTS), True), np.array([], int)]
    found += [np.array(["2020-01-01", "NaT"], "M8[ns]"), np.array([1, 2], "m8[s]")]
    found += [pd.Series(one) for one in (whole, reals, TEXTS, some, reals > 1)]
    found += [pd.Series(some, dtype=one) for one in ("category", object, "str")]
    found += [pd.Series([1, None, 2**53 + 1, 7], dtype=one) for one in ("Int64",)]
    found += [pd.Series([True, None], dtype="boolean"), pd.Series([1.5, None, 7.0])]
    found += [pd.Series([7, 1, 7, None], dtype="category"), pd.Series([1, "1", None])]
    found += [pd.Series(pd.arrays.SparseArray([0, 1, 0])), pd.Categorical(some)]
    found += [pd.Series(some, dtype="string"), pd.Series([True, False, True])]
    found += [pd.Index(WHOLE), pd.Index(TEXTS), pd.Series([1, 2], index=[5, 5])]
    found += [pd.Series(["1", None], dtype=pd.ArrowDtype(pa.string()))]
    found += [pd.Series([1, None], dtype=pd.ArrowDtype(pa.int64()))]
    found += [pd.Series([True, None], dtype=pd.ArrowDtype(pa.bool_()))]
    found += [pa.array(some), pa.chunked_array([some, ["1"], []]), pa.array([1, None])]
    found += [pa.array(some).dictionary_encode(), pa.array([True, None, False])]
    found += [pa.chunked_array([[1.5, 7.0], [None]]), pa.array([Decimal("1.0"), None])]
    found += [pl.Series(some), pl.Series([1, None, 7]), pl.Series([True, None])]
    found += [pl.Series(some, dtype=pl.Categorical), pl.Series([1.5, 7.0, None])]
    found += [pl.Series([2**100, 1], dtype=pl.Int128), [], (1, "1", None), range(9)]
    return found


@pytest.mark.parametrize("column", columns(), ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(
    "names",
    [
        ["1", "0", "2", "7", "-3", "a", "é", "b"],
        ["1000000", "9007199254740991", "0", "1"],
        ["a"],
        ["-1", "9007199254740990"],
    ],
)
def test_columns_at_once_are_read_as_item_by_item(
    column: Any, names: list[str]
) -> None:
    """Whatever type holds it, an item counts as it would by itself."""
    coding = Coding(names)
    alone = [coding.one_by_one([item])[0] for item in items_of(column)]
    assert coding.codes(column).tolist() == alone
    bins = edges([-3, 0, 1, 1.5, 2, 7, 2**53])
    alone = [bins.codes([item])[0] for item in items_of(column)]
    assert bins.codes(column).tolist() == alone


def test_masked_items_are_missing_whatever_fills_them() -> None:
    column = np.ma.MaskedArray(np.array(["a", "?"], object), [False, True])
    assert Coding(["a", "?", "N/A"]).codes(column).tolist() == [0, -1]
