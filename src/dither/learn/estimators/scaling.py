"""`StandardScaler`: columns brought to mean 0 and variance 1, by noisy means and
variances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from dither.learn.estimators.base import Fitted, PrivateEstimator
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers, total
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance, root_up
from dither.privacy import Guarantee
from dither.privacy.numbers import float_up

__all__ = ["StandardScaler"]

STEPS = 1 << 16
"""Steps from the middle of the bounds to either."""


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Columns brought to mean 0 and variance 1, by noisy means and variances:
    `StandardScaler(epsilon=0.5, bounds=(0, 16), budget=account).fit(X)`.

    `mean_`, `var_` and `scale_` are in the units of the data. A column that varies by
    less than the noise can show is divided by what the noise could hide.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: with u between -1 and 1 in each of d columns, the vector of all u, all u² - ½
    and a count weighted √d/2 has a squared length of at most 3d/2, and absolute values
    that add up to at most 3d/2 + √d/2, rounded up; it is summed in whole steps.
    Assumes: bounds are public, not read off the data.
    """

    _what = "scaling"

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        bounds: Any = None,
        units: int | None = None,
        rows: int | None = None,
        budget: Any = None,
        by: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.rho = rho
        self.share = share
        self.delta = delta
        self.bounds = bounds
        self.units = units
        self.rows = rows
        self.budget = budget
        self.by = by

    def _plan(self, declared: Declared, spending: Spending) -> Scaling:
        return Scaling.of(declared, spending)

    def transform(self, X: Any) -> Reals:
        """Rows in units of the noisy deviations."""
        found: Reals = (self._read(X) - self.mean_) / self.scale_
        return found

    def inverse_transform(self, X: Any) -> Reals:
        """Rows in the units of the data."""
        found: Reals = np.asarray(X, np.float64) * self.scale_ + self.mean_
        return found

    @property
    def output_bounds_(self) -> Reals:
        """The bounds after scaling: public, as means and deviations are released."""
        ends = np.stack([self.declared_.low, self.declared_.high])
        found: Reals = ((ends - self.mean_) / self.scale_).T
        return found


@dataclass(frozen=True)
class Scaling:
    """The noised vector: a count, and of each column its sum and its sum of squares."""

    declared: Declared
    spending: Spending
    steps: int = STEPS

    @classmethod
    def of(cls, declared: Declared, spending: Spending) -> Scaling:
        plain = cls(declared, spending)
        found = cls(declared, spending.better(*plain.sensitivities))
        _ = found.noise  # what it refuses is refused before the charge
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

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
        return total(self.vectors(rows.inputs), rows.weights, most)

    def fit(self, rows: Rows) -> Fitted:
        return self.read(self.noise.release(self.exact(rows)))

    def read(self, noisy: Integers) -> Fitted:
        """Means and variances from the noisy vector."""
        columns, one = self.declared.width, self.declared.whole * self.steps
        weight = self.declared.whole * self.count_weight
        units = max(float(noisy[0]) / weight, 1.0)
        mean = np.clip(noisy[1 : columns + 1] / one / units, -1.0, 1.0)
        square = noisy[columns + 1 :] / one / units + 0.5
        # what noise on the squares can hide is no variance
        least = min(math.sqrt(noise_variance(self.noise)) / one / units, 1.0)
        variance = np.clip(square - mean**2, least, 1.0)
        half = self.declared.span / 2
        middle = (self.declared.low + self.declared.high) / 2
        means, spread = middle + mean * half, variance * half**2
        found = {"mean_": means, "var_": spread, "scale_": np.sqrt(spread)}
        return Fitted(found | {"n_samples_seen_": round(units)}, means)
