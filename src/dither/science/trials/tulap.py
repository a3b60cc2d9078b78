"""Counts with integer noise and a free uniform number from -½ to ½ on top: the Tulap
law of Awan & Slavković, for Laplace and for Gaussian noise.

The uniform number is post-processing. It makes the noisy count continuous, so that a
test keeps its level exactly instead of being cautious.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dither.noise import uniform_integers
from dither.science.trials.columns import Reals
from dither.science.trials.null import Law

__all__ = ["REACH", "ROUNDS", "Binomial", "Tulap", "bisect", "uniform"]

FINEST = 1 << 53
ROUNDS = 60
REACH = 700.0
"""Values whose probability is below e^(-REACH) do not count."""


def uniform() -> float:
    """A number between -½ and ½, on a grid that no result can tell from the line."""
    return (uniform_integers(FINEST) + 0.5) / FINEST - 0.5


def bisect(
    holds: Callable[[float], bool], low: float, high: float, rounds: int = ROUNDS
) -> float:
    """The last place before a statement that fails at `low` holds, as it does at
    `high`.
    """
    for _ in range(rounds):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low


@dataclass(frozen=True)
class Tulap:
    """Integer noise plus a uniform number."""

    law: Law

    def below(self, x: Any) -> Reals:
        """P(N + U ≤ x): a straight line between the half numbers k + ½, where it is
        P(N ≤ k). Small values keep their digits, however small they are.
        """
        at = np.asarray(x, np.float64) + 0.5
        nearest = np.floor(at)
        with np.errstate(under="ignore"):
            whole = self.law.survival(1 - nearest)  # the law is symmetric
            return np.asarray(whole + (at - nearest) * self.law.pmf(nearest))


@dataclass(frozen=True)
class Binomial:
    """The likely values of a binomial count, and their probabilities."""

    n: int
    p: float
    reach: float = REACH

    @cached_property
    def _held(self) -> tuple[int, Reals]:
        if self.p <= 0 or self.p >= 1:
            return (0 if self.p <= 0 else self.n), np.ones(1)
        mode = min(self.n, math.floor((self.n + 1) * self.p))
        # Bernstein: beyond it is all that is less likely than e^(-reach)
        third, variance = self.reach / 3, self.n * self.p * (1 - self.p)
        away = math.ceil(third + math.sqrt(third**2 + 2 * self.reach * variance)) + 1
        above = self._upwards(mode, min(self.n, mode + away))
        below = self._downwards(mode, max(0, mode - away))
        found = np.concatenate([below[::-1], [1.0], above])
        # Products of as many factors are off by more than a plain sum
        return mode - below.size, found / found.sum()

    def _upwards(self, mode: int, last: int) -> Reals:
        """Probabilities after the mode, as multiples of that of the mode."""
        k = np.arange(mode + 1, last + 1, dtype=np.float64)
        with np.errstate(under="ignore"):
            found = np.cumprod((self.n - k + 1) / k * (self.p / (1 - self.p)))
        return np.asarray(found, np.float64)

    def _downwards(self, mode: int, first: int) -> Reals:
        k = np.arange(mode, first, -1, dtype=np.float64)
        with np.errstate(under="ignore"):
            found = np.cumprod(k / (self.n - k + 1) * ((1 - self.p) / self.p))
        return np.asarray(found, np.float64)

    @property
    def weights(self) -> Reals:
        return self._held[1]

    @cached_property
    def values(self) -> Reals:
        return self._held[0] + np.arange(self.weights.size, dtype=np.float64)

    def mean(self, of: Any) -> float:
        """The mean of numbers that belong to the values."""
        with np.errstate(under="ignore"):
            return float(self.weights @ of)
