"""Checks and shapes that all samplers share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError

__all__ = ["Shape", "check_scale", "count_of", "shaped"]

Shape = int | tuple[int, ...]
Item = TypeVar("Item", bound=np.generic)

LARGEST_SCALE = 2.0**56


def check_scale(name: str, scale: float) -> float:
    """A scale that every sampler can work with, as a float."""
    try:
        value = float(scale)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(name, "must be a number; pass a positive float") from None
    if not (math.isfinite(value) and value > 0):
        raise ArgumentError(name, "must be positive and finite; more noise needs a larger scale, less a smaller one")
    if value > LARGEST_SCALE:
        raise ArgumentError(name, "is above 2**56, too wide for 64-bit integers; measure in larger steps")
    if value < 2.0**-1000:
        raise ArgumentError(name, "is below 2**-1000, which is no noise at all; pass a larger scale")
    return value


def count_of(size: Shape) -> int:
    """How many items a shape holds."""
    sides = (size,) if isinstance(size, int | np.integer) else tuple(size)
    if any(not isinstance(side, int | np.integer) or side < 0 for side in sides):
        raise ArgumentError("size", "must be a whole number or a tuple of whole numbers, none negative")
    return math.prod(int(side) for side in sides)


def shaped(size: Shape, draw: Callable[[int], NDArray[Item]]) -> NDArray[Item]:
    """Draw as many items as a shape holds, in that shape."""
    return draw(count_of(size)).reshape(size)
