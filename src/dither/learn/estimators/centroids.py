"""A linear classifier from noisy sums of each class: one release, which pure ε pays for
better than for many steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dither.learn.estimators.base import Fitted, labels
from dither.learn.estimators.bayes import RAREST, moderate_means
from dither.learn.estimators.boxes import (
    STEPS,
    box_noise,
    deviation,
    grouped,
    moved,
    shrunk,
)
from dither.learn.estimators.counting import UnitCount
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import Integers, blocks
from dither.mechanisms import Cube, Gaussian
from dither.privacy import Guarantee

if TYPE_CHECKING:
    from dither.learn.estimators.logistic import Descent

__all__ = ["Centroids", "ClassSums"]

MEANS = (
    "coefficients: by noisy means of the classes, which are taken for round clouds of one "
    "size, so not those of maximum likelihood; without intervals"
)
MANY = 200
"""Rows times ε for each weight from which on the descent pays."""
SPREAD = 0.12
"""The variance within classes that is taken for granted, where bounds are -1 and 1."""


@dataclass(frozen=True)
class ClassSums:
    """The noised vector of each class: a count, and the sums of its columns between -1
    and 1. A row is in one class, and no entry is beyond ±1.
    """

    declared: Declared
    spending: Spending

    @property
    def classes(self) -> int:
        assert self.declared.classes is not None
        return len(self.declared.classes)

    @cached_property
    def noise(self) -> Cube | Gaussian:
        return box_noise(self.spending, self.declared, self.declared.width + 1)

    def exact(self, rows: Rows) -> Integers:
        """A line for each class."""
        assert rows.targets is not None
        found = np.zeros((self.classes, self.declared.width + 1), np.int64)
        most = self.declared.whole * STEPS
        for part in blocks(len(rows), most):
            values = moved(rows.inputs[part])
            held = np.hstack([np.full((len(values), 1), float(STEPS)), values])
            targets, weights = rows.targets[part], rows.weights[part]
            found += grouped(held, targets, weights, self.classes, most)
        return found

    def release(self, rows: Rows) -> tuple[Reals, Reals, float]:
        """Noisy means of the classes, the share of each, and the variance of what is
        unknown of the means.
        """
        one = self.declared.whole * STEPS
        noisy, noise = self.noise.release(self.exact(rows)) / one, deviation(self.noise)
        error = (noise / one) ** 2
        even = max(noisy[:, 0].sum() / self.classes, 1.0)
        counts = shrunk(noisy[:, 0], even, error, (RAREST * even) ** 2)
        counts = np.maximum(counts, RAREST * even)
        shares = counts / counts.sum()
        means, unknown = moderate_means(
            noisy[:, 1:] / counts[:, None], error / counts**2, shares
        )
        return means, shares, float(shares @ unknown[:, 0])


@dataclass(frozen=True)
class Centroids:
    """A count, and then class sums; or, where rows are many, the descent."""

    spending: Spending
    count: UnitCount
    sums: ClassSums
    descent: Descent

    @classmethod
    def of(cls, whole: Descent) -> Centroids:
        """What a descent may spend, spent so."""
        count, rest = UnitCount.of(
            whole.declared, whole.spending, whole.declared.units is None
        )
        later = type(whole).of(whole.declared, rest, whole.steps)
        sums = ClassSums(whole.declared, rest)
        found = cls(whole.spending, count, sums, later)
        _ = found.sums.noise  # what it refuses is refused before the charge
        return found

    @property
    def guarantee(self) -> Guarantee:
        """The count's ε, and that of whichever of both follows."""
        return self.spending.guarantee

    def fit(self, rows: Rows) -> Fitted:
        declared = self.descent.declared
        units = self.count.release(rows)
        numbers = (declared.width + 1) * self.descent.outputs
        if units * (self.sums.spending.epsilon or 0.0) >= MANY * numbers:
            return self.descent.fit(rows)
        return self.by_means(*self.sums.release(rows))

    def by_means(self, means: Reals, shares: Reals, unknown: float) -> Fitted:
        """The classifier that takes classes for round clouds of one size."""
        declared = self.descent.declared
        assert declared.classes is not None
        spread = SPREAD + unknown
        base = np.log(shares) - (means**2).sum(axis=1) / (2 * spread)
        coef = means / spread * (2 / declared.span)
        intercept = base - coef @ ((declared.low + declared.high) / 2)
        if self.descent.outputs == 1:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        found = {
            "coef_": coef,
            "intercept_": intercept,
            "classes_": labels(declared.classes),
            "n_iter_": 1,
        }
        return Fitted(found, np.hstack([intercept[:, None], coef]), notes=(MEANS,))
