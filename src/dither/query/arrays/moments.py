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

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.query.arrays.columns import Numbers, are_floats
from dither.query.statistics.estimates import Moments

__all__ = ["STEPS", "described", "exact_sum", "parts", "scaled", "sensitivities"]

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


def described(low: float, high: float, degree: int) -> Moments:
    """What these part sums are to the statistics that SQL has as well: the parts of a
    record add up to STEPS, whatever their degree.
    """
    return Moments((degree,), ((low, high),), (round(STEPS ** (1 / degree)),))
