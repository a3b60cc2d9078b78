"""One quantile by a private choice among the points of a public grid, with an interval
from two more choices.

The penalty of a point is how far its rank is from the wanted one. Permute-and-flip (or
the exponential mechanism, for a cost in rho) picks the value with half of the cost; a
quarter each buys a point that lies below, and one that lies above, the true quantile
with high probability: they aim at a rank that is lower, or higher, by as much as the
choice may miss. See docs/proofs/mechanisms.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Exponential, PermuteAndFlip
from dither.privacy import PureDP, Unit, ZeroConcentratedDP
from dither.privacy.numbers import at_most, down, float_down
from dither.query.arrays.columns import Numbers, are_floats

__all__ = ["Grid", "QuantileSpread", "choose", "mechanisms", "promise"]

POINTS = 1 << 14
# a choice that may miss by more than any rank tells nothing about where the quantile
# lies
FARTHEST = 1 << 60
SHARES = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))


@dataclass(frozen=True)
class Grid:
    """Equally spaced public points from low to high: every integer if these are few,
    else 2^14 steps.
    """

    low: float
    high: float
    integer: bool

    @property
    def steps(self) -> int:
        width = self.high - self.low
        return int(width) if self.integer and width <= POINTS else POINTS

    def counts(self, numbers: Numbers) -> NDArray[np.int64]:
        """How many values are nearest to each point; values outside count at the ends."""
        place = numbers.each(
            self._places if are_floats(self.low, self.high) else None, self._place
        )
        return np.bincount(
            np.clip(place, 0, self.steps).astype(np.int64), minlength=self.steps + 1
        )

    def _places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        inside = np.clip(values, self.low, self.high)
        return np.rint((inside - self.low) / (float(self.high) - self.low) * self.steps)

    def _place(self, value: Fraction) -> int:
        low, high = Fraction(self.low), Fraction(self.high)
        return round((max(low, min(high, value)) - low) / (high - low) * self.steps)

    def point(self, i: int) -> float:
        if self.integer:
            return int(self.low) + round(
                Fraction(int(self.high) - int(self.low), self.steps) * i
            )
        return self.low + (float(self.high) - self.low) * i / self.steps


@dataclass(frozen=True)
class QuantileSpread:
    """The interval that was measured with the quantile, for one confidence."""

    low: float
    high: float
    confidence: float

    def ends(self, confidence: float) -> tuple[float, float]:
        if confidence > self.confidence:
            raise ArgumentError(
                "confidence",
                f"was fixed at {self.confidence} when the quantile was measured; "
                "ask for that or less",
            )
        return self.low, self.high


def level(q: float) -> Fraction:
    """A quantile's level as a fraction with a small denominator, so that ranks stay
    whole numbers.
    """
    try:
        exact = Fraction(str(q)).limit_denominator(10_000)
    except (ValueError, TypeError, ZeroDivisionError):
        exact = Fraction(-1)
    if not 0 <= exact <= 1:
        raise ArgumentError("q", "must lie from 0 to 1, such as 0.5 for the median")
    return exact


def promise(
    epsilon: float | None, rho: float | None, unit: Unit
) -> PureDP | ZeroConcentratedDP:
    """What the three choices promise together."""
    return (
        PureDP(epsilon or 0.0, unit=unit)
        if rho is None
        else ZeroConcentratedDP(rho, unit=unit)
    )


def mechanisms(
    epsilon: float | None, rho: float | None, q: Fraction, replacing: bool, unit: Unit
) -> list[PermuteAndFlip | Exponential]:
    """The three choices. A penalty, in units of 1/denominator, moves by this much with
    one record.
    """
    top = q.numerator
    moved = q.denominator if replacing else max(top, q.denominator - top)
    if rho is None:
        total = at_most(PureDP(epsilon or 0.0).epsilon)
        return [
            PermuteAndFlip(
                sensitivity=moved, epsilon=float_down(total * share), unit=unit
            )
            for share in SHARES
        ]
    total = Fraction(ZeroConcentratedDP(rho).rho)
    ranges = [down(math.sqrt(8 * float(total * share))) for share in SHARES]
    return [
        Exponential(sensitivity=moved, epsilon=epsilon, unit=unit) for epsilon in ranges
    ]


def choose(
    counts: NDArray[np.int64],
    q: Fraction,
    choices: list[PermuteAndFlip | Exponential],
    confidence: float,
) -> tuple[int, int, int]:
    """The grid points chosen for the quantile itself and for the ends of its interval."""
    middle = choices[0].release(-penalties(counts, q, 0))
    miss = math.ceil(choices[1].error((1 + confidence) / 2, candidates=counts.size))
    if miss > FARTHEST:
        return middle, 0, counts.size - 1
    low = choices[1].release(-penalties(counts, q, -miss))
    high = choices[2].release(-penalties(counts, q, miss))
    return middle, min(low, middle), max(high, middle)


def penalties(counts: NDArray[np.int64], q: Fraction, shift: int) -> NDArray[np.int64]:
    """How far each point's rank is from the wanted one plus shift / denominator, in
    units of 1 / denominator.

    When the wanted rank is shifted down, the first point stands for all that lies below
    it, and the last point for all above when it is shifted up; so a wanted rank outside
    the data still has a point without penalty.
    """
    a, d = q.numerator, q.denominator
    upto = np.cumsum(counts)
    below, n = upto - counts, int(upto[-1])
    too_high = d * below - a * n - shift
    too_low = a * n - d * upto + shift
    if shift < 0:
        too_high[0] = 0
    if shift > 0:
        too_low[-1] = 0
    penalty: NDArray[np.int64] = np.maximum(0, np.maximum(too_high, too_low))
    return penalty
