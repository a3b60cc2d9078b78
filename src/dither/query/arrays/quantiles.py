"""One quantile by a private choice among public leaves, with an interval from two more
choices.

The penalty of a leaf is how far its ranks are from the wanted one. Permute-and-flip (or
the exponential mechanism, for a cost in rho) picks the value with half of the cost; a
quarter each buys a leaf that lies below, and one that lies above, the true quantile
with high probability: they aim at a rank that is lower, or higher, by as much as the
choice may miss. The interval ends on the outer edges of these two. See
docs/proofs/mechanisms.md.
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
from dither.query.statistics.leaves import Leaves

__all__ = [
    "QuantileSpread",
    "choose",
    "counts_of",
    "leaves_of",
    "mechanisms",
    "promise",
]

MOST = 1 << 14
# a choice that may miss by more than any rank tells nothing about where the quantile
# lies
FARTHEST = 1 << 60
SHARES = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))


def leaves_of(low: float, high: float, *, integer: bool) -> Leaves:
    """The candidates between two bounds: every integer if these are few."""
    return Leaves(low, high, integer, MOST)


def counts_of(leaves: Leaves, numbers: Numbers) -> NDArray[np.int64]:
    """Number of values in each leaf; values outside the bounds are clamped."""
    whole = are_floats(leaves.low, leaves.high)
    found = numbers.each(leaves.sorted if whole else None, leaves.leaf)
    return np.bincount(found.astype(np.int64), minlength=leaves.count)


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
                f"cannot exceed {self.confidence}, the level at which the quantile was "
                "measured; pass that or less",
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
        raise ArgumentError("q", "must be from 0 to 1; pass 0.5 for the median")
    return exact


def promise(
    epsilon: float | None, rho: float | None, unit: Unit
) -> PureDP | ZeroConcentratedDP:
    """The guarantee of the three choices together."""
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
    """The leaves chosen for the quantile itself and for the ends of its interval.

    With q = a / d, the interval holds any number between the values at the places
    ⌊(n − 1)q⌋ and ⌈(n − 1)q⌉, counted from 0: fewer than (n − 1)q values lie below the
    lower leaf, or as many, and at least (n − 1)q + 1 lie in the upper one or below. So
    the wanted ranks lie a / d below, and (d − a) / d above, that of the quantile.
    """
    middle = choices[0].release(-penalties(counts, q, 0))
    miss = math.ceil(choices[1].error((1 + confidence) / 2, candidates=counts.size))
    if miss > FARTHEST:
        return middle, 0, counts.size - 1
    below, above = miss + q.numerator, miss + q.denominator - q.numerator
    low = choices[1].release(-penalties(counts, q, -below))
    high = choices[2].release(-penalties(counts, q, above))
    return middle, min(low, middle), max(high, middle)


def penalties(counts: NDArray[np.int64], q: Fraction, shift: int) -> NDArray[np.int64]:
    """Distance of each leaf's ranks from the wanted one plus shift / denominator, in
    units of 1 / denominator.

    When the wanted rank is shifted down, the first leaf stands for all that lies below
    it, and the last leaf for all above when it is shifted up; so a wanted rank outside
    the data still has a leaf without penalty.
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
