"""Coefficients of a noisy least-squares fit, and where the true ones lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.science.trials.columns import Reals
from dither.science.trials.gram import NoisyGram
from dither.science.trials.moments import Scale
from dither.science.trials.totals import Total

__all__ = ["Fit"]

RAISED = 0.5
"""By how many standard deviations of its noise the variance of residuals is raised."""
EVERYWHERE = -math.inf, math.inf


@dataclass(frozen=True)
class Fit:
    """A fit by noisy sums of products: intercept first, then one slope for each column.

    With G the noisy sums of products, G·(estimate - truth) is the sum of (z times
    residual) and of (noise times the true coefficients), exactly. So each coefficient's
    error is a sum of noises whose weights are known except for the coefficient itself,
    and the interval holds every value for which that sum is not too large (Fieller
    1954).
    """

    gram: NoisyGram
    scales: tuple[Scale, ...]
    sampled: bool = True

    @property
    def here(self) -> Fit:
        """The same about these people: no sampling."""
        return Fit(self.gram, self.scales, sampled=False)

    @cached_property
    def _inverse(self) -> Reals | None:
        """Inverse of the sums of products of the predictors; None if they are not those
        of any data, so nothing is known.
        """
        known = self.gram.sums[:-1, :-1]
        spread = np.sqrt(np.abs(np.diag(known)))
        if not (np.diag(known) > 0).all():
            return None
        level = np.linalg.eigvalsh(known / np.outer(spread, spread))
        return np.asarray(np.linalg.inv(known)) if level[0] > 1e-9 else None

    @cached_property
    def shares(self) -> Reals:
        """Coefficients between variables in halves of their bounds' widths."""
        if self._inverse is None:
            return np.zeros(len(self.scales))
        return np.asarray(self._inverse @ self.gram.sums[:-1, -1])

    @cached_property
    def residual(self) -> float:
        """The variance of residuals, raised for its noise."""
        people = float(self.gram.sums[0, 0])
        free = max(people - len(self.scales) - 4, 1.0)
        turned = np.append(self.shares, -1.0)
        square = float(turned @ self.gram.sums @ turned)
        noise = math.sqrt(self.gram.variance(turned, turned))
        found = (max(square, 0.0) + RAISED * noise) / free
        return min(found, people / max(people - 1, 1.0))

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        found = [self._ends(place, confidence) for place in range(len(self.scales))]
        low, high = np.array(found, np.float64).T
        return low, high

    @property
    def value(self) -> Reals:
        """The coefficients in the units of the data."""
        return np.array([self._real(place, 0.0) for place in range(len(self.scales))])

    def _contrast(self, place: int) -> Reals:
        """What a coefficient is made of: the intercept is where all columns are 0, not
        in the middle of their bounds.
        """
        found = np.zeros(len(self.scales))
        found[place] = 1.0
        if place == 0:
            found[1:] = [-one.middle / one.half for one in self.scales[:-1]]
        return found

    def _real(self, place: int, away: float) -> float:
        """A coefficient so far from its estimate, in the units of the data."""
        share = float(self._contrast(place) @ self.shares) + away
        target = self.scales[-1]
        if place == 0:
            return target.middle + share * target.half
        return share * target.half / self.scales[place - 1].half

    def _ends(self, place: int, confidence: float) -> tuple[float, float]:
        error = self._error(place)
        roots = None if error is None else error.roots(confidence)
        if roots is None:
            return EVERYWHERE
        low, high = (self._real(place, root) for root in roots)
        return low, high

    def pvalue(self, place: int) -> float:
        """That a coefficient is 0."""
        error = self._error(place)
        if error is None:
            return 1.0
        target = self.scales[-1]
        origin = -target.middle / target.half if place == 0 else 0.0
        return error.outside(origin - float(self._contrast(place) @ self.shares))

    def _error(self, place: int) -> Error | None:
        if self._inverse is None:
            return None
        contrast = self._contrast(place)
        row = self._inverse @ contrast
        step = row / float(row @ contrast)
        there = self.gram.weights(np.append(row, 0.0), np.append(self.shares, -1.0))
        away = self.gram.weights(np.append(row, 0.0), np.append(step, 0.0))
        variance = self.residual * float(row @ contrast) if self.sampled else 0.0
        return Error(self.gram, there, away, variance)


@dataclass(frozen=True)
class Error:
    """How far a coefficient is from its estimate: a sum of noises whose weights are
    `there` at the estimate and change by `away` with each step from it, and of
    sampling.
    """

    gram: NoisyGram
    there: Reals
    away: Reals
    variance: float

    @cached_property
    def law(self) -> Total:
        """At the estimate."""
        scales = np.abs(self.there * self.gram.scales)
        if self.gram.gaussian:
            return Total((), math.sqrt(float((scales**2).sum()) + self.variance))
        least = 1e-6 * max(float(scales.max()), math.sqrt(self.variance))
        kept = scales[scales > least].tolist()
        return Total(tuple(kept), math.sqrt(self.variance))

    @cached_property
    def square(self) -> tuple[float, float, float]:
        """The variance as a polynomial in the distance from the estimate."""
        powers = self.gram.powers
        first = float((self.there**2 * powers).sum()) + self.variance
        second = 2 * float((self.there * self.away * powers).sum())
        return first, second, float((self.away**2 * powers).sum())

    def roots(self, confidence: float) -> tuple[float, float] | None:
        """The distances between which the true value lies; None if it may lie anywhere."""
        first, second, third = self.square
        reach = (self.law.quantile(confidence) / self.law.deviation) ** 2
        lead = 1 - reach * third
        if lead <= 0:
            return None
        middle = reach * second / (2 * lead)
        width = math.sqrt(middle**2 + reach * first / lead)
        return middle - width, middle + width

    def outside(self, distance: float) -> float:
        """The probability of an error as large as this, were the true value so far
        away.
        """
        first, second, third = self.square
        there = max(first + second * distance + third * distance**2, 1e-300)
        scaled = abs(distance) * self.law.deviation / math.sqrt(there)
        return self.law.outside(scaled)
