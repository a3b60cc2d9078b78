"""`KMeans`: Lloyd's steps on noisy sums, few of them, from a start that needs no rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Never

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from dither.errors import ArgumentError
from dither.learn.estimators.base import Fitted, PrivateEstimator
from dither.learn.estimators.boxes import (
    STEPS,
    USUAL,
    box_noise,
    box_spending,
    deviation,
    grouped,
    moved,
    shrunk,
    squares,
)
from dither.learn.estimators.data import Declared, Integers, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import BLOCK, distances
from dither.mechanisms import Cube, Gaussian
from dither.noise import rounded_gaussian
from dither.privacy import Guarantee
from dither.privacy.numbers import whole

__all__ = ["KMeans"]

WHERE, STEP = 0.25, 0.75
"""Parts of the cost: where the data lie, and the steps."""
MOST_ITERATIONS = 8
BEARABLE = 0.08
"""The noise variance of a centre in one step, as a share of the data's, that a further
step may bring about.
"""
FEWEST = 0.3
"""A cluster counts for at least this share of an even one."""
TRUSTED = 0.01
"""The noise variance of a mean of variances that halves its weight."""
SPREAD = 0.6
"""How far from the mean centres begin, in deviations of the data."""
NO_LABELS = (
    "labels of the fitted rows say something about each of them, and no noise hides it, "
    "so a fit does not keep them; call predict with rows that you may see"
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
    There is no `labels_` and no `inertia_`: they would tell of the fitted rows without
    noise. An empty cluster keeps a centre.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: a first release has a count, all v and all 2v² - 1, where v is -1 to 1 in each
    column; it places the centres and settles the number of steps. A step gives each row
    to its nearest centre, which is decided exactly and for each row alone, and adds its
    count and its v there. No entry is beyond ±1 in whole steps: with pure ε each cluster
    has noise for its largest entry (`Cube`), with Gaussian noise the length is √(d + 1).
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

    def _plan(self, declared: Declared, spending: Spending) -> Lloyd:
        clusters = whole("n_clusters", self.n_clusters, "pass how many, such as 8")
        if declared.units is not None and clusters > declared.units:
            raise ArgumentError(
                "n_clusters", f"is above the {declared.units} units; pass fewer"
            )
        steps = self.max_iter
        if steps is not None:
            steps = whole("max_iter", steps, "pass a few, such as 3, or leave it out")
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


@dataclass(frozen=True)
class Place:
    """Where the data lie, by the first release: in each column -1 to 1."""

    units: float
    mean: Reals
    variance: Reals


@dataclass(frozen=True)
class Lloyd:
    """The noised sums: of all rows, and in each step of each cluster."""

    declared: Declared
    spending: Spending
    clusters: int
    iterations: int | None = None
    steps: int = STEPS

    @classmethod
    def of(
        cls, declared: Declared, spending: Spending, clusters: int, steps: int | None
    ) -> Lloyd:
        spending = box_spending(spending, declared.width + 1)
        found = cls(declared, spending, clusters, steps)
        _ = found.first  # what noise refuses is refused before the charge
        found.noise(steps or MOST_ITERATIONS)
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

    @cached_property
    def first(self) -> Cube | Gaussian:
        """Noise of the first release."""
        part, _ = self.spending.parts(WHERE, STEP)
        dims = 2 * self.declared.width + 1
        return box_noise(part, self.declared, dims, self.steps)

    def noise(self, iterations: int) -> Cube | Gaussian:
        """Noise of one step of so many."""
        _, part = self.spending.parts(WHERE, STEP)
        dims = self.declared.width + 1
        return box_noise(part.each(iterations), self.declared, dims, self.steps)

    @property
    def one(self) -> int:
        """What a unit adds to a count."""
        return self.declared.whole * self.steps

    # The first release

    def exact_place(self, rows: Rows) -> Integers:
        """A count, the sum of each column, and that of its squares."""
        found = np.zeros((1, 2 * self.declared.width + 1), np.int64)
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            values = moved(rows.inputs[part], self.steps)
            count = np.full((len(values), 1), float(self.steps))
            vectors = np.hstack([count, values, squares(values, self.steps)])
            same = np.zeros(len(values), np.int64)
            found += grouped(vectors, same, rows.weights[part], 1, self.one)
        return found

    def place(self, noisy: Integers) -> Place:
        width = self.declared.width
        sums, noise = noisy[0] / self.one, deviation(self.first) / self.one
        most = self.declared.units or math.inf
        units = float(min(max(sums[0], 1.0), most))
        error = (noise / units) ** 2
        mean = shrunk(sums[1 : width + 1] / units, 0.0, error, 1e-3, USUAL)
        mean = np.clip(mean, -1.0, 1.0)
        variance = (sums[width + 1 :] / units + 1) / 2 - mean**2
        trust = TRUSTED / (TRUSTED + error / (4 * width))
        overall = trust * float(variance.mean()) + (1 - trust) * USUAL
        overall = min(max(overall, 1e-4), 1.0)
        variance = shrunk(variance, overall, error / 4 + 4 * mean**2 * error)
        return Place(units, mean, np.clip(variance, overall / 10, 1.0))

    def start(self, place: Place) -> Reals:
        """Centres around the mean, far from each other."""
        width = self.declared.width
        away = directions(self.clusters, width) * math.sqrt(width)
        return np.clip(place.mean + SPREAD * np.sqrt(place.variance) * away, -1.0, 1.0)

    def number(self, place: Place) -> int:
        """How many steps the noise bears."""
        if self.iterations is not None:
            return self.iterations
        noise = deviation(self.noise(1)) / self.one * self.clusters / place.units
        share = (noise / math.sqrt(float(place.variance.mean()))) ** 2
        # noise grows with the number of steps, or with its root if it is Gaussian
        bearable = BEARABLE / max(share, 1e-12)
        many = bearable if self.spending.gaussian else math.sqrt(bearable)
        return round(min(max(many, 1.0), MOST_ITERATIONS))

    # A step

    def scaled(self, values: Reals) -> Reals:
        """-1 to 1 as whole steps of equal length in the units of the data."""
        span = self.declared.span / self.declared.span.max()
        found: Reals = np.rint(values * (span * self.steps))
        return found

    def exact(self, rows: Rows, centres: Reals) -> Integers:
        """The count and the sum of each column, of the rows nearest to each centre."""
        found = np.zeros((len(centres), self.declared.width + 1), np.int64)
        points = self.scaled(centres)
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            inputs = rows.inputs[part]
            nearest = near(self.scaled(2 * inputs - 1), points)
            count = np.full((len(inputs), 1), float(self.steps))
            vectors = np.hstack([count, moved(inputs, self.steps)])
            weights = rows.weights[part]
            found += grouped(vectors, nearest, weights, len(centres), self.one)
        return found

    def centres(self, noisy: Integers, place: Place, noise: float) -> Reals:
        """New centres, moved towards the mean where noise is large."""
        counts, sums = noisy[:, 0] / self.one, noisy[:, 1:] / self.one
        units = np.maximum(counts, FEWEST * place.units / self.clusters)
        apart = (sums - counts[:, None] * place.mean) / units[:, None]
        mean = float(place.mean @ place.mean) / len(place.mean)
        error = (noise / units) ** 2 * (1 + mean)
        shares = units / units.sum()
        average = float(shares @ error)
        found = float((shares @ apart**2).mean()) - average
        between = max(found, average * math.sqrt(2 / apart.size))
        between = min(between, float(place.variance.mean()))
        kept = between / (between + error)
        return np.clip(place.mean + kept[:, None] * apart, -1.0, 1.0)

    def fit(self, rows: Rows) -> Fitted:
        place = self.place(self.first.release(self.exact_place(rows)))
        centres, iterations = self.start(place), self.number(place)
        noise = self.noise(iterations)
        for _ in range(iterations):
            noisy = noise.release(self.exact(rows, centres))
            centres = self.centres(noisy, place, deviation(noise) / self.one)
        middle = (self.declared.low + self.declared.high) / 2
        found = middle + centres * self.declared.span / 2
        return Fitted({"cluster_centers_": found, "n_iter_": iterations}, found)


def near(points: Reals, centres: Reals) -> Integers:
    """The number of the centre nearest to each point. All are whole numbers, and so are
    all products and sums: the answer for a row does not depend on other rows.
    """
    apart = (centres**2).sum(axis=1) - 2 * (points @ centres.T)
    found: Integers = apart.argmin(axis=1)
    return found


def directions(count: int, width: int) -> Reals:
    """Random unit vectors that push each other apart."""
    found = rounded_gaussian(float(1 << 30), (count, width)) / float(1 << 30)
    for _ in range(30):
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        push = np.exp(4 * (found @ found.T))
        np.fill_diagonal(push, 0.0)
        found -= 0.1 * push @ found
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return np.asarray(found)
