"""Tables of integer codes counted by one column, or by two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "pair_cells"]

Integers = NDArray[np.int64]

CHUNK = 1 << 20
"""Rows that are counted at a time, so that memory does not grow with the table."""


@dataclass(frozen=True, eq=False)
class Codes:
    """The rows of a table inside its domain, one array of codes for each column.

    A row with any code outside of 0 … size − 1 is dropped whole, whatever the other
    rows are.
    """

    columns: tuple[NDArray[Any], ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, codes: NDArray[Any], sizes: Sequence[int]) -> Codes:
        """Codes of shape [rows, columns]; −1 stands for a value outside the domain."""
        wanted = tuple(sizes)
        table = codes.T
        kept = _inside(table, wanted)
        if not kept.all():
            table = table[:, kept]
        columns = tuple(_narrow(c, s) for c, s in zip(table, wanted, strict=True))
        return cls(columns, wanted)

    def one(self, column: int) -> Integers:
        """How many rows have each code."""
        size = self.sizes[column]
        found = np.zeros(size, np.int64)
        for part in _chunks(self.columns[column]):
            found += np.bincount(part, minlength=size)
        return found

    def two(self, first: int, second: int) -> Integers:
        """How many rows have each pair of codes, of shape [first, second]."""
        rows, across = self.sizes[first], self.sizes[second]
        found = np.zeros(rows * across, np.int64)
        left, right = _chunks(self.columns[first]), _chunks(self.columns[second])
        for a, b in zip(left, right, strict=True):
            cells = a.astype(np.int64)
            cells *= across
            cells += b
            found += np.bincount(cells, minlength=found.size)
        return found.reshape(rows, across)


def pair_cells(sizes: Sequence[int]) -> int:
    """How many cells the tables of all pairs of columns have together."""
    total = sum(sizes)
    return (total * total - sum(size * size for size in sizes)) // 2


def _inside(table: NDArray[Any], sizes: Sequence[int]) -> NDArray[np.bool_]:
    kept = np.ones(table.shape[1], np.bool_)
    for column, size in zip(table, sizes, strict=True):
        kept &= (column >= 0) & (column < size)
    return kept


def _narrow(column: NDArray[Any], size: int) -> NDArray[Any]:
    """Small integers, which memory hands over faster."""
    kind = np.uint16 if size <= 1 << 16 else np.int32
    return np.ascontiguousarray(column, kind)


def _chunks(column: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for start in range(0, column.size, CHUNK):
        yield column[start : start + CHUNK]
