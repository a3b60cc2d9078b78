"""A partition of a public box into the leaves of quadtrees: each cell of a grid is the
root of one, and a node that is divided has four children.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.science.maps.grids import BITS, Cells, Grid
from dither.science.maps.places import Box

__all__ = ["Nodes", "Quadtrees", "child"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Truths = NDArray[np.bool_]


class Nodes(NamedTuple):
    """The nodes of one level: columns and rows of that level, and their roots."""

    depth: int
    column: Integers
    row: Integers
    root: Integers

    @classmethod
    def roots(cls, grid: Grid) -> Nodes:
        root = np.arange(grid.size)
        row, column = np.divmod(root, grid.across)
        return cls(0, column, row, root)

    def children(self, divided: Truths) -> Nodes:
        """The level below: four nodes for each one that is divided."""
        parent = np.repeat(np.flatnonzero(divided), 4)
        up, right = np.divmod(np.arange(parent.size) % 4, 2)
        column, row = 2 * self.column[parent] + right, 2 * self.row[parent] + up
        return Nodes(self.depth + 1, column, row, self.root[parent])

    def pick(self, chosen: Truths) -> Nodes:
        return Nodes(self.depth, *(one[chosen] for one in self[1:]))

    def borders(self, grid: Grid, box: Box) -> tuple[Reals, Reals, Reals, Reals]:
        """West, south, east and north: the same float for all that share a border."""
        columns, rows = grid.across << self.depth, grid.up << self.depth
        west, east = (
            box.west + box.width * ((self.column + end) / columns) for end in (0, 1)
        )
        south, north = (
            box.south + box.height * ((self.row + end) / rows) for end in (0, 1)
        )
        return west, south, east, north


def child(
    node: Integers, divided: Truths, x: Integers, y: Integers, depth: int
) -> Integers:
    """The node of a level that places lie in, from their divided nodes of the level
    above. `x` and `y` are places of the raster times columns and rows of the grid.
    """
    first = 4 * (np.cumsum(divided) - 1)
    shift = BITS - depth
    found: Integers = first[node] + 2 * ((y >> shift) & 1) + ((x >> shift) & 1)
    return found


@dataclass(frozen=True, eq=False)
class Quadtrees(Cells):
    """The leaves of the trees. `divided` says, level by level, which nodes have
    children; of the last level none has.
    """

    divided: tuple[Truths, ...]

    def cut(self, most: int) -> Quadtrees:
        """The trees down to the last level of at most so many columns and rows."""
        widest = max(self.grid.across, self.grid.up)
        level = max((most // widest).bit_length() - 1, 0)
        if level >= len(self.divided) - 1:
            return self
        last = np.zeros_like(self.divided[level])
        return replace(self, divided=(*self.divided[:level], last))

    def _leaves(self) -> Iterator[Nodes]:
        """The leaves of each level."""
        nodes = Nodes.roots(self.grid)
        for divided in self.divided:
            yield nodes.pick(~divided)
            nodes = nodes.children(divided)

    @cached_property
    def _order(self) -> tuple[Integers, Integers]:
        """The root of each leaf, and which leaf is which part: those of a root follow
        each other.
        """
        root = np.concatenate([leaves.root for leaves in self._leaves()])
        order = np.argsort(root, kind="stable")
        return root[order], order

    @cached_property
    def begins(self) -> Integers:
        return np.searchsorted(self._order[0], np.arange(self.grid.size + 1))

    @cached_property
    def _parts(self) -> list[Integers]:
        """The part that each node is, level by level, where it is a leaf."""
        order = self._order[1]
        part = np.empty(order.size, np.int64)
        part[order] = np.arange(order.size)
        found, seen = [], 0
        for divided in self.divided:
            found.append(np.full(divided.size, -1))
            leaves = int(np.sum(~divided))
            found[-1][~divided] = part[seen : seen + leaves]
            seen += leaves
        return found

    def parts(self, x: Integers, y: Integers) -> Integers:
        node, rest = self.grid.cells(x, y), np.arange(x.size)
        right, high = x * self.grid.across, y * self.grid.up
        found = np.empty(x.size, np.int64)
        for depth, (divided, part) in enumerate(
            zip(self.divided, self._parts, strict=True)
        ):
            found[rest] = part[node]
            inside = divided[node]
            rest, node = rest[inside], node[inside]
            node = child(node, divided, right[rest], high[rest], depth + 1)
        return found

    @cached_property
    def _all(self) -> tuple[Integers, tuple[Reals, Reals, Reals, Reals]]:
        root, order = self._order
        levels = [
            leaves.borders(self.grid, self.place.box) for leaves in self._leaves()
        ]
        west, south, east, north = (
            np.concatenate(side)[order] for side in zip(*levels, strict=True)
        )
        return root, (west, south, east, north)
