"""Where a figure made of noisy part sums lies: weighted sums, and ratios of products of them.

Intervals are Fieller's: a ratio θ is possible if numerator − θ · denominator is no farther from 0 than noise explains.
That is exact where both are sums; products are linearized where they were measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from dither.mechanisms import Additive
from dither.mechanisms.sums import reach, stays_within
from dither.release import Spread

__all__ = ["Ends", "Line", "Measured", "Ratio", "Root", "cut", "farthest"]

Ends = tuple[float, float]
HALVINGS = 45


@dataclass(frozen=True)
class Measured:
    """A function of noisy parts: its value, and how it moves with each part's noise. Sums of parts are exact ints."""

    value: float
    weights: tuple[float, ...]
    mechanism: Additive

    def __add__(self, other: Measured) -> Measured:
        return self._with(other, self.value + other.value, 1, 1)

    def __sub__(self, other: Measured) -> Measured:
        return self._with(other, self.value - other.value, 1, -1)

    def __mul__(self, other: Measured) -> Measured:
        return self._with(other, self.value * other.value, other.value, self.value)

    def __rmul__(self, factor: float) -> Measured:
        return replace(self, value=factor * self.value, weights=tuple(factor * w for w in self.weights))

    def root(self) -> Measured:
        value = math.sqrt(max(self.value, 0))
        slope = 0.5 / value if value > 0 else 0.0
        return replace(self, value=value, weights=tuple(slope * float(w) for w in self.weights))

    def surely_positive(self, confidence: float) -> bool:
        return self.value > reach(self.mechanism, [float(w) for w in self.weights], confidence)

    def _with(self, other: Measured, value: float, mine: float, its: float) -> Measured:
        weights = (mine * a + its * b for a, b in zip(self.weights, other.weights, strict=True))
        return replace(self, value=value, weights=tuple(weights))


@dataclass(frozen=True)
class Line:
    """A weighted sum of noisy parts: `scale` times what was measured, cut to where it can lie."""

    measured: Measured
    scale: float = 1.0
    within: Ends = (-math.inf, math.inf)

    @property
    def value(self) -> float:
        return self.measured.value * self.scale

    def ends(self, confidence: float) -> Ends:
        width = reach(self.measured.mechanism, [float(w) for w in self.measured.weights], confidence) * abs(self.scale)
        return cut(self.value - width, self.within), cut(self.value + width, self.within)


@dataclass(frozen=True)
class Ratio:
    """Numerator over denominator, mapped to scale · ratio + shift.

    Where noise alone may have made positive what must be, the ratio can be anything within its limits.
    """

    numerator: Measured
    denominator: Measured
    within: Ends
    positive: tuple[Measured, ...] = ()
    scale: float = 1.0
    shift: float = 0.0

    @cached_property
    def ratio(self) -> float:
        """As measured, cut to its limits; their middle where nothing was measured."""
        if any(sum_.value <= 0 for sum_ in (self.denominator, *self.positive)):
            return sum(self.within) / 2
        return cut(self.numerator.value / self.denominator.value, self.within)

    @property
    def value(self) -> float:
        return self.shift + self.scale * self.ratio

    def ends(self, confidence: float) -> Ends:
        low, high = self._ends(confidence)
        return self.shift + self.scale * low, self.shift + self.scale * high

    def _ends(self, confidence: float) -> Ends:
        if self.denominator.value <= 0 or not all(sum_.surely_positive(confidence) for sum_ in self.positive):
            return self.within
        # Farther outside its limits than noise explains: taken as if it had been measured at the limit.
        moved = 0.0 if self._possible(self.ratio, 0.0, confidence) else self._left_over(self.ratio)

        def possible(ratio: float) -> bool:
            return self._possible(ratio, moved, confidence)

        return farthest(possible, self.ratio, self.within[0]), farthest(possible, self.ratio, self.within[1])

    def _left_over(self, ratio: float) -> float:
        return self.numerator.value - ratio * self.denominator.value

    def _possible(self, ratio: float, moved: float, confidence: float) -> bool:
        weights = [n - ratio * d for n, d in self._slopes]
        return stays_within(self.numerator.mechanism, weights, self._left_over(ratio) - moved, confidence)

    @cached_property
    def _slopes(self) -> list[tuple[float, float]]:
        pairs = zip(self.numerator.weights, self.denominator.weights, strict=True)
        return [(float(n), float(d)) for n, d in pairs]


@dataclass(frozen=True)
class Root:
    """The square root of what is never negative."""

    inner: Spread

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return math.sqrt(low), math.sqrt(high)


def cut(value: float, within: Ends) -> float:
    return min(max(value, within[0]), within[1])


def farthest(holds: Callable[[float], bool], start: float, end: float) -> float:
    """How far from the start towards the end it holds."""
    if holds(end):
        return end
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return end
