"""How many times something is done: whole numbers with exact probabilities, one at a
time, by inversion of a uniform number of which as many bits are drawn as it takes.
"""

from __future__ import annotations

import decimal
from abc import ABC, abstractmethod
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from dither.errors import ArgumentError
from dither.noise import stream
from dither.noise.exact import Uniform, decide, decimal_of, widen
from dither.noise.stream import Source

__all__ = ["poisson_count", "truncated_negative_binomial"]

BITS = 64


def truncated_negative_binomial(eta: float, gamma: float) -> int:
    """A number k of at least 1, with probability proportional to (1 − γ)^k · (η)(η+1)…
    (η+k−1)/k!; for η = 0 to (1 − γ)^k/k. Floats are taken as the fractions they are.
    """
    shape, stop = Fraction(eta), Fraction(gamma)
    if not (shape > -1 and 0 < stop < Fraction(999, 1000)):
        raise ArgumentError(
            "gamma",
            "must lie between 0 and 0.999, and eta must be above -1; pass for example "
            "gamma=0.1 and eta=0",
        )
    if 0 < abs(shape) < Fraction(1, 100):  # a difference would lose its digits
        raise ArgumentError(
            "eta", "must be 0, or differ from 0 by at least 0.01; pass 0 or 1"
        )
    return draw_count(Binomial(shape, stop), 1, stream.current())


def poisson_count(mean: float) -> int:
    """A number k of at least 0, with probability e^(−mean)·mean^k/k!."""
    exact = Fraction(mean)
    if exact <= 0:
        raise ArgumentError("mean", "must be above 0; pass a number such as 10")
    return draw_count(Poisson(exact), 0, stream.current())


class Law(ABC):
    """The first probability, and how each follows from the one before: both to as many
    digits as a context has.
    """

    @abstractmethod
    def first(self, ctx: decimal.Context) -> Decimal: ...

    @abstractmethod
    def ratio(self, count: int) -> Fraction: ...


class Binomial(Law):
    def __init__(self, eta: Fraction, gamma: Fraction) -> None:
        self.eta, self.gamma = eta, gamma

    def first(self, ctx: decimal.Context) -> Decimal:
        kept = decimal_of(ctx, 1 - self.gamma)
        log = ctx.ln(decimal_of(ctx, self.gamma)).copy_negate()
        if self.eta == 0:
            return ctx.divide(kept, log)
        eta = decimal_of(ctx, self.eta)
        grown = ctx.subtract(ctx.exp(ctx.multiply(eta, log)), Decimal(1))
        return ctx.divide(ctx.multiply(kept, eta), grown)

    def ratio(self, count: int) -> Fraction:
        return (1 - self.gamma) * (count + self.eta) / (count + 1)


class Poisson(Law):
    def __init__(self, mean: Fraction) -> None:
        self.mean = mean

    def first(self, ctx: decimal.Context) -> Decimal:
        return ctx.exp(decimal_of(ctx, -self.mean))

    def ratio(self, count: int) -> Fraction:
        return self.mean / (count + 1)


def draw_count(law: Law, start: int, source: Source, bits: int = BITS) -> int:
    """The first number whose cumulated probability is above a uniform number. Tests
    shorten `bits`, which makes undecided ones many.
    """
    uniform = Uniform(source.word() >> (BITS - bits), bits, source)

    def attempt(ctx: decimal.Context) -> int | None:
        unit = Decimal(1 << uniform.bits)
        for count, reached in _cumulated(law, start, ctx):
            low, high = widen(ctx, reached, reached)
            if Decimal(uniform.head + 1) <= ctx.multiply(low, unit):
                return count
            if Decimal(uniform.head) < ctx.multiply(high, unit):
                return None  # it may be on either side: more bits decide
        raise AssertionError("unreachable")

    return decide(attempt, uniform)


def _cumulated(
    law: Law, start: int, ctx: decimal.Context
) -> Iterator[tuple[int, Decimal]]:
    count, one = start, law.first(ctx)
    reached = Decimal(0)
    while True:
        reached = ctx.add(reached, one)
        yield count, reached
        one = ctx.multiply(one, decimal_of(ctx, law.ratio(count)))
        count += 1
