"""Counts of codes, against loops."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from dither.science.synth import marginals
from dither.science.synth.marginals import Codes, pair_cells

SIZES = (3, 1, 5, 2)


def table(rows: int) -> np.ndarray:
    source = np.random.default_rng(3)  # allowed: test inputs, not noise
    return source.integers(-1, [s + 1 for s in SIZES], (rows, 4)).astype(np.int32)


def inside(rows: np.ndarray) -> list[tuple[int, ...]]:
    kept = [tuple(int(v) for v in row) for row in rows]
    return [r for r in kept if all(0 <= v < s for v, s in zip(r, SIZES, strict=True))]


@pytest.mark.parametrize("rows", [0, 1, 7, 500])
def test_counts_are_those_of_a_loop(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marginals, "CHUNK", 7)
    codes = table(rows)
    found, kept = Codes.of(codes, SIZES), inside(codes)
    for i, size in enumerate(SIZES):
        one = Counter(row[i] for row in kept)
        assert found.one(i).tolist() == [one[v] for v in range(size)]
    for i, j in [*combinations(range(4), 2), (2, 0)]:
        two = Counter((row[i], row[j]) for row in kept)
        shape = [[two[a, b] for b in range(SIZES[j])] for a in range(SIZES[i])]
        assert found.two(i, j).tolist() == shape


def test_a_row_with_a_code_outside_is_dropped_whole_and_alone() -> None:
    codes = np.array([[0, 0, 4, 1], [2, 0, -1, 1], [1, 0, 5, 0]], np.int32)
    found = Codes.of(codes, SIZES)
    assert found.one(0).tolist() == [1, 0, 0]
    assert found.two(0, 3).sum() == 1


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
def test_any_integers_and_layouts_are_read(kind: type) -> None:
    codes = table(50)
    expected = Codes.of(codes, SIZES).two(0, 2)
    for form in (codes.astype(kind), np.asfortranarray(codes.astype(kind))):
        assert (Codes.of(form, SIZES).two(0, 2) == expected).all()


def test_columns_of_many_codes_are_not_cut_short() -> None:
    codes = np.array([[70_000, 1], [70_000, 1], [4_464, 0]], np.int32)
    found = Codes.of(codes, (70_001, 2))
    assert found.one(0)[70_000] == 2
    assert found.two(0, 1)[70_000].tolist() == [0, 2]
    assert found.two(0, 1)[4_464].tolist() == [1, 0]


def test_the_cells_of_all_pairs_are_counted() -> None:
    for sizes in [(4,), SIZES, (7, 7, 7)]:
        assert pair_cells(sizes) == sum(a * b for a, b in combinations(sizes, 2))
