"""Rows as parts in whole steps, whose sums tell counts, means, variances, covariances
and correlations.

A value x with public limits becomes u = round((x − low) · S / (high − low)), held from
0 to S. The parts C(d, i) · uⁱ · (S − u)^(d−i), i = 0 … d, are never negative and add up
to exactly S^d for every row (Bernstein's polynomials); for two values all products of
their parts are taken. So one row moves the vector of part sums by the product of all
S^d in L1, and by no more in L2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Moments"]

BITS = {1: 30, 2: 15, 4: 9}
"""S = 2^bits for each total degree: much finer than the noise, while sums of squares
still fit 127 bits.
"""
ALL_BITS, FEWEST = 45, 7
"""Where a unit has many rows, S is coarser, so that all of them together still fit."""


@dataclass(frozen=True)
class Moments:
    """How a row becomes parts: for each value its degree, its limits, and its S.

    Degrees (1,) tell a mean, (2,) a variance, (1, 1) a covariance, (2, 2) a
    correlation; each tells what comes before it too. Parts are listed with the last
    value's index running fastest.
    """

    degrees: tuple[int, ...]
    ranges: tuple[tuple[float, float], ...]
    steps: tuple[int, ...]

    @classmethod
    def over(
        cls,
        degrees: Sequence[int],
        ranges: Sequence[tuple[float, float]],
        integer: Sequence[bool] = (),
        rows: int | None = None,
    ) -> Moments:
        """With the usual S, or one that is coarse enough for so many rows of one unit;
        for integers a multiple of the width if that is possible, so that no value is
        rounded."""
        coarse = (ALL_BITS - (rows or 1).bit_length()) // sum(degrees)
        most = 1 << min(BITS[sum(degrees)], max(coarse, FEWEST))
        exact = [*integer, *[False] * len(degrees)]
        steps = (
            _multiple(most, *limits) if whole else most
            for limits, whole in zip(ranges, exact, strict=False)
        )
        return cls(tuple(degrees), tuple(ranges), tuple(steps))

    @cached_property
    def total(self) -> int:
        """What the parts of one row add up to."""
        return math.prod(s**d for s, d in zip(self.steps, self.degrees, strict=True))

    @cached_property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """The indices i of each part, one for each value."""
        return tuple(itertools.product(*(range(d + 1) for d in self.degrees)))

    def place(self, x: float, of: int = 0) -> int:
        """u of the value with this number. Where S is a multiple of the width of
        integers it is (x − low) · S/width.
        """
        (low, high), steps = self.ranges[of], self.steps[of]
        if not high > low:
            return 0
        share = (min(max(x, low), high) - low) / self.width(of)
        return min(max(round(share * steps), 0), steps)

    def parts(self, row: Sequence[float]) -> list[int]:
        """The parts of one row: the reference for what engines compute."""
        each = [
            _bernstein(self.place(x, of), self.steps[of], self.degrees[of])
            for of, x in enumerate(row)
        ]
        return [math.prod(parts) for parts in itertools.product(*each)]

    def expected(self, rows: int) -> list[int]:
        """Part sums of rows that are spread evenly between their limits: what a preview
        assumes.
        """
        return [rows * self.total // len(self.places)] * len(self.places)

    def width(self, of: int = 0) -> float:
        low, high = self.ranges[of]
        return float(high) - float(low)


def _multiple(most: int, low: float, high: float) -> int:
    width = int(high) - int(low)
    return most // width * width if 0 < width <= most else most


def _bernstein(u: int, steps: int, degree: int) -> list[int]:
    return [
        math.comb(degree, i) * u**i * (steps - u) ** (degree - i)
        for i in range(degree + 1)
    ]
