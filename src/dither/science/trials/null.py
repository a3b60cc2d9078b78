"""The law of integer noise, and of noise and sampling together: what p-values that know
of the noise are made of.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator, Philox  # allowed: draws of public laws only
from numpy.typing import NDArray

from dither.errors import MissingExtra
from dither.mechanisms import Additive, Gaussian, Laplace
from dither.noise import discrete_laplace, rounded_gaussian, secret_bytes

__all__ = ["Law", "public_draws", "special"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

FINE = 64.0
"""From this scale on, noise in whole steps is as good as noise on the line: the law
differs by less than 1 in 50,000.
"""


def special() -> Any:
    """scipy.special, which has the normal law's tails."""
    try:
        from scipy import special as found
    except ImportError:
        raise MissingExtra("scipy", "science") from None
    return found


def public_draws() -> Generator:
    """Draws for nulls that are simulated and for power: from laws that are public or
    fitted to a release, never noise that protects anybody.
    """
    key = np.frombuffer(secret_bytes(16), np.uint64)
    return Generator(Philox(key=key))


@dataclass(frozen=True)
class Law(ABC):
    """The law of the integer noise of a mechanism."""

    scale: float

    @staticmethod
    def of(mechanism: Additive) -> Law:
        if isinstance(mechanism, Laplace):
            return LaplaceLaw(mechanism.integer_scale)
        if isinstance(mechanism, Gaussian):
            return GaussianLaw(mechanism.integer_scale)
        raise TypeError(type(mechanism).__name__)

    @property
    @abstractmethod
    def variance(self) -> float: ...

    @abstractmethod
    def pmf(self, k: Any) -> Reals:
        """P(N = k) for whole numbers."""

    @abstractmethod
    def survival(self, t: Any) -> Reals:
        """P(N ≥ t); t need not be whole."""

    @abstractmethod
    def draw(self, shape: Any) -> Integers:
        """Fresh noise of this law."""

    @abstractmethod
    def _smooth(self, t: Reals, sd: float) -> Reals:
        """P(N + sd·Z ≥ t) with the noise taken as one on the line."""

    def beyond(self, t: Any, sd: float) -> Reals:
        """P(N + sd·Z ≥ t) with Z standard normal."""
        at = np.asarray(t, np.float64)
        if sd <= 0:
            return self.survival(at)
        if self.scale >= FINE:
            return self._smooth(at, sd)
        steps, weights = _table(self)
        tails = special().ndtr((steps - at[..., None]) / sd)
        return np.asarray(tails @ weights)

    def with_pmf(self, values: Any, probabilities: Any, t: float) -> float:
        """P(N + S ≥ t) for an S that has these values with these probabilities."""
        tails = self.survival(t - np.asarray(values, np.float64))
        return float(np.clip(tails @ np.asarray(probabilities), 0.0, 1.0))


@lru_cache(maxsize=64)
def _table(law: Law) -> tuple[Reals, Reals]:
    """All noise that is likely enough to matter, and how likely it is."""
    most = math.ceil(40 * law.scale) + 2
    steps = np.arange(-most, most + 1, dtype=np.float64)
    return steps, law.pmf(steps)


@dataclass(frozen=True)
class LaplaceLaw(Law):
    """P(N = k) ∝ e^(−|k| / scale)."""

    @property
    def variance(self) -> float:
        q = math.exp(-1 / self.scale)
        return 2 * q / math.expm1(-1 / self.scale) ** 2

    def pmf(self, k: Any) -> Reals:
        top = math.tanh(1 / (2 * self.scale))
        return np.asarray(top * np.exp(-np.abs(np.asarray(k)) / self.scale))

    def survival(self, t: Any) -> Reals:
        k = np.ceil(np.asarray(t, np.float64))
        q = math.exp(-1 / self.scale)
        upper = np.exp(-np.abs(k) / self.scale) / (1 + q)
        # P(N ≥ −m) = 1 − P(N ≥ m + 1)
        return np.asarray(np.where(k > 0, upper, 1 - q * upper))

    def draw(self, shape: Any) -> Integers:
        drawn: Integers = discrete_laplace(self.scale, shape)
        return drawn

    def _smooth(self, t: Reals, sd: float) -> Reals:
        found = special()
        b, x, r = self.scale, t / sd, sd / self.scale
        left = found.log_ndtr(x - r) + r * r / 2 - t / b
        right = found.log_ndtr(-x - r) + r * r / 2 + t / b
        return np.asarray(found.ndtr(-x) + (np.exp(left) - np.exp(right)) / 2)


@dataclass(frozen=True)
class GaussianLaw(Law):
    """A normal number, rounded."""

    @property
    def variance(self) -> float:
        if self.scale < 2:  # rounding is not uniform there
            steps, weights = _table(self)
            return float(steps**2 @ weights)
        return self.scale**2 + 1 / 12

    def pmf(self, k: Any) -> Reals:
        low = np.abs(np.asarray(k, np.float64)) - 0.5
        tail = special().ndtr
        return np.asarray(tail(-low / self.scale) - tail(-(low + 1) / self.scale))

    def survival(self, t: Any) -> Reals:
        k = np.ceil(np.asarray(t, np.float64))
        return np.asarray(special().ndtr(-(k - 0.5) / self.scale))

    def draw(self, shape: Any) -> Integers:
        drawn: Integers = rounded_gaussian(self.scale, shape)
        return drawn

    def _smooth(self, t: Reals, sd: float) -> Reals:
        return np.asarray(special().ndtr(-t / math.hypot(self.scale, sd)))
