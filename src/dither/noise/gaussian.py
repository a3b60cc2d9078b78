"""Rounded Gaussian noise ⌊σZ + ½⌋, exactly.

For an integer x, x + ⌊σZ + ½⌋ = ⌊x + σZ + ½⌋: adding rounded Gaussian noise is rounding
the true Gaussian mechanism, so its guarantee is exactly the Gaussian one, in any
dimension.

Z comes from Marsaglia's polar method, which needs only ln and sqrt: (U, V) uniform in
the unit disc, S = U² + V², Z = U·√(−2 ln S / S). A float decides the floor where it is
certain; otherwise `exact` does (docs/proofs/noise.md).
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
from dither.noise.cells import Ratio, halvings, place, spread, squares_inside
from dither.noise.exact import LOG_ERROR, Interval, decide, floor_of, widen
from dither.noise.polar import CHUNK, Point, coordinates, heads
from dither.noise.shapes import Shape, check_scale, shaped
from dither.noise.stream import Source, Words

__all__ = ["rounded_gaussian"]

BITS = 64
RIM = 2.0**-20
"""S below this, or this close to 1, is left to the exact path."""
WIDEST = 5.3
"""√(−2 ln RIM), the largest |Z| that floats decide."""


class Plan(NamedTuple):
    """Parameters of a σ: cells of 2^r integers, the σ and shift of the coarse draw, its
    float error, bits of a word.
    """

    sigma: float
    r: int
    coarse: float
    shift: float
    margin: float
    bits: int


@lru_cache(maxsize=1024)
def plan(sigma: float, bits: int = BITS) -> Plan:
    """Prepare a σ. Tests shorten `bits`, which makes the exact path common; samples
    stay the same in law.
    """
    r = halvings(sigma)
    coarse = math.ldexp(sigma, -r)
    return Plan(
        sigma, r, coarse, math.ldexp(0.5, -r), coarse * z_error(bits) + 2.0**-50, bits
    )


def z_error(bits: int) -> float:
    """Largest error of the float Z, for RIM ≤ S ≤ 1 − RIM; term by term in
    docs/proofs/noise.md.
    """
    unit = 2.0 ** (1 - bits)
    s_relative = 2.0**-50 + 3 * unit / math.sqrt(RIM)
    own = unit * WIDEST / math.sqrt(RIM)
    log = WIDEST * (2.0**-49 + s_relative + 2 * LOG_ERROR)
    rim = s_relative / math.sqrt(RIM)
    return own + log + rim


@overload
def rounded_gaussian(sigma: float, size: None = None) -> int: ...
@overload
def rounded_gaussian(sigma: float, size: Shape) -> NDArray[np.int64]: ...
def rounded_gaussian(
    sigma: float, size: Shape | None = None
) -> int | NDArray[np.int64]:
    """⌊σZ + ½⌋ for standard normal Z: one integer, or an array of the given shape.

    Guarantee: adding these to an integer vector of L2 sensitivity Δ is (Δ /
    σ)-Gaussian-differentially private.
    Why: it is post-processing of the Gaussian mechanism (Dong, Roth & Su 2022); each
    sample is the exact function of ideal uniform bits (docs/proofs/noise.md).
    Assumes: AES-256-CTR is indistinguishable from uniform bits; log and sqrt within
    2^-45 on this platform (tested).
    """
    prepared = plan(check_scale("sigma", sigma))
    if size is None:
        return draw_one(prepared, stream.current())
    return shaped(size, lambda count: draw(prepared, count, stream.current()))


def draw(plan: Plan, count: int, source: Source) -> NDArray[np.int64]:
    """`count` samples: those of the accepted points of one chunk after the other."""
    out = np.empty(count, np.int64)
    filled = 0
    while filled < count:
        # The disc fills π/4 of the square and a point gives two samples, so this is a
        # little more than is missing.
        words = np.empty(2 * min(CHUNK, (count - filled) * 2 // 3 + 16), np.uint64)
        source.fill(words)
        values = _draw_chunk(plan, words, source)[: count - filled]
        out[filled : filled + values.size] = values
        filled += values.size
    return out


def _draw_chunk(plan: Plan, words: Words, source: Source) -> NDArray[np.int64]:
    """The samples of all points in the disc: first the U side of each, then the V side."""
    values, inside, unsure = floors(plan, words)
    for i in unsure:
        answer = exact_pair(plan, *heads(words, i, plan.bits), source)
        inside[i] = answer is not None
        values[:, i] = answer or (0, 0)
    kept = values.take(np.flatnonzero(inside), axis=1).astype(np.int64)
    if not plan.r:
        return kept.reshape(-1)
    special = np.zeros(inside.size, np.bool_)
    special[unsure] = True
    return spread(
        kept.reshape(-1), plan.r, np.tile(special[inside], 2), ratio(plan), source
    )


def floors(
    plan: Plan, words: Words
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.intp]]:
    """⌊σZ + ½⌋ by floats (in cells, when σ is large) for both sides of each point, and
    which points lie in the disc.

    The third array lists the points for which one of these is not certain.
    """
    points = coordinates(words, plan.bits)
    squares = points[0] * points[0]
    squares += points[1] * points[1]
    inside = squares < 1
    rim = (squares < RIM) | (np.abs(squares - 1) < RIM)
    np.clip(squares, RIM, 1 - RIM, out=squares)
    factor = np.log(squares)
    factor *= -2
    factor /= squares
    np.sqrt(factor, out=factor)
    factor *= plan.coarse
    points *= factor
    points += plan.shift
    values = np.floor(points)
    points -= values
    if points.min() <= plan.margin or points.max() >= 1 - plan.margin:
        rim |= ((points <= plan.margin) | (points >= 1 - plan.margin)).any(
            axis=0
        ) & inside
    return values, inside, np.flatnonzero(rim)


def exact_pair(plan: Plan, u: int, v: int, source: Source) -> tuple[int, int] | None:
    """Both samples of a pair, or None if it lies outside the disc: the same bits, and
    as many more as it takes.
    """
    point = Point(u, v, plan.bits, source)
    if not point.inside():
        return None
    return exact_side(plan, point, 0), exact_side(plan, point, 1)


def exact_side(plan: Plan, point: Point, side: int) -> int:
    """⌊(σZ + ½) / 2^r⌋ for one side of a point of the disc."""

    def attempt(ctx: decimal.Context) -> int | None:
        if point.square()[0] == 0:
            return None
        low, high = _normal(ctx, point, side)
        cell = Decimal(1 << plan.r)
        ends = (
            ctx.divide(
                ctx.fma(Decimal.from_float(plan.sigma), end, Decimal("0.5")), cell
            )
            for end in (low, high)
        )
        return floor_of(widen(ctx, *ends))

    return decide(attempt, point)


def _normal(ctx: decimal.Context, point: Point, side: int) -> Interval:
    """Z of one side. √(−2 ln S / S) falls as S grows."""
    unit = Decimal(point.one)
    least, most = point.square()
    factors = []
    for square, end in ((most, 0), (least, 1)):
        s = ctx.divide(Decimal(min(square, point.one**2)), ctx.multiply(unit, unit))
        log = ctx.ln(s).copy_negate()
        twice = ctx.divide(max(widen(ctx, log, log)[end], Decimal(0)), s)
        factors.append(ctx.sqrt(ctx.multiply(Decimal(2), twice)))
    near, far = point.magnitude(side)
    low = ctx.multiply(ctx.divide(Decimal(near), unit), factors[0])
    high = ctx.multiply(ctx.divide(Decimal(far), unit), factors[1])
    low, high = widen(ctx, low, high)
    return (
        (low, high) if point.positive(side) else (high.copy_negate(), low.copy_negate())
    )


def draw_one(plan: Plan, source: Source) -> int:
    """One sample without arrays; the other side of its pair is not used."""
    cell, sure = _draw_cell(plan, source)
    return place(cell, plan.r, sure, ratio(plan), source) if plan.r else cell


def _draw_cell(plan: Plan, source: Source) -> tuple[int, bool]:
    while True:
        heads = source.word() - (1 << 63), source.word() - (1 << 63)
        u, v = heads[0] * 2.0**-63, heads[1] * 2.0**-63
        square = u * u + v * v
        if square >= 1 + RIM:
            continue
        if RIM <= square <= 1 - RIM:
            value = (
                plan.coarse * u * math.sqrt(-2 * math.log(square) / square) + plan.shift
            )
            floor = math.floor(value)
            if plan.margin < value - floor < 1 - plan.margin:
                return floor, True
        point = Point(*heads, BITS, source)
        if point.inside():
            return exact_side(plan, point, 0), False


def ratio(plan: Plan) -> Ratio:
    """Inside a cell, exp(−(x² − m²) / 2σ²), where m is the cell's point nearest to 0."""

    def density(
        ctx: decimal.Context, cell: int, low: Decimal, high: Decimal
    ) -> Interval:
        least, most, nearest = squares_inside(ctx, cell, plan.r, low, high)
        sigma = Decimal.from_float(plan.sigma)
        double = ctx.multiply(Decimal(-2), ctx.multiply(sigma, sigma))
        ends = (
            ctx.exp(ctx.divide(ctx.subtract(x, nearest), double)) for x in (most, least)
        )
        return widen(ctx, *ends)

    return density
