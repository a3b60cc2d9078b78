"""`KMeans`: Lloyd's steps on noisy sums, few of them, from a start that needs no rows."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from dither.errors import ArgumentError
from dither.learn.estimators.base import PrivateEstimator
from dither.learn.estimators.data import Declared, Integers, Reals
from dither.learn.estimators.lloyd import Lloyd
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import distances
from dither.privacy.numbers import whole

__all__ = ["KMeans"]

NO_LABELS = (
    "a fit does not keep the labels of its rows, because no noise protects them; call "
    "predict with rows that you may see"
)


class KMeans(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    PrivateEstimator,
):
    """k-means: `KMeans(n_clusters=3, epsilon=1, bounds=(0, 16), budget=account).fit(X)`.

    `cluster_centers_` are in the units of the data and `n_iter_` is how many steps were
    taken. Without `max_iter` the noise decides how many: with few units one step is best.
    Where pure noise is large beside what columns vary by, centres differ in some columns
    only, and have the mean of all rows in the others.
    There is no `labels_` and no `inertia_`: they would tell of the fitted rows without
    noise. An empty cluster keeps a centre.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: a first release has a count, all v and all 2v² - 1, where v is -1 to 1 in each
    column; it places the centres and settles the number of steps and the columns that
    they use. A step gives each row to its nearest centre, which is decided exactly and
    for each row alone, and adds its count and its v there. No entry is beyond ±1 in whole
    steps: with pure ε each cluster has noise for its largest entry (`Cube`), with Gaussian
    noise the length is √(d + 1).
    What is left after the first release is split evenly over the steps.
    Assumes: bounds are public, not read off the data.
    """

    _what = "k-means"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        bounds: Any = None,
        max_iter: int | None = None,
        units: int | None = None,
        rows: int | None = None,
        budget: Any = None,
        by: str | None = None,
        several_fits: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.rho = rho
        self.share = share
        self.delta = delta
        self.bounds = bounds
        self.max_iter = max_iter
        self.units = units
        self.rows = rows
        self.budget = budget
        self.by = by
        self.several_fits = several_fits

    def _plan(self, declared: Declared, spending: Spending) -> Lloyd:
        clusters = whole(
            "n_clusters", self.n_clusters, "pass a number of clusters, such as 8"
        )
        if declared.units is not None and clusters > declared.units:
            raise ArgumentError(
                "n_clusters",
                f"must be at most the number of units, {declared.units:,}; pass fewer "
                "clusters",
            )
        steps = self.max_iter
        if steps is not None:
            steps = whole(
                "max_iter", steps, "pass a small number such as 3, or leave it out"
            )
        return Lloyd.of(declared, spending, clusters, steps)

    def transform(self, X: Any) -> Reals:
        """The distance of each row from each centre."""
        return distances(self._read(X), self.cluster_centers_)

    def predict(self, X: Any) -> Integers:
        """The number of the centre nearest to each row."""
        found: Integers = self.transform(X).argmin(axis=1)
        return found

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of squared distances of rows from their nearest centre."""
        del y  # scikit-learn passes one to all
        return -float((self.transform(X).min(axis=1) ** 2).sum())

    @property
    def fit_predict(self) -> Never:
        """Left out: labels of private rows are no release."""
        raise AttributeError(NO_LABELS)

    @property
    def labels_(self) -> Never:
        """Left out: labels of private rows are no release."""
        raise AttributeError(NO_LABELS)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _width_out(self, _: int) -> int:
        return self.n_clusters

    @property
    def output_bounds_(self) -> Reals:
        """Limits of the distances: public, as the centres are released."""
        low, high = self.declared_.low, self.declared_.high
        far = np.maximum(self.cluster_centers_ - low, high - self.cluster_centers_)
        most = np.sqrt((far**2).sum(axis=1))
        return np.stack([np.zeros_like(most), most], axis=1)
