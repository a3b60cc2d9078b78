"""A linear classifier from noisy sums of each class: one release, which pure ε pays for
better than for many steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dither.learn.estimators.base import Fitted
from dither.learn.estimators.boxes import (
    STEPS,
    box_noise,
    grouped,
    moved,
    shrunk,
    squares,
    standard_deviation,
)
from dither.learn.estimators.counting import UnitCount
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.fallback import Fallback, pure
from dither.learn.estimators.lines import Line
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers, blocks, total
from dither.mechanisms import Cube, Gaussian
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from dither.learn.estimators.logistic import Descent

__all__ = ["Centroids", "ClassSums"]

BY_MEANS = (
    "coefficients: computed from noisy means of the classes, under the assumption that "
    "all classes have the same variances and columns are independent; not maximum "
    "likelihood; without intervals"
)
MEANS, SQUARES = 0.85, 0.15
"""Parts of the cost of class sums: for means, and for variances."""
MANY = 200
"""Rows times ε for each weight from which on the descent pays."""
RICH = 8
"""Rows times ε for each number of the class sums from which on squares are summed too."""
SPREAD = 0.12
"""The variance within classes if squares are not summed, where bounds are -1 and 1."""
USUAL, VARIED, NARROWEST = 0.25, 0.05, 0.02
"""The usual variance within classes; the variance of columns' variances around it; and
the smallest variance that is used.
"""
FEWEST, CLOSEST, BLUR = 0.05, 1e-4, 0.1
"""Smallest size of a class, relative to an even one; least variance between class means;
and the usual variance of column means.
"""


@dataclass(frozen=True)
class ClassSums:
    """Two noised vectors. The first has for each class a count, and the sums of its
    columns between -1 and 1; a row is in one class, and no entry is beyond ±1. The
    second has for each column the sum of 2x² - 1 over all rows, which is not beyond ±1
    either.
    """

    declared: Declared
    spending: Spending
    squared: bool = True

    @property
    def classes(self) -> int:
        assert self.declared.classes is not None
        return len(self.declared.classes)

    @cached_property
    def noises(self) -> tuple[Cube | Gaussian, ...]:
        """For counts and sums, and for squares where they are released."""
        width = self.declared.width
        if not self.squared:
            return (box_noise(self.spending, self.declared, width + 1),)
        first, second = self.spending.parts(MEANS, SQUARES)
        return (
            box_noise(first, self.declared, width + 1),
            box_noise(second, self.declared, width),
        )

    def exact_squares(self, rows: Rows) -> Integers:
        """Sums of 2v² - 1 for each column, over all classes."""
        found = np.zeros(self.declared.width, np.int64)
        most = self.declared.whole * STEPS
        for part in blocks(len(rows), most):
            held = squares(moved(rows.inputs[part]))
            found += total(held, rows.weights[part], most)
        return found

    def exact(self, rows: Rows) -> Integers:
        """A row for each class."""
        assert rows.targets is not None
        found = np.zeros((self.classes, self.declared.width + 1), np.int64)
        most = self.declared.whole * STEPS
        for part in blocks(len(rows), most):
            values = moved(rows.inputs[part])
            held = np.hstack([np.full((len(values), 1), float(STEPS)), values])
            targets, weights = rows.targets[part], rows.weights[part]
            found += grouped(held, targets, weights, self.classes, most)
        return found

    def release(self, rows: Rows, units: float) -> Clouds:
        """Noisy means of the classes, the share of each, and the variances of columns
        within classes.
        """
        one = self.declared.whole * STEPS
        noisy = self.noises[0].release(self.exact(rows)) / one
        noise = standard_deviation(self.noises[0]) / one
        units = max(units, 1.0)
        counts = self.counts(noisy[:, 0], noise, units)
        shares = counts / counts.sum()
        means, unknown = self.means(noisy[:, 1:], counts, noise)
        spread = np.full(self.declared.width, SPREAD)
        if self.squared:
            between = shares @ means**2 + unknown
            spread = self.variances(rows, units, between, unknown)
        return Clouds(means, shares, spread + unknown)

    def variances(
        self, rows: Rows, units: float, between: Reals, unknown: float
    ) -> Reals:
        """The variance of each column within classes, shrunk towards a usual one."""
        one = self.declared.whole * STEPS
        squared = self.noises[1].release(self.exact_squares(rows)) / one
        noise = standard_deviation(self.noises[1]) / one
        raw = (squared / units + 1) / 2 - between
        error = (noise / units / 2) ** 2 + unknown**2
        found = USUAL + (raw - USUAL) * (VARIED / (VARIED + error))
        return np.asarray(np.clip(found, NARROWEST, 1.0))

    def counts(self, noisy: Reals, noise: float, units: float) -> Reals:
        """Units in each class, which together are about as many as `units`."""
        even, count = units / self.classes, self.classes
        apart = noisy + (units - noisy.sum()) / count
        found = shrunk(apart, even, noise**2 * (1 - 1 / count), 0.0, even**2)
        found = np.maximum(found, FEWEST * even)
        return np.asarray(found * (units / found.sum()))

    def means(self, sums: Reals, counts: Reals, noise: float) -> tuple[Reals, float]:
        """Means of each class, shrunk towards that of all rows as far as noise could
        have made the difference; and the variance of what is unknown of them.
        """
        units, shares, count = counts.sum(), counts / counts.sum(), self.classes
        error = (noise / counts) ** 2
        trust = BLUR / (BLUR + count * (noise / units) ** 2)
        overall = np.clip(sums.sum(axis=0) / units, -1.0, 1.0) * trust
        apart = sums / counts[:, None] - overall
        expected = float(shares @ error) * (1 - 1 / count)
        found = float((shares @ apart**2).mean()) - expected
        # so that noise alone does not make all classes the same: the choice can do that
        least = expected * math.sqrt(2 / ((count - 1) * sums.shape[1]))
        between = min(max(found, least, CLOSEST), 1.0)
        kept = between / (between + error)
        means = np.clip(overall + kept[:, None] * apart, -1.0, 1.0)
        return means, float(shares @ (kept * error))


@dataclass(frozen=True)
class Clouds:
    """The means of the classes, the share of each, and the variance of each column
    within a class.
    """

    means: Reals
    shares: Reals
    variances: Reals

    @property
    def line(self) -> Line:
        """Linear classifier of independent columns with equal variances in all classes."""
        slopes = self.means / self.variances
        offset = -(self.means * slopes).sum(axis=1) / 2
        return Line(slopes, offset, np.log(self.shares))


@dataclass(frozen=True)
class Centroids:
    """A count, class sums and a choice; or, where rows are many, the descent."""

    spending: Spending
    count: UnitCount
    fallback: Fallback
    sums: ClassSums
    means: ClassSums
    descent: Descent

    @classmethod
    def of(cls, whole: Descent) -> Centroids:
        """What a descent may spend, spent so."""
        count, rest = UnitCount.of(
            whole.declared, whole.spending, whole.declared.units is None
        )
        later = type(whole).of(whole.declared, rest, whole.steps)
        fallback, rest = Fallback.of(whole.declared, rest)
        both = ClassSums(whole.declared, rest), ClassSums(whole.declared, rest, False)
        for one in both:
            _ = one.noises  # what they refuse is refused before the charge
        return cls(whole.spending, count, fallback, *both, later)

    @property
    def guarantee(self) -> Guarantee:
        """The count's ε, and that of whichever of both follows."""
        return self.spending.guarantee

    def fit(self, rows: Rows) -> Fitted:
        declared = self.descent.declared
        units = self.count.release(rows)
        numbers = (declared.width + 1) * self.descent.outputs
        if units * (self.descent.spending.epsilon or 0.0) >= MANY * numbers:
            return self.descent.fit(rows)
        rich = units * pure(self.sums.spending) >= RICH * numbers
        sums = self.sums if rich else self.means
        line = sums.release(rows, units).line
        return line.fitted(rows, self.fallback, declared, 1, BY_MEANS)
