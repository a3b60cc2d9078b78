"""`PCA`: the main directions of a noisy covariance (Analyze Gauss), privately centred."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from dither.errors import ArgumentError
from dither.learn.estimators.base import PrivateEstimator
from dither.learn.estimators.covariance import Analysis
from dither.learn.estimators.data import Declared, Reals
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import along
from dither.privacy.numbers import whole

__all__ = ["PCA"]

MOST_COLUMNS = 4096


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Principal components:
    `PCA(n_components=2, epsilon=1, bounds=(0, 16), budget=account).fit(X)`.

    `components_`, `explained_variance_` and `mean_` are scikit-learn's, in the units of
    the data; `radius_` is the distance from the mean, of rows farther than which only the
    direction counts in full. Where noise is large, the covariance is moved towards one in
    which all columns correlate alike.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: three releases. A count and all v, each -1 to 1, as in `GaussianNB`. Then how many
    rows lie between one radius around that mean and the next: a unit adds to these what
    its weights add up to. Then all products of two columns of y, a row's distance from the
    mean, which is brought to a length of at most L: with pure ε |y|₁ ≤ L, so y_i² and
    2·y_i·y_j (i < j) add up to at most L²; with Gaussian noise |y|₂ ≤ L, so the length of
    5·y_i² and 7·y_i·y_j is at most 5·L² (Dwork, Talwar, Thakurta & Zhang 2014). All are
    whole numbers.
    Assumes: bounds are public, not read off the data.
    """

    _what = "principal components"

    def __init__(
        self,
        n_components: int | None = None,
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
        self.n_components = n_components
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

    def _plan(self, declared: Declared, spending: Spending) -> Analysis:
        width = declared.width
        if width > MOST_COLUMNS:
            raise ArgumentError(
                "X", f"has more than {MOST_COLUMNS:,} columns; pass fewer columns"
            )
        count = width if self.n_components is None else self.n_components
        count = whole("n_components", count, "pass a number of components, such as 2")
        if count > width:
            raise ArgumentError(
                "n_components",
                f"must be at most the number of columns, {width}; pass fewer "
                "components",
            )
        return Analysis.of(declared, spending, count)

    def transform(self, X: Any) -> Reals:
        """Rows along the components."""
        return along(self._read(X) - self.mean_, self.components_)

    def inverse_transform(self, X: Any) -> Reals:
        """Rows in the units of the data, from what they are along the components."""
        found: Reals = np.asarray(X, np.float64) @ self.components_ + self.mean_
        return found

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _width_out(self, width: int) -> int:
        return width if self.n_components is None else self.n_components

    @property
    def output_bounds_(self) -> Reals:
        """Limits along each component: public, as the components are released."""
        low = (self.declared_.low - self.mean_) * self.components_
        high = (self.declared_.high - self.mean_) * self.components_
        ends = np.minimum(low, high).sum(axis=1), np.maximum(low, high).sum(axis=1)
        return np.stack(ends, axis=1)
