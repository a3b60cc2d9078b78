"""Values of a sum, counted in whole public steps so that the sum is exact and its
sensitivity is an integer.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.noise import Grid
from dither.query.arrays.columns import Numbers
from dither.query.arrays.moments import exact_sum
from dither.query.statistics.rounding import MOST_ROWS, ROUNDED

__all__ = ["SumGrid"]

# on top of the grid's own 2^20
FINENESS = (1 << 30, 1 << 24, 1 << 18, 1 << 12)
"""The finest is taken whose noise fits 64 bits, and in whose steps bounds are floats."""
WIDEST = 1 << 56
FARTHEST = 1 << 52
"""Below it every number of steps is a float, so that clipping floats is exact."""


@dataclass(frozen=True)
class SumGrid:
    """Values from `low` to `low + width`, both counted in steps of `size`."""

    low: int
    width: int
    size: Fraction
    integer: bool
    replacing: bool

    @classmethod
    def between(
        cls,
        low: float,
        high: float,
        *,
        integer: bool,
        replacing: bool,
        fineness: int = FINENESS[0],
    ) -> SumGrid:
        """Steps of 1 for integers; otherwise 2^20 · `fineness` of them make what one
        value can move the sum by.
        """
        if integer:
            return cls(
                _within(int(low)),
                _within(int(high)) - int(low),
                Fraction(1),
                True,
                replacing,
            )
        moved = (
            Fraction(high) - Fraction(low)
            if replacing
            else max(abs(Fraction(low)), abs(Fraction(high)))
        )
        grid = Grid.finer_than(moved / fineness)
        first = round(Fraction(low) / grid.step)
        return cls(
            first,
            round(Fraction(high) / grid.step) - first,
            grid.step,
            False,
            replacing,
        )

    @classmethod
    def grids(
        cls, low: float, high: float, *, integer: bool, replacing: bool
    ) -> list[SumGrid]:
        """The grids to choose from, the finest first."""
        found = [
            cls.between(low, high, integer=integer, replacing=replacing, fineness=one)
            for one in (FINENESS[-1:] if integer else FINENESS)
        ]
        return [one for one in found[:-1] if one.are_floats] + found[-1:]

    @property
    def are_floats(self) -> bool:
        """Whether every number of steps is a float, so that floats are counted fast."""
        return max(abs(self.low), abs(self.low + self.width)) < FARTHEST

    @property
    def rounding(self) -> float:
        """Largest change by rounding of a sum of `MOST_ROWS` values."""
        return 0.0 if self.integer else float(MOST_ROWS * self.size) * ROUNDED

    @property
    def sensitivity(self) -> int:
        """Number of steps by which one element can move the sum."""
        return (
            self.width
            if self.replacing
            else max(abs(self.low), abs(self.low + self.width))
        )

    def total(self, numbers: Numbers) -> int:
        """The exact sum in steps. A missing value adds nothing; if neighbours replace
        one, the value nearest 0.
        """
        total = numbers.size * self.low + exact_sum(self._above_low(numbers))
        if self.replacing:
            total += numbers.missing * max(self.low, min(0, self.low + self.width))
        return total

    def _above_low(self, numbers: Numbers) -> NDArray[np.int64]:
        """Number of steps of each value above the lowest: rounded to whole steps, and
        clipped as integers.
        """
        if self.integer:
            held = np.clip(numbers.plain, self.low, self.low + self.width) - self.low
            return held.astype(np.int64, copy=False)
        return numbers.each(
            self._of_floats if self.are_floats else None, self._of_fraction
        ).astype(np.int64, copy=False)

    def _of_floats(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Scaling by a power of two, rounding and clipping are exact."""
        exponent = self.size.numerator.bit_length() - self.size.denominator.bit_length()
        steps = np.rint(np.ldexp(values, -exponent))
        return (
            np.clip(steps, self.low, self.low + self.width).astype(np.int64) - self.low
        )

    def _of_fraction(self, value: Fraction) -> int:
        return max(0, min(self.width, round(value / self.size) - self.low))

    def value(self, steps: int) -> int | float:
        """A number of steps as a value; beyond the largest float, that one."""
        return steps if self.integer else float(max(-MAX, min(MAX, steps * self.size)))


MAX = Fraction(sys.float_info.max)


def _within(bound: int) -> int:
    if abs(bound) > WIDEST:
        raise ArgumentError(
            "bounds", "must be within ±2**56 for integers; use larger units"
        )
    return bound
