"""Which units a step sees: each of them with one probability, by a coin of its own. And at
which places of its parts they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.noise import random_words

__all__ = ["Poisson", "placed"]

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
        """The numbers of the units that are drawn, among the existing ones."""
        if self.threshold == STEPS:
            return np.arange(present)
        return np.flatnonzero(random_words(present) < np.uint32(self.threshold))


def placed(units: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """These units at secret random places of as few parts of this size as hold them; -1 is
    nobody's place.

    How floats are rounded may depend on a row's place. In order, one unit more would move
    all later ones; at random places, theirs have the same law with it and without it.
    """
    count = -(-len(units) // size) * size
    order = np.argsort(random_words(2 * count).view(np.uint64), kind="stable")
    found = np.full(count, -1, np.intp)
    found[order[: len(units)]] = units
    return found
