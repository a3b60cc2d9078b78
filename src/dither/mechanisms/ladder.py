"""The ladder: a private choice among whole numbers, where those that near data would
give are more likely.

How wide the rungs are is private. The weights of the rungs, their number and the
printed error are public (rule R3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms.sensitivities import local_sensitivities
from dither.mechanisms.values import numbers, present
from dither.noise import secret_bytes
from dither.noise.exact import context, decimal_of
from dither.privacy import ROW, BoundedRange, Unit
from dither.privacy.numbers import at_most, confidence_level, not_negative, pair, whole

__all__ = ["Ladder"]

FAINT = 28
"""All numbers on the last rung together have at most e^−28 of the weight."""
LONGEST = 1 << 18
WIDEST = 1 << 52


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """A whole number between public bounds, near the true one: rung after rung falls in
    probability by e^(−ε / 2).

    The true value is rung 0; rung t holds the next LS_(t−1) numbers on either side, so
    rungs are narrow where one unit can move the value by little. `global_sensitivity`
    is the most that one unit can move it on any data. `growth`, where it is enough to
    know LS_0, is by how much LS_t grows with each t at most.

    Guarantee: epsilon-bounded range, hence epsilon-differential privacy, and zCDP with
    rho = ε² / 8.
    Why: between neighbours every number moves by at most one rung, so this is the
    exponential mechanism with minus the rung as its score (Zhang, Cormode, Procopiuc,
    Srivastava & Xiao 2015); the weights are public whole numbers, and the choice by
    them is exact (docs/proofs/more_mechanisms.md).
    Assumes: for all neighbours D and D′, |f(D) − f(D′)| ≤ LS_0(D) and LS_t(D) ≤
    LS_(t+1)(D′), for every t; and LS_t ≤ `global_sensitivity`.
    """

    epsilon: float
    bounds: tuple[int, int]
    global_sensitivity: int
    growth: float | None = None
    unit: Unit = ROW

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", BoundedRange(self.epsilon).epsilon)
        way_out = "pass the most that one unit can change the value, on any data"
        object.__setattr__(
            self,
            "global_sensitivity",
            whole("global_sensitivity", self.global_sensitivity, way_out),
        )
        ends = pair("bounds", self.bounds)
        if not all(isinstance(numbers(end, "bounds"), int) for end in ends):
            raise ArgumentError(
                "bounds",
                "must be two whole numbers, the public limits of the value; pass "
                "(low, high), such as (0, 1000)",
            )
        low, high = map(int, ends)
        object.__setattr__(self, "bounds", (low, high))
        if high <= low or self.global_sensitivity > WIDEST:
            raise ArgumentError(
                "bounds",
                "must be (low, high) with low below high, and global_sensitivity must be "
                "at most 2**52; swap the bounds, or count in larger units",
            )
        if self.growth is not None:
            object.__setattr__(
                self,
                "growth",
                not_negative(
                    "growth", self.growth, "pass the most that LS_t grows per step"
                ),
            )
        if not 1e-6 <= self.epsilon <= 1e3 or self.rungs > LONGEST:
            raise ArgumentError(
                "epsilon",
                f"must lie from 1e-6 to 1000, and the ladder may have at most {LONGEST:,} "
                "rungs; pass a larger epsilon or narrower bounds",
            )

    @property
    def guarantee(self) -> BoundedRange:
        """What one release promises."""
        return BoundedRange(self.epsilon, unit=self.unit)

    @property
    def width(self) -> int:
        """How far the bounds lie apart."""
        low, high = self.bounds
        return high - low

    @property
    def rungs(self) -> int:
        """How many there are; the last one holds all numbers that are left. Public:
        from the bounds and epsilon.
        """
        return math.ceil(2 * (math.log(self.width + 1) + FAINT) / self.epsilon) + 1

    @cached_property
    def weights(self) -> list[int]:
        """The weight of each number of a rung. From rung to rung they fall by e^(ε / 2)
        or a little less.
        """
        ctx = context(128)
        growth = ctx.multiply(
            ctx.exp(decimal_of(ctx, at_most(self.epsilon) / 2)), Decimal(1 << 96)
        )
        step, found = (
            int(ctx.multiply(growth, Decimal("0.9999999999999999999999999999"))),
            [1 << 64],
        )
        while len(found) <= self.rungs:
            found.append(found[-1] * step >> 96)
        return found[::-1]

    def release(self, value: Any, local: Any) -> int:
        """A number near the value. `local` gives LS_t: a function of t, a list, or LS_0
        if `growth` was given.

        Every LS_t is rounded up and held between 0 and the global sensitivity. The
        value is held between the bounds; NaN and None count as 0.
        """
        clean = numbers(present(value))
        if not isinstance(clean, int):
            raise ArgumentError(
                "value",
                "must be one whole number; round real numbers to public steps first",
            )
        low, high = self.bounds
        center = max(low, min(high, clean))
        widths = local_sensitivities(
            local, self.growth, self.global_sensitivity, self.rungs - 1
        )
        ends = [
            0,
            *accumulate(map(int, np.ceil(widths).tolist())),
            self.width,
        ]
        return self._choose(
            center, _sizes(ends, center - low), _sizes(ends, high - center)
        )

    def _choose(self, center: int, left: list[int], right: list[int]) -> int:
        """One number by its weight. Every rung is looked at, wherever the choice falls."""
        masses = [
            weight * (a + b)
            for weight, a, b in zip(self.weights[1:], left, right, strict=True)
        ]
        place = self._below(self.weights[0] + sum(masses)) - self.weights[0]
        found, below, above = center, center, center
        for weight, mass, a, b in zip(
            self.weights[1:], masses, left, right, strict=True
        ):
            if 0 <= place < mass:
                offset = place // weight
                found = below - 1 - offset if offset < a else above + 1 + offset - a
            place, below, above = place - mass, below - a, above + b
        return found

    def _below(self, total: int) -> int:
        """A uniform whole number below a total. How many bytes are drawn is public; one
        draw in 2^128 is repeated.
        """
        size = (self.weights[0] * (self.width + 1)).bit_length() // 8 + 17
        limit = (1 << 8 * size) // total * total
        while (drawn := int.from_bytes(secret_bytes(size))) >= limit:
            pass
        return drawn % total

    def error(self, confidence: float = 0.95) -> float:
        """The ± in the worst case of all data, from the global sensitivity. How good it
        is on this data is private.
        """
        missed = (
            1 - float(confidence_level("confidence", confidence)) - math.exp(-FAINT)
        )
        if missed <= 0:
            return self.width
        rungs = math.ceil(-2 * math.log(missed) / self.epsilon * (1 + 1e-9))
        return min(self.width, self.global_sensitivity * rungs)


def _sizes(ends: list[int], room: int) -> list[int]:
    """Number of values on one side of each rung, limited to a total of `room`."""
    return [min(far, room) - min(near, room) for near, far in pairwise(ends)]
