"""How many units there are, and how each column is spread between its bounds: one noised
vector, which a scaler releases and other fits begin with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers, blocks, total
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance, root_up
from dither.privacy.numbers import float_up

__all__ = ["MomentSums", "Moments"]

STEPS = 1 << 16
"""Steps from the middle of the bounds to either."""


@dataclass(frozen=True)
class Moments:
    """Noisy means and variances of columns that go from -1 to 1 between their bounds;
    `error` is the standard deviation of the noise on either.
    """

    units: float
    mean: Reals
    variance: Reals
    error: float


@dataclass(frozen=True)
class MomentSums:
    """The noised vector. With u between -1 and 1 in each of d columns, a unit has all u,
    all u² - ½, and a count weighted √d/2: a squared length of at most 3d/2, as u² + (u²
    - ½)² is largest at the bounds; and absolute values that add up to at most 3d/2 +
    √d/2.
    """

    declared: Declared
    spending: Spending
    steps: int = STEPS

    @cached_property
    def count_weight(self) -> int:
        """What a unit adds to the count: half of the root of the number of columns."""
        return math.isqrt(self.declared.width * self.steps**2) // 2

    @property
    def sensitivities(self) -> tuple[float, float]:
        """How far one unit moves the vector, in L1 and L2."""
        columns, steps, count = self.declared.width, self.steps, self.count_weight
        whole = self.declared.whole
        l1 = whole * (columns * steps * 3 // 2 + count)
        square = whole**2 * (columns * steps**2 * 5 // 4 + count**2)
        return float(l1), float_up(root_up(square))

    @cached_property
    def noise(self) -> Additive:
        return self.spending.noise(*self.sensitivities)

    def vectors(self, inputs: Reals) -> Reals:
        """What each row adds, in whole steps."""
        moved = np.rint((2 * inputs - 1) * self.steps)
        squares = np.rint(moved * moved / self.steps - self.steps / 2)
        count = np.full((len(inputs), 1), float(self.count_weight))
        return np.hstack([count, moved, squares])

    def exact(self, rows: Rows) -> Integers:
        most = self.declared.whole * max(self.steps, self.count_weight)
        found = np.zeros(2 * self.declared.width + 1, np.int64)
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
        square = noisy[columns + 1 :] / one / units + 0.5
        error = math.sqrt(noise_variance(self.noise)) / one / units
        return Moments(units, mean, square - mean**2, error)
