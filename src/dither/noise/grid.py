"""Reals live on a public grid of step 2^k, so that noise is added to integers and
floats have no low bits to leak.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["Grid"]

# the step is at most 2^-20 of the noise and of a coordinate's share of the sensitivity
FINENESS = 20
SAFE = 2.0**61
# powers of two up to this one can be multiplied with, and no product of interest is
# subnormal
PLAIN = 900
CHUNK = 1 << 14


@dataclass(frozen=True)
class Grid:
    """The multiples of 2^exponent."""

    exponent: int

    @classmethod
    def finer_than(cls, length: Fraction) -> Grid:
        """The coarsest grid whose step is at most 2^-20 of a length, but never finer
        than the smallest float.
        """
        exponent = length.numerator.bit_length() - length.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > length
        return cls(max(exponent - FINENESS, -1074))

    @property
    def step(self) -> Fraction:
        return Fraction(2) ** self.exponent

    def nearest(self, value: float | Fraction) -> int:
        """The index of the grid point nearest to a number; NaN is taken as 0,
        infinities as the largest float.
        """
        if isinstance(value, Fraction):
            return round(max(-WIDEST, min(WIDEST, value)) / self.step)
        if math.isnan(value):
            return 0
        try:
            return round(math.ldexp(value, -self.exponent))
        except OverflowError:
            return round(Fraction(max(-MAX, min(MAX, value))) / self.step)

    def real(self, index: int) -> float:
        """The grid point of an index as a float; beyond the largest float, that one."""
        try:
            return math.ldexp(float(index), self.exponent)
        except OverflowError:
            exact = max(-Fraction(MAX), min(Fraction(MAX), index * self.step))
            return exact.numerator / exact.denominator

    def add(
        self,
        values: NDArray[np.float64] | NDArray[np.object_],
        noise: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Round floats or fractions to the grid, add whole steps of noise, and go back
        to the nearest floats.
        """
        if values.dtype == object:
            pairs = zip(
                values.reshape(-1).tolist(), noise.reshape(-1).tolist(), strict=True
            )
            exact = [self.real(self.nearest(value) + steps) for value, steps in pairs]
            return np.array(exact, np.float64).reshape(values.shape)
        reals, whole = np.ravel(values).astype(np.float64, copy=False), np.ravel(noise)
        result = np.empty(reals.size)
        with np.errstate(all="ignore"):
            for start in range(0, reals.size, CHUNK):
                part = slice(start, start + CHUNK)
                self._add_chunk(reals[part], whole[part], result[part])
        return result.reshape(np.shape(values))

    def _add_chunk(
        self,
        reals: NDArray[np.float64],
        noise: NDArray[np.int64],
        result: NDArray[np.float64],
    ) -> None:
        steps = np.rint(_times_power(reals, -self.exponent))
        np.abs(steps, out=result)
        # Too wide for 64 bits, or NaN
        if not result.max() <= SAFE or abs(self.exponent) > PLAIN:
            for i in range(reals.size):
                result[i] = self.real(self.nearest(float(reals[i])) + int(noise[i]))
            return
        small = steps.astype(np.int64)
        small += noise
        np.multiply(small, 2.0**self.exponent, out=result)


def _times_power(reals: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    return (
        reals * 2.0**exponent if abs(exponent) <= PLAIN else np.ldexp(reals, exponent)
    )


MAX = float(np.finfo(np.float64).max)
WIDEST = Fraction(MAX)
