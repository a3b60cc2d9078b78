"""From the fitted leaf counts of one group to quantiles, extremes and the distribution
function, with intervals.

Intervals end on the outer edges of leaves, so they hold the plain answer about the
values themselves. Counts come in whole steps, `row` of which are one row. All is
post-processing of the tree's noisy sums: many quantiles cost as much as one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.tree import TreeMechanism
from dither.query.statistics.intervals import (
    Ends,
    farthest,
    one_sided,
)
from dither.query.statistics.leaves import Leaves, Number
from dither.query.statistics.totals import Estimate

__all__ = ["TOLD", "Lost", "cdf", "extreme", "quantile", "rank"]

TOLD = 10
"""An extreme is shown if noise hides at most one row in this number."""

SMALLEST = 0.1
"""The least part of what an interval may miss that goes to one of two noises."""

Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lost:
    """The fitted counts of what clipping cut off, by leaves, and their noise."""

    counts: Reals
    mechanism: TreeMechanism


@dataclass(frozen=True)
class BothTrees:
    """The noise of two trees whose counts are added up: of what was kept, and of what
    was cut off.
    """

    kept: TreeMechanism
    hidden: TreeMechanism

    def reach(self, share: float, confidence: float) -> Reals:
        """The ± of a figure of both trees. Normal noises add up in squares; each of two
        others gets a part of the error probability (union bound).
        """
        if self.kept.mu is not None:
            found: Reals = np.hypot(
                self.kept.reach(share, confidence), self.hidden.reach(share, confidence)
            )
            return found
        mine, its = (one.noise.law.deviation for one in (self.kept, self.hidden))
        part = min(max(mine / (mine + its), SMALLEST), 1 - SMALLEST)
        missed = 1 - confidence
        return self.kept.reach(share, 1 - part * missed) + self.hidden.reach(
            share, 1 - (1 - part) * missed
        )


@dataclass(frozen=True, eq=False)
class Crossing:
    """The first leaf whose count so far, less share × total count, reaches `least`.

    Fitted counts rise and fall with the noise. They are put in order first
    (Chernozhukov, Fernández-Val & Galichon 2010), so the leaf is the number of those
    that lie below. For the ends they are not. The wanted values lie from the first leaf
    whose true figure reaches `least` − `below` to the first one whose figure reaches
    `least` + `above`. An end misses only if noise moved the figure at its leaf (or, for
    the upper end, at the leaf before) farther than it does in half of what the interval
    may miss.
    """

    leaves: Leaves
    mechanism: TreeMechanism | BothTrees
    counts: Reals
    share: float
    least: float
    below: float = 0.0
    above: float = 0.0

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def leaf(self) -> int:
        """The middle one if nothing was measured."""
        if self.total <= 0:
            return self.leaves.count // 2
        return int(np.count_nonzero(self._figures() < self.least - self._lost))

    @property
    def value(self) -> Number:
        return self.leaves.value(self.leaf)

    def ends(self, confidence: float) -> Ends:
        if self.total <= 0:
            return self.leaves.start(0), self.leaves.end(self.leaves.count - 1)
        figures, shown = self._figures(), self.leaf
        width = self.mechanism.reach(self.share, confidence)
        least = self.least - self.below - self._lost
        most = self.least + self.above + self._lost
        reached = np.flatnonzero(figures + width >= least)
        short = np.flatnonzero(figures - width < most)
        low = min(int(reached[0]) if reached.size else self.leaves.count, shown)
        high = max(int(short[-1]) + 1 if short.size else 0, shown)
        return self.leaves.start(low), self.leaves.end(high)

    def _figures(self) -> Reals:
        upto = np.cumsum(self.counts)
        figures: Reals = upto - self.share * upto[-1]
        return figures

    @property
    def _lost(self) -> float:
        """The rounding error of floats: without noise, counts are whole numbers."""
        return 1e-6 + 1e-12 * abs(self.total)


def quantile(
    counts: Reals,
    level: float,
    leaves: Leaves,
    mechanism: TreeMechanism,
    row: int = 1,
    lost: Lost | None = None,
) -> Estimate:
    """The leaf up to which the share `level` of all counts lies; the middle one if
    there are none.

    The interval holds the quantile of either definition: the first value up to which
    the share lies, and any number between the values at the places ⌊(n − 1) · level⌋ and
    ⌈(n − 1) · level⌉, counted from 0. In rows, the first of these is where the figure
    exceeds −level, the second where it reaches 1 − level; with a level of a / d,
    figures are multiples of 1 / d. What clipping cut off is `lost`: the value is the
    one of what was kept, and the interval is of both together.
    """
    if not 0 <= level <= 1:
        raise ArgumentError("level", "must be from 0 to 1, such as 0.5 for the median")
    if level in (0, 1):
        return extreme(counts, leaves, mechanism, row, largest=level == 1)
    apart = 1 / Fraction(repr(float(level))).denominator
    crossing = Crossing(
        leaves,
        mechanism,
        counts,
        float(level),
        0.0,
        below=(level - apart) * row,
        above=(1 - level - apart) * row,
    )
    if lost is None:
        return Estimate(crossing.value, crossing, crossing)
    both = BothTrees(mechanism, lost.mechanism)
    spread = replace(crossing, mechanism=both, counts=counts + lost.counts)
    return Estimate(crossing.value, spread, crossing)


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
    """The least (or largest) leaf at or beyond which `rank` steps lie. The true extreme
    lies from there, as far as noise lets see, up to the limit of all values: nothing
    private can rule out a single row beyond.

    The value is None if noise hides more than a tenth of the noisy count: a leaf that
    is far from the end of the group would look like an extreme. At least two ranks must
    lie in the group, so a minimum that is shown never exceeds the maximum of the same
    counts.
    """
    needed = rank(mechanism, row, largest=largest)
    hidden = mechanism.error(0.95, share=float(largest))
    crossing = Crossing(
        leaves, mechanism, counts, float(largest), -needed if largest else needed
    )
    told = crossing.total >= max(TOLD * hidden, 2 * needed)
    return Estimate(crossing.value if told else None, Beyond(crossing, largest))


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
            (low, leaves.end(leaves.count - 1))
            if self.largest
            else (leaves.start(0), high)
        )


def cdf(counts: Reals, x: float, leaves: Leaves, mechanism: TreeMechanism) -> Estimate:
    """The share of all counts up to x, with the leaf of x; one half if there are none.

    The interval holds the share of the values that are at most x, wherever in its leaf
    x lies: it reaches from the share before this leaf to the share with it.
    """
    if x < leaves.low or x >= leaves.high:
        known = float(x >= leaves.low)
        return Estimate(known, Known(known))
    leaf, last = leaves.leaf(x), leaves.leaf(x)
    while leaves.end(leaf - 1) >= x and leaf > 0:
        leaf -= 1  # x is so near an edge that either leaf may have counted it
    while leaves.start(last + 1) <= x and last + 1 < leaves.count:
        last += 1
    before = leaf - 1 if x < leaves.end(last) else last
    upto, total = np.cumsum(counts), float(counts.sum())
    low, high = (
        Share(float(upto[at]) if at >= 0 else 0.0, total, at, mechanism)
        for at in (before, last)
    )
    return Estimate(high.value, Between(low, high))


@dataclass(frozen=True)
class Known:
    """A figure that is public."""

    value: float

    def ends(self, confidence: float) -> Ends:  # noqa: ARG002
        return self.value, self.value


@dataclass(frozen=True)
class Between:
    """The interval from the lower end of one share to the upper end of a larger one."""

    low: Share
    high: Share

    def ends(self, confidence: float) -> Ends:
        low, high = self.low.ends(confidence)[0], self.high.ends(confidence)[1]
        return min(low, self.high.value), high


@dataclass(frozen=True)
class Share:
    """A count up to a leaf over the total count; 0 before the first leaf. A share p is
    possible if noise explains part − p × total (Fieller).
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
        if self.leaf < 0:
            return 0.0, 0.0
        none, half, whole = (
            float(self.mechanism.reach(p, confidence)[self.leaf]) ** 2
            for p in (0.0, 0.5, 1.0)
        )
        bend, slope = 2 * (none + whole) - 4 * half, 4 * half - 3 * none - whole

        def possible(p: float) -> bool:
            return (self.part - p * self.total) ** 2 <= none + p * (slope + p * bend)

        return farthest(possible, self.value, 0.0), farthest(possible, self.value, 1.0)
