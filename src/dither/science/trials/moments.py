"""Sums, sums of squares and counts of one arm's outcomes, as one noised vector.

An outcome is clamped to its public bounds and counted in whole steps from their middle,
so that one person moves each sum by a known whole number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive, Gaussian
from dither.question import Question
from dither.science.trials.columns import Integers, Reals

__all__ = ["STEPS", "SURE", "Moments", "Noisy", "Scale"]

STEPS = 1 << 20
"""Number of steps from the middle of the bounds to either."""
SURE = 3.0
"""So many scales noise stays within, at a rate of 95 % or more."""


@dataclass(frozen=True)
class Scale:
    """Whole steps between public bounds, counted from their middle."""

    low: float
    high: float
    steps: int = STEPS

    @property
    def middle(self) -> float:
        return self.low / 2 + self.high / 2

    @property
    def half(self) -> float:
        return self.high / 2 - self.low / 2

    def codes(self, values: Reals) -> tuple[Integers, NDArray[np.bool_]]:
        """Steps of each outcome, 0 where it is missing, and which ones are there."""
        there = ~np.isnan(values)
        inside = np.clip(np.where(there, values, self.middle), self.low, self.high)
        with np.errstate(all="ignore"):
            share = np.clip((inside - self.middle) / self.half, -1, 1)
        # whatever the bounds are, no step lies beyond them
        steps = np.rint(np.nan_to_num(share) * self.steps)
        return steps.astype(np.int64), there


@dataclass(frozen=True)
class Moments:
    """The vector that is noised for each arm: (Σw, Σ⌊square·w² / 4·steps⌋, count·steps / 4
    for each person there), with w the outcome in steps.

    Where sizes are public, squares and counts of these weights cost nothing: Σw alone
    moves as far. If they are private, or where arms are in a column that is private
    (`moving`), a person who is replaced may leave one arm and be followed by one in
    another (docs/proofs/trials.md).
    """

    question: Question
    public: bool = True
    arms: int = 2
    moving: bool = False
    steps: int = STEPS

    @property
    def mechanism(self) -> Additive:
        """Noise for one person, who is in one arm."""
        l1, l2 = self._moved
        return self.question.vector(float(l1 * self.steps), float(l2 * self.steps))

    @property
    def _moved(self) -> tuple[Fraction, Fraction]:
        """How far a person moves all vectors in L1 and L2, in halves of the bounds."""
        if not self.question.replacing:
            return Fraction(2), Fraction(3, 2)
        if self.arms == 1 or (self.public and not self.moving):
            return Fraction(2), Fraction(2)
        if self.public:  # one arm fills up, another sends somebody away
            return Fraction(4), Fraction(17, 6)  # more than √2 · 2
        return Fraction(4), Fraction(17, 8)  # more than √2 · 3/2

    @property
    def weights(self) -> tuple[int, int]:
        """What squares and counts are multiplied with, in quarters."""
        gaussian = isinstance(self.mechanism, Gaussian)
        if self.public and self.question.replacing:
            return (4, 4) if gaussian else (2, 2)
        return (2, 4) if gaussian else (1, 3)

    def vector(self, codes: Integers, there: NDArray[np.bool_]) -> Integers:
        """The exact vector of one arm."""
        square, count = self.weights
        known = codes[there]
        squares = square * known**2 // (4 * self.steps)
        people = known.size * count * self.steps // 4
        return np.array([known.sum(), squares.sum(), people], np.int64)

    def read(self, noisy: Any, size: int | None) -> Noisy:
        """A noised vector in its own units: means between -1 and 1, and people. The
        number of people is `size` where that is public.
        """
        square, count = self.weights
        units = np.array([1.0, 4 / square, 4 / count]) / self.steps
        total, squares, people = np.asarray(noisy, np.float64) * units
        scales = self.mechanism.scale * units
        return Noisy(
            float(total),
            float(squares),
            float(people if size is None else size),
            float(scales[0]),
            float(scales[1]),
            float(scales[2]) if size is None else 0.0,
            gaussian=isinstance(self.mechanism, Gaussian),
        )


@dataclass(frozen=True)
class Noisy:
    """One arm's noisy moments: the scale of the noise on each is beside it."""

    total: float
    squares: float
    count: float
    total_scale: float
    square_scale: float
    count_scale: float
    gaussian: bool
    most: float = math.inf

    @property
    def people(self) -> float:
        """How many there are, at least 1 and at most the public size."""
        return min(max(self.count, 1.0), self.most)

    @property
    def mean(self) -> float:
        return min(max(self.total / self.people, -1.0), 1.0)

    def noises(self, sure: float = SURE) -> tuple[float, ...]:
        """The scales of the noise in the mean: a mean is off by (noise of the sum -
        mean · noise of the count) / people, whatever the noisy count is.
        """
        return (
            self.total_scale / self.people,
            self._farthest(sure) * self.count_scale / self.people,
        )

    def _farthest(self, sure: float) -> float:
        """How far from the middle the exact mean lies, at most, if noise stays within so
        many scales: a count that came out too large makes the noisy mean too small.
        """
        fewest = self.people - sure * self.count_scale
        most = abs(self.total) + sure * self.total_scale
        return min(1.0, most / fewest) if fewest > 0 else 1.0

    def _power(self, scale: float) -> float:
        """The variance of noise of a scale."""
        return scale**2 * (1 if self.gaussian else 2)

    @property
    def variance(self) -> float:
        """An estimate of the outcome's variance, which noise may make negative; raised
        for small samples as t laws are.
        """
        n, noise = self.people, self._power(self.noises()[0])
        found = self.squares / n - self.mean**2 + min(noise, self.mean**2)
        return found * n**2 / ((n - 1) * (n - 4)) if n > 4 else 1.0

    @property
    def variance_noise(self) -> float:
        """The variance of the noise in that."""
        n, mean = self.people, self.mean
        ratio = min(1.0, max(0.0, self.squares / n))
        found = (
            self._power(self.square_scale)
            + (2 * mean) ** 2 * self._power(self.total_scale)
            + (2 * mean**2 - ratio) ** 2 * self._power(self.count_scale)
        )
        return found / n**2

    @property
    def variance_most(self) -> float:
        """What no outcome's variance exceeds: (high - mean)(mean - low), at the mean
        nearest the middle that noise allows (Bhatia & Davis 2000).
        """
        n, reach = self.people, 7 * sum(self.noises())
        nearest = max(0.0, abs(self.mean) - reach)
        return (1 - nearest**2) * n / max(n - 1, 1.0)
