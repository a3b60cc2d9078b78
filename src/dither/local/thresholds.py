"""Probabilities as integers t / 2^32, and the ε that follows from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dither.errors import ArgumentError
from dither.local.words import ONE
from dither.privacy.numbers import at_most, float_up, up

__all__ = ["chance", "check", "largest", "loss", "smallest"]


def chance(threshold: int) -> Fraction:
    """The probability that a word is below the threshold."""
    return Fraction(threshold, ONE)


def check(name: str, threshold: int, *, low: int = 1, high: int = ONE - 1) -> None:
    """A threshold is a whole number between two ends."""
    whole = isinstance(threshold, int) and not isinstance(threshold, bool)
    if not whole or not low <= threshold <= high:
        raise ArgumentError(
            name, f"must be a whole number from {low} to {high}: a probability · 2^32"
        )


def loss(ratio: Fraction) -> float:
    """ln of a ratio of two probabilities (at least 1), rounded up."""
    excess = ratio - 1
    if excess <= 0:
        return 0.0
    if excess > 1 << 1000:
        return math.inf
    return up(math.log1p(float_up(excess)))


def largest(
    near: float, lost: Callable[[int], float], epsilon: float, top: int = ONE - 1
) -> int:
    """The largest threshold around `near` that loses at most ε; `lost` grows with it."""
    threshold = min(max(round(near * ONE), 1), top)
    while threshold > 1 and lost(threshold) > at_most(epsilon):
        threshold -= 1
    while threshold < top and lost(threshold + 1) <= at_most(epsilon):
        threshold += 1
    return threshold


def smallest(near: float, lost: Callable[[int], float], epsilon: float) -> int:
    """The smallest threshold around `near` that loses at most ε; `lost` falls with it."""
    return ONE - largest(1 - near, lambda other: lost(ONE - other), epsilon)
