"""Which nodes of quadtrees are divided: PrivTree of Zhang, Xiao & Xie (2016), in
integers. What it costs does not grow with the depth of the trees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.noise import discrete_laplace
from dither.noise.shapes import LARGEST_SCALE
from dither.privacy.numbers import at_most, float_up
from dither.science.maps.counting import Held
from dither.science.maps.grids import MOST, WIDEST, Grid
from dither.science.maps.outlines import shapely
from dither.science.maps.places import Place
from dither.science.maps.quadtrees import Nodes, Quadtrees, child

__all__ = ["PrivTree"]

Integers = NDArray[np.int64]
Truths = NDArray[np.bool_]

LOSS = Fraction(7, 3)
"""(2β − 1) / (β − 1) for the β = 4 children of a node: what one point adds to the
logarithm of a probability, in parts of the noise's scale.
"""
LOG = Fraction(13_862_943_612, 10**10)
"""A little above ln 4."""


@dataclass(frozen=True)
class PrivTree:
    """Divides a node where its count seems to be above a bar that is higher for each
    level below the roots.

    Guarantee: ε-differential privacy, pure, for the shape of all trees together.
    Why: a
    point lies in one node of each level; the bar rises by λ·ln 4 or more, so the
    log-ratios of its nodes are at most 7/(3λ) together, with the geometric series of
    Zhang, Xiao & Xie (2016) for discrete noise; `points` points one after the other
    lose that many times as much (docs/proofs/science.md).
    Assumes: one unit adds or
    takes away at most `points` points in total.
    """

    epsilon: float
    points: int

    def __post_init__(self) -> None:
        if self.scale > LARGEST_SCALE:
            raise ArgumentError(
                "epsilon",
                "the cost is too small: the noise would not fit into 64-bit integers; pass "
                "a larger epsilon or rho",
            )

    @cached_property
    def scale(self) -> float:
        """λ, of the discrete Laplace noise on each node."""
        return float_up(LOSS * self.points / at_most(self.epsilon))

    @cached_property
    def rise(self) -> int:
        """δ, by how much the bar is higher for each level."""
        return math.ceil(Fraction(self.scale) * LOG)

    def bars(self, counts: Integers, depth: int) -> Integers:
        """What the noise of each node must exceed. It is never above δ: a node with
        few points is divided as rarely as one with none.
        """
        found: Integers = np.minimum(depth * self.rise - counts, self.rise)
        return found

    def grow(self, place: Place, grid: Grid, points: Held) -> Quadtrees:
        """The trees over a public grid. Levels that would make too many cells, or too
        small ones, are left away, which is a function of the trees above them.
        """
        x, y = points.x * grid.across, points.y * grid.up
        node, nodes = grid.cells(*points), Nodes.roots(grid)
        levels: list[Truths] = []
        leaves = grid.size
        while True:
            counts = np.bincount(node, minlength=nodes.root.size)
            divided = self._divided(counts, nodes, place, grid)
            leaves += 3 * int(np.sum(divided))
            if leaves > MOST:
                divided[:] = False
            levels.append(divided)
            if not divided.any():
                return Quadtrees(place, grid, tuple(levels))
            inside = divided[node]
            x, y, node = x[inside], y[inside], node[inside]
            nodes = nodes.children(divided)
            node = child(node, divided, x, y, nodes.depth)

    def _divided(
        self, counts: Integers, nodes: Nodes, place: Place, grid: Grid
    ) -> Truths:
        if nodes.depth == deepest(grid):
            return np.zeros(counts.size, np.bool_)
        noise = discrete_laplace(self.scale, counts.size)
        divided = noise > self.bars(counts, nodes.depth)
        if place.outline is not None:
            # Nothing is counted beyond the public outline, so nothing is divided there.
            shapely().prepare(place.outline)
            boxes = shapely().box(*nodes.pick(divided).borders(grid, place.box))
            divided[divided] = shapely().intersects(place.outline, boxes)
        return divided


def deepest(grid: Grid) -> int:
    """The last level whose columns and rows the raster can tell apart."""
    return (WIDEST // max(grid.across, grid.up)).bit_length() - 1
