"""What decides when floats cannot: uniform numbers with as many bits as a decision
needs, and decimal intervals.

The decimal contexts here are private; the thread's own decimal context is neither read
nor changed. That is why floats become decimals by `Decimal.from_float`: `Decimal(0.5)`
raises a flag in the thread's context, and an error where that flag is trapped.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeVar

from dither.noise.stream import Source

__all__ = [
    "LOG_ERROR",
    "Interval",
    "Uniform",
    "below",
    "decide",
    "decimal_of",
    "floor_of",
    "widen",
]

T = TypeVar("T")
Interval = tuple[Decimal, Decimal]

LOG_ERROR = 2.0**-45
"""The relative error that log, log1p, exp and sqrt are assumed to stay under;
`tests/noise/test_platform.py` checks it.

A correctly rounded function has 2^-53; what is seen is below 2^-50.
"""

WORD = 64


class Refinable(Protocol):
    """Something random of which some bits are known and more can be drawn."""

    bits: int

    def refine(self) -> None: ...


class Uniform:
    """A uniform number of [0, 1) of which the first bits are known; more are drawn when
    a decision needs them.
    """

    __slots__ = ("_source", "bits", "head")

    def __init__(self, head: int, bits: int, source: Source) -> None:
        self.head, self.bits, self._source = head, bits, source

    def refine(self) -> None:
        self.head = self.head << WORD | self._source.word()
        self.bits += WORD


def context(bits: int) -> decimal.Context:
    """A private context with some 40 digits more than `bits` bits need."""
    return decimal.Context(
        prec=40 + bits * 31 // 100,
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )


def decide(attempt: Callable[[decimal.Context], T | None], *uniforms: Refinable) -> T:
    """Repeat an attempt, with more random bits and more digits each time, until it
    gives an answer.
    """
    while True:
        answer = attempt(context(max(uniform.bits for uniform in uniforms)))
        if answer is not None:
            return answer
        for uniform in uniforms:
            uniform.refine()


def widen(ctx: decimal.Context, low: Decimal, high: Decimal) -> Interval:
    """Room on either side for the rounding of the decimal operations before it and a
    few after it.

    The slack is a million units of the last digit; no caller does more than a few dozen
    roundings.
    """
    return ctx.subtract(low, _slack(ctx, low)), ctx.add(high, _slack(ctx, high))


def _slack(ctx: decimal.Context, value: Decimal) -> Decimal:
    return ctx.scaleb(ctx.add(value.copy_abs(), Decimal(1)), Decimal(6 - ctx.prec))


def decimal_of(ctx: decimal.Context, value: Fraction | float) -> Decimal:
    """A number as a decimal, rounded once."""
    if isinstance(value, float):
        return ctx.create_decimal_from_float(value)
    return ctx.divide(Decimal(value.numerator), Decimal(value.denominator))


def floor_of(interval: Interval) -> int | None:
    """The floor of a number known to lie in the interval, if that settles it."""
    low, high = (
        value.to_integral_value(rounding=decimal.ROUND_FLOOR) for value in interval
    )
    return int(low) if low == high else None


def below(
    uniform: Uniform, bound: Callable[[decimal.Context], Interval], *others: Refinable
) -> bool:
    """Whether a uniform number lies below a bound that can be computed to any accuracy."""

    def attempt(ctx: decimal.Context) -> bool | None:
        low, high = bound(ctx)
        unit = Decimal(1 << uniform.bits)
        if Decimal(uniform.head + 1) <= ctx.multiply(low, unit):
            return True
        if Decimal(uniform.head) >= ctx.multiply(high, unit):
            return False
        return None

    return decide(attempt, uniform, *others)
