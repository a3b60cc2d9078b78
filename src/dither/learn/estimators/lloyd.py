"""Lloyd's steps on noisy sums: where the data lie, which columns tell centres apart, how
many steps the noise bears, and the steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.learn.estimators.base import Fitted
from dither.learn.estimators.boxes import (
    STEPS,
    USUAL,
    box_noise,
    box_spending,
    grouped,
    moved,
    shrunk,
    squares,
    standard_deviation,
)
from dither.learn.estimators.data import Declared, Integers, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import BLOCK
from dither.mechanisms import Cube, Gaussian
from dither.noise import rounded_gaussian
from dither.privacy import Guarantee

__all__ = ["Lloyd", "Place", "directions", "near"]

WHERE, STEP = 0.25, 0.75
"""Parts of the cost: for the location of the data, and for the steps."""
MOST_ITERATIONS = 8
BEARABLE = 0.08
"""The noise variance of a centre in one step, as a share of the data's, that a further
step may bring about.
"""
FEWEST = 0.3
"""A cluster counts for at least this share of an even one."""
TRUSTED = 0.01
"""The noise variance of a mean of variances that halves its weight."""
BETWEEN, FEWEST_COLUMNS = 0.5, 4
"""The part of a column's variance that lies between centres, and the fewest columns in
which they are distinguished.
"""
SPREAD = 0.6
"""Distance of the first centres from the mean, in standard deviations of the data."""


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

    def noise(self, iterations: int, columns: int | None = None) -> Cube | Gaussian:
        """Noise of one of `iterations` steps, over this number of columns; over all by
        default.
        """
        _, part = self.spending.parts(WHERE, STEP)
        dims = 1 + (self.declared.width if columns is None else columns)
        return box_noise(part.each(iterations), self.declared, dims, self.steps)

    @property
    def one(self) -> int:
        """The contribution of a unit to a count."""
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
        sums, noise = noisy[0] / self.one, standard_deviation(self.first) / self.one
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

    def used(self, place: Place) -> Integers:
        """The columns in which centres are distinguished. Pure noise on each grows with
        their number, so they are as many as leave it about as large as what is between
        centres; those that vary most.
        """
        width = self.declared.width
        if self.spending.gaussian:
            return np.arange(width)
        alone = self.blur(self.noise(1), place) / (width + 1)
        between = math.sqrt(BETWEEN * float(place.variance.mean()))
        count = int(min(max(between / max(alone, 1e-12), FEWEST_COLUMNS), width))
        span = self.declared.span / self.declared.span.max()
        order = np.argsort(-place.variance * span**2, kind="stable")
        return np.sort(order[:count])

    def blur(self, noise: Cube | Gaussian, place: Place) -> float:
        """The standard deviation of the noise on a centre."""
        return standard_deviation(noise) / self.one * self.clusters / place.units

    def number(self, place: Place) -> int:
        """Number of steps that the noise allows, over the columns of `place`."""
        if self.iterations is not None:
            return self.iterations
        noise = self.blur(self.noise(1, len(place.mean)), place)
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

    def exact(
        self, rows: Rows, centres: Reals, used: Integers | None = None
    ) -> Integers:
        """The count and the sum of each column that is used, of the rows nearest to each
        centre.
        """
        used = np.arange(self.declared.width) if used is None else used
        found = np.zeros((len(centres), len(used) + 1), np.int64)
        points = self.scaled(centres)
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            inputs = rows.inputs[part]
            nearest = near(self.scaled(2 * inputs - 1), points)
            count = np.full((len(inputs), 1), float(self.steps))
            vectors = np.hstack([count, moved(inputs[:, used], self.steps)])
            weights = rows.weights[part]
            found += grouped(vectors, nearest, weights, len(centres), self.one)
        return found

    def centres(self, noisy: Integers, place: Place, noise: float) -> Reals:
        """New centres, shrunk towards the mean where noise is large."""
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
        used = self.used(place)
        there = Place(place.units, place.mean[used], place.variance[used])
        centres = np.tile(place.mean, (self.clusters, 1))
        centres[:, used] = self.start(place)[:, used]
        iterations = self.number(there)
        noise = self.noise(iterations, len(used))
        for _ in range(iterations):
            noisy = noise.release(self.exact(rows, centres, used))
            centres[:, used] = self.centres(
                noisy, there, standard_deviation(noise) / self.one
            )
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
