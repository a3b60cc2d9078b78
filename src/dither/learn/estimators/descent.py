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
from dither.learn.estimators.sums import EXACT, Integers, blocks

__all__ = ["FINE", "STEPS", "Gradients"]

STEPS = 1 << 12
"""Steps of a deviation of a column."""
CUT = 3
"""Columns are cut to so many deviations."""
FINE = 1 << 16
"""Steps of a probability."""
LARGEST = 64.0
"""Weights are cut to this; a column then moves the odds by e^64 at most."""
TABLE_STEPS, TABLE_END = 1 << 11, 16
"""e^(-t) is looked up in so many steps for each unit of t, up to this t."""
SAFE = 1 - 2.0**-40
"""More than what rounding of a few float operations can add."""


@lru_cache(maxsize=1)
def _table() -> Reals:
    t = np.arange(TABLE_STEPS * TABLE_END + 1) / TABLE_STEPS
    return np.rint(np.exp(-t) * (1 << 24))


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
        """How far one row moves the sum, in the norm that is clipped. The one step more
        covers the rounding of a product of two roots.
        """
        return self.radius + 1

    @property
    def weight_steps(self) -> int:
        """Steps of a weight: so many that all products with a row add up exactly."""
        room = EXACT // (2 * self.columns * CUT * STEPS * int(LARGEST))
        return min(1 << 20, 1 << (room.bit_length() - 1))

    def rows(self, inputs: Reals, center: Reals, scale: Reals) -> Reals:
        """Shares of bounds in deviations from the centre, as whole numbers, and one more
        column for the intercept.
        """
        found = np.empty((len(inputs), self.columns))
        held = found[:, :-1]
        np.multiply(inputs, 2.0, out=held)
        held -= 1.0 + center
        held *= STEPS / scale
        np.clip(held, -CUT * STEPS, CUT * STEPS, out=held)
        np.rint(held, out=held)
        found[:, -1] = STEPS
        return found

    def lengths(self, rows: Reals) -> Reals:
        """The norm of each row."""
        if self.l1:
            return np.asarray(np.abs(rows).sum(axis=1))
        return np.sqrt(np.einsum("ij,ij->i", rows, rows))

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
        """The sum of clipped gradients at some weights, each times its row's count."""
        held = self.grid(weights)
        found = np.zeros((self.columns, self.outputs), np.int64)
        most = CUT * STEPS * FINE * (int(counts.max()) if len(counts) else 1)
        for part in blocks(len(rows), most):
            part_rows = rows[part]
            residuals = self.residuals(part_rows @ held, targets[part])
            clipped = self.clipped(residuals, lengths[part])
            clipped *= counts[part][:, None]
            found += (part_rows.T @ clipped).astype(np.int64)
        return found

    def residuals(self, scores: Reals, targets: NDArray[np.int64]) -> Reals:
        """Probability less truth, in steps; scores are exact whole numbers."""
        scale = STEPS * self.weight_steps // TABLE_STEPS
        end = TABLE_STEPS * TABLE_END
        if self.outputs == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        behind = scores.max(axis=1, keepdims=True) - scores
        places = np.minimum(np.floor(behind / scale), end).astype(np.intp)
        parts = _table()[places]
        shares = parts / parts.sum(axis=1, keepdims=True)
        found = np.rint(shares * FINE)
        found[np.arange(len(targets)), targets] -= FINE
        return found[:, 1:] if self.outputs == 1 else found

    def clipped(self, residuals: Reals, lengths: Reals) -> Reals:
        """Residuals brought down so that no gradient is longer than the radius."""
        if self.l1:
            own = np.abs(residuals).sum(axis=1)
        else:
            own = np.sqrt(np.einsum("ij,ij->i", residuals, residuals))
        both = own * lengths
        factor = np.full(len(both), 1.0)
        long = both > self.radius
        factor[long] = self.radius / both[long] * SAFE
        return np.trunc(residuals * factor[:, None])

