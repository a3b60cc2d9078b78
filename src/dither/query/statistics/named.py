"""Numbers of units that name private keys, and are answers too: their intervals hold
given that the key was named (rule R14, docs/proofs/intervals.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dither.mechanisms import KeyThreshold
from dither.query.statistics.intervals import Ends
from dither.query.statistics.totals import Estimate
from dither.release import Around

__all__ = ["NamedCount", "named_counts"]

CLOSE = 1e-9
"""Relative error of a logarithm of a probability, at most."""


@dataclass(frozen=True)
class NamedCount:
    """A noisy number of units that is shown because it was `least` or more. If it is
    `open`, units may have given up this key, so the true number has no upper bound.
    """

    noisy: int
    keys: KeyThreshold
    least: int
    open: bool

    def ends(self, confidence: float) -> Ends:
        """Each end misses with half of what the interval may, or the only end with all.

        A named key has `at_least` units or more. A lower end that says no more is open,
        unless it is the only one.
        """
        missed = 1 - confidence
        if self.open:
            return self.low(missed), math.inf
        low = self.low(missed / 2)
        high = self.noisy + self.keys.error(confidence)
        return -math.inf if low <= self.keys.at_least else low, high

    def low(self, missed: float) -> int:
        """The least number of units with which a number that is named is this large
        with a probability above `missed`. That probability rises with the units.
        """
        low, high = self.keys.at_least - 1, self.noisy
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (low, middle) if self._explains(middle, missed) else (middle, high)
            )
        return high

    def _explains(self, units: int, missed: float) -> bool:
        """Whether P(noise ≥ noisy − units) is more than a share `missed` of P(noise ≥
        least − units).
        """
        here = self.keys.log_tail(self.noisy - units)
        if here == -math.inf:
            return False
        named = self.keys.log_tail(self.least - units)
        return here - named > math.log(missed) - CLOSE * (1 + abs(named))


def named_counts(
    counts: Sequence[int], keys: KeyThreshold, left_out: int | None, *, open_: bool
) -> list[Estimate]:
    """The numbers of units of named keys. `left_out` is the largest noisy one that was
    not shown although it was named.

    A shown number that equals it won by the order of keys. One that is larger would
    have been shown from the next number on, whatever the order is.
    """
    found = []
    for noisy in counts:
        least = keys.threshold
        if left_out is not None:
            least = max(least, min(noisy, left_out + 1))
        spread = NamedCount(noisy, keys, least, open_)
        found.append(Estimate(noisy, spread, Around(noisy, keys, integer=True)))
    return found
