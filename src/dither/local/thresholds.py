"""Probabilities as integers t / 2^32, and the ε that follows from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dither.errors import ArgumentError
from dither.local.words import ONE
from dither.privacy.numbers import at_most, float_down, float_up, positive, up

__all__ = ["chance", "check", "largest", "loss", "smallest", "wanted"]


LEAST, MOST = 1e-9, 50.0


def wanted(name: str, value: float) -> float:
    """An ε that probabilities of 32 bits can promise."""
    epsilon = positive(name, value, "pass an ε such as 1.0", float_down)
    if not LEAST <= epsilon <= MOST:
        raise ArgumentError(
            name, f"must lie between {LEAST:g} and {MOST:g}, not {value:g}"
        )
    return epsilon


def chance(threshold: int) -> Fraction:
    """The probability that a word is below the threshold."""
    return Fraction(threshold, ONE)


def check(name: str, threshold: int, *, low: int = 1, high: int = ONE - 1) -> None:
    """A threshold is a whole number between two ends."""
    whole = isinstance(threshold, int) and not isinstance(threshold, bool)
    if not whole or not low <= threshold <= high:
        raise ArgumentError(
            name,
            f"must be a whole number from {low} to {high}, a probability times 2^32",
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
    """The largest threshold up to `top` that loses at most ε; `lost` grows with it.

    The search begins at `near`, goes away from it in growing steps, and halves what
    is left. If even 1 loses more, it is 1, and the caller's check refuses that.
    """
    limit, step = at_most(epsilon), 1
    good = min(max(round(near * ONE), 1), top)
    bad = good + 1
    while good > 1 and lost(good) > limit:
        good, bad, step = max(good - step, 1), good, 2 * step
    while bad <= top and lost(bad) <= limit:
        good, bad, step = bad, min(bad + step, top + 1), 2 * step
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if lost(middle) <= limit else (good, middle)
    return good


def smallest(near: float, lost: Callable[[int], float], epsilon: float) -> int:
    """The smallest threshold that loses at most ε; `lost` falls with it."""
    return ONE - largest(1 - near, lambda other: lost(ONE - other), epsilon)
