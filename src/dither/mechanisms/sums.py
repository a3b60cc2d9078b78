"""Figures of noise that many rooms use. Intervals of sums are in `dither.noise.Law`."""

from __future__ import annotations

import math
from fractions import Fraction

from dither.mechanisms.additive import Additive

__all__ = ["noise_variance", "root_up"]


def root_up(count: int) -> Fraction:
    """The square root of a whole number, or a fraction just above it."""
    root = math.isqrt(count << 64)
    return Fraction(root + (root * root < count << 64), 1 << 32)


def noise_variance(mechanism: Additive) -> float:
    """The variance of a mechanism's noise on integers."""
    return mechanism.integer_variance
