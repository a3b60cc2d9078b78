"""Number of units, and how each column is spread between its bounds: one noised vector,
which a scaler releases and other fits begin with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.learn.estimators.boxes import standard_deviation
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers, blocks, total
from dither.mechanisms import Cube, Gaussian
from dither.mechanisms.sums import root_up
from dither.privacy.numbers import float_up

__all__ = ["MomentSums", "Moments"]

STEPS = 1 << 16
"""Steps from the middle of the bounds to either."""
BLUR = 0.1
"""The variance of means that is usual, where bounds are -1 and 1."""


@dataclass(frozen=True)
class Moments:
    """Noisy means and variances of columns that go from -1 to 1 between their bounds;
    `error` is the standard deviation of the noise on either.
    """

    units: float
    mean: Reals
    variance: Reals
    error: float

    @property
    def trust(self) -> float:
        """How much of what is seen is not noise: between 0 and 1."""
        return BLUR / (BLUR + self.error**2)

    def moderate(self, usual: float) -> tuple[Reals, Reals]:
        """Means and variances shrunk towards the middle of the bounds and a usual
        variance, by as much as noise blurs them. What noise can hide is not a variance.
        """
        seen = np.clip(self.variance, 0.0, 1.0)
        drawn = seen * self.trust + usual * (1 - self.trust)
        return self.mean * self.trust, np.clip(drawn, min(self.error, usual), 1.0)


@dataclass(frozen=True)
class MomentSums:
    """The noised vector: a count, and of each of d columns a sum and one of squares,
    with x between -1 and 1.

    Under Gaussian noise a unit has √d/2, all x and all x² - ½: a squared length of at
    most 3d/2, as x² + (x² - ½)² is largest at the bounds. Under pure noise it has 1, all
    x and all 2x² - 1, none of them beyond ±1.
    """

    declared: Declared
    spending: Spending
    steps: int = STEPS

    @property
    def size(self) -> int:
        return 2 * self.declared.width + 1

    @property
    def count_weight(self) -> int:
        """What a unit adds to the count, in steps."""
        if not self.spending.gaussian:
            return self.steps
        return math.isqrt(self.declared.width * self.steps**2) // 2

    @property
    def bend(self) -> int:
        """What squares are multiplied with."""
        return 1 if self.spending.gaussian else 2

    @cached_property
    def noise(self) -> Cube | Gaussian:
        spending, whole, unit = self.spending, self.declared.whole, self.spending.unit
        if spending.mu is None:
            one, epsilon = float(whole * self.steps), spending.epsilon or 0.0
            return Cube(sensitivity=one, dims=self.size, epsilon=epsilon, unit=unit)
        columns = self.declared.width * self.steps**2 * 5 // 4
        square = whole**2 * (columns + self.count_weight**2)
        moved = float_up(root_up(square))
        found = Gaussian(sensitivity=moved, mu=spending.mu, unit=unit)
        _ = found.integer_scale  # refused where 64 bits are too few
        return found

    def vectors(self, inputs: Reals) -> Reals:
        """What each row adds, in whole steps."""
        moved = np.rint((2 * inputs - 1) * self.steps)
        squares = np.rint(self.bend * (moved * moved / self.steps - self.steps / 2))
        count = np.full((len(inputs), 1), float(self.count_weight))
        return np.hstack([count, moved, squares])

    def exact(self, rows: Rows) -> Integers:
        most = self.declared.whole * max(self.steps, self.count_weight)
        found = np.zeros(self.size, np.int64)
        for part in blocks(len(rows), most):
            found += total(self.vectors(rows.inputs[part]), rows.weights[part], most)
        return found

    def release(self, rows: Rows) -> Moments:
        """Noisy moments."""
        return self.read(self.noise.release(self.exact(rows)))

    def read(self, noisy: Integers) -> Moments:
        columns, one = self.declared.width, self.declared.whole * self.steps
        weight = self.declared.whole * self.count_weight
        units = max(float(noisy[0]) / weight, 1.0)
        mean = np.clip(noisy[1 : columns + 1] / one / units, -1.0, 1.0)
        square = noisy[columns + 1 :] / one / self.bend / units + 0.5
        error = standard_deviation(self.noise) / one / units
        return Moments(units, mean, square - mean**2, error)
