"""The interval of a ratio of two noisy sums (Fieller 1954), which needs no union bound
and holds for tiny counts too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive

__all__ = ["Ratio", "shrunk", "within"]

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Ratio:
    """Ratios between -1 and 1 of a noisy sum and a noisy count.

    `sums` and `counts` carry noise of one mechanism on integers, in steps of 1 /
    `weights`. Whatever the true ratio is, (sum - ratio·count) has noise of a known law
    around 0, and the interval holds every ratio for which that noise is not too large.
    """

    sums: Reals
    counts: Reals
    mechanism: Additive
    weights: tuple[int, int]

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        most = self.mechanism.law.pair_reach(confidence)
        above, below = (most / weight for weight in self.weights)
        square = self.counts**2 - below**2
        cross = self.sums * self.counts
        rest = self.sums**2 - above**2
        with np.errstate(all="ignore"):
            root = np.sqrt(np.maximum(cross**2 - square * rest, 0.0))
            low, high = (cross - root) / square, (cross + root) / square
        # a count that may be zero says nothing about the ratio
        known = square > 0
        return within(np.where(known, low, -1.0), np.where(known, high, 1.0))


def within(low: Reals, high: Reals) -> tuple[Reals, Reals]:
    """Ends cut to between -1 and 1. What lies beyond is no reason to print an interval
    without a width: half of it stays.
    """
    half = (high - low) / 2
    cut_low, cut_high = np.minimum(low, 1 - half), np.maximum(high, half - 1)
    return np.clip(cut_low, -1, 1), np.clip(cut_high, -1, 1)


def shrunk(noisy: Reals, variance: float, size: int) -> Reals:
    """Noisy counts of one cluster shrunk towards their mean as far as their spread is
    noise (James & Stein 1961), between 1 and the cluster's size.
    """
    middle = noisy.mean()
    spread = noisy.var() if noisy.size > 1 else 0.0
    kept = max(0.0, 1 - variance / spread) if spread > 0 else 0.0
    moved: Reals = middle + kept * (noisy - middle)
    return np.clip(moved, 1.0, max(size, 1))
