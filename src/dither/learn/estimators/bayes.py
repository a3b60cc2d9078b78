"""`GaussianNB`: naive Bayes with a noisy mean and variance of each column in each class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.learn.estimators.base import Fitted, labels
from dither.learn.estimators.boxes import (
    STEPS,
    box_noise,
    box_spending,
    grouped,
    moved,
    shrunk,
    squares,
    standard_deviation,
)
from dither.learn.estimators.data import Declared, Reals, Rows
from dither.learn.estimators.fallback import Fallback, few
from dither.learn.estimators.scores import Scored
from dither.learn.estimators.spending import Spending
from dither.learn.estimators.sums import BLOCK, Integers
from dither.mechanisms import Cube, Gaussian
from dither.privacy import Guarantee

__all__ = ["GaussianNB"]

MEANS, SQUARES = 0.85, 0.15
"""Parts of the cost: means tell classes apart more than variances do."""
RAREST = 0.1
"""No class counts for less than this share of an even one: noise would decide."""


class GaussianNB(Scored):
    """Gaussian naive Bayes:
    `GaussianNB(epsilon=1, bounds=(0, 16), classes=range(10), budget=account).fit(X, y)`.

    `theta_`, `var_`, `class_count_` and `class_prior_` are scikit-learn's, in the units of
    the data. Where noise is large, means are moved towards the mean of all classes and
    variances towards those of all classes; `var_` includes what noise leaves unknown of
    the mean. `priors` are public shares of the classes, in the order of `classes`.

    A part of the cost chooses how much the columns count: `evidence_` multiplies the log
    density of a row. It is below 1 where columns repeat each other or noise is large,
    and 0 where one class for all rows was better. If `priors` are stated, nothing is
    chosen, and `evidence_` is 1.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove.
    Why: a row adds to its class one vector with a count and all v, and one with all
    2v² - 1, where v is -1 to 1 in each column, in whole steps: no entry is beyond ±1. With
    pure ε each class has noise for its largest entry (`Cube`); with Gaussian noise the
    lengths are √(d + 1) and √d. A unit's weights add up to one row's. The choice is
    pure, by counts of rows that are right (docs/proofs/estimators.md); parts add up.
    Assumes: bounds, classes and priors are public, not read off the data.
    """

    _what = "naive Bayes"

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        bounds: Any = None,
        classes: Any = None,
        priors: Any = None,
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
        self.classes = classes
        self.priors = priors
        self.units = units
        self.rows = rows
        self.budget = budget
        self.by = by
        self.several_fits = several_fits

    def _plan(self, declared: Declared, spending: Spending) -> Bayes:
        priors = priors_of(self.priors, len(declared.classes or ()))
        if priors is not None and declared.order is not None:
            priors = priors[list(declared.order)]
        return Bayes.of(declared, spending, priors)

    def predict_joint_log_proba(self, X: Any) -> Reals:
        """The logarithm of P(class)·P(row | class), for each row and class. Values count
        as the nearest within their bounds, as they did in the fit.
        """
        rows = np.clip(self._read(X), self.declared_.low, self.declared_.high)
        with np.errstate(all="ignore"):
            found = densities(rows, self.theta_, self.var_)
            return np.asarray(self.evidence_ * found + np.log(self.class_prior_))

    def _scores(self, X: Any) -> Reals:
        return self.predict_joint_log_proba(X)


def densities(rows: Reals, theta: Reals, variances: Reals) -> Reals:
    """The log density of each row under each class, added up column by column, so that
    it depends on that row alone.
    """
    found = np.zeros((len(rows), len(theta)))
    for place, (means, spread) in enumerate(zip(theta.T, variances.T, strict=True)):
        apart = np.subtract.outer(rows[:, place], means)
        found -= (apart * apart / spread + np.log(2 * np.pi * spread)) / 2
    return found


def priors_of(priors: Any, classes: int) -> Reals | None:
    """Public shares of the classes, which add up to 1."""
    if priors is None:
        return None
    try:
        found = np.asarray(priors, np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (classes,) or not (found > 0).all():
        raise ArgumentError(
            "priors",
            "must have a share above 0 for each class; pass one such as [0.5, 0.5]",
        )
    if not abs(found.sum() - 1) < 1e-9:
        raise ArgumentError(
            "priors", "must add up to 1; pass shares such as [0.5, 0.5]"
        )
    return found


@dataclass(frozen=True)
class Bayes:
    """The noised vectors: of each class a count and a sum of each column, and a sum of
    each column's squares.
    """

    declared: Declared
    spending: Spending
    sums: Spending
    fallback: Fallback | None = None
    priors: Reals | None = None
    steps: int = STEPS

    @classmethod
    def of(cls, declared: Declared, spending: Spending, priors: Reals | None) -> Bayes:
        chosen = box_spending(spending, declared.width + 1)
        if few(declared, spending):
            chosen = spending.ways[1]
        fallback, sums = None, chosen
        if priors is None:
            fallback, sums = Fallback.of(declared, chosen)
        found = cls(declared, chosen, sums, fallback, priors)
        _ = found.noises  # what they refuse is refused before the charge
        return found

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

    @cached_property
    def noises(self) -> tuple[Cube | Gaussian, Cube | Gaussian]:
        """For counts and sums, and for squares."""
        first, second = self.sums.parts(MEANS, SQUARES)
        width, steps = self.declared.width, self.steps
        return (
            box_noise(first, self.declared, width + 1, steps),
            box_noise(second, self.declared, width, steps),
        )

    @property
    def classes(self) -> int:
        return len(self.declared.classes or ())

    def vectors(self, inputs: Reals) -> Reals:
        """The contribution of each row to its class, in whole steps."""
        values = moved(inputs, self.steps)
        count = np.full((len(inputs), 1), float(self.steps))
        return np.hstack([count, values, squares(values, self.steps)])

    def exact(self, rows: Rows) -> Integers:
        found = np.zeros((self.classes, 2 * self.declared.width + 1), np.int64)
        most = self.declared.whole * self.steps
        assert rows.targets is not None
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            vectors = self.vectors(rows.inputs[part])
            chosen, weights = rows.targets[part], rows.weights[part]
            found += grouped(vectors, chosen, weights, self.classes, most)
        return found

    def fit(self, rows: Rows) -> Fitted:
        exact, width = self.exact(rows), self.declared.width
        first, second = self.noises
        fitted = self.read(
            first.release(exact[:, : width + 1]), second.release(exact[:, width + 1 :])
        )
        if self.fallback is None:
            return fitted
        return self.tempered(rows, fitted, self.fallback)

    def tempered(self, rows: Rows, fitted: Fitted, fallback: Fallback) -> Fitted:
        """Weight the densities as the choice says."""
        held = dict(fitted.attributes)
        values = self.declared.low + rows.inputs * self.declared.span
        with np.errstate(all="ignore"):
            evidence = densities(values, held["theta_"], held["var_"])
        chosen = fallback.choose(rows, np.log(held["class_prior_"]), evidence)
        prior = np.exp(chosen.base)
        held |= {"class_prior_": prior / prior.sum(), "evidence_": chosen.scale}
        return Fitted(held, fitted.value, notes=chosen.notes)

    def read(self, sums: Integers, squared: Integers) -> Fitted:
        """Means and variances from the noisy vectors."""
        one = self.declared.whole * self.steps
        noise, noise2 = (standard_deviation(each) / one for each in self.noises)
        counts = self.counts(sums[:, 0] / one, noise)
        shares = counts / counts.sum()
        means, unknown = moderate_means(
            sums[:, 1:] / one / counts[:, None], (noise / counts) ** 2, shares
        )
        second = (squared / one / counts[:, None] + 1) / 2
        error = (noise2 / counts / 2)[:, None] ** 2
        variances = moderate_variances(second, means, unknown, error, shares)
        half = self.declared.span / 2
        theta = (self.declared.low + self.declared.high) / 2 + means * half
        found = {
            "classes_": labels(self.declared.classes or ()),
            "class_count_": counts,
            "class_prior_": shares if self.priors is None else self.priors,
            "theta_": theta,
            "var_": variances * half**2,
            "evidence_": 1.0,
        }
        return Fitted(found, theta)

    def counts(self, noisy: Reals, noise: float) -> Reals:
        """Number of units in each class, with less noise if classes are similar."""
        units = self.declared.units or np.inf
        even = min(max(noisy.sum(), self.classes), units) / self.classes
        found = shrunk(noisy, even, noise**2, (RAREST * even) ** 2)
        return np.asarray(np.maximum(found, RAREST * even))


def moderate_means(means: Reals, error: Reals, shares: Reals) -> tuple[Reals, Reals]:
    """Means of each class, shrunk towards the mean of all where noise is large, and the
    variance of what is unknown of them.
    """
    error = error[:, None]
    overall = np.clip(shares @ means, -1.0, 1.0)
    apart = means - overall
    average = float(shares @ error[:, 0])
    found = float((shares @ apart**2).mean()) - average
    # so that noise alone does not make all classes the same
    least = average * float(np.sqrt(2 / means.size))
    between = min(max(found, least, 1e-12), 1.0)
    kept = between / (between + error)
    return np.clip(overall + kept * apart, -1.0, 1.0), kept * error


def moderate_variances(
    second: Reals, means: Reals, unknown: Reals, error: Reals, shares: Reals
) -> Reals:
    """Variances of each class and column: shrunk towards those of the column in all
    classes, and these towards those of all columns.
    """
    raw = second - means**2 - unknown
    error = error + 4 * means**2 * unknown
    column = shares @ raw
    overall = float(np.clip(column.mean(), 1e-3, 1.0))
    column = shrunk(column, overall, shares**2 @ error)
    column = np.clip(column, overall / 10, 1.0)
    # twice the noise: a variance that is too small does more harm than one too large
    found = shrunk(raw, column, 2 * error)
    variances: Reals = np.clip(found, column / 10, 1.0) + unknown
    return variances
