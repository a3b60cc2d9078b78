"""Exact sums of whole numbers that are held as floats, which matrix products are fast on.

A float64 holds every whole number up to 2^53. As long as all partial sums of a product
stay below that, the result is exact whatever the order of additions: it depends on no
blocking, thread or number of rows, so one unit moves it by that unit's rows alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["EXACT", "blocks", "products", "total"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
EXACT = 1 << 53
BLOCK = 1 << 13


def blocks(count: int, most: int, size: int = BLOCK) -> Iterator[slice]:
    """Rows in parts whose sums stay exact, where a summand is at most `most`."""
    rows = max(1, min(size, EXACT // max(most, 1)))
    for start in range(0, count, rows):
        yield slice(start, start + rows)


def products(left: Reals, right: Reals, most: int) -> Integers:
    """leftᵀ·right, where a product of two entries is at most `most`."""
    found = np.zeros((left.shape[1], right.shape[1]), np.int64)
    for part in blocks(len(left), most):
        found += (left[part].T @ right[part]).astype(np.int64)
    return found


def total(rows: Reals, weights: Integers, most: int) -> Integers:
    """The weighted sum of rows, where an entry times a weight is at most `most`."""
    found: Integers = products(weights.astype(np.float64)[:, None], rows, most)[0]
    return found
