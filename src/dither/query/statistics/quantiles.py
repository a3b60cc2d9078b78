"""From the fitted leaf counts of one group to quantiles, extremes and the distribution
function, with intervals.

Leaves are public points, each value counting at the nearest one. Counts come in whole
steps; only `extreme` needs to know how many of them one row is. All is post-processing
of the tree's noisy sums: many quantiles cost as much as one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.tree import Tree, TreeMechanism
from dither.query.statistics.intervals import (
    ANYWHERE,
    NOTHING,
    Ends,
    Hidden,
    farthest,
    normal,
    one_sided,
)
from dither.query.statistics.totals import Estimate

__all__ = ["Leaves", "cdf", "extreme", "quantile", "rank"]

MOST = 4096
STEPS = 4000
"""Equal steps between the limits of a real; round in decimals, so that many values meet
a point.
"""

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Leaves:
    """The public points low, low + step, low + 2·step, …, the last one held at `high`.

    The leaf of x, as an engine computes it, is held from 0 to count − 1: integers (and
    dates in days, timestamps in microseconds): (x − low + step // 2) // step, all in
    whole numbers; reals: floor((x − low) / step + 0.5).
    """

    low: float
    high: float
    integer: bool

    @property
    def step(self) -> int | float:
        """1 for integers of at most 4096 values; otherwise the width over at most 4095
        (integers) or 4000 (reals).
        """
        if self.integer:
            return max(1, -(-(int(self.high) - int(self.low)) // (MOST - 1)))
        return self.high / STEPS - self.low / STEPS or 1.0

    @property
    def count(self) -> int:
        if not self.high > self.low:
            return 1
        return self._place(self.high) + 1 if self.integer else STEPS + 1

    @property
    def tree(self) -> Tree:
        return Tree(self.count)

    def leaf(self, x: float) -> int:
        """The leaf of a value: the reference for what engines compute."""
        return min(max(self._place(x), 0), self.count - 1)

    def _place(self, x: float) -> int:
        if self.integer:
            return (int(x) - int(self.low) + int(self.step) // 2) // int(self.step)
        return math.floor(
            (min(max(x, self.low), self.high) - self.low) / self.step + 0.5
        )

    def value(self, leaf: int) -> int | float:
        """The point that a leaf stands for."""
        leaf = min(max(leaf, 0), self.count - 1)
        if self.integer:
            return min(int(self.low) + leaf * int(self.step), int(self.high))
        return self.high if leaf == STEPS else self.low + leaf * self.step


@dataclass(frozen=True, eq=False)
class Crossing:
    """The first leaf whose count so far, less share × total count, reaches `least`.

    Fitted counts rise and fall with the noise. They are put in order first
    (Chernozhukov, Fernández-Val & Galichon 2010), so the leaf is the number of those
    that lie below. For the ends they are not: below the first leaf whose figure may
    reach `least`, and above the one after the last whose figure may lie below it, a
    leaf t is the true one only if noise moved the figure at t, or at t − 1, farther
    than it does in half of what the interval may miss. Hidden rows lie anywhere: each
    may raise a figure by 1 − share, or lower it by share.
    """

    leaves: Leaves
    mechanism: TreeMechanism
    counts: Reals
    share: float
    least: float
    hidden: Hidden = NOTHING

    @property
    def measured(self) -> bool:
        return float(self.counts.sum()) > 0

    @property
    def value(self) -> int | float:
        if not self.measured:
            return self.leaves.value(self.leaves.count // 2)
        return self.leaves.value(self._below(self._figures(), self._least()))

    def ends(self, confidence: float) -> Ends:
        if self.hidden.open:
            return ANYWHERE
        if not self.measured:
            return self.leaves.value(0), self.leaves.value(self.leaves.count - 1)
        figures, least = self._figures(), self._least()
        up, down = (
            self._reach(1 - self.share, confidence),
            self._reach(self.share, confidence),
        )
        reached, short = (
            np.flatnonzero(figures + up >= least),
            np.flatnonzero(figures - down < least),
        )
        shown = self._below(figures, least)
        low = min(int(reached[0]) if reached.size else self.leaves.count, shown)
        high = max(int(short[-1]) + 1 if short.size else 0, shown)
        return self.leaves.value(low), self.leaves.value(high)

    def _reach(self, counted: float, confidence: float) -> Reals:
        """How far a figure may be off to one side, to which so much of each hidden row
        counts.
        """
        width = self.mechanism.reach(self.share, confidence)
        if self.hidden.nothing:
            return width
        hidden = counted * normal(confidence) * self.hidden.deviation
        found: Reals = np.hypot(width, hidden) + counted * self.hidden.least
        return found

    def _figures(self) -> Reals:
        upto = np.cumsum(self.counts)
        figures: Reals = upto - self.share * upto[-1]
        return figures

    def _least(self) -> float:
        """Less what floats lose: without noise, counts are whole numbers."""
        return self.least - 1e-6 - 1e-12 * abs(float(self.counts.sum()))

    @staticmethod
    def _below(figures: Reals, least: float) -> int:
        return int(np.count_nonzero(figures < least))


def quantile(
    counts: Reals,
    level: float,
    leaves: Leaves,
    mechanism: TreeMechanism,
    row: int = 1,
    hidden: Hidden = NOTHING,
) -> Estimate:
    """The least point up to which the share `level` of all counts lies; the middle one
    where there are none.
    """
    if not 0 <= level <= 1:
        raise ArgumentError("level", "must lie from 0 to 1, such as 0.5 for the median")
    if level in (0, 1):
        return extreme(counts, leaves, mechanism, row, largest=level == 1)
    crossing = Crossing(leaves, mechanism, counts, float(level), 0.0)
    return Estimate(crossing.value, replace(crossing, hidden=hidden), crossing)


def rank(mechanism: TreeMechanism, row: int = 1, *, largest: bool = False) -> float:
    """How many steps must lie at or beyond an extreme for noise not to pretend them:
    its 95 % error, or half a row.
    """
    return max(mechanism.error(0.95, share=float(largest)), row / 2)


def extreme(
    counts: Reals,
    leaves: Leaves,
    mechanism: TreeMechanism,
    row: int = 1,
    *,
    largest: bool = False,
) -> Estimate:
    """The least (or largest) point at or beyond which `rank` steps lie. The true
    extreme lies from there, as far as noise lets see, up to the limit of all values:
    nothing private can rule out a single row beyond."""
    needed = rank(mechanism, row, largest=largest)
    crossing = Crossing(
        leaves, mechanism, counts, float(largest), -needed if largest else needed
    )
    return Estimate(crossing.value, Beyond(crossing, largest))


@dataclass(frozen=True)
class Beyond:
    """From a crossing outwards. Rows that clipping hides are none that were seen, so
    they change nothing.
    """

    crossing: Crossing
    largest: bool

    def ends(self, confidence: float) -> Ends:
        low, high = self.crossing.ends(one_sided(confidence))
        leaves = self.crossing.leaves
        return (
            (low, leaves.value(leaves.count - 1))
            if self.largest
            else (leaves.value(0), high)
        )


def cdf(counts: Reals, x: float, leaves: Leaves, mechanism: TreeMechanism) -> Estimate:
    """The share of all counts up to and with the leaf of x; one half where there are
    none.
    """
    upto = np.cumsum(counts)
    share = Share(
        float(upto[leaves.leaf(x)]), float(upto[-1]), leaves.leaf(x), mechanism
    )
    return Estimate(share.value, share)


@dataclass(frozen=True)
class Share:
    """A count up to a leaf over the total count. A share p is possible if noise
    explains part − p × total (Fieller).
    """

    part: float
    total: float
    leaf: int
    mechanism: TreeMechanism

    @property
    def value(self) -> float:
        return min(max(self.part / self.total, 0.0), 1.0) if self.total > 0 else 0.5

    def ends(self, confidence: float) -> Ends:
        if self.total <= 0:
            return 0.0, 1.0
        none, half, whole = (
            float(self.mechanism.reach(p, confidence)[self.leaf]) ** 2
            for p in (0.0, 0.5, 1.0)
        )
        bend, slope = 2 * (none + whole) - 4 * half, 4 * half - 3 * none - whole

        def possible(p: float) -> bool:
            return (self.part - p * self.total) ** 2 <= none + p * (slope + p * bend)

        return farthest(possible, self.value, 0.0), farthest(possible, self.value, 1.0)
