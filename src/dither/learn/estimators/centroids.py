"""A linear classifier from noisy sums of each class: one release, which pure ε pays for
better than for many steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dither.learn.estimators.base import Fitted, labels
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers, lengths, products, shortened
from dither.mechanisms import Additive
from dither.mechanisms.sums import noise_variance
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from dither.learn.estimators.logistic import Descent

__all__ = ["Centroids", "ClassSums"]

STEPS = 1 << 14
COUNT = 0.05
"""The part of the cost that counts rows first."""
MANY = 200
"""Rows times ε for each weight from which on the descent pays."""
SPREAD = 0.03
"""The variance within classes that is taken for granted, where bounds are 0 and 1."""


@dataclass(frozen=True)
class ClassSums:
    """The noised vector: of each class a count, and the sums of its columns between 0
    and 1. A row is brought down to a public L1 radius, and is in one class.
    """

    declared: Declared
    spending: Spending

    @cached_property
    def radius(self) -> int:
        """What a row's columns add up to at most: about the half of what they can."""
        width = self.declared.width
        return int(STEPS * width * (0.5 + 0.5 / width**0.5))

    @property
    def count_weight(self) -> int:
        return max(self.radius // 8, 1)

    @property
    def classes(self) -> int:
        assert self.declared.classes is not None
        return len(self.declared.classes)

    @cached_property
    def noise(self) -> Additive:
        moved = float((self.radius + self.count_weight) * self.declared.whole)
        return self.spending.noise(moved, moved)

    def vectors(self, inputs: Reals) -> Reals:
        """What a row adds to its class, in whole steps."""
        held = np.rint(inputs * STEPS)
        cut = shortened(held.T, lengths(held, l1=True), self.radius).T
        return np.hstack([np.full((len(cut), 1), float(self.count_weight)), cut])

    def exact(self, rows: Rows) -> Integers:
        """A line for each class."""
        assert rows.targets is not None
        member = np.equal.outer(rows.targets, np.arange(self.classes))
        counted = member * rows.weights[:, None].astype(np.float64)
        most = self.declared.whole * max(STEPS, self.count_weight)
        return products(counted, self.vectors(rows.inputs), most)

    def release(self, rows: Rows) -> tuple[Reals, Reals]:
        """Noisy means of the classes, and the share of each."""
        noisy = self.noise.release(self.exact(rows))
        whole = self.declared.whole
        counts = noisy[:, 0] / (whole * self.count_weight)
        counts = np.maximum(counts, max(5.0, 0.2 * max(counts.mean(), 0.0)))
        means = np.clip(noisy[:, 1:] / (whole * STEPS) / counts[:, None], 0.0, 1.0)
        shares = counts / counts.sum()
        error = noise_variance(self.noise) / (whole * STEPS) ** 2 / counts**2
        return _drawn(means, shares, error), shares


def _drawn(means: Reals, shares: Reals, error: Reals) -> Reals:
    """Means drawn towards their own mean, by as much as noise parts them (James and
    Stein).
    """
    middle = shares @ means
    apart = means - middle
    noise = error * means.shape[1]
    there = np.maximum((apart**2).sum(axis=1), 1e-9)
    keep = np.maximum(1 - noise / there, 0.1)
    found: Reals = middle + keep[:, None] * apart
    return found


@dataclass(frozen=True)
class Centroids:
    """A count, and then class sums; or, where rows are many, the descent."""

    spending: Spending
    count: Spending
    sums: ClassSums
    descent: Descent

    @classmethod
    def of(cls, whole: Descent) -> Centroids:
        """What a descent may spend, spent so."""
        first, rest = whole.spending.parts(COUNT, 1 - COUNT)
        later = type(whole).of(whole.declared, rest, whole.steps)
        sums = ClassSums(whole.declared, rest)
        found = cls(whole.spending, first, sums, later)
        _ = found.counting, found.sums.noise
        return found

    @property
    def guarantee(self) -> Guarantee:
        """The count's ε, and that of whichever of both follows."""
        return self.spending.guarantee

    @cached_property
    def counting(self) -> Additive:
        whole = float(self.descent.declared.whole)
        return self.count.noise(whole, whole)

    def fit(self, rows: Rows) -> Fitted:
        declared = self.descent.declared
        units = self.counting.release(int(rows.weights.sum())) / declared.whole
        numbers = (declared.width + 1) * self.descent.outputs
        if units * (self.sums.spending.epsilon or 0.0) >= MANY * numbers:
            return self.descent.fit(rows)
        return self.by_means(*self.sums.release(rows))

    def by_means(self, means: Reals, shares: Reals) -> Fitted:
        """The classifier that takes classes for round clouds of one size."""
        declared = self.descent.declared
        assert declared.classes is not None
        slopes = means / SPREAD
        base = np.log(shares) - (means**2).sum(axis=1) / (2 * SPREAD)
        coef = slopes / declared.span
        intercept = base - coef @ declared.low
        if self.descent.outputs == 1:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        found = {
            "coef_": coef,
            "intercept_": intercept,
            "classes_": labels(declared.classes),
            "n_iter_": 1,
        }
        return Fitted(found, np.hstack([intercept[:, None], coef]))
