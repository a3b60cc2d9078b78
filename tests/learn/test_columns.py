"""Each value of a column is read by itself, by what is public about the column."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dither import ArgumentError
from dither.dataset import ColumnFacts, Kind
from dither.learn.columns import Columns, declared, declared_target, target_of
from dither.learn.records import source_of
from dither.learn.rows import Tensors

ODD: list[Any] = [None, float("nan"), float("inf"), "no number", 10**400, object()]


def facts(**declared: Any) -> ColumnFacts:
    return ColumnFacts("one", kind=Kind.REALS, **declared)


def read(*columns: Any, by: list[ColumnFacts]) -> Tensors:
    inputs = tuple(declared(one) for one in by[:-1])
    return Columns(inputs, declared_target(by[-1])).rows(columns)


AGE, WARD = facts(bounds=(0, 50)), facts(keys=("a", "b", 3))


def test_declared_columns_go_to_public_numbers() -> None:
    rows = read([0, 25, 99, -4], ["a", "b", 3, "?"], ["b"] * 4, by=[AGE, WARD, WARD])
    assert rows.inputs.tolist() == [
        [0, 1, 0, 0],
        [0.5, 0, 1, 0],
        [1, 0, 0, 1],
        [0, 0, 0, 0],
    ]
    assert rows.targets.tolist() == [1] * 4
    assert rows.there.all()


def test_labels_that_are_no_class_do_not_count() -> None:
    rows = read([1.0] * 4, ["a", "z", None, 3.0], by=[AGE, WARD])
    assert rows.there.tolist() == [True, False, False, True]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_one_odd_value_changes_no_other(odd: Any) -> None:
    plain = read([1, 2, 3], ["a", "b", 3], by=[AGE, WARD])
    mixed = read([1, odd, 3], ["a", odd, 3], by=[AGE, WARD])
    assert mixed.inputs[[0, 2]].tolist() == plain.inputs[[0, 2]].tolist()
    assert mixed.targets[[0, 2]].tolist() == plain.targets[[0, 2]].tolist()
    assert mixed.there.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "made",
    [
        np.array([1.5, np.nan, 3.0]),
        np.ma.MaskedArray([1.5, 2.0, 3.0], [False, True, False]),
        pd.Series([1.5, None, 3.0]),
        pd.Series([1.5, None, 3.0], dtype="Float64"),
        pl.Series([1.5, None, 3.0]),
        ["1.5", "x", Decimal(3)],
    ],
    ids=lambda one: type(one).__name__,
)
def test_columns_of_all_kinds(made: Any) -> None:
    rows = read(made, ["a"] * 3, by=[facts(bounds=(0, 10)), WARD])
    assert rows.inputs[[0, 2], 0].tolist() == pytest.approx([0.15, 0.3])
    assert rows.there.tolist() == [True, False, True]


def test_columns_without_public_facts_are_refused() -> None:
    with pytest.raises(ArgumentError, match="bounds or keys"):
        declared(facts())
    with pytest.raises(ArgumentError, match="different labels"):
        target_of([1, "1"])


MORE = [*ODD, Decimal("1.5"), pd.NA, True, 2**63, [1], pd.Timestamp(0), 1j]


@pytest.mark.parametrize("odd", MORE, ids=range(len(MORE)))
@pytest.mark.parametrize("plain", [[1, 0, 1], [True, False, True], [0.5, 1.5, 1e300]])
def test_one_odd_value_of_a_frame_changes_no_other(odd: Any, plain: list[Any]) -> None:
    for place in ("a", "b"):
        frames = [pd.DataFrame({"a": plain, "b": plain}, dtype=one) for one in TYPES]
        for frame in frames:
            frame[place] = pd.Series([*plain[:2], odd])
        whole = pd.DataFrame({"a": plain, "b": plain})
        rows = [_read(one) for one in (whole, *frames)]
        for one in rows[1:]:
            assert one.inputs[:2].tolist() == rows[0].inputs[:2].tolist()
            assert one.targets[:2].tolist() == rows[0].targets[:2].tolist()
            assert one.there[:2].all()


TYPES = [None, object]


def _read(frame: pd.DataFrame) -> Tensors:
    source = source_of(frame, inputs=["a"], target="b", owner="row")
    rows = source.read(None)[0]
    assert isinstance(rows, Tensors)
    return rows


def test_a_row_of_several_numbers_has_none() -> None:
    """They would stand in rows of others."""
    held = np.zeros((4, 3))
    held[0] = 1
    for made in (held, np.ma.MaskedArray(held), held.astype(object)):
        read = target_of(None).read(made)
        assert read.shape == (4, 1)
        assert np.isnan(read).all()
