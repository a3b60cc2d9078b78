"""Trees that are drawn without looking at rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dither.learn.estimators.data import Reals
from dither.learn.estimators.sums import Integers
from dither.noise import random_words, uniform_integers

__all__ = ["Trees"]

MIDDLE = 0.1
"""How far from either end of a cell a split is at least, as a share of the cell."""
FINE = (1 << 16) - 1
"""Steps of a value between its bounds, which is what splits compare."""
DEEP, FEW = 7, 256
"""Levels that are gone through node by node, and rows for each node that make it pay."""


@dataclass(frozen=True)
class Trees:
    """Complete trees of one depth: a row goes right where the column of a node is above
    its threshold, as a share of the bounds.
    """

    columns: Integers
    thresholds: Reals

    @classmethod
    def drawn(cls, count: int, depth: int, width: int) -> Trees:
        """Each node splits a random column of its cell, at a random place."""
        nodes = (1 << depth) - 1
        columns = uniform_integers(width, (count, nodes))
        words = random_words(count * nodes).reshape(count, nodes)
        places = MIDDLE + (1 - 2 * MIDDLE) * words.astype(np.float64) / 2.0**32
        return cls(columns, _thresholds(columns, places, depth))

    @property
    def depth(self) -> int:
        return int(self.columns.shape[1]).bit_length()

    def __len__(self) -> int:
        return len(self.columns)

    def leaves(self, shares: Reals) -> Iterator[Integers]:
        """The leaf of each row, tree by tree: it depends on that row alone."""
        held = np.ascontiguousarray((shares * FINE).astype(np.uint16).T)
        limits = (self.thresholds * FINE).astype(np.uint16)
        by_node = min(self.depth, DEEP, (len(shares) // FEW).bit_length())
        for columns, ends in zip(self.columns, limits, strict=True):
            node = _by_node(held, columns, ends, by_node)
            for _ in range(by_node, self.depth):
                value = held[columns[node], np.arange(len(shares))]
                node = 2 * node + 1 + (value > ends[node])
            yield node - len(columns)


def _by_node(
    held: NDArray[np.uint16],
    columns: Integers,
    ends: NDArray[np.uint16],
    depth: int,
) -> Integers:
    """The node that each row comes to, where the upper levels are gone through node by
    node: all rows are compared at once, which is fast while nodes are few.
    """
    count = held.shape[1]
    node = np.zeros(count, np.int64)
    there = [np.ones(count, np.bool_)]
    for level in range(depth):
        right = np.zeros(count, np.bool_)
        below: list[NDArray[np.bool_]] = []
        for place, mask in enumerate(there, (1 << level) - 1):
            both = held[columns[place]] > ends[place]
            both &= mask
            right |= both
            below += [mask ^ both, both]
        there = below
        node = 2 * node + 1 + right
    return node


def _thresholds(columns: Integers, places: Reals, depth: int) -> Reals:
    """Thresholds from places within the cell of each node, level by level. A cell ends
    where nodes above split the same column.
    """
    found = np.zeros(places.shape)
    for level in range(depth):
        nodes = np.arange((1 << level) - 1, (2 << level) - 1)
        start, end = np.zeros((2, len(columns), len(nodes)))
        end += 1.0
        below = nodes
        for _ in range(level):
            above = (below - 1) // 2
            same = columns[:, above] == columns[:, nodes]
            split, right = found[:, above], below % 2 == 0
            start = np.where(same & right, np.maximum(start, split), start)
            end = np.where(same & ~right, np.minimum(end, split), end)
            below = above
        found[:, nodes] = start + (end - start) * places[:, nodes]
    return found
