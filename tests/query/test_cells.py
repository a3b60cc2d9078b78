"""Exact counts in public cells: what one unit moves in them is what was stated."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dither
from tests.query.visits import opened, paid


def counts(rows: list[tuple[str, str]], most: int) -> np.ndarray[Any, Any]:
    table = {"id": [one for one, _ in rows], "ward": [ward for _, ward in rows]}
    about = {"bounds": {}, "types": {"id": "text", "ward": "text"}}
    with opened(table, **about) as dataset:
        return dataset.histogram(["ward"], rows=most, receipt=paid(dataset)).counts


def test_histograms_count_in_public_cells() -> None:
    with opened() as dataset:
        receipt = paid(dataset)
        found = dataset.histogram(["ward", "age // 50"], rows=9, receipt=receipt)
        assert found.axes == (("A", "B", "C"), (0, 1, 2))
        assert found.counts.tolist() == [[1, 0, 1], [1, 0, 0], [0, 1, 0]]
        assert dataset.axes(["ward", "age // 50"]) == found.axes
        with pytest.raises(dither.ArgumentError, match="no public values"):
            dataset.histogram(["day"], receipt=receipt)
        for bad in ("ward", [], [1]):
            with pytest.raises(dither.ArgumentError, match="list of expressions"):
                dataset.histogram(bad, receipt=receipt)
        with pytest.raises(dither.ArgumentError, match="rows"):
            dataset.histogram(["ward"], rows=0, receipt=receipt)


@pytest.mark.parametrize(
    "most", [2, *(pytest.param(n, marks=pytest.mark.full) for n in (1, 3))]
)
def test_one_unit_moves_a_histogram_by_its_rows(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables of up to four rows of one unit, beside other units' rows."""
    monkeypatch.setattr("dither.query.database._salt", lambda: "salt")
    others = [("b", "A"), ("b", "B"), ("c", "A")]
    without = counts(others, most)
    for size in range(5):
        for wards in itertools.combinations_with_replacement("ABCZ", size):
            mine = [("a", ward) for ward in wards]
            moved = counts(others + mine, most) - without
            inside = sum(ward != "Z" for ward in wards)
            assert (moved >= 0).all()
            assert moved.sum() == min(inside, most)


@pytest.mark.parametrize(
    "cell",
    [
        "ward, age",
        "ward --",
        "ward -- more",
        "ward /* more */",
        "-- more\nward",
        "ward) FROM visits GROUP BY (ward",
        "(ward",
        "ward;",
        "ward, COUNT(*) FROM visits WHERE id = 'a' GROUP BY ward --",
        "",
        "'ward",
        "'(' = ward) FROM visits WHERE age > 3 GROUP BY (ward = ')'",
    ],
)
def test_a_cell_is_one_expression(cell: str) -> None:
    with (
        opened() as dataset,
        pytest.raises(dither.ArgumentError, match="is not one expression"),
    ):
        dataset.axes([cell])


@pytest.mark.parametrize("cell", ["ward = '('", "ward = ','", "ward = '--'", "(ward)"])
def test_signs_inside_a_text_are_no_signs(cell: str) -> None:
    with opened() as dataset:
        assert len(dataset.axes([cell])) == 1


@pytest.mark.parametrize(
    "cells", [["ward", "ward"], ["1", "ward"], ["'x'", "ward"], ["TRUE"], ["2", "ward"]]
)
def test_every_cell_is_an_axis(cells: list[str]) -> None:
    with opened() as dataset, pytest.raises(dither.ArgumentError):
        dataset.axes(cells)


def test_a_cell_asks_about_its_own_rows_only() -> None:
    for cell in ("(SELECT 1)", "COUNT(*)", "id IN (SELECT id FROM visits)", "ALL", "*"):
        with opened() as dataset, pytest.raises(dither.ArgumentError):
            dataset.axes([cell])


@pytest.mark.parametrize("most", [1, 2])
def test_a_replaced_unit_moves_a_histogram_by_twice_its_rows(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All pairs of tables of up to three rows of one unit; twice is reached."""
    monkeypatch.setattr("dither.query.database._salt", lambda: "salt")
    others = [("b", "A"), ("b", "B")]
    found = [
        counts([*others, *(("a", ward) for ward in wards)], most)
        for size in range(4)
        for wards in itertools.combinations_with_replacement("ABC", size)
    ]
    moves = [abs(one - other).sum() for one in found for other in found]
    assert max(moves) == 2 * most
