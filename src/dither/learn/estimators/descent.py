"""Gradients of a linear classifier, summed exactly: every step from a row to its clipped
gradient is on whole numbers, so one unit moves the sum by no more than its own part.

A row has whole numbers between -STEPS and STEPS, weights are rounded to a public grid
(they are noisy, so that is free), and products of both are exact. e^(-t) comes from a
table. Divisions, roots and roundings are those of IEEE 754, the same wherever a row
stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dither.learn.estimators.data import Reals
from dither.learn.estimators.sums import EXACT, Integers, blocks, shortened
from dither.learn.estimators.sums import lengths as norms

__all__ = ["FINE", "STEPS", "Gradients"]

STEPS = 1 << 10
"""Steps of a standard deviation of a column."""
CUT = 3
"""Columns are clamped to this number of standard deviations."""
FINE = 1 << 14
"""Steps of a probability."""
LARGEST = 64.0
"""Weights are cut to this; a column then moves the odds by e^64 at most."""
TABLE_STEPS, TABLE_END = 1 << 11, 16
"""Number of steps per unit of t in the table of e^(-t), up to this t."""
ONE = 1 << 24
"""Steps of what is looked up."""


@lru_cache(maxsize=1)
def _table() -> Reals:
    t = np.arange(TABLE_STEPS * TABLE_END + 1) / TABLE_STEPS
    found: Reals = np.rint(np.exp(-t) * ONE)
    return found


@dataclass(frozen=True)
class Gradients:
    """Sums of clipped gradients for `columns` columns (with the one for the intercept)
    and `outputs` classes; 1 for two classes. `radius` is what a gradient is clipped to,
    in steps; in L1 where `l1` is set, else in L2.
    """

    columns: int
    outputs: int
    radius: int
    l1: bool = False

    @property
    def sensitivity(self) -> int:
        """Largest change of the sum by one row, in the norm that is clipped. The one
        step more covers the rounding of a product of two roots.
        """
        return self.radius + 1

    @property
    def weight_steps(self) -> int:
        """Steps of a weight: so many that all products with a row add up exactly."""
        room = EXACT // (2 * self.columns * CUT * STEPS * int(LARGEST))
        return min(1 << 20, 1 << (room.bit_length() - 1))

    def rows(self, inputs: Reals, center: Reals, scale: Reals) -> Reals:
        """Shares of bounds in standard deviations from the centre, as whole numbers,
        and one more column for the intercept.
        """
        found = np.empty((len(inputs), self.columns))
        held = found[:, :-1]
        np.multiply(inputs, 2.0, out=held)
        held -= 1.0 + center
        held *= STEPS / scale
        np.maximum(held, -CUT * STEPS, out=held)
        np.minimum(held, CUT * STEPS, out=held)
        np.rint(held, out=held)
        found[:, -1] = STEPS
        return found

    def lengths(self, rows: Reals) -> Reals:
        """The norm of each row."""
        found = np.empty(len(rows))
        for part in blocks(len(rows), 1):
            found[part] = norms(rows[part], self.l1)
        return found

    def grid(self, weights: Reals) -> Reals:
        """Weights as whole numbers."""
        cut = np.clip(np.nan_to_num(weights), -LARGEST, LARGEST)
        return np.rint(cut * self.weight_steps)

    def sums(
        self,
        rows: Reals,
        lengths: Reals,
        targets: NDArray[np.int64],
        counts: Integers,
        weights: Reals,
    ) -> Integers:
        """The sum of clipped gradients at some weights, each times its row's count: a
        row for each class.
        """
        held = self.grid(weights)
        found = np.zeros((self.outputs, self.columns), np.int64)
        most = CUT * STEPS * FINE * (int(counts.max()) if len(counts) else 1)
        for part in blocks(len(rows), most):
            part_rows = rows[part]
            residuals = self.residuals(held @ part_rows.T, targets[part])
            clipped = self.clipped(residuals, lengths[part])
            clipped *= counts[part]
            found += (clipped @ part_rows).astype(np.int64)
        return found

    def residuals(self, scores: Reals, targets: NDArray[np.int64]) -> Reals:
        """Probability less truth, in steps. Scores are exact whole numbers."""
        if self.outputs == 1:
            part = self._looked_up(np.abs(scores))
            shares = np.where(scores > 0, ONE, part) / (ONE + part)
            found: Reals = np.rint(shares * FINE) - FINE * targets
            return found
        parts = self._looked_up(scores.max(axis=0) - scores)
        shares = parts / parts.sum(axis=0)
        found = np.rint(shares * FINE)
        found[targets, np.arange(len(targets))] -= FINE
        return found

    def _looked_up(self, behind: Reals) -> Reals:
        """e^(-t) in steps, for whole numbers t on the grid of scores."""
        scale = TABLE_STEPS / (STEPS * self.weight_steps)  # a power of 2, so exact
        places = np.minimum(behind * scale, TABLE_STEPS * TABLE_END)
        found: Reals = _table()[places.astype(np.intp)]
        return found

    def clipped(self, residuals: Reals, lengths: Reals) -> Reals:
        """Residuals brought down so that no gradient is longer than the radius."""
        both = norms(residuals, self.l1, axis=0) * lengths
        return shortened(residuals, both, self.radius)
