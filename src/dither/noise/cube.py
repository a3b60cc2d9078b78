"""Noise for vectors in all entries at once: points of a random cube.

The radius is R = d + (the sum of d + 1 geometric variables), and each of the d entries is
uniform on −R … R. So P(z) depends on the largest |entry| alone, and falls by at most
e^(−1/scale) for each step of it (docs/proofs/noise.md): a vector that one unit moves by at
most Δ *in each entry* needs the scale Δ/ε. Hardt & Talwar (2010) have this mechanism on
the reals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.noise import stream
from dither.noise.laplace import discrete_laplace
from dither.noise.shapes import check_scale, shaped, sides_of
from dither.noise.stream import Source, Words

__all__ = ["LARGEST_CUBE", "discrete_cube"]

Integers = NDArray[np.int64]
LARGEST_CUBE = 2.0**50
"""The scale times the number of entries is at most this, or radii would not fit 64 bits:
a radius beyond 2^61 then has a probability below e^−2000.
"""
FARTHEST = 1 << 61


def discrete_cube(scale: float, size: tuple[int, ...]) -> Integers:
    """Integers with P(z) a function of max |z| over the last axis; all other axes count
    independent vectors.

    Guarantee: adding one to a vector of integers of which one unit moves each entry by at
    most Δ is (Δ / scale)-differentially private, pure.
    Why: P(z) / P(z′) ≤ e^(max |z − z′| / scale), see docs/proofs/noise.md.
    Assumes: what `discrete_laplace` assumes.
    """
    *outer, dims = sides_of(size)
    value = check_scale("scale", scale)
    if dims < 1 or value * dims > LARGEST_CUBE:
        raise ArgumentError(
            "scale",
            "scale times the number of entries is above 2**50, too large for 64-bit "
            "integers; count in larger units",
        )

    def drawn(total: int) -> Integers:
        around = radii(value, dims, total // dims)
        return inside(np.repeat(around, dims), stream.current())

    return shaped((*outer, dims), drawn)


def radii(scale: float, dims: int, count: int) -> Integers:
    """So many radii."""
    laplace = discrete_laplace(scale, (count, dims + 1))
    # x for x ≥ 0, and −x − 1 below: then P(k) is proportional to e^(−k/scale)
    geometric = laplace ^ (laplace >> 63)
    most = FARTHEST // (dims + 1)
    found: Integers = np.minimum(geometric, most).sum(axis=1) + dims
    return found


def inside(radius: Integers, source: Source) -> Integers:
    """A uniform integer from −radius to radius, for each radius.

    Of 2^64 words the first 2^64 mod (2·radius + 1) are drawn again.
    """
    sides = (2 * radius + 1).astype(np.uint64)
    spare: Any = (np.uint64(0) - sides) % sides
    words: Words = np.empty(radius.size, np.uint64)
    source.fill(words)
    again = np.flatnonzero(words < spare)
    while again.size:
        fresh: Words = np.empty(again.size, np.uint64)
        source.fill(fresh)
        words[again] = fresh
        again = again[fresh < spare[again]]
    found: Integers = (words % sides).astype(np.int64) - radius
    return found
