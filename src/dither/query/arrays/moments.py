"""Sums from which means and variances follow, each record counted in whole steps that
add up to the same total.

A value v of [0, 1] is split into parts that are never negative and always add up to 1:
(1−v, v) for the mean, ((1−v)², 2v(1−v), v²) for the variance (Bernstein's polynomials).
In whole steps the parts of a record add up to exactly their number, so the vector of
their sums has that L1 sensitivity under add/remove: count and sum, or count, sum and
sum of squares, are all had for the price of one count. Spending half of ε on a centred
sum and half on a count gives twice the variance.

Steps are as fine as doubles and 64-bit noise allow. What rounding may move is in the
intervals (docs/proofs/intervals.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.query.arrays.columns import Numbers, are_floats
from dither.query.statistics.estimates import Moments

__all__ = [
    "STEPS",
    "described",
    "exact_sum",
    "finest",
    "parts",
    "rounding",
    "scaled",
    "sensitivities",
]

STEPS = 1 << 50
COARSER = (0, 6, 12, 18)
"""Bits that the steps give up where noise is too wide for 64 bits: then it is wide
enough beside them too.
"""
LOST = {1: 1, 2: 8}
"""In steps of a record: how far rounding, and what doubles lose before, may move a mean
or a variance between 0 and 1 (docs/proofs/intervals.md).
"""
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


def parts(values: Floats, degree: int, steps: int = STEPS) -> list[Integers]:
    """The parts of each record in whole steps; they add up to `steps` for every
    record.
    """
    top = np.rint(values**degree * steps).astype(np.int64)
    if degree == 1:
        return [steps - top, top]
    middle = np.minimum(
        np.rint(2 * values * (1 - values) * steps).astype(np.int64), steps - top
    )
    return [steps - top - middle, middle, top]


def exact_sum(values: Integers) -> int:
    """The sum as a Python int. Halves of 32 bits are summed apart, so that no partial
    sum leaves 64 bits.
    """
    total = 0
    for start in range(0, values.size, CHUNK):
        part = values[start : start + CHUNK]
        total += (int((part >> 32).sum()) << 32) + int((part & 0xFFFFFFFF).sum())
    return total


def sensitivities(replacing: bool, steps: int = STEPS) -> tuple[float, float]:
    """Largest change of the vector of part sums by one record, in L1 and L2."""
    return (
        (2.0 * steps, math.nextafter(math.sqrt(2) * steps, math.inf))
        if replacing
        else (steps, steps)
    )


def finest(noise: Callable[[int], Additive]) -> tuple[int, Additive]:
    """The finest steps whose noise fits 64 bits, and that noise; it depends on public
    scales alone.
    """
    for bits in COARSER[:-1]:
        with suppress(ArgumentError):
            return STEPS >> bits, noise(STEPS >> bits)
    return STEPS >> COARSER[-1], noise(STEPS >> COARSER[-1])


def described(low: float, high: float, degree: int, steps: int) -> Moments:
    """The part sums, as described to the statistics that SQL has as well: the parts of a
    record add up to `steps`, whatever their degree.
    """
    # The parts are rounded, and not the values: see `rounding`
    return Moments((degree,), ((low, high),), (round(steps ** (1 / degree)),), (True,))


def rounding(low: float, high: float, degree: int, steps: int) -> float:
    """Largest change of a mean, or of a variance, by rounding."""
    return LOST[degree] * (float(high) - float(low)) ** degree / steps
