"""Labels in one form: how a record is read depends on that record alone."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dither.science.census.labels import Coding, canonical, items_of


@pytest.mark.parametrize(
    ("item", "label"),
    [
        ("a", "a"),
        (" a", " a"),
        ("01", "1"),
        (" 1 ", "1"),
        ("1.0", "1"),
        ("1e3", "1000"),
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
