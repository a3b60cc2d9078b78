"""Sums from which means and variances follow, each record counted in whole steps that
add up to the same total.

A value v of [0, 1] is split into parts that are never negative and always add up to 1:
(1−v, v) for the mean, ((1−v)², 2v(1−v), v²) for the variance (Bernstein's polynomials).
In whole steps of 2^-32 the parts of a record add up to exactly 2^32, so the vector of
their sums has L1 sensitivity 2^32 under add/remove: count and sum, or count, sum and
sum of squares, are all had for the price of one count. Spending half of ε on a centred
sum and half on a count gives twice the variance.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Additive
from dither.query.arrays.columns import Numbers, are_floats

__all__ = [
    "STEPS",
    "MeanSpread",
    "VarianceSpread",
    "exact_sum",
    "mean_of",
    "parts",
    "scaled",
    "sensitivities",
    "variance_of",
]

STEPS = 1 << 32
CHUNK = 1 << 20  # records summed at once

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def scaled(numbers: Numbers, low: float, high: float) -> Floats:
    """Values clipped to the bounds and mapped to [0, 1]."""
    least, width = Fraction(low), Fraction(high) - Fraction(low)

    def floats(values: Floats) -> Floats:
        clipped = np.clip(values, low, high)
        return np.clip((clipped - low) / (float(high) - float(low)), 0.0, 1.0)

    def one(value: Fraction) -> float:
        return float(max(Fraction(0), min(Fraction(1), (value - least) / width)))

    return numbers.each(floats if are_floats(low, high) else None, one).astype(
        np.float64, copy=False
    )


def parts(values: Floats, degree: int) -> list[Integers]:
    """The parts of each record in whole steps; they add up to STEPS for every record."""
    top = np.rint(values**degree * STEPS).astype(np.int64)
    if degree == 1:
        return [STEPS - top, top]
    middle = np.minimum(
        np.rint(2 * values * (1 - values) * STEPS).astype(np.int64), STEPS - top
    )
    return [STEPS - top - middle, middle, top]


def exact_sum(values: Integers) -> int:
    """The sum as a Python int. Halves of 32 bits are summed apart, so that no partial
    sum leaves 64 bits.
    """
    total = 0
    for start in range(0, values.size, CHUNK):
        part = values[start : start + CHUNK]
        total += (int((part >> 32).sum()) << 32) + int((part & 0xFFFFFFFF).sum())
    return total


def sensitivities(replacing: bool) -> tuple[float, float]:
    """How far one record moves the vector of part sums, in L1 and L2."""
    return (
        (2.0 * STEPS, math.nextafter(math.sqrt(2) * STEPS, math.inf))
        if replacing
        else (STEPS, STEPS)
    )


def mean_of(zeros: float, ones: float) -> float:
    """The mean of values of [0, 1], from noisy sums; one half where noise drowned
    everything.
    """
    total = zeros + ones
    return min(1.0, max(0.0, ones / total)) if total > 0 else 0.5


def variance_of(first: float, middle: float, last: float, total: float) -> float:
    """The variance of values of [0, 1] from noisy part sums: p₀·p₂ − p₁²/4, between 0
    and 1/4.
    """
    if total <= 0:
        return 0.0
    return min(0.25, max(0.0, (first * last - middle * middle / 4) / total**2))


@dataclass(frozen=True)
class MeanSpread:
    """Both sums hold their ± together (union bound); the mean rises with one and falls
    with the other.
    """

    sums: tuple[int, int]
    mechanism: Additive
    low: float
    high: float

    def ends(self, confidence: float) -> tuple[float, float]:
        width = self.mechanism.error((1 + confidence) / 2, integer=True)
        zeros, ones = self.sums
        least = mean_of(zeros + width, max(ones - width, 0))
        most = mean_of(max(zeros - width, 0), ones + width)
        return self.low + (self.high - self.low) * least, self.low + (
            self.high - self.low
        ) * most


@dataclass(frozen=True)
class VarianceSpread:
    """All part sums hold their ± together (union bound); the ends are the extremes over
    that box.

    The variance falls with the middle sum. In the first and the last it rises and then
    falls, so its least value is at a corner, and its largest at a corner or where one
    of the two is at its own best for the other's end.
    """

    sums: tuple[int, int, int]
    mechanism: Additive
    range: float
    total: int | None

    def ends(self, confidence: float) -> tuple[float, float]:
        width = self.mechanism.error(1 - (1 - confidence) / 3, integer=True)
        first, middle, last = (
            (max(s - width, 0.0), max(s + width, 0.0)) for s in self.sums
        )
        least = min(
            self._at(a, middle[1], c) for a, c in itertools.product(first, last)
        )
        corners = list(itertools.product(first, last))
        corners += [(_best(c, middle[0], first), c) for c in last] + [
            (a, _best(a, middle[0], last)) for a in first
        ]
        most = max(self._at(a, middle[0], c) for a, c in corners)
        return least * self.range**2, most * self.range**2

    def _at(self, first: float, middle: float, last: float) -> float:
        return variance_of(
            first,
            middle,
            last,
            self.total if self.total is not None else first + middle + last,
        )


def _best(other: float, middle: float, ends: tuple[float, float]) -> float:
    """The first sum at which the variance is largest, for a given last one (or the
    other way round).
    """
    best = other + middle + middle * middle / (2 * other) if other > 0 else ends[1]
    return min(max(best, ends[0]), ends[1])
