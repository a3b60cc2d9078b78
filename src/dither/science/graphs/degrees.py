"""The degree sequence under edge privacy: sorted, noised, and put in order again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.privacy import epsilon_for_error
from dither.question import Question
from dither.release import Ends
from dither.science.graphs.distribution import DegreeCounts, counts_at_least
from dither.science.graphs.kernels import Edges, scipy
from dither.science.graphs.vertices import Integers

__all__ = ["L1", "L2", "DegreeSequence", "for_degree_error", "in_order", "usable"]

Reals = NDArray[np.float64]
L1, L2 = 2, math.nextafter(math.sqrt(2), 2)
"""An edge raises two degrees by 1, and sorting brings two sequences no farther apart."""
LARGEST = float(1 << 33)
ALONE = 0.5
"""The part of a side's misses that is left to a degree's own noise; windows share the
rest.
"""


def in_order(noisy: Integers, most: int) -> Integers:
    """The falling sequence nearest to the noisy one, in whole numbers from 0 to most."""
    optimize = scipy("optimize")
    fitted = optimize.isotonic_regression(noisy.astype(np.float64), increasing=False).x
    falling: Integers = np.rint(np.clip(fitted, 0, most)).astype(np.int64)
    return falling


def usable(mechanism: Additive) -> Additive:
    """Refuse noise so large that sums of it would not fit 64-bit integers."""
    if mechanism.scale > LARGEST:
        words = (
            "is too small: noise would be larger than any degree; pass a larger cost"
        )
        raise ArgumentError("epsilon", words)
    return mechanism


def for_degree_error(question: Question) -> Question:
    """A wanted ± of each degree as the ε that reaches it: a degree's own noise has half
    of its interval's misses.
    """
    wanted = question.cost.wanted
    if wanted is None:
        return question
    missed = (1 - wanted.confidence) * ALONE
    epsilon = epsilon_for_error(wanted.width, 1 - missed, L1, integer=True)
    return replace(question, cost=Cost(epsilon=epsilon))


def sorted_degrees(edges: Edges) -> Integers:
    """All degrees, the largest first."""
    return np.sort(edges.degrees)[::-1].copy()


@dataclass(frozen=True, eq=False)
class DegreeSequence(DegreeCounts):
    """Where sorted degrees lie, the largest first, by their noisy values.

    A degree is at most the mean of those before it and at least the mean of those after
    it, and the noise of a mean of many is small. Windows of 1, 2, 4, … degrees are
    tried, and share the misses.
    """

    noisy: Integers
    value: Integers
    mechanism: Additive

    @classmethod
    def of(cls, edges: Edges, mechanism: Additive) -> DegreeSequence:
        noisy = mechanism.release(sorted_degrees(edges))
        return cls(noisy, in_order(noisy, edges.count - 1), mechanism)

    @property
    def size(self) -> int:
        return int(self.noisy.size)

    def ends(self, confidence: float) -> Ends:
        """Of each degree by itself."""
        low, high = self._ends((1 - confidence) / 2)
        return np.minimum(low, self.value), np.maximum(high, self.value)

    def at_least(self) -> Integers:
        return counts_at_least(self.value, int(self.value[0]))

    def at_least_ends(self, confidence: float) -> Ends:
        low, high = self._ends((1 - confidence) / 2 / self.size)
        top = int(self.value[0])
        counts = self.at_least()
        # a falling sequence is at most its least bound so far, and at least the
        # greatest one that follows
        fewest = counts_at_least(np.maximum.accumulate(low[::-1]), top)
        most = counts_at_least(np.minimum.accumulate(high), top)
        return np.minimum(fewest, counts), np.maximum(most, counts)

    def histogram(self) -> Integers:
        return -np.diff(self.at_least(), append=0)

    def histogram_ends(self, confidence: float) -> Ends:
        """A count is what is left between two that are held at once."""
        low, high = self.at_least_ends(confidence)
        # of degrees beyond those shown, as many as are left may be there
        next_low, next_high = np.append(low[1:], 0), np.append(high[1:], high[-1])
        return np.maximum(low - next_high, 0), high - next_low

    def _ends(self, missed: float) -> tuple[Integers, Integers]:
        """Each end fails with probability `missed` at most."""
        low, high = np.zeros(self.size), np.full(self.size, self.size - 1.0)
        sums = np.concatenate([[0], np.cumsum(self.noisy)])
        for width, margin in _margins(self.mechanism, self.size, missed):
            means = (sums[width:] - sums[:-width]) / width
            high[width - 1 :] = np.minimum(high[width - 1 :], means + margin)
            starts = low[: means.size]
            low[: means.size] = np.maximum(starts, means - margin)
        # the truth is whole; floats of means are off by far less than this
        return (
            np.ceil(low - 1e-6).astype(np.int64),
            np.floor(high + 1e-6).astype(np.int64),
        )


@lru_cache(maxsize=64)
def _margins(
    mechanism: Additive, size: int, missed: float
) -> tuple[tuple[int, float], ...]:
    """Widths of windows, and how far the mean of their noise goes."""
    windows = [
        1 << power for power in range(1, size.bit_length()) if 1 << power <= size
    ]
    own = missed * ALONE if windows else missed
    each = missed * (1 - ALONE) / max(1, len(windows))
    law = mechanism.law
    alone = (1, law.quantile(own))
    means = ((width, law.copies(width).quantile(each) / width) for width in windows)
    return alone, *means
