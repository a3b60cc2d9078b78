"""Stars: a vertex and k of its neighbours. A wedge is a star of two."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dither.errors import ArgumentError
from dither.science.graphs.kernels import Edges
from dither.science.graphs.tails import Cells, Reals, grid
from dither.science.graphs.vertices import Integers

__all__ = ["Stars", "check_rays"]

COARSE = 16
LARGEST = 64


def check_rays(rays: int) -> int:
    """Number of rays in a star: 2 or more."""
    way_out = "pass the number of rays of a star, such as 2 for wedges"
    if isinstance(rays, bool) or not isinstance(rays, int | np.integer):
        raise ArgumentError("k", f"must be a whole number; {way_out}")
    if not 2 <= rays <= LARGEST:
        raise ArgumentError("k", f"must be from 2 to {LARGEST}; {way_out}")
    return int(rays)


@dataclass(frozen=True)
class Stars:
    """Stars of k rays among `size` vertices. An edge at a vertex that has d others
    makes C(d, k − 1) of them, at either end. LS_t = C(d₁ + t, k − 1) + C(d₂ + t, k − 1)
    for the two largest degrees, each clamped to n − 2, because one edge moves either by
    1 at most.
    """

    size: int
    rays: int

    def __post_init__(self) -> None:
        check_rays(self.rays)
        if self.size <= self.rays:
            raise ArgumentError(
                "vertices", "must be more than k, because a star has k + 1 vertices"
            )

    @property
    def most(self) -> int:
        return self.size * math.comb(self.size - 1, int(self.rays))

    @property
    def global_sensitivity(self) -> int:
        return 2 * math.comb(self.size - 2, int(self.rays) - 1)

    @property
    def farthest(self) -> int:
        return self.size - 1

    def count(self, edges: Edges) -> int:
        vertices = np.bincount(edges.degrees).tolist()
        stars = (many * math.comb(d, int(self.rays)) for d, many in enumerate(vertices))
        return sum(stars)

    def reach(self, edges: Edges) -> int:
        return int(edges.degrees.max())

    def local(self, edges: Edges) -> Callable[[int], int]:
        second, first = np.partition(edges.degrees, -2)[-2:].tolist()
        return lambda t: self._at(first + t) + self._at(second + t)

    def widest(self, reach: int) -> Callable[[int], int]:
        return lambda t: 2 * self._at(reach + t)

    def _at(self, degree: int) -> int:
        return math.comb(min(self.size - 2, degree), int(self.rays) - 1)

    def cells(self, reach: int, rungs: int) -> Cells:
        """Cells of pairs: the second degree is no larger than the first."""
        lows, highs = grid(reach, COARSE)
        first, second = np.tril_indices(lows.size)
        steps = np.arange(rungs - 1)

        def widths(ends: Integers, run: slice) -> Reals:
            grown = ends[:, None] + steps
            ways = self._ways(grown)
            found: Reals = ways[first[run]] + ways[second[run]]
            return found

        return Cells(
            first.size, lambda run: widths(lows, run), lambda run: widths(highs, run)
        )

    def _ways(self, degrees: Integers) -> Reals:
        """C(d, k − 1) of all degrees, clamped to n − 2, to a few last bits."""
        held = np.minimum(degrees, self.size - 2).astype(np.float64)
        ways = np.ones(held.shape)
        for ray in range(int(self.rays) - 1):
            ways *= np.maximum(held - ray, 0) / (ray + 1)
        return ways
