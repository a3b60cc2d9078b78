"""Private keys by the best possible odds: the more units have a key, the more likely it
is named.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.values import numbers
from dither.noise import bernoulli
from dither.noise.exact import context, decimal_of
from dither.privacy import ROW, ApproxDP, Relation, Unit
from dither.privacy.numbers import at_most, float_down, small_probability, whole

__all__ = ["PartitionSelection"]

SPARE = 40
"""Digits beyond those of δ. Odds are computed to so many, and rounded down within a
share 10^-20 of δ.
"""


class Odds(NamedTuple):
    """What the odds need: e^ε of one key; δ / (e^ε − 1), a little less; the last count
    of the rising half.
    """

    context: decimal.Context
    growth: Decimal
    unit: Decimal
    turn: int


@dataclass(frozen=True, kw_only=True)
class PartitionSelection:
    """Names each key with the largest probability that any mechanism of this kind may
    name it with.

    `groups` is how many keys one unit may have.

    Guarantee: (epsilon, delta)-differential privacy.
    Why: with one key for each unit the odds π(n) of a key with n units are the largest
    that satisfy both inequalities of (ε, δ)-DP from every n to n + 1 (Desfontaines,
    Voss, Gipson & Mandayam 2022); with more keys each one gets an equal share of ε and
    δ (basic composition, which is no longer best); docs/proofs/more_mechanisms.md.
    Assumes: each key is counted once for each unit, and no unit counts for more than
    `groups` of them.
    """

    epsilon: float
    delta: float
    groups: int = 1
    unit: Unit = ROW

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", ApproxDP(self.epsilon, 0.0).epsilon)
        object.__setattr__(
            self,
            "delta",
            small_probability("delta", self.delta, zero=False, rounding=float_down),
        )
        object.__setattr__(
            self,
            "groups",
            whole(
                "groups", self.groups, "pass the number of keys that one unit may have"
            ),
        )
        epsilon, delta = self.share
        if self.delta < 1e-250 or delta < 1e-300:
            raise ArgumentError(
                "delta",
                "must be at least 1e-250; pass a small probability such as 1e-9",
            )
        if not 1e-12 <= epsilon <= 1e3:
            raise ArgumentError(
                "epsilon",
                "must lie from 1e-12 to 1000 for each key; pass a number such as 1.0",
            )

    @property
    def guarantee(self) -> ApproxDP:
        """What one release promises."""
        return ApproxDP(self.epsilon, self.delta, unit=self.unit)

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """The ε and δ of one key. Replacing a unit changes twice as many keys."""
        keys = self.groups * (2 if self.unit.relation is Relation.REPLACE else 1)
        return at_most(self.epsilon) / keys, at_most(self.delta) / keys

    @cached_property
    def _odds(self) -> Odds:
        epsilon, delta = self.share
        digits = SPARE - math.floor(math.log10(delta)) + 16
        ctx = context(0)
        ctx.prec = digits
        less = ctx.subtract(Decimal(1), Decimal("1e-20"))
        growth = ctx.exp(decimal_of(ctx, epsilon))
        small = ctx.multiply(decimal_of(ctx, delta), less)
        unit = ctx.divide(small, ctx.subtract(growth, Decimal(1)))
        # Up to (1 − δ) / (1 + e^ε) the first inequality binds, beyond it the second.
        middle = ctx.divide(
            ctx.subtract(Decimal(1), small), ctx.add(growth, Decimal(1))
        )
        steps = ctx.ln(ctx.add(Decimal(1), ctx.divide(middle, unit)))
        turn = int(
            ctx.divide(steps, decimal_of(ctx, epsilon)).to_integral_value(
                decimal.ROUND_FLOOR
            )
        )
        return Odds(ctx, growth, unit, turn + 1)

    def _rising(self, count: int) -> Decimal:
        """δ·(e^(nε) − 1) / (e^ε − 1)."""
        ctx, growth, unit, _ = self._odds
        return ctx.multiply(
            unit, ctx.subtract(ctx.power(growth, Decimal(count)), Decimal(1))
        )

    def _missing(self, steps: int) -> Decimal:
        """1 − π, so many steps after the turn; it falls by e^−ε less δ with each, down
        to 0.
        """
        ctx, growth, unit, turn = self._odds
        there = ctx.subtract(Decimal(1), min(self._rising(turn), Decimal(1)))
        shift = ctx.add(there, unit)
        kept = ctx.power(growth, Decimal(-steps))
        return ctx.subtract(ctx.multiply(shift, kept), unit)

    def probability(self, count: int) -> Fraction:
        """The odds that a key of so many units is named; rounded down by less than
        1e-20 of δ.
        """
        if count <= 0:
            return Fraction(0)
        turn = self._odds.turn
        if count <= turn:
            odds = Fraction(self._rising(count))
        elif count >= turn + self._steps:
            return Fraction(1)
        else:
            odds = 1 - Fraction(self._missing(count - turn))
        return max(Fraction(0), min(Fraction(1), odds))

    @cached_property
    def _steps(self) -> int:
        """Number of steps after the turn at which the odds reach 1."""
        low, high = 0, 1
        while self._missing(high) > 0:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._missing(middle) > 0 else (low, middle)
        return high

    @property
    def certain(self) -> int:
        """The least number of units with which a key is always named."""
        return self._odds.turn + self._steps

    def release(self, counts: Any) -> NDArray[np.bool_]:
        """Which keys are named, from the number of units that have each; a key that no
        unit has never is.

        A count that is missing counts as 0.
        """
        units = numbers(counts, "counts")
        if isinstance(units, np.ndarray) and units.size == 0:
            return np.zeros(units.shape, np.bool_)
        if not isinstance(units, np.ndarray) or units.dtype != np.int64:
            raise ArgumentError(
                "counts", "must be a list with the number of units of each key"
            )
        named = units >= self.certain
        for count in np.unique(units[(units > 0) & ~named]).tolist():
            same = units == count
            named[same] = bernoulli(self.probability(count), int(same.sum()))
        return named

    def found(self, count: int) -> float:
        """The probability that a key of so many units is named, as a float."""
        return float(self.probability(count))
