"""Rounded Cauchy noise ⌊γC + ½⌋, exactly.

C = U / V for (U, V) uniform in the unit disc, because the angle of such a point is
uniform. Nothing transcendental is needed, so the exact path is integer arithmetic.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from dither.noise import stream
from dither.noise.cells import (
    LARGEST,
    Ratio,
    halvings,
    place,
    saturate,
    spread,
    squares_inside,
)
from dither.noise.exact import Interval, widen
from dither.noise.polar import CHUNK, Point, coordinates, heads
from dither.noise.shapes import Shape, check_scale, shaped
from dither.noise.stream import Source, Words

__all__ = ["rounded_cauchy"]

BITS = 64
RIM = 2.0**-20
"""Points with |V| below this, or U² + V² this close to 1, are left to the exact path.
"""


class Plan(NamedTuple):
    """Parameters of a γ: cells of 2^r integers, γ and shift of the coarse draw, its
    error, bits of a word.
    """

    gamma: float
    r: int
    coarse: float
    shift: float
    error: float
    bits: int


def plan(gamma: float, bits: int = BITS) -> Plan:
    """Prepare a γ. Tests shorten `bits`, which makes the exact path common; samples
    stay the same in law.

    γ may be private, so nothing of it is remembered.
    """
    r = halvings(gamma)
    # Both coordinates are off by at most 2^-53 of themselves plus their unseen bits,
    # and |V| is at least RIM. The unseen bits of U move γU/V by γ/RIM of them however
    # small U is: so the margin grows with γ, not only with |γU/V|.
    error = 2.0**-49 + 2.0 ** (3 - bits) / RIM
    return Plan(gamma, r, math.ldexp(gamma, -r), math.ldexp(0.5, -r), error, bits)


@overload
def rounded_cauchy(scale: float, size: None = None) -> int: ...
@overload
def rounded_cauchy(scale: float, size: Shape) -> NDArray[np.int64]: ...
def rounded_cauchy(scale: float, size: Shape | None = None) -> int | NDArray[np.int64]:
    """⌊scale·C + ½⌋ for standard Cauchy C: one integer, or an array; values beyond
    ±2^62 are moved to that edge.

    Guarantee: none by itself; noise for smooth sensitivity, whose proof is about C and
    survives rounding.
    Why: it is post-processing of the true Cauchy variable (docs/proofs/noise.md).
    Assumes: AES-256-CTR is indistinguishable from uniform bits.
    """
    prepared = plan(check_scale("scale", scale))
    if size is None:
        return draw_one(prepared, stream.current())
    return shaped(size, lambda count: draw(prepared, count, stream.current()))


def draw(plan: Plan, count: int, source: Source) -> NDArray[np.int64]:
    """`count` samples: those of the accepted points of one chunk after the other."""
    out = np.empty(count, np.int64)
    filled = 0
    while filled < count:
        # The disc fills π/4 of the square and a point gives one sample, so this is a
        # little more than is missing.
        words = np.empty(2 * min(CHUNK, (count - filled) * 4 // 3 + 16), np.uint64)
        source.fill(words)
        values = _draw_chunk(plan, words, source)[: count - filled]
        out[filled : filled + values.size] = values
        filled += values.size
    return out


def _draw_chunk(plan: Plan, words: Words, source: Source) -> NDArray[np.int64]:
    values, inside, unsure = floors(plan, words)
    kept = np.zeros(inside.size, np.int64)
    edge = LARGEST >> plan.r
    np.copyto(kept, np.clip(values, -edge - 1, edge), casting="unsafe")
    for i in unsure:
        answer = exact_ratio(plan, *heads(words, i, plan.bits), source)
        inside[i] = answer is not None
        kept[i] = max(-edge - 1, min(edge, answer or 0))
    kept = kept[inside]
    if plan.r:
        kept = spread(kept, plan.r, np.zeros(kept.size, np.bool_), ratio(plan), source)
    return np.clip(kept, -LARGEST, LARGEST)


def draw_one(plan: Plan, source: Source) -> int:
    """One sample by the exact path alone: how often floats are not certain depends on
    γ, which may be private.
    """
    answer = None
    while answer is None:
        answer = exact_ratio(
            plan, source.word() - (1 << 63), source.word() - (1 << 63), source
        )
    edge = LARGEST >> plan.r
    cell = max(-edge - 1, min(edge, answer))
    return place(cell, plan.r, True, ratio(plan), source) if plan.r else saturate(cell)


def floors(
    plan: Plan, words: Words
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.intp]]:
    """⌊γU/V + ½⌋ by floats (in cells, when γ is large), which points lie in the disc,
    and which are not certain.
    """
    u, v = coordinates(words, plan.bits)
    squares = u * u + v * v
    inside = squares < 1
    unsure = (np.abs(v) < RIM) | (np.abs(squares - 1) < RIM)
    v[v == 0] = RIM
    u /= v
    u *= plan.coarse
    margin = np.abs(u)
    margin += plan.coarse + 1
    margin *= plan.error
    u += plan.shift
    values = np.floor(u)
    u -= values
    unsure |= ((u <= margin) | (u >= 1 - margin)) & inside
    return values, inside, np.flatnonzero(unsure)


def exact_ratio(plan: Plan, u: int, v: int, source: Source) -> int | None:
    """The same of the same bits and as many more as it takes, or None for a point
    outside the disc.
    """
    point = Point(u, v, plan.bits, source)
    if not point.inside():
        return None
    top, bottom = plan.gamma.as_integer_ratio()
    while True:
        near, far = point.magnitude(1)
        if near > 0:
            ends = sorted(
                _floor(top * end, bottom * side, plan.r)
                for end, side in _corners(point, near, far)
            )
            if ends[0] == ends[-1]:
                return ends[0]
        point.refine()


def _corners(point: Point, near: int, far: int) -> list[tuple[int, int]]:
    """The numerators and denominators between which U / V lies."""
    sign = 1 if point.positive(1) else -1
    return [
        (sign * end, side)
        for end in (point.uv[0], point.uv[0] + 1)
        for side in (near, far)
    ]


def _floor(numerator: int, denominator: int, r: int) -> int:
    """⌊(numerator / denominator + ½) / 2^r⌋."""
    return (2 * numerator + denominator) // (denominator << (r + 1))


def ratio(plan: Plan) -> Ratio:
    """Inside a cell, (γ² + m²) / (γ² + x²), where m is the cell's point nearest to 0."""

    def density(
        ctx: decimal.Context, cell: int, low: Decimal, high: Decimal
    ) -> Interval:
        least, most, nearest = squares_inside(ctx, cell, plan.r, low, high)
        gamma = Decimal.from_float(plan.gamma)
        square = ctx.multiply(gamma, gamma)
        top = ctx.add(square, nearest)
        ends = (ctx.divide(top, ctx.add(square, x)) for x in (most, least))
        return widen(ctx, *ends)

    return density
