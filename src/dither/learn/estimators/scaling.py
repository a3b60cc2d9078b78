"""`StandardScaler`: columns brought to mean 0 and variance 1, by noisy means and
variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from dither.learn.estimators.base import Fitted, PrivateEstimator
from dither.learn.estimators.boxes import standard_deviation
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.moments import MomentSums
from dither.learn.estimators.spending import Spending
from dither.privacy import Guarantee

__all__ = ["StandardScaler"]


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Columns brought to mean 0 and variance 1, by noisy means and variances:
    `StandardScaler(epsilon=0.5, bounds=(0, 16), budget=account).fit(X)`.

    `mean_`, `var_` and `scale_` are in the units of the data. Where noise is large, they
    are drawn towards those of values that lie evenly between the bounds; a column that
    varies by less than the noise can show is divided by what the noise could hide.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: with x between -1 and 1 in each of d columns, the vector of √d/2, all x and all
    x² - ½ has a squared length of at most 3d/2; of 1, all x and all 2x² - 1 no entry is
    beyond ±1, for which pure noise is made (`Cube`). Both are summed in whole steps
    (docs/proofs/estimators.md).
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
        several_fits: bool = False,
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
        self.several_fits = several_fits

    def _plan(self, declared: Declared, spending: Spending) -> Scaling:
        return Scaling.of(declared, spending)

    def transform(self, X: Any) -> Reals:
        """Rows in units of the noisy deviations."""
        with np.errstate(all="ignore"):  # of values far beyond the bounds
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
        """Choose the kind of noise that is smaller, if either is available."""
        chosen = spending.choose(
            lambda one: standard_deviation(MomentSums(declared, one).noise)
        )
        found = cls(MomentSums(declared, chosen))
        _ = found.sums.noise  # what it refuses is refused before the charge
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.sums.spending.guarantee

    def fit(self, rows: Rows) -> Fitted:
        declared, found = self.sums.declared, self.sums.release(rows)
        mean, variance = found.moderate(EVEN)
        half = declared.span / 2
        means = (declared.low + declared.high) / 2 + mean * half
        spread = variance * half**2
        fitted = {"mean_": means, "var_": spread, "scale_": np.sqrt(spread)}
        return Fitted(fitted | {"n_samples_seen_": round(found.units)}, means)


EVEN = 1 / 3
"""The variance of what lies evenly between -1 and 1."""
