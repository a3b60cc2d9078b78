"""Shares of the nodes of a tree, estimated level by level, made consistent: the nodes
below one make up its share. With it come the variances of leaves and of sums of
leaves from the left.

Each level's estimates have errors of their own. The least squares solution is found in
two passes (Hay et al. 2010, here with any variances and numbers of children).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Leaves", "Tree"]

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Leaves:
    """For each leaf, a sum whose mean is start + share · (the root's share), with
    variance `variance` about that.
    """

    start: Reals
    share: Reals
    variance: Reals


@dataclass(frozen=True)
class Tree:
    """`values` and `variances` of each level's nodes, from the top; a node of a level
    has `branching` ones below it, and the last of them perhaps fewer.
    """

    values: Sequence[Reals]
    variances: Sequence[Reals]
    branching: int
    outside: tuple[float, float] | None = None
    """The share of what is not a number, and its variance; None if all have one."""

    @cached_property
    def _upward(self) -> tuple[list[Reals], list[Reals]]:
        """Each node's share from all that is below it, and the variance of that."""
        values, variances = [self.values[-1]], [self.variances[-1]]
        for own, doubt in zip(self.values[-2::-1], self.variances[-2::-1], strict=True):
            below, spread = self._sums(values[0]), self._sums(variances[0])
            joint = doubt * spread / (doubt + spread)
            values.insert(0, joint * (own / doubt + below / spread))
            variances.insert(0, joint)
        return values, variances

    def _sums(self, children: Reals) -> Reals:
        starts = np.arange(0, len(children), self.branching)
        sums: Reals = np.add.reduceat(children, starts)
        return sums

    @cached_property
    def root(self) -> tuple[float, float]:
        """The share of all numbers together, and its variance."""
        if self.outside is None:
            return 1.0, 0.0
        values, variances = self._upward
        inner, spread = float(values[0].sum()), float(variances[0].sum())
        nothing, doubt = self.outside
        joint = spread * doubt / (spread + doubt)
        return joint * (inner / spread + (1 - nothing) / doubt), joint

    def sums(self) -> Leaves:
        """The shares of each leaf and all before it."""
        return self._followed(before=True)

    def leaves(self) -> Leaves:
        """The share of each leaf."""
        return self._followed(before=False)

    def _followed(self, *, before: bool) -> Leaves:
        """From each leaf up to the root. Given the share of a parent, its children's
        shares are normal variables with a given sum.
        """
        values, variances = self._upward
        count = len(values[-1])
        node = np.arange(count)
        start, share, variance = np.zeros(count), np.ones(count), np.zeros(count)
        for level in range(len(values) - 1, -1, -1):
            parent = node // self.branching if level else np.zeros(count, np.int64)
            value, spread = values[level], variances[level]
            whole, doubt = self._whole(value, level), self._whole(spread, level)
            left, left_doubt = (
                self._left(each, level) if before else np.zeros(len(each))
                for each in (value, spread)
            )
            own = spread[node]
            moved = left_doubt[node] + share * own  # covariance with the parent's share
            start += left[node] + share * value[node]
            start -= moved * whole[parent] / doubt[parent]
            variance += left_doubt[node] + share**2 * own - moved**2 / doubt[parent]
            share, node = moved / doubt[parent], parent
        return Leaves(start, share, np.maximum(variance, 0))

    def _whole(self, each: Reals, level: int) -> Reals:
        return self._sums(each) if level else each.sum(keepdims=True)

    def _left(self, each: Reals, level: int) -> Reals:
        """The sum of the siblings before each node."""
        before = np.cumsum(each) - each
        if not level:
            return before
        first = np.arange(len(each)) // self.branching * self.branching
        left: Reals = before - before[first]
        return left
