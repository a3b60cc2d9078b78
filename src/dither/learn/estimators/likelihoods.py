"""Curves from one release: how often each class is in each bin of a column. This needs
fewer rows than rounds do, above all with pure ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dither.learn.estimators.base import Fitted
from dither.learn.estimators.data import Reals, Rows
from dither.learn.estimators.rounds import Boosting, root_up
from dither.learn.estimators.sums import Integers
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance

__all__ = ["Likelihoods"]


@dataclass(frozen=True)
class Likelihoods:
    """Noisy counts by column, bin and class."""

    of: Boosting

    @property
    def classes(self) -> int:
        assert self.of.declared.classes is not None
        return len(self.of.declared.classes)

    def noise(self, columns: int) -> Additive:
        """A unit is in one bin of each column, with one class."""
        most = self.of.declared.whole
        return self.of.rest.noise(float(columns * most), root_up(columns) * most)

    def exact(self, places: Integers, rows: Rows) -> Integers:
        """Weights of rows; `places` has a line for each column."""
        assert rows.targets is not None
        size = self.of.bins * self.classes
        weights = rows.weights.astype(np.float64)  # their sums stay whole, and exact
        found = np.zeros((len(places), size), np.int64)
        for column, place in enumerate(places):
            both = place * self.classes + rows.targets
            found[column] = np.bincount(both, weights, size)
        return found.reshape(len(places), self.of.bins, self.classes)

    def fit(self, rows: Rows, units: float) -> Fitted:
        """Fit curves for about this number of units."""
        boosting = self.of
        used = boosting.columns(units)
        noise, whole = self.noise(len(used)), boosting.declared.whole
        exact = self.exact(boosting.places(rows, used), rows)
        blur = math.sqrt(noise_variance(noise)) / whole
        return boosting.fitted(used, self.curves(noise.release(exact) / whole, blur))

    def curves(self, noisy: Reals, blur: float) -> Reals:
        """How likely each bin is under each class. Each count has about half of the
        noise added to it, so that noise alone says little.
        """
        sizes = noisy.sum(axis=1).mean(axis=0)
        sizes = np.maximum(sizes, max(0.1 * sizes.mean(), 1.0))
        base = 0.5 * blur + 0.5
        likely = np.log(np.maximum(noisy, 0.0) + base)
        likely -= np.log(sizes + base * self.of.bins)
        found: Reals = likely + np.log(sizes / sizes.sum()) / len(noisy)
        return found[..., 1:] - found[..., :1] if self.of.outputs == 1 else found
