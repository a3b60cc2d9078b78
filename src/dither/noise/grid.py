"""Reals live on a public grid of step 2^k, so that noise is added to integers and floats have no low bits to leak."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["Grid"]

FINENESS = 20  # the step is at most 2^-20 of the noise and of a coordinate's share of the sensitivity
SAFE = 2.0**61


@dataclass(frozen=True)
class Grid:
    """The multiples of 2^exponent."""

    exponent: int

    @classmethod
    def finer_than(cls, length: Fraction) -> Grid:
        """The coarsest grid whose step is at most 2^-20 of a length."""
        exponent = length.numerator.bit_length() - length.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > length
        return cls(max(exponent - FINENESS, -1074))

    @property
    def step(self) -> Fraction:
        return Fraction(2) ** self.exponent

    def nearest(self, value: float) -> int:
        """The index of the grid point nearest to a number; NaN is taken as 0, infinities as the largest float."""
        if math.isnan(value):
            return 0
        return round(Fraction(max(-MAX, min(MAX, value))) / self.step)

    def real(self, index: int) -> float:
        """The grid point of an index, as the nearest float."""
        exact = index * self.step
        if abs(exact) > MAX:
            return MAX if index > 0 else -MAX
        return exact.numerator / exact.denominator

    def add(self, values: NDArray[np.float64], noise: NDArray[np.int64]) -> NDArray[np.float64]:
        """Round to the grid, add whole steps of noise, and go back: the floats nearest to the exact result."""
        with np.errstate(over="ignore", under="ignore"):
            steps = np.rint(np.ldexp(np.nan_to_num(values), -self.exponent))
            wide = np.abs(steps) > SAFE
            small = np.where(wide, 0.0, steps).astype(np.int64) + noise
            result = np.nan_to_num(np.ldexp(small.astype(np.float64), self.exponent))
        for i in np.argwhere(wide):
            at = tuple(i)
            result[at] = self.real(self.nearest(float(values[at])) + int(noise[at]))
        return result


MAX = float(np.finfo(np.float64).max)
