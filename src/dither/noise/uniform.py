"""Uniform integers, coins with exact probabilities, and secret bytes."""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.noise import stream
from dither.noise.exact import (
    Interval,
    Uniform,
    below,
    context,
    decimal_of,
    floor_of,
    widen,
)
from dither.noise.shapes import Shape, shaped
from dither.noise.stream import Source, Words

__all__ = [
    "bernoulli",
    "bernoulli_exp",
    "random_words",
    "secret_bytes",
    "token",
    "uniform_integers",
]

RANGE = 1 << 64

Bound = Callable[[decimal.Context], Interval]


@overload
def uniform_integers(below: int, size: None = None) -> int: ...
@overload
def uniform_integers(below: int, size: Shape) -> NDArray[np.int64]: ...
def uniform_integers(below: int, size: Shape | None = None) -> int | NDArray[np.int64]:
    """Integers of 0 … below − 1, each equally likely: one, or an array (below ≤ 2^63)."""
    if not isinstance(below, int | np.integer) or not 1 <= below <= 1 << 63:
        raise ArgumentError("below", "must be a whole number from 1 to 2**63")
    if size is None:
        return int(draw_integers(int(below), 1, stream.current())[0])
    return shaped(
        size, lambda count: draw_integers(int(below), count, stream.current())
    )


def draw_integers(below: int, count: int, source: Source) -> NDArray[np.int64]:
    """Remainders of words; the words of the last, incomplete run of `below` values are
    drawn again in their place.
    """
    words: Words = np.empty(count, np.uint64)
    source.fill(words)
    last = RANGE - RANGE % below
    while last < RANGE:
        again = np.flatnonzero(words >= np.uint64(last))
        if not again.size:
            break
        fresh: Words = np.empty(again.size, np.uint64)
        source.fill(fresh)
        words[again] = fresh
    return (words % np.uint64(below)).astype(np.int64)


@overload
def bernoulli(probability: float | Fraction, size: None = None) -> bool: ...
@overload
def bernoulli(probability: float | Fraction, size: Shape) -> NDArray[np.bool_]: ...
def bernoulli(
    probability: float | Fraction, size: Shape | None = None
) -> bool | NDArray[np.bool_]:
    """Coins that are true with exactly this probability, a float taken as the fraction
    it is.
    """
    exact = _fraction(probability)
    if exact is None or not 0 <= exact <= 1:
        raise ArgumentError("probability", "must be a number from 0 to 1")

    def bound(ctx: decimal.Context) -> Interval:
        value = decimal_of(ctx, exact)
        return widen(ctx, value, value)

    return _coins(
        exact.numerator * RANGE // exact.denominator,
        exact * RANGE % 1 == 0,
        bound,
        size,
    )


@overload
def bernoulli_exp(loss: float | Fraction, size: None = None) -> bool: ...
@overload
def bernoulli_exp(loss: float | Fraction, size: Shape) -> NDArray[np.bool_]: ...
def bernoulli_exp(
    loss: float | Fraction, size: Shape | None = None
) -> bool | NDArray[np.bool_]:
    """Coins that are true with probability exactly e^(−loss)."""
    exact = _fraction(loss)
    if exact is None or exact < 0:
        raise ArgumentError(
            "loss",
            "must be a finite number of at least 0; pass a loss such as 0.5",
        )
    if exact == 0:
        return bernoulli(1, size) if size is not None else True

    def bound(ctx: decimal.Context) -> Interval:
        value = ctx.exp(decimal_of(ctx, -exact))
        return widen(ctx, value, value)

    return _coins(_whole(bound), False, bound, size)


def _fraction(value: object) -> Fraction | None:
    """A finite number as the fraction it is."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, int | Fraction):
        return Fraction(plain)
    return (
        Fraction(plain) if isinstance(plain, float) and math.isfinite(plain) else None
    )


def _whole(bound: Bound) -> int:
    """⌊2^64 · probability⌋, with as many digits as it takes."""
    for bits in itertools.count(64, 64):
        ctx = context(bits)
        low, high = (ctx.multiply(end, Decimal(RANGE)) for end in bound(ctx))
        whole = floor_of((max(low, Decimal(0)), max(high, Decimal(0))))
        if whole is not None:
            return whole
    raise AssertionError("unreachable")


def _coins(
    whole: int, exact: bool, bound: Bound, size: Shape | None
) -> bool | NDArray[np.bool_]:
    """Words below `whole` are true and words above it false; a word equal to it needs
    more bits, unless it is exact.
    """
    if size is None:
        return bool(draw_coins(whole, exact, bound, 1, stream.current())[0])
    return shaped(
        size, lambda count: draw_coins(whole, exact, bound, count, stream.current())
    )


def draw_coins(
    whole: int, exact: bool, bound: Bound, count: int, source: Source
) -> NDArray[np.bool_]:
    words: Words = np.empty(count, np.uint64)
    source.fill(words)
    if whole >= RANGE:
        return np.ones(count, np.bool_)
    coins = words < np.uint64(whole)
    if not exact:
        for i in np.flatnonzero(words == np.uint64(whole)):
            coins[i] = below(Uniform(int(words[i]), 64, source), bound)
    return coins


def random_words(count: int) -> NDArray[np.uint32]:
    """Uniform 32-bit words: what devices draw with, so that any language can."""
    words: Words = np.empty(-(-count // 2), np.uint64)
    stream.current().fill(words)
    return words.view(np.uint32)[:count]


def secret_bytes(count: int) -> bytes:
    """Bytes nobody can guess, for keys and salts."""
    if not isinstance(count, int) or count < 0:
        raise ArgumentError("count", "must be a whole number, 0 or more")
    words: Words = np.empty(-(-count // 8), np.uint64)
    stream.current().fill(words)
    return words.tobytes()[:count]


def token(count: int = 32) -> str:
    """`count` secret bytes as hexadecimal text."""
    return secret_bytes(count).hex()
