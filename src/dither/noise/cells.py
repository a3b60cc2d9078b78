"""How samplers of large scale stay exact: draw the cell of 2^r integers first, then the
place inside the cell.

The fast path of a sampler knows about 40 bits of its value. When the scale is so large
that these do not reach the integers, the sampler is run at the scale divided by 2^r,
which gives the cell with its exact probability. Inside the cell the density is nearly
flat: a uniform place is accepted with probability density(place) / (highest density of
the cell), which is above 1 − 2^-16, and otherwise drawn again *in the same cell*. See
docs/proofs/noise.md.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dither.noise.exact import Interval, Uniform, below
from dither.noise.stream import Source, Words

__all__ = [
    "COARSE",
    "LARGEST",
    "SURE",
    "Ratio",
    "halvings",
    "place",
    "saturate",
    "settle",
    "spread",
    "squares_inside",
]

COARSE = 2.0**20
"""Scales up to this one are sampled directly."""

LARGEST = 1 << 62
"""Every sample lies within ±2^62; what would lie beyond is moved to that edge."""

SURE = int((1 - 2.0**-16) * 2**64)
"""A uniform word below this one accepts the place whatever it is."""

Integers = NDArray[np.int64]


class Ratio(Protocol):
    """density(x) / (highest density of the cell) for all x between two ends, as an
    interval.
    """

    def __call__(
        self, ctx: decimal.Context, cell: int, low: Decimal, high: Decimal
    ) -> Interval: ...


def halvings(scale: float) -> int:
    """The r for which scale / 2^r is at most COARSE."""
    return math.frexp(scale / COARSE)[1] if scale > COARSE else 0


def saturate(value: int) -> int:
    return max(-LARGEST, min(LARGEST, value))


def spread(
    cells: Integers, r: int, unsure: NDArray[np.bool_], ratio: Ratio, source: Source
) -> Integers:
    """One place in each cell. `unsure` marks cells whose ratio may be small: these are
    always decided exactly.
    """
    edge = LARGEST >> r
    cells = np.clip(cells, -edge - 1, edge)
    words: Words = np.empty(2 * cells.size, np.uint64)
    source.fill(words)
    where, chance = words[: cells.size], words[cells.size :]
    values = (cells << r) + (where >> np.uint64(64 - r)).astype(np.int64)
    for i in np.flatnonzero(unsure | (chance >= SURE)):
        values[i] = settle(
            int(cells[i]), r, int(where[i]), int(chance[i]), ratio, source
        )
    return np.clip(values, -LARGEST, LARGEST, out=values)


def place(cell: int, r: int, sure: bool, ratio: Ratio, source: Source) -> int:
    """`spread` for one cell."""
    where, chance = source.word(), source.word()
    if sure and chance < SURE:
        return saturate((cell << r) + (where >> (64 - r)))
    return settle(cell, r, where, chance, ratio, source)


def settle(
    cell: int, r: int, where: int, chance: int, ratio: Ratio, source: Source
) -> int:
    """Accept the place given by these words, or draw others until one is accepted;
    exactly.
    """
    while True:
        spot, accept = Uniform(where, 64, source), Uniform(chance, 64, source)
        if below(accept, _bound(cell, r, spot, ratio), spot):
            return saturate((cell << r) + (spot.head >> (spot.bits - r)))
        where, chance = source.word(), source.word()


def _bound(
    cell: int, r: int, spot: Uniform, ratio: Ratio
) -> Callable[[decimal.Context], Interval]:
    def bound(ctx: decimal.Context) -> Interval:
        unit = Decimal(1 << (spot.bits - r))
        return ratio(
            ctx,
            cell,
            ctx.divide(Decimal(spot.head), unit),
            ctx.divide(Decimal(spot.head + 1), unit),
        )

    return bound


def squares_inside(
    ctx: decimal.Context, cell: int, r: int, low: Decimal, high: Decimal
) -> tuple[Decimal, ...]:
    """For x = (cell's begin) + place − ½: the least and most x² for places from low to
    high, and the cell's least.

    Cells are those of ⌊σZ + ½⌋, so the value itself lies half a step lower.
    """
    half = Decimal("0.5")
    begin = ctx.subtract(Decimal(cell << r), half)
    end = ctx.subtract(Decimal((cell + 1) << r), half)
    least, most = _squares(ctx, ctx.add(begin, low), ctx.add(begin, high))
    return least, most, _squares(ctx, begin, end)[0]


def _squares(ctx: decimal.Context, low: Decimal, high: Decimal) -> Interval:
    least, most = sorted((ctx.multiply(low, low), ctx.multiply(high, high)))
    return (Decimal(0) if low <= 0 <= high else least), most
