"""The counts of a map from noisy ones: those of a grid's cells, and those of their
parts, made to agree.

Both are measured with noise that has nothing to do with how the cells were divided, so
the errors of the fitted counts are known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.noise import Law

__all__ = ["CellSpread", "Noises", "SumSpread", "fitted", "whole_ends"]

ROUNDED = 1e-6
"""More than what floats make of a whole number on the way."""

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Noises:
    """The noise of a map: on the cells of the first grid (None if it was not counted),
    and on their parts.
    """

    first: Law | None
    parts: Law

    def weight(self, siblings: Any) -> Any:
        """How much of a cell's count comes from its own figure rather than from those
        of its parts: inverse variances.
        """
        if self.first is None:
            return 0.0 * siblings
        below = siblings * self.parts.variance
        # Without any noise both figures are the same.
        return (below + 1e-300) / (self.first.variance + below + 2e-300)

    def of_sum(self, siblings: int, chosen: int, times: int = 1) -> Law:
        """The noise in the sum of `chosen` of a cell's `siblings`, `times` of such sums
        together.
        """
        share = chosen * float(self.weight(siblings)) / siblings
        own = (1 - share) * self.parts.copies(chosen * times)
        rest = share * self.parts.copies((siblings - chosen) * times)
        above = Law() if self.first is None else share * self.first.copies(times)
        return own + rest + above


def fitted(first: Integers, parts: Integers, parent: Integers, noises: Noises) -> Reals:
    """The parts' counts that fit both best, in least squares."""
    siblings = np.bincount(parent, minlength=first.size)
    below = np.bincount(parent, parts, minlength=first.size)
    share = noises.weight(siblings) / np.maximum(siblings, 1)
    found: Reals = parts + (share * (first - below))[parent]
    return found


def whole_ends(low: Any, high: Any) -> tuple[Any, Any]:
    """The whole numbers between two ends, which hold a count if these do. None is below
    0, and a count is never said to be certainly 0: strongly negative noise is not a
    sign of that.
    """
    first, last = (
        np.ceil(np.asarray(low) - ROUNDED),
        np.floor(np.asarray(high) + ROUNDED),
    )
    none = first > last  # rarely, and then both ends miss
    first, last = (
        np.where(none, np.floor(low), first),
        np.where(none, np.ceil(high), last),
    )
    return np.maximum(first, 0.0), np.maximum(last, 1.0)


@dataclass(frozen=True, eq=False)
class CellSpread:
    """Where the count of each cell lies: around its figure, and not below 0."""

    value: Any
    siblings: Integers
    noises: Noises

    def ends(self, confidence: float) -> tuple[Any, Any]:
        width = self.reaches(confidence)
        return whole_ends(self.value - width, self.value + width)

    def reaches(self, confidence: float) -> Reals:
        """The ± of each cell."""
        kinds, which = np.unique(self.siblings, return_inverse=True)
        found = [self._noise(int(n)).reach(confidence) for n in kinds]
        return np.array(found)[which]

    def _noise(self, siblings: int) -> Law:
        return self.noises.of_sum(siblings, 1)


@dataclass(frozen=True, eq=False)
class SumSpread(CellSpread):
    """The same for sums of all siblings."""

    def _noise(self, siblings: int) -> Law:
        return self.noises.of_sum(siblings, siblings)
