"""The interval of a ratio of two noisy sums (Fieller 1954), which needs no union bound
and holds for tiny counts too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive, Gaussian

__all__ = ["Ratio", "reach", "shrunk", "within"]

Reals = NDArray[np.float64]

STEPS = 33
MARGIN = 1.001
"""How much the largest quantile over a grid of ratios is raised, for what lies between
two of its points.
"""


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
        scale = self.mechanism.scale
        most = (reach(self.mechanism, confidence) + _rounding(self.mechanism)) * scale
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


def reach(mechanism: Additive, confidence: float) -> float:
    """How many scales X + r·Y stays within √(1 + r²) of, for every r, where X and Y are
    the noise of two entries before it was rounded.
    """
    if isinstance(mechanism, Gaussian):
        return NormalDist().inv_cdf((1 + confidence) / 2)
    ratios = [step / (STEPS - 1) for step in range(STEPS)]
    found = (_quantile(1 - confidence, r) / math.hypot(1, r) for r in ratios)
    return MARGIN * max(found)


def _rounding(mechanism: Additive) -> float:
    """What rounding the noise to integers adds, in scales: half a step for each
    Gaussian, a whole one at most for each Laplace.
    """
    step = 0.5 if isinstance(mechanism, Gaussian) else 1.0
    return math.sqrt(2) * step / mechanism.scale


def _quantile(tail: float, ratio: float) -> float:
    """Where the tails of X + ratio·Y, Laplace both, hold this probability."""
    low, high = 0.0, 4.0 - 2 * math.log(tail)
    for _ in range(80):
        middle = (low + high) / 2
        inside = _tail(middle, ratio) <= tail
        low, high = (low, middle) if inside else (middle, high)
    return high


def _tail(t: float, ratio: float) -> float:
    """P(|X + ratio·Y| > t) for two independent Laplace variables of scale 1."""
    if ratio == 0:
        return math.exp(-t)
    if ratio == 1:
        return (1 + t / 2) * math.exp(-t)
    square = ratio * ratio
    return (math.exp(-t) - square * math.exp(-t / ratio)) / (1 - square)


def shrunk(noisy: Reals, variance: float, size: int) -> Reals:
    """Noisy counts of one cluster moved towards their mean as far as their spread is
    noise (James & Stein 1961), between 1 and the cluster's size.
    """
    middle = noisy.mean()
    spread = noisy.var() if noisy.size > 1 else 0.0
    kept = max(0.0, 1 - variance / spread) if spread > 0 else 0.0
    moved: Reals = middle + kept * (noisy - middle)
    return np.clip(moved, 1.0, max(size, 1))
