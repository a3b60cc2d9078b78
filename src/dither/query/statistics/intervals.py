"""Where a figure made of noisy part sums lies: weighted sums, and ratios of products of
them.

Intervals are Fieller's: a ratio θ is possible if numerator − θ · denominator is no
farther from 0 than noise explains. That is exact where both are sums; products are
linearized where they were measured. What clipping hid is measured part by part, so the
intervals are of both together (docs/proofs/intervals.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from dither.mechanisms import Additive
from dither.noise import Law
from dither.release import Spread

__all__ = [
    "ANYWHERE",
    "LEAST",
    "NOTHING",
    "OPEN",
    "USUAL",
    "Anywhere",
    "Both",
    "Combined",
    "Ends",
    "Hidden",
    "Line",
    "Once",
    "Ratio",
    "Root",
    "Sample",
    "VarianceBox",
    "cut",
    "cut_ends",
    "farthest",
    "one_sided",
]

Ends = tuple[Any, Any]
ANYWHERE: Ends = (-math.inf, math.inf)
LEAST = 1e-9
USUAL = 0.95
HALVINGS = 45
ROWS_PART = 0.1
"""Of what an interval may miss, the part that goes to the number of rows."""


@dataclass(frozen=True)
class Hidden:
    """The part of a group that clipping cut off: a number of steps, or of several parts
    one for each, with noise of this law. Without noise nothing was cut off, or, if it
    is `open`, anything may have been.
    """

    steps: float = 0.0
    law: Law = field(default_factory=Law)
    open: bool = False
    parts: tuple[int, ...] = ()

    @cached_property
    def nothing(self) -> bool:
        return not self.open and not self.law.parts

    @cached_property
    def deviation(self) -> float:
        return self.law.deviation


@dataclass(frozen=True)
class Both:
    """Two independent noises of each part: of what was kept, and of what was cut off."""

    kept: Law
    hidden: Law

    @property
    def law(self) -> Both:
        return self

    @property
    def deviation(self) -> float:
        return math.hypot(self.kept.deviation, self.hidden.deviation)

    def allows(self, weights: Sequence[float], x: float, confidence: float) -> bool:
        return self.kept.allows(weights, x, confidence, (weights, self.hidden))

    def weighed(self, weights: Sequence[float]) -> Law:
        return self.kept.weighed(weights) + self.hidden.weighed(weights)


NOTHING = Hidden()
OPEN = Hidden(open=True)


def one_sided(confidence: float) -> float:
    """The confidence of a symmetric interval of which one end holds with this
    probability.
    """
    return max(2 * confidence - 1, LEAST)


@lru_cache(maxsize=256)
def _width(law: Law | Both, weights: tuple[float, ...], confidence: float) -> float:
    return law.weighed(weights).reach(confidence)


def cut(value: float, within: tuple[float, float]) -> float:
    return min(max(value, within[0]), within[1])


def cut_ends(low: float, high: float, within: tuple[float, float]) -> Ends:
    return cut(low, within), cut(high, within)


@dataclass(frozen=True)
class Combined:
    """A function of noisy parts: its value, and how it moves with each part's noise.
    Sums of parts are exact ints.
    """

    value: float
    weights: tuple[float, ...]
    mechanism: Additive | Both

    def __add__(self, other: Combined) -> Combined:
        return self._with(other, self.value + other.value, 1, 1)

    def __sub__(self, other: Combined) -> Combined:
        return self._with(other, self.value - other.value, 1, -1)

    def __mul__(self, other: Combined) -> Combined:
        return self._with(other, self.value * other.value, other.value, self.value)

    def __rmul__(self, factor: float) -> Combined:
        return replace(
            self,
            value=factor * self.value,
            weights=tuple(factor * w for w in self.weights),
        )

    def root(self) -> Combined:
        value = math.sqrt(max(self.value, 0))
        slope = 0.5 / value if value > 0 else 0.0
        return replace(
            self, value=value, weights=tuple(slope * float(w) for w in self.weights)
        )

    def surely_positive(self, confidence: float) -> bool:
        weights = [float(w) for w in self.weights]
        return self.value > 0 and not self.mechanism.law.allows(
            weights, self.value, confidence
        )

    def _with(self, other: Combined, value: float, mine: float, its: float) -> Combined:
        weights = (
            mine * a + its * b for a, b in zip(self.weights, other.weights, strict=True)
        )
        return replace(self, value=value, weights=tuple(weights))


@dataclass(frozen=True)
class Line:
    """A weighted sum of noisy parts: `scale` times what was measured, cut to where it
    can lie.
    """

    measured: Combined
    scale: float = 1.0
    within: Ends = (-math.inf, math.inf)

    @property
    def value(self) -> float:
        return self.measured.value * self.scale

    def ends(self, confidence: float) -> Ends:
        law, weights = self.measured.mechanism.law, self.measured.weights
        width = _width(law, weights, confidence) * abs(self.scale)
        return cut_ends(self.value - width, self.value + width, self.within)


@dataclass(frozen=True)
class Ratio:
    """Numerator over denominator, mapped to scale · ratio + shift.

    Where noise alone may have made positive what must be, the ratio can be anything
    within its limits.
    """

    numerator: Combined
    denominator: Combined
    within: Ends
    positive: tuple[Combined, ...] = ()
    scale: float = 1.0
    shift: float = 0.0

    @cached_property
    def ratio(self) -> float:
        """The measured ratio, clamped to its limits; their middle if nothing was
        measured.
        """
        if any(sum_.value <= 0 for sum_ in (self.denominator, *self.positive)):
            return sum(self.within) / 2
        return cut(self.numerator.value / self.denominator.value, self.within)

    @property
    def value(self) -> float:
        return self.mapped(self.ratio)

    def ends(self, confidence: float) -> Ends:
        low, high = self._ends(confidence)
        return self.mapped(low), self.mapped(high)

    def mapped(self, ratio: float) -> float:
        return self.shift + self.scale * ratio

    def _ends(self, confidence: float) -> Ends:
        if self.denominator.value <= 0 or not all(
            sum_.surely_positive(confidence) for sum_ in self.positive
        ):
            return self.within
        # Farther outside its limits than noise explains: taken as if it had been
        # measured at the limit.
        moved = (
            0.0
            if self._possible(self.ratio, 0.0, confidence)
            else self._left_over(self.ratio)
        )

        def possible(ratio: float) -> bool:
            return self._possible(ratio, moved, confidence)

        return farthest(possible, self.ratio, self.within[0]), farthest(
            possible, self.ratio, self.within[1]
        )

    def _left_over(self, ratio: float) -> float:
        return self.numerator.value - ratio * self.denominator.value

    def _possible(self, ratio: float, moved: float, confidence: float) -> bool:
        """Whether numerator − ratio · denominator may be so far from 0."""
        weights = [n - ratio * d for n, d in self._slopes]
        left = self._left_over(ratio) - moved
        return self._law.allows(weights, left, confidence)

    @cached_property
    def _law(self) -> Law | Both:
        return self.numerator.mechanism.law

    @cached_property
    def _slopes(self) -> list[tuple[float, float]]:
        pairs = zip(self.numerator.weights, self.denominator.weights, strict=True)
        return [(float(n), float(d)) for n, d in pairs]


@dataclass(frozen=True)
class VarianceBox:
    """The variance (P₀P₂ − P₁²/4) / total² of a public number of rows. It rises with the
    first and the last part and falls with the middle one; all three hold their ±
    together (union bound), so its ends are at corners.

    Where the denominator is exact, Fieller's linearized interval is too short: it
    misses up to 8 % at 95 %.
    """

    parts: tuple[int, int, int]
    mechanism: Additive
    total: int
    scale: float

    @property
    def value(self) -> float:
        # No part is negative: two that noise made so would multiply to a positive one.
        first, middle, last = (max(part, 0) for part in self.parts)
        return self._at(first, middle, last)

    def ends(self, confidence: float) -> Ends:
        width = self.mechanism.error(1 - (1 - confidence) / 3, integer=True)
        first, middle, last = (
            (max(part - width, 0.0), max(part + width, 0.0)) for part in self.parts
        )
        least = self._at(first[0], middle[1], last[0])
        return least, self._at(first[1], middle[0], last[1])

    def _at(self, first: float, middle: float, last: float) -> float:
        found = (first * last - middle * middle / 4) / self.total**2
        return self.scale * cut(found, (0.0, 0.25))


@dataclass(frozen=True)
class Once:
    """A spread that takes long to find, with its usual ends remembered."""

    inner: Spread

    def ends(self, confidence: float) -> Ends:
        return self._usual if confidence == USUAL else self.inner.ends(confidence)

    @cached_property
    def _usual(self) -> Ends:
        low, high = self.inner.ends(USUAL)
        return low, high


@dataclass(frozen=True)
class Anywhere:
    """The spread of a figure without any bound."""

    def ends(self, confidence: float) -> Ends:  # noqa: ARG002
        return ANYWHERE


@dataclass(frozen=True)
class Sample:
    """A variance of what rows are a sample of: that of the rows times n / (n − 1), for
    the fewest rows there may be.
    """

    inner: Spread
    rows: Spread

    def ends(self, confidence: float) -> Ends:
        missed = 1 - confidence
        low, high = self.inner.ends(1 - (1 - ROWS_PART) * missed)
        least = max(self.rows.ends(one_sided(1 - ROWS_PART * missed))[0], 2.0)
        times = least / (least - 1)
        return low * (times if low < 0 else 1.0), high * (times if high > 0 else 1.0)


@dataclass(frozen=True)
class Root:
    """The square root of what is never negative."""

    inner: Spread

    def ends(self, confidence: float) -> Ends:
        low, high = self.inner.ends(confidence)
        return (math.sqrt(low), math.sqrt(high)) if low >= 0 else (low, high)


def farthest(holds: Callable[[float], bool], start: float, end: float) -> float:
    """How far from the start towards the end it holds."""
    if holds(end):
        return end
    for _ in range(HALVINGS):
        middle = (start + end) / 2
        start, end = (middle, end) if holds(middle) else (start, middle)
    return end
