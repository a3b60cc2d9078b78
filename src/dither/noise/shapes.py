"""Checks and shapes that all samplers share."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError

__all__ = ["Shape", "check_scale", "shaped", "sides_of"]

Shape = int | tuple[int, ...]
Item = TypeVar("Item", bound=np.generic)

LARGEST_SCALE = 2.0**56


def check_scale(name: str, scale: float) -> float:
    """A scale that every sampler can work with, as a float; rounded up where it is not
    one.
    """
    if not isinstance(scale, Real) or isinstance(scale, bool):
        raise ArgumentError(name, "must be a number; pass a positive one, such as 1.0")
    try:
        value = float(scale)
    except OverflowError:
        value = math.inf
    # A fraction or a long integer, rounded down: less noise than was asked for
    if value < scale:
        value = math.nextafter(value, math.inf)
    if not (math.isfinite(value) and value > 0):
        raise ArgumentError(
            name,
            f"the noise scale must be positive and finite; change {name}",
        )
    if value > LARGEST_SCALE:
        raise ArgumentError(
            name,
            "the noise scale is above 2**56, too large for 64-bit integers; "
            f"change {name}, or count in larger units",
        )
    if value < 2.0**-1000:
        raise ArgumentError(
            name,
            "the noise scale is below 2**-1000, too small to hide anything; "
            f"change {name}",
        )
    return value


def sides_of(size: Shape) -> tuple[int, ...]:
    """A shape as a tuple."""
    try:
        sides = (size,) if isinstance(size, int | np.integer) else tuple(size)
    except TypeError:
        sides = (-1,)
    if any(
        not isinstance(side, int | np.integer) or isinstance(side, bool) or side < 0
        for side in sides
    ):
        raise ArgumentError(
            "size", "must be a whole number of at least 0, or a tuple of such numbers"
        )
    return tuple(int(side) for side in sides)


def shaped(size: Shape, draw: Callable[[int], NDArray[Item]]) -> NDArray[Item]:
    """Draw as many items as a shape holds, in that shape.

    Whether noise underflows must not decide whether a call succeeds, so the caller's
    `np.seterr` is set aside.
    """
    sides = sides_of(size)
    with np.errstate(all="ignore"):
        return draw(math.prod(sides)).reshape(sides)
