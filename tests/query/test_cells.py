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
        return dataset.histogram(["ward"], rows=most, receipt=paid(dataset))


def test_histograms_count_in_public_cells() -> None:
    with opened() as dataset:
        receipt = paid(dataset)
        found = dataset.histogram(["ward", "age // 50"], rows=9, receipt=receipt)
        assert found.shape == (3, 3)
        assert found.tolist() == [[1, 0, 1], [1, 0, 0], [0, 1, 0]]
        with pytest.raises(dither.ArgumentError, match="no public values"):
            dataset.histogram(["day"], receipt=receipt)
        for bad in ("ward", []):
            with pytest.raises(dither.ArgumentError, match="list of expressions"):
                dataset.histogram(bad, receipt=receipt)
        with pytest.raises(dither.ArgumentError, match="rows"):
            dataset.histogram(["ward"], rows=0, receipt=receipt)


@pytest.mark.parametrize("most", [1, 2, 3])
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
