"""Edges within and between public groups: each edge lies in one cell of a symmetric
table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.release import Ends, Spread
from dither.science.graphs.kernels import Edges
from dither.science.graphs.vertices import Integers

__all__ = ["MatrixSpread", "as_matrix", "cell_counts"]


def cell_counts(edges: Edges, groups: Integers, count: int) -> Integers:
    """Edges in each cell: the lower group first, rows after rows."""
    ends = groups[edges.low], groups[edges.high]
    first, second = np.minimum(*ends), np.maximum(*ends)
    square = np.bincount(first * count + second, minlength=count**2)
    rows, columns = np.triu_indices(count)
    return square.reshape(count, count)[rows, columns]


def as_matrix(cells: Any, count: int) -> Any:
    """The symmetric matrix of ends: both ends of an edge within a group count, as in
    networkx.
    """
    rows, columns = np.triu_indices(count)
    matrix = np.zeros((count, count), np.asarray(cells).dtype)
    matrix[rows, columns] += cells
    matrix[columns, rows] += cells
    return matrix


@dataclass(frozen=True)
class MatrixSpread:
    """Where the entries of the matrix lie, by those of its cells."""

    cells: Spread
    count: int

    def ends(self, confidence: float) -> Ends:
        low, high = self.cells.ends(confidence)
        return as_matrix(low, self.count), as_matrix(high, self.count)
