"""`StandardScaler`: columns brought to mean 0 and variance 1, by noisy means and
variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from dither.learn.estimators.base import Fitted, PrivateEstimator
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.moments import MomentSums
from dither.learn.estimators.spending import Spending
from dither.privacy import Guarantee

__all__ = ["StandardScaler"]


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Columns brought to mean 0 and variance 1, by noisy means and variances:
    `StandardScaler(epsilon=0.5, bounds=(0, 16), budget=account).fit(X)`.

    `mean_`, `var_` and `scale_` are in the units of the data. A column that varies by
    less than the noise can show is divided by what the noise could hide.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: with u between -1 and 1 in each of d columns, the vector of all u, all u² - ½
    and a count weighted √d/2 has a squared length of at most 3d/2, and absolute values
    that add up to at most 3d/2 + √d/2; it is summed in whole steps.
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
    """One release of noisy moments."""

    sums: MomentSums

    @classmethod
    def of(cls, declared: Declared, spending: Spending) -> Scaling:
        plain = MomentSums(declared, spending)
        found = cls(MomentSums(declared, spending.better(*plain.sensitivities)))
        _ = found.sums.noise  # what it refuses is refused before the charge
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.sums.spending.guarantee

    def fit(self, rows: Rows) -> Fitted:
        declared, found = self.sums.declared, self.sums.release(rows)
        # what noise on the squares can hide is no variance
        variance = np.clip(found.variance, min(found.error, 1.0), 1.0)
        half = declared.span / 2
        means = (declared.low + declared.high) / 2 + found.mean * half
        spread = variance * half**2
        fitted = {"mean_": means, "var_": spread, "scale_": np.sqrt(spread)}
        return Fitted(fitted | {"n_samples_seen_": round(found.units)}, means)
