"""How far off a fitted count may be: a sum of independent noises of known variance.

Gaussian noise that is rounded lies on whole numbers, so that half a person is added to
what a normal law says. Sums of Laplace noise have longer tails than a normal law of the
same variance; none has a longer one than a single Laplace noise where that matters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from dither.release import Ends

__all__ = ["Fitted", "times"]

HALF = 0.5
MIXED = 1.02
"""More than what a sum of a few Laplace noises can exceed both laws by, for the same
variance (tested).
"""


def times(confidence: float, gaussian: bool) -> float:
    """How many standard deviations an interval reaches to each side."""
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    if gaussian:
        return normal
    return MIXED * max(normal, -math.log(1 - confidence) / math.sqrt(2))


@dataclass(frozen=True, eq=False)
class Fitted:
    """Where true counts lie: around fitted ones with known standard errors, and never
    below zero. What is exact (no error) is where it is, and `shown` are values that an
    interval must hold beside.
    """

    value: Any
    error: Any
    gaussian: bool = True
    shown: Any = None

    def ends(self, confidence: float) -> Ends:
        error = np.asarray(self.error, np.float64)
        width = times(confidence, self.gaussian) * error + HALF * (error > 0)
        low = np.maximum(self.value - width, 0.0)
        high = np.maximum(self.value + width, 0.0)
        if self.shown is None:
            return low, high
        return np.minimum(low, self.shown), np.maximum(high, self.shown)
