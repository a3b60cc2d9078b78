"""Triangles: one edge closes as many as its ends have common neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dither.errors import ArgumentError
from dither.science.graphs.kernels import Edges, triangle_count
from dither.science.graphs.tails import Cells, Reals, grid
from dither.science.graphs.vertices import Integers

__all__ = ["Triangles"]

CORNERS = 3


@dataclass(frozen=True)
class Triangles:
    """Triangles among `size` vertices. LS_0 is the most common neighbours of any two
    vertices, adjacent or not; LS_t = min(n − 2, LS_0 + t), because one edge moves LS_0
    by 1 at most.
    """

    size: int

    def __post_init__(self) -> None:
        if self.size < CORNERS:
            raise ArgumentError(
                "vertices", "must be 3 or more, because a triangle has three corners"
            )

    @property
    def most(self) -> int:
        return math.comb(self.size, CORNERS)

    @property
    def global_sensitivity(self) -> int:
        return self.size - 2

    @property
    def farthest(self) -> int:
        return self.size - 2

    def count(self, edges: Edges) -> int:
        return triangle_count(edges)

    def reach(self, edges: Edges) -> int:
        return edges.most_common

    def local(self, edges: Edges) -> Callable[[int], int]:
        return self.widest(edges.most_common)

    def widest(self, reach: int) -> Callable[[int], int]:
        return lambda t: min(self.size - 2, reach + t)

    def cells(self, reach: int, rungs: int) -> Cells:
        lows, highs = grid(reach)
        return Cells(
            lows.size,
            lambda run: self._widths(lows[run], rungs),
            lambda run: self._widths(highs[run], rungs),
        )

    def _widths(self, reach: Integers, rungs: int) -> Reals:
        grown = reach[:, None] + np.arange(rungs - 1)
        widths: Reals = np.minimum(grown, self.size - 2).astype(np.float64)
        return widths
