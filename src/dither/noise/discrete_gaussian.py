"""Discrete Gaussian noise: P(X = k) proportional to exp(−k² / 2σ²), exactly (Canonne,
Kamath & Steinke 2020).

A discrete Laplace proposal Y of scale t = ⌊σ⌋ + 1 is accepted with probability
exp(−(|Y| − σ²/t)² / 2σ²). Floats decide the coin where they are certain, `exact`
decides the others.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from typing import overload

import numpy as np
from numpy.typing import NDArray

from dither.noise import laplace, stream
from dither.noise.exact import Interval, Uniform, below, widen
from dither.noise.shapes import Shape, check_scale, shaped
from dither.noise.stream import Source, Words

__all__ = ["discrete_gaussian"]

CHUNK = 1 << 14
BITS = 64
ERROR = 2.0**-38
"""Largest error of the float acceptance probability; see docs/proofs/noise.md."""


@overload
def discrete_gaussian(sigma: float, size: None = None) -> int: ...
@overload
def discrete_gaussian(sigma: float, size: Shape) -> NDArray[np.int64]: ...
def discrete_gaussian(
    sigma: float, size: Shape | None = None
) -> int | NDArray[np.int64]:
    """Integers with P(k) proportional to exp(−k² / 2σ²): one, or an array of the given
    shape.

    Guarantee: adding one to an integer of sensitivity Δ is (Δ² / 2σ²)-zero-concentrated
    differentially private.
    Why: Canonne, Kamath & Steinke 2020, theorem 4; each sample is the exact function of
    ideal uniform bits.
    Assumes: AES-256-CTR is indistinguishable from uniform bits; log and exp within
    2^-45 on this platform (tested).
    """
    sigma = check_scale("sigma", sigma)
    if size is None:
        return int(discrete_gaussian(sigma, 1)[0])
    return shaped(size, lambda count: draw(sigma, count, stream.current()))


def draw(
    sigma: float, count: int, source: Source, bits: int = BITS
) -> NDArray[np.int64]:
    """The accepted proposals of one chunk after the other. Tests shorten `bits`."""
    out = np.empty(count, np.int64)
    proposal = laplace.plan(float(math.floor(sigma) + 1))
    filled = 0
    while filled < count:
        values = laplace.draw(
            proposal, min(CHUNK, (count - filled) * 3 // 2 + 16), source
        )
        coins: Words = np.empty(values.size, np.uint64)
        source.fill(coins)
        values = values[accepted(sigma, proposal.scale, values, coins, bits, source)][
            : count - filled
        ]
        out[filled : filled + values.size] = values
        filled += values.size
    return out


def accepted(
    sigma: float,
    t: float,
    values: NDArray[np.int64],
    coins: Words,
    bits: int,
    source: Source,
) -> NDArray[np.bool_]:
    """Which proposals are kept."""
    chance, coin = chances(sigma, t, values), coins.astype(np.float64) * 2.0**-BITS
    error = ERROR + 2.0**-bits
    keep = coin < chance
    for i in np.flatnonzero(np.abs(coin - chance) <= error):
        keep[i] = exact_coin(
            sigma,
            t,
            int(values[i]),
            Uniform(int(coins[i]) >> (BITS - bits), bits, source),
        )
    return keep


def chances(sigma: float, t: float, values: NDArray[np.int64]) -> NDArray[np.float64]:
    """exp(−(|y| − σ²/t)² / 2σ²) by floats."""
    off = np.abs(values).astype(np.float64)
    off -= sigma * (sigma / t)
    off /= sigma
    off *= off
    off *= -0.5
    return np.exp(off, out=off)


def exact_coin(sigma: float, t: float, value: int, coin: Uniform) -> bool:
    """Whether a coin accepts a proposal."""

    def bound(ctx: decimal.Context) -> Interval:
        s = Decimal.from_float(sigma)
        off = ctx.subtract(
            Decimal(abs(value)), ctx.divide(ctx.multiply(s, s), Decimal.from_float(t))
        )
        ratio = ctx.divide(off, s)
        chance = ctx.exp(ctx.divide(ctx.multiply(ratio, ratio), Decimal(-2)))
        return widen(ctx, chance, chance)

    return below(coin, bound)
