"""Exact sums of whole numbers that are held as floats, which matrix products are fast on.

A float64 holds every whole number up to 2^53. As long as all partial sums of a product
stay below that, the result is exact whatever the order of additions: it depends on no
blocking, thread or number of rows, so one unit moves it by that unit's rows alone. Sums
fit 64 bits for many more rows than fit a machine; if they might not, they are clamped
to the end of a range.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "EXACT",
    "along",
    "blocks",
    "distances",
    "lengths",
    "products",
    "shortened",
    "total",
]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
EXACT = 1 << 53
BLOCK = 1 << 13
SAFE = 1 - 2.0**-40
"""More than what rounding of a few float operations can add."""


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


def lengths(vectors: Reals, l1: bool, axis: int = 1) -> Reals:
    """The norm of each vector of whole numbers: its L1 norm, or else its L2 norm. Sums
    are exact and roots are rounded once, so it does not depend on where a vector stands.
    """
    if l1:
        return np.asarray(np.abs(vectors).sum(axis=axis))
    found: Reals = np.sqrt((vectors * vectors).sum(axis=axis))
    return found


def shortened(vectors: Reals, length: Reals, radius: int) -> Reals:
    """Vectors of whole numbers, one in each column, brought down to a radius where they
    are longer, and rounded towards 0: then no sum of squares or of absolute values is
    above that of the radius.
    """
    factor = np.ones_like(length)
    np.divide(radius * SAFE, length, out=factor, where=length > radius)
    return np.trunc(vectors * factor)


def along(rows: Reals, directions: Reals) -> Reals:
    """The product of each row with each direction, added up column by column. In a matrix
    product a row's last bits may depend on how many rows there are, and later steps of a
    pipeline round: then all rows could move where one leaves.
    """
    found = np.zeros((len(rows), len(directions)))
    with np.errstate(all="ignore"):
        for column, weights in zip(rows.T, directions.T, strict=True):
            found += np.multiply.outer(column, weights)
    return found


def distances(rows: Reals, centres: Reals) -> Reals:
    """The distance of each row from each centre, added up in the same way."""
    found = np.zeros((len(rows), len(centres)))
    with np.errstate(all="ignore"):
        for column, places in zip(rows.T, centres.T, strict=True):
            found += np.subtract.outer(column, places) ** 2
        return np.asarray(np.sqrt(found))
