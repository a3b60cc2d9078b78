"""Where the coefficients lie that least squares would give without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.learn.estimators.data import Declared, Reals
from dither.learn.estimators.products import NoisyProducts
from dither.mechanisms.sums import noise_variance

__all__ = ["Coefficients"]

EVERYWHERE = -math.inf, math.inf


@dataclass(frozen=True)
class Coefficients:
    """The intervals of an intercept and a slope for each column.

    With noisy sums K and w, and θ the coefficients without noise, K(estimate - θ) is
    (noise of w) - (noise of K)·θ, exactly. So the error of one coefficient is a sum of
    noises whose weights are known except for θ. They are taken at the estimate, and
    along the line on which that coefficient moves: the interval holds every value for
    which the error is not too large (Fieller 1954).
    """

    noisy: NoisyProducts
    declared: Declared
    penalty: Reals
    """The ridge that is added to the squares of each column."""

    @cached_property
    def known(self) -> Reals:
        found: Reals = self.noisy.known + np.diag(self.penalty)
        return found

    @cached_property
    def inverse(self) -> Reals | None:
        """None if the noisy sums are not those of any rows: nothing is known."""
        level = np.linalg.eigvalsh(self.known)
        if not level[0] > 1e-9 * max(level[-1], 1.0):
            return None
        return np.asarray(np.linalg.inv(self.known))

    @cached_property
    def estimate(self) -> Reals:
        """Coefficients without the ridge for noise, where all goes from -1 to 1."""
        if self.inverse is None:
            return np.zeros(self.declared.width + 1)
        return np.asarray(self.inverse @ self.noisy.wanted)

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        places = range(self.declared.width + 1)
        found = [self._ends(place, confidence) for place in places]
        low, high = np.array(found, np.float64).T
        return low, high

    def real(self, shares: Reals) -> Reals:
        """Coefficients in the units of the data, intercept first."""
        return self.turned @ shares + self.shift

    @cached_property
    def turned(self) -> Reals:
        """What each coefficient in the units of the data is made of."""
        low, high = self._target
        half = (high - low) / 2
        middle = (self.declared.low + self.declared.high) / 2
        found = np.diag(np.append(half, half / (self.declared.span / 2)))
        found[0, 1:] = -middle * np.diag(found)[1:]
        return found

    @property
    def shift(self) -> Reals:
        found = np.zeros(self.declared.width + 1)
        found[0] = sum(self._target) / 2
        return found

    @property
    def _target(self) -> tuple[float, float]:
        assert self.declared.target is not None
        return self.declared.target

    def _ends(self, place: int, confidence: float) -> tuple[float, float]:
        if self.inverse is None:
            return EVERYWHERE
        contrast = self.turned[place]
        row = self.inverse @ contrast
        step = row / float(row @ contrast)
        left = np.append(row, 0.0)
        there = self.noisy.shares(left, np.append(self.estimate, -1.0))
        away = self.noisy.shares(left, np.append(step, 0.0))
        roots = self._roots(there, away, confidence)
        if roots is None:
            return EVERYWHERE
        middle = float(contrast @ self.estimate + self.shift[place])
        return middle + roots[0], middle + roots[1]

    def _roots(
        self, there: Reals, away: Reals, confidence: float
    ) -> tuple[float, float] | None:
        """The distances between which the true value lies; None if it may be anywhere."""
        power = noise_variance(self.noisy.noise)
        first, second, third = (
            power * float((one * other).sum())
            for one, other in ((there, there), (there, away), (away, away))
        )
        square, fourth = (np.array([(there**power).sum()]) for power in (2, 4))
        width = float(self.noisy.noise.law.reaches(square, fourth, confidence)[0])
        reach = width**2 / first if first > 0 else 0.0
        lead = 1 - reach * third
        if lead <= 0:
            return None
        middle = reach * second / lead
        half = math.sqrt(middle**2 + reach * first / lead)
        return middle - half, middle + half
