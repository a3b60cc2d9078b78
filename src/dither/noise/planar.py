"""Planar Laplace noise on a square lattice: P(a, b) proportional to
exp(−ε·√(a² + b²)), exactly.

Both coordinates are drawn as discrete Laplace noise of a scale t ≥ √2/ε, and kept with
probability e^(−x), x = ε·√(a² + b²) − (|a| + |b|)/t. That is a probability, because
√(a² + b²) ≥ (|a| + |b|)/√2; about 79 % are kept (2π/8). A float decides where it is
farther from the random word than its error; the others are decided by `exact`
(docs/proofs/noise.md).
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dither.noise import laplace, stream
from dither.noise.exact import Interval, Uniform, below, widen
from dither.noise.shapes import check_scale, sides_of
from dither.noise.stream import Source, Words
from dither.noise.uniform import Bound

__all__ = ["planar_laplace"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

BITS = 64
FLOAT_ERROR = 2.0**-42
"""Of e^(−x), for each 1 of what x is the difference of; functions are within 2^-45."""
KEPT = 0.75
FEWEST = 16


def planar_laplace(epsilon: float, size: int) -> Integers:
    """`size` pairs of integers with P(a, b) proportional to exp(−epsilon·√(a² + b²)).

    Guarantee: adding one to a lattice point moves the log-probability of any result by
    at most epsilon × the distance that the point is moved.
    Why: | |z − p| − |z − q| | ≤ |p − q|; the law is the exact function of ideal uniform
    bits (docs/proofs/noise.md).
    Assumes: AES-256-CTR is indistinguishable from uniform bits; log, exp and sqrt within
    2^-45 on this platform (tested).
    """
    (count,) = sides_of(size)
    rate = _rate(epsilon)
    with np.errstate(all="ignore"):
        return draw(rate, count, stream.current())


def _rate(epsilon: float) -> float:
    """A rate that samplers can work with, as a float; rounded down where it is not one:
    a larger one would lose more than was promised.
    """
    rate = check_scale("epsilon", epsilon)
    return math.nextafter(rate, 0.0) if rate > epsilon else rate


def proposal(rate: float) -> float:
    """The scale of both coordinates: a float t with t·rate ≥ √2."""
    scale = math.sqrt(2) / rate
    while (Fraction(scale) * Fraction(rate)) ** 2 < 2:
        scale = math.nextafter(scale, math.inf)
    return check_scale("epsilon", scale)


def draw(rate: float, count: int, source: Source, bits: int = BITS) -> Integers:
    """The first `count` pairs that are kept. Tests shorten `bits`, which makes the exact
    path common; samples stay the same in law.
    """
    scale = proposal(rate)
    found = np.empty((count, 2), np.int64)
    done = 0
    while done < count:
        tries = int((count - done) / KEPT) + FEWEST
        pairs = laplace.draw(laplace.plan(scale), 2 * tries, source).reshape(-1, 2)
        words: Words = np.empty(tries, np.uint64)
        source.fill(words)
        kept = pairs[decided(rate, scale, pairs, words, source, bits)]
        some = kept[: count - done]
        found[done : done + len(some)] = some
        done += len(some)
    return found


def decided(
    rate: float,
    scale: float,
    pairs: Integers,
    words: Words,
    source: Source,
    bits: int = BITS,
) -> NDArray[np.bool_]:
    """Which pairs are kept, each by its own word."""
    heads = words >> np.uint64(BITS - bits)
    keep, unsure = by_floats(rate, scale, pairs, heads, bits)
    for i in unsure:
        a, b = (abs(int(one)) for one in pairs[i])
        uniform = Uniform(int(heads[i]), bits, source)
        keep[i] = below(uniform, _chance(rate, scale, a, b))
    return keep


def by_floats(
    rate: float, scale: float, pairs: Integers, heads: Words, bits: int
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """The result in floats, and where it is not certain."""
    a, b = np.abs(pairs.astype(np.float64)).T
    far, near = rate * np.sqrt(a * a + b * b), (a + b) / scale
    chance = np.exp(near - far)
    uniform = heads.astype(np.float64) * 2.0**-bits
    margin = (1 + far + near) * FLOAT_ERROR + 2.0**-bits
    return uniform < chance, np.flatnonzero(np.abs(uniform - chance) <= margin)


def _chance(rate: float, scale: float, a: int, b: int) -> Bound:
    """e^(−x), to any accuracy."""

    def bound(ctx: decimal.Context) -> Interval:
        root = ctx.sqrt(Decimal(a * a + b * b))
        far = ctx.multiply(Decimal.from_float(rate), root)
        near = ctx.divide(Decimal(a + b), Decimal.from_float(scale))
        loss = ctx.subtract(near, far)
        low, high = widen(ctx, loss, loss)
        return widen(ctx, ctx.exp(low), ctx.exp(high))

    return bound
