"""Which units a step sees: each of them with one probability, by a coin of its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.noise import random_words

__all__ = ["Poisson"]

STEPS = 1 << 32


@dataclass(frozen=True)
class Poisson:
    """Poisson sampling with probability `threshold` / 2^32, exactly.

    How many units there are is private, and so is how many are drawn.
    """

    threshold: int

    @classmethod
    def of(cls, batch: int, units: int) -> Poisson:
        """The largest probability that draws at most `batch` of `units` on average."""
        return cls(min(batch * STEPS // units, STEPS))

    @property
    def probability(self) -> Fraction:
        return Fraction(self.threshold, STEPS)

    def draw(self, present: int) -> NDArray[np.intp]:
        """The numbers of the units that are drawn, of those that are there."""
        if self.threshold == STEPS:
            return np.arange(present)
        return np.flatnonzero(random_words(present) < np.uint32(self.threshold))
