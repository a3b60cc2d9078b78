"""Where frequencies lie: the intervals of noisy sums over noisy or declared calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.science.genomes.ratios import Ratio, within

__all__ = ["Bounded", "Counted"]

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Counted:
    """Where frequencies lie, from the ratio of a noisy sum and noisy calls."""

    ratio: Ratio

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        low, high = self.ratio.ends(confidence)
        return (1 + low) / 2, (1 + high) / 2


@dataclass(frozen=True)
class Bounded:
    """Where frequencies lie, if at least a declared share of each cluster was called."""

    sums: Reals
    sizes: Reals
    least: float
    mechanism: Additive

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        width = self.mechanism.error(confidence, integer=True)
        low, high = self.sums - width, self.sums + width
        # fewer people called make a ratio larger, in whichever direction it points
        fewest = np.maximum(np.ceil(self.sizes * self.least * (1 - 1e-12)), 1)
        lowest = np.minimum(low / fewest, low / self.sizes)
        highest = np.maximum(high / fewest, high / self.sizes)
        low, high = within(lowest, highest)
        return (1 + low) / 2, (1 + high) / 2
