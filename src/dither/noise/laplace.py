"""Discrete Laplace noise: P(X = k) proportional to exp(−|k| / scale), exactly.

|X| = ⌊t·E + κ⌋ with E exponential and κ = t·ln(2 / (1 + e^(−1/t))), and a random sign. Then P(|X| ≥ k) =
e^(−(k−κ)/t) = 2q^k / (1 + q) for k ≥ 1 with q = e^(−1/t), which is the target; nothing
is ever rejected.

One word gives the sign and the first 63 bits of V, with E = −ln V. A float decides the
floor when it is farther from an integer than its error; the few per million others are
decided by `exact` (docs/proofs/noise.md).
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from dither.noise import stream
from dither.noise.cells import Ratio, halvings, place, spread
from dither.noise.exact import (
    LOG_ERROR,
    Interval,
    Uniform,
    context,
    decide,
    floor_of,
    widen,
)
from dither.noise.shapes import Shape, check_scale, shaped
from dither.noise.stream import Source, Words

__all__ = ["discrete_laplace"]

CHUNK = 1 << 14
BITS = 63  # of V, in one word
SPARE = 18  # V below 2^-18 is left to the exact path: its leading bits are too few
LEAST = 1 << (BITS - SPARE)
SIGN = np.uint64(1 << 63)
REST = np.uint64((1 << 63) - 1)


class Plan(NamedTuple):
    """Parameters of a scale: cells of 2^r integers, the scale and shift of the coarse
    draw, and its float error.
    """

    scale: float
    r: int
    coarse: float
    shift: float
    margin: float
    bits: int


@lru_cache(maxsize=1024)
def plan(scale: float, bits: int = BITS) -> Plan:
    """Prepare a scale. Tests shorten `bits`, which makes the exact path common; samples
    stay the same in law.
    """
    r = halvings(scale)
    coarse = math.ldexp(scale, -r)
    shift = math.ldexp(float(kappa(context(bits), scale)[0]), -r)
    error = 2.0 ** -(bits - SPARE - 1) + 14 * LOG_ERROR
    return Plan(scale, r, coarse, shift, (coarse + 1) * error, bits)


def kappa(ctx: decimal.Context, scale: float) -> Interval:
    """t·ln(2 / (1 + e^(−1/t)))."""
    t = Decimal.from_float(scale)
    tail = ctx.exp(ctx.divide(Decimal(-1), t))
    log = ctx.ln(ctx.divide(Decimal(2), ctx.add(Decimal(1), tail)))
    low, high = widen(ctx, log, log)
    return ctx.multiply(t, low), ctx.multiply(t, high)


@overload
def discrete_laplace(scale: float, size: None = None) -> int: ...
@overload
def discrete_laplace(scale: float, size: Shape) -> NDArray[np.int64]: ...
def discrete_laplace(
    scale: float, size: Shape | None = None
) -> int | NDArray[np.int64]:
    """Integers with P(k) proportional to exp(−|k| / scale); one, or an array of the
    given shape.

    Guarantee: adding one to an integer of sensitivity Δ is (Δ / scale)-differentially
    private, pure.
    Why: P(k) / P(k + Δ) ≤ e^(Δ / scale); each sample is the exact function of ideal
    uniform bits.
    Assumes: AES-256-CTR is indistinguishable from uniform bits; log within 2^-45 on
    this platform (tested).
    """
    prepared = plan(check_scale("scale", scale))
    if size is None:
        return draw_one(prepared, stream.current())
    return shaped(size, lambda count: draw(prepared, count, stream.current()))


def draw(plan: Plan, count: int, source: Source) -> NDArray[np.int64]:
    """`count` samples, a chunk at a time so that all steps of a chunk happen in the
    cache.
    """
    out = np.empty(count, np.int64)
    words = np.empty(min(count, CHUNK), np.uint64)
    for start in range(0, count, CHUNK):
        part = out[start : start + CHUNK]
        chunk = words[: part.size]
        source.fill(chunk)
        _draw_chunk(plan, chunk, part, source)
    return out


def _draw_chunk(
    plan: Plan, words: Words, out: NDArray[np.int64], source: Source
) -> None:
    heads = np.bitwise_and(words, REST)
    values, unsure = magnitudes(plan, heads)
    for i in unsure:
        values[i] = exact_magnitude(plan, int(heads[i]), source)
    if plan.r:
        cells = values.astype(np.int64)
        places = spread(cells, plan.r, cells == 0, ratio(plan.scale), source)
        np.multiply(places, 1 - 2 * (words >> np.uint64(63)).view(np.int64), out=out)
        return
    signed = values.view(np.uint64)
    np.bitwise_or(signed, np.bitwise_and(words, SIGN, out=words), out=signed)
    np.copyto(out, values, casting="unsafe")


def magnitudes(
    plan: Plan, heads: Words
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """⌊t·E + κ⌋ by floats (in cells, when the scale is large), and the places where
    that is not certain.
    """
    if plan.bits < BITS:
        heads = heads >> np.uint64(BITS - plan.bits) << np.uint64(BITS - plan.bits)
    values = np.maximum(heads, 1).view(np.int64).astype(np.float64)
    values *= 2.0**-BITS
    np.log(values, out=values)
    values *= -plan.coarse
    values += plan.shift
    floors = np.floor(values)
    values -= floors
    if (
        heads.min() >= LEAST
        and values.min() > plan.margin
        and values.max() < 1 - plan.margin
    ):
        return floors, np.empty(0, np.intp)
    unsure = (values <= plan.margin) | (values >= 1 - plan.margin) | (heads < LEAST)
    return floors, np.flatnonzero(unsure)


def exact_magnitude(plan: Plan, head: int, source: Source) -> int:
    """The same of the same bits, and as many more bits as it takes."""
    v = Uniform(head >> (BITS - plan.bits), plan.bits, source)

    def attempt(ctx: decimal.Context) -> int | None:
        if v.head == 0:
            return None
        unit = ctx.ln(Decimal(1 << v.bits))
        least, most = (
            ctx.subtract(unit, ctx.ln(Decimal(end))) for end in (v.head + 1, v.head)
        )
        scale, cell = Decimal.from_float(plan.scale), Decimal(1 << plan.r)
        low, high = (
            ctx.divide(ctx.fma(scale, end, shift), cell)
            for end, shift in zip(
                widen(ctx, least, most), kappa(ctx, plan.scale), strict=True
            )
        )
        low, high = widen(ctx, low, high)
        return floor_of((max(low, Decimal(0)), high))

    return decide(attempt, v)


def draw_one(plan: Plan, source: Source) -> int:
    """One sample without arrays."""
    word = source.word()
    head = word & (1 << BITS) - 1
    value = plan.coarse * -math.log(max(head, 1) * 2.0**-BITS) + plan.shift
    magnitude = math.floor(value)
    if head < LEAST or not plan.margin < value - magnitude < 1 - plan.margin:
        magnitude = exact_magnitude(plan, head, source)
    if plan.r:
        magnitude = place(magnitude, plan.r, magnitude > 0, ratio(plan.scale), source)
    return -magnitude if word >> BITS else magnitude


def ratio(scale: float) -> Ratio:
    """Inside a cell of |X| the density falls by e^(−x/t); the first cell begins only at
    κ.
    """

    def density(
        ctx: decimal.Context, cell: int, low: Decimal, high: Decimal
    ) -> Interval:
        least, most = (
            ctx.exp(ctx.divide(x.copy_negate(), Decimal.from_float(scale)))
            for x in (high, low)
        )
        begin, certain = kappa(ctx, scale) if cell == 0 else (Decimal(0), Decimal(0))
        if high <= begin:
            return Decimal(0), Decimal(0)
        low_end, high_end = widen(ctx, least, most)
        return (low_end if low >= certain else Decimal(0)), high_end

    return density
