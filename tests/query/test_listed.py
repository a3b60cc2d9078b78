"""Exact counts in cells that come with the question: what one unit moves in them is
what was stated.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dither
from dither.dataset import Axis
from tests.query.visits import opened, paid

WARDS = Axis(('"ward"',), (["A", "B", "C"],))
PAIRS = Axis(('"ward"', '"age"'), (["A", "A", "B"], [30, 40, 30]))


def counts(rows: list[tuple[str, str]], most: int, **more: Any) -> np.ndarray[Any, Any]:
    table = {"id": [one for one, _ in rows], "ward": [ward for _, ward in rows]}
    about = {"bounds": {}, "types": {"id": "text", "ward": "text"}}
    with opened(table, **about) as dataset:
        (found,) = dataset.count_listed(
            [WARDS], rows=most, receipt=paid(dataset), **more
        )
        return found


def test_listed_cells_are_counted_like_a_histogram() -> None:
    with opened() as dataset:
        receipt = paid(dataset)
        # A histogram counts what lies beyond the bounds at these, and a list does not.
        ages = Axis(("age // 50",), ([1, 0],))
        found, both = dataset.count_listed(
            [WARDS], [WARDS, ages], rows=9, receipt=receipt
        )
        assert (
            found.tolist()
            == dataset.histogram(["ward"], rows=9, receipt=receipt).counts.tolist()
        )
        whole = dataset.histogram(["ward", "age // 50"], rows=9, receipt=receipt)
        assert both.tolist() == whole.counts[:, [1, 0]].tolist()


def test_several_columns_make_one_cell() -> None:
    with opened() as dataset:
        receipt = paid(dataset)
        rows = dataset.fetch(["ward", "age"], receipt=receipt)
        pairs = list(
            zip(
                rows.columns["ward"].tolist(), rows.columns["age"].tolist(), strict=True
            )
        )
        listed = list(zip(*PAIRS.columns, strict=True))
        (found,) = dataset.count_listed([PAIRS], rows=9, receipt=receipt)
        assert found.tolist() == [pairs.count(one) for one in listed]


def test_nothing_is_counted_without_a_receipt() -> None:
    with opened() as dataset, pytest.raises(dither.ArgumentError, match="receipt"):
        dataset.count_listed([WARDS])


@pytest.mark.parametrize(
    "axes",
    [
        [Axis(('"ward"',), (["A", "A"],))],
        [Axis(('"ward"',), ([1, 2],))],
        [Axis(('"ward"',), (["A", None],))],
        [Axis(('"age"',), ([True],))],
        [Axis(('"ward" --',), (["A"],))],
        [Axis(("COUNT(*)",), ([1],))],
        [WARDS, WARDS],
        [Axis(('"ghost"',), (["A"],))],
    ],
)
def test_wrong_lists_are_refused_before_the_charge(axes: list[Axis]) -> None:
    with opened() as dataset, pytest.raises(dither.ArgumentError):
        dataset.check_listed(axes)


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("alone", [False, True])
def test_one_unit_moves_listed_counts_by_its_rows(
    most: int, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables of up to three rows of one unit, beside other units' rows."""
    monkeypatch.setattr("dither.query.database._salt", lambda: "salt")
    others = [("b", "A"), ("b", "B"), ("c", "A")]
    without = counts(others, most, alone=alone)
    for size in range(4):
        for wards in itertools.combinations_with_replacement("AZ", size):
            mine = [("a", ward) for ward in wards]
            moved = counts(others + mine, most, alone=alone) - without
            inside = sum(ward != "Z" for ward in wards)
            single = size == 1 and inside == 1
            assert (moved >= 0).all()
            assert moved.sum() == (single if alone else min(inside, most))
