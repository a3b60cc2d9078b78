"""A noisy covariance around a noisy mean, of rows within a noisy radius."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.learn.estimators.base import Fitted
from dither.learn.estimators.boxes import (
    STEPS,
    box_noise,
    grouped,
    moved,
    shrunk,
    standard_deviation,
)
from dither.learn.estimators.data import Declared, Integers, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import BLOCK, products
from dither.mechanisms import Additive, Cube, Gaussian
from dither.mechanisms.sums import noise_variance
from dither.privacy import Guarantee

__all__ = ["Analysis", "moderate"]

MEAN, RADIUS, COVARIANCE = 0.25, 0.1, 0.65
"""Parts of the cost."""
RINGS = 25
"""Radii that are tried, each smaller by √2."""
INSIDE = 0.35
"""Minimum share of the rows within the radius (approximate)."""
FARTHEST = 6
"""The radius is at most so many rings beyond the one that holds those rows."""
LOST = 0.3
"""What a lost unit of variance weighs beside noise in one direction."""


@dataclass(frozen=True)
class Analysis:
    """The noised vectors: a mean, a radius, and products of columns."""

    declared: Declared
    spending: Spending
    count: int
    steps: int = STEPS

    @classmethod
    def of(cls, declared: Declared, spending: Spending, count: int) -> Analysis:
        def blur(way: Spending) -> float:
            """The noise on a product, where |y|₁² is about 0.64·d·|y|₂²."""
            if way.mu is not None:
                return 0.71 / way.mu
            return 0.45 * declared.width / (way.epsilon or 0.0)

        found = cls(declared, spending.choose(blur), count)
        _ = found.first, found.second, found.third
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

    @cached_property
    def parts(self) -> tuple[Spending, ...]:
        return self.spending.parts(MEAN, RADIUS, COVARIANCE)

    @property
    def one(self) -> int:
        return self.declared.whole * self.steps

    @property
    def gaussian(self) -> bool:
        return self.spending.gaussian

    @property
    def weights(self) -> tuple[int, int]:
        """The factor of y_i² and y_i·y_j."""
        return (5, 7) if self.gaussian else (1, 2)

    @cached_property
    def length(self) -> int:
        """L before rounding: entries of y are whole, and rounding must not matter. If
        rows have weights it is less, so that sums of many rows fit 64 bits.
        """
        least = 14 if self.declared.whole == 1 else 12
        return 1 << max(least, (16 * self.declared.width - 1).bit_length())

    @property
    def longest(self) -> int:
        """L after rounding each entry of y."""
        width = self.declared.width
        more = math.isqrt(width) // 2 + 1 if self.gaussian else width // 2
        return self.length + more + 1

    @cached_property
    def first(self) -> Cube | Gaussian:
        dims = self.declared.width + 1
        return box_noise(self.parts[0], self.declared, dims, self.steps)

    @cached_property
    def second(self) -> Additive:
        whole_unit = float(self.declared.whole)
        return self.parts[1].noise(whole_unit, whole_unit)

    @cached_property
    def third(self) -> Additive:
        most = float(self.declared.whole * self.weights[0] * self.longest**2)
        return self.parts[2].noise(most, most)

    # The mean

    def exact_mean(self, rows: Rows) -> Integers:
        found = np.zeros((1, self.declared.width + 1), np.int64)
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            values = moved(rows.inputs[part], self.steps)
            vectors = np.hstack([np.full((len(values), 1), float(self.steps)), values])
            same = np.zeros(len(values), np.int64)
            found += grouped(vectors, same, rows.weights[part], 1, self.one)
        return found

    def mean(self, noisy: Integers) -> tuple[float, Reals]:
        """Number of units, and the mean, -1 to 1 in each column."""
        sums, noise = noisy[0] / self.one, standard_deviation(self.first) / self.one
        most = self.declared.units or math.inf
        units = float(min(max(sums[0], 1.0), most))
        mean = shrunk(sums[1:] / units, 0.0, (noise / units) ** 2, 1e-3)
        return units, np.clip(mean, -1.0, 1.0)

    # The radius

    @cached_property
    def relative(self) -> Reals:
        """Half the span of each column beside that of the widest."""
        found: Reals = self.declared.span / self.declared.span.max()
        return found

    def apart(self, inputs: Reals, mean: Reals) -> Reals:
        """Rows from the mean, in whole steps of equal length in the units of the data."""
        found: Reals = np.rint((2 * inputs - 1 - mean) * (self.relative * self.steps))
        return found

    def norms(self, apart: Reals) -> Reals:
        """|y|₁ or |y|₂ of whole numbers: sums are exact, and roots are of one number."""
        if self.gaussian:
            return np.asarray(np.sqrt((apart**2).sum(axis=1)))
        return np.asarray(np.abs(apart).sum(axis=1))

    def radii(self, mean: Reals) -> Reals:
        """The radii that are tried, from the largest possible one."""
        far = np.rint((1 + np.abs(mean)) * (self.relative * self.steps)) + 1
        largest = float(self.norms(far[None])[0])
        return np.maximum(largest * 2.0 ** (-np.arange(RINGS) / 2), 1.0)

    def exact_rings(self, rows: Rows, mean: Reals) -> Integers:
        """Number of rows between one radius and the next; the last ring is full."""
        found = np.zeros(RINGS, np.int64)
        edges = self.radii(mean)[::-1]
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            norms = self.norms(self.apart(rows.inputs[part], mean))
            places = np.minimum(np.searchsorted(edges, norms), RINGS - 1)
            np.add.at(found, RINGS - 1 - places, rows.weights[part])
        return found

    def radius(self, noisy: Integers, units: float, mean: Reals) -> float:
        """The radius of least harm, by noise and by what is cut off."""
        rings, radii = noisy / self.declared.whole, self.radii(mean)
        width = self.declared.width
        noise = math.sqrt(noise_variance(self.second)) / self.declared.whole
        seen = np.where(rings > 3 * noise, rings, 0.0)
        outside = np.cumsum(rings) > (1 - INSIDE) * units
        last = int(np.argmax(outside)) if outside.any() else RINGS - 1
        middle = radii * 2.0**-0.25
        # |y|₂² of normal columns, from |y|₁²
        square = 1.0 if self.gaussian else math.pi / 2 / width
        across = 2 * math.sqrt(width) * self.product_noise(1.0, units)
        cut = np.maximum(middle[:, None] ** 2 - radii**2, 0.0)  # of a ring, by a radius
        harm = across * radii**2 + LOST * square * (seen @ cut) / units
        best = int(np.argmin(harm)) if seen.any() else last
        # noise can look like rows that are very far away
        return float(radii[min(max(best, last - FARTHEST), last)])

    def product_noise(self, radius: float, units: float) -> float:
        """The standard deviation of the noise on a mean product of two columns."""
        one = self.declared.whole * self.weights[1] * self.length**2
        noise = math.sqrt(noise_variance(self.third)) / one
        return noise * radius**2 / units

    # The covariance

    def short(self, apart: Reals, radius: float) -> Reals:
        """Whole numbers of a length of at most `longest`."""
        scale = self.length / np.maximum(self.norms(apart), radius)
        found: Reals = np.rint(apart * scale[:, None])
        return found

    def exact(self, rows: Rows, mean: Reals, radius: float) -> Integers:
        """All products of two columns, weighted, above the diagonal and on it."""
        width = self.declared.width
        found = np.zeros((width, width), np.int64)
        most = self.declared.whole * self.longest**2
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            short = self.short(self.apart(rows.inputs[part], mean), radius)
            weighted = short * rows.weights[part, None]
            found += products(weighted, short, most)
        square, product = self.weights
        weights = np.where(np.eye(width, dtype=bool), square, product)
        limits = (1 << 62) // weights  # so that no product leaves 64 bits
        upper: Integers = (np.clip(found, -limits, limits) * weights)[
            np.triu_indices(width)
        ]
        return upper

    def covariance(self, noisy: Integers, units: float, radius: float) -> Reals:
        """A noisy covariance, as moderate as its noise asks for."""
        width, (square, product) = self.declared.width, self.weights
        found = np.zeros((width, width))
        found[np.triu_indices(width)] = noisy / self.declared.whole / self.length**2
        diagonal = found.diagonal() / square * radius**2 / units
        found = (found + found.T) / product * radius**2 / units
        error = self.product_noise(radius, units) ** 2
        return moderate(found, diagonal, error, error * (product / square) ** 2)

    def fit(self, rows: Rows) -> Fitted:
        units, mean = self.mean(self.first.release(self.exact_mean(rows)))
        rings = self.second.release(self.exact_rings(rows, mean))
        radius = self.radius(rings, units, mean)
        noisy = self.third.release(self.exact(rows, mean, radius))
        return self.read(self.covariance(noisy, units, radius), mean, radius)

    def read(self, covariance: Reals, mean: Reals, radius: float) -> Fitted:
        values, vectors = np.linalg.eigh(covariance)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1].T
        largest = np.abs(vectors).argmax(axis=1)
        vectors = vectors * np.sign(vectors[np.arange(len(vectors)), largest])[:, None]
        step = self.declared.span.max() / 2 / self.steps
        values = values * step**2
        total, kept = max(float(values.sum()), 1e-300), self.count
        middle, half = (
            self.declared.low + self.declared.span / 2,
            self.declared.span / 2,
        )
        rest = values[kept:]
        found = {
            "components_": vectors[:kept],
            "explained_variance_": values[:kept],
            "explained_variance_ratio_": values[:kept] / total,
            "mean_": middle + mean * half,
            "n_components_": kept,
            "noise_variance_": float(rest.mean()) if len(rest) else 0.0,
            "radius_": radius * step,
        }
        return Fitted(found, vectors[:kept])


def moderate(
    noisy: Reals, diagonal: Reals, error: float, diagonal_error: float
) -> Reals:
    """A covariance shrunk towards one in which all columns correlate alike, as Ledoit
    and Wolf (2004) do for few rows; here noise is known, and says how far.
    """
    width = len(noisy)
    overall = max(float(diagonal.mean()), 1e-12 * float(np.abs(diagonal).max()), 1e-300)
    variance = np.maximum(shrunk(diagonal, overall, diagonal_error), overall / 10)
    found = np.diag(variance)
    if width == 1:
        return found
    upper = np.triu_indices(width, 1)
    both = np.sqrt(np.outer(variance, variance))[upper]
    size = float(both @ both)
    alike = float(noisy[upper] @ both) / size
    alike *= max(0.0, 1 - error / size / max(alike**2, 1e-300))
    target = np.clip(alike, -1 / (width - 1), 1.0) * both
    least = error * math.sqrt(2 / len(both))
    found[upper] = shrunk(noisy[upper], target, error, least)
    return np.asarray(found + np.triu(found, 1).T)
