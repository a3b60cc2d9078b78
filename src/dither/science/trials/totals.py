"""The law of a weighted sum of noises and a normal number: what intervals of means and
of coefficients are made of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dither.science.trials.columns import Reals

__all__ = ["Total"]

PERIOD = 120.0
HIGHEST = 400.0
"""The characteristic function is summed up to here, in steps of 2π / PERIOD, both in
standard deviations: tails then are right to 1e-7.
"""
FAR = 1e-5
"""Tails below this are bounded instead (Chernoff), which never understates them."""
HALVINGS = 60


@dataclass(frozen=True)
class Total:
    """The sum of independent Laplace variables of these scales and a normal one of this
    standard deviation.
    """

    laplace: tuple[float, ...]
    normal: float = 0.0

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the sum."""
        return math.sqrt(sum(2 * b * b for b in self.laplace) + self.normal**2)

    def beyond(self, t: float) -> float:
        """P(X ≥ t)."""
        half = self.outside(abs(t)) / 2
        return half if t >= 0 else 1 - half

    def outside(self, t: float) -> float:
        """P(|X| ≥ t), not understated."""
        if self.deviation == 0:
            return float(t <= 0)
        reach = t / self.deviation
        found = 1 - self._inside(reach) if reach < PERIOD / 4 else 0.0
        if found > FAR:
            return min(1.0, found)
        return min(FAR, self._bound(reach))

    def quantile(self, confidence: float) -> float:
        """What |X| stays within with at least this probability."""
        low, high = 0.0, 40.0 - 2 * math.log1p(-confidence)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            enough = self.outside(middle * self.deviation) <= 1 - confidence
            low, high = (low, middle) if enough else (middle, high)
        return high * self.deviation

    @cached_property
    def _waves(self) -> tuple[Reals, Reals]:
        """Frequencies, and the characteristic function over frequency there."""
        step = 2 * math.pi / PERIOD
        at: Reals = np.arange(1.0, int(HIGHEST / step)) * step
        height: Reals = step * 2 / math.pi / at
        for scale in self.laplace:
            height /= 1 + (scale / self.deviation * at) ** 2
        height *= np.exp(-((self.normal / self.deviation * at) ** 2) / 2)
        return at, height

    def _inside(self, reach: float) -> float:
        """P(|X| ≤ reach) in standard deviations, by inversion (Gil-Pelaez 1951)."""
        at, height = self._waves
        return float(2 * reach / PERIOD + np.sin(at * reach) @ height)

    def _bound(self, reach: float) -> float:
        """2·min E e^(λ(X - reach)), over λ up to where it is finite."""
        widest = max(self.laplace, default=0.0) / self.deviation
        most = 1 / widest if widest else 4 * reach + 1
        rates = np.linspace(0, min(most, 4 * reach + 1), 400)[1:-1]
        height = (rates * self.normal / self.deviation) ** 2 / 2 - rates * reach
        for scale in self.laplace:
            height -= np.log1p(-((rates * scale / self.deviation) ** 2))
        return float(min(1.0, 2 * np.exp(height.min())))
