"""Trees that are drawn without looking at rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dither.learn.estimators.data import Reals
from dither.learn.estimators.sums import Integers
from dither.noise import random_words, uniform_integers

__all__ = ["Trees"]

MIDDLE = 0.1
"""How far from either end of a cell a split is at least, as a share of the cell."""


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
        thresholds = np.zeros((count, nodes))
        for tree in range(count):
            _split(columns[tree], places[tree], thresholds[tree], width)
        return cls(columns, thresholds)

    @property
    def depth(self) -> int:
        return int(self.columns.shape[1]).bit_length()

    def __len__(self) -> int:
        return len(self.columns)

    def leaves(self, shares: Reals) -> Integers:
        """The leaf of each row, for each tree: it depends on that row alone."""
        found = np.empty((len(self), len(shares)), np.int64)
        order = np.arange(len(shares))
        for tree in range(len(self)):
            node = np.zeros(len(shares), np.int64)
            for _ in range(self.depth):
                value = shares[order, self.columns[tree][node]]
                node = 2 * node + 1 + (value > self.thresholds[tree][node])
            found[tree] = node - self.columns.shape[1]
        return found


def _split(columns: Integers, places: Reals, thresholds: Reals, width: int) -> None:
    """Thresholds from places within the cell of each node."""
    low, high = np.zeros((len(columns), width)), np.ones((len(columns), width))
    for node in range(len(columns)):
        column = columns[node]
        start, end = low[node, column], high[node, column]
        thresholds[node] = start + (end - start) * places[node]
        for child in (2 * node + 1, 2 * node + 2):
            if child < len(columns):
                low[child], high[child] = low[node], high[node]
                ends = high if child % 2 else low  # odd children are the left ones
                ends[child, column] = thresholds[node]
