"""The unbiased two-sided test of a proportion on a noisy, continuous count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from dither.science.trials.tulap import Binomial, Tulap, bisect

__all__ = ["Unbiased"]

GOLDEN = (math.sqrt(5) - 1) / 2
ROUNDS = 60


@dataclass(frozen=True)
class Unbiased:
    """Rejects outside of two cuts that share one level and at which the rejection is
    uncorrelated with the count, so that no other proportion is rejected less often
    (Awan & Slavković 2020).

    The p-value of a noisy count is the level of the test that has its cut there.
    """

    counts: Binomial
    tulap: Tulap

    @cached_property
    def centre(self) -> float:
        return self.counts.n * self.counts.p

    def pvalue(self, noisy: float) -> float:
        reached = self._drawn(noisy)
        if self.counts.values.size == 1 or not reached > 0:
            return min(1.0, 2 * min(self._beyond(noisy), self._under(noisy)))
        far = self._other(reached, noisy)
        low, high = min(noisy, far), max(noisy, far)
        return min(1.0, self._under(low) + self._beyond(high))

    def _under(self, cut: float) -> float:
        return self.counts.mean(self.tulap.below(cut - self.counts.values))

    def _beyond(self, cut: float) -> float:
        return self.counts.mean(self.tulap.below(self.counts.values - cut))

    def _drawn(self, cut: float) -> float:
        """The covariance of the count with being beyond a cut. It rises to a top and
        falls again; the covariance with being under the cut is its negative, which
        keeps its digits where the cut is low.
        """
        moved = self.counts.values - self.centre
        if cut >= self.centre:
            return self.counts.mean(moved * self.tulap.below(self.counts.values - cut))
        return -self.counts.mean(moved * self.tulap.below(cut - self.counts.values))

    @cached_property
    def _top(self) -> float:
        spread = 2 + math.sqrt(self.centre * (1 - self.counts.p)) + self._noise
        low, high = self.centre - spread, self.centre + spread
        for _ in range(ROUNDS):
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            falls = self._drawn(left) >= self._drawn(right)
            low, high = (low, right) if falls else (left, high)
        return (low + high) / 2

    @property
    def _noise(self) -> float:
        return math.sqrt(self.tulap.law.variance)

    def _other(self, reached: float, noisy: float) -> float:
        """The cut on the other side of the top, of two that are as good the one nearer
        to it: that is cautious.
        """
        top = self._top
        side = -1.0 if noisy >= top else 1.0
        away = abs(noisy - top) + 1
        while self._drawn(top + side * away) > reached:
            away *= 2

        def lower(distance: float) -> bool:
            found = self._drawn(top + side * distance)
            return found < reached * (1 - 1e-12)

        return top + side * bisect(lower, 0.0, away)
