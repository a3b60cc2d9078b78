"""Rows drawn from a model of a table, with as little chance in them as whole numbers
allow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dither.noise import uniform_integers

__all__ = ["drawn_within", "rounded", "shuffled"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

BITS = 40
"""Random bits by which rows are put in order. Rows with the same bits, which are few,
keep the order they had.
"""


def rounded(shares: Reals, totals: Integers) -> Integers:
    """Whole counts of each row of shares, with these sums.

    Each count is the expected one rounded up or down, and right on average: points one
    apart, from a random start, fall on the row's running sum.
    """
    ends = np.cumsum(shares, axis=1)
    whole = np.where(ends[:, -1:] > 0, ends[:, -1:], 1.0)
    ends = ends / whole * totals[:, None]
    ends[:, -1] = totals
    start = _uniform(len(totals))[:, None]
    steps = np.floor(ends + start).astype(np.int64)
    steps = np.minimum(steps, totals[:, None])
    first: Integers = np.diff(steps, axis=1, prepend=0)
    return first


def drawn_within(parent: Integers, table: Reals) -> Integers:
    """A code for each row given the code of another column, from the counts of both.

    Rows with the same parent get their codes in random order, so that given the
    parent they have nothing to do with any other column.
    """
    totals = np.bincount(parent, minlength=len(table))
    counts = rounded(table, totals)
    codes = np.tile(np.arange(table.shape[1]), len(table))
    child = np.empty(parent.size, np.int64)
    child[_ordered(parent)] = np.repeat(codes, counts.reshape(-1))
    return child


def shuffled(shares: Reals, rows: int) -> Integers:
    """Codes with these shares, in random order."""
    return drawn_within(np.zeros(rows, np.int64), shares[None, :])


def _ordered(groups: Integers) -> Integers:
    """Places sorted by group, and in random order within a group."""
    key = groups << BITS
    key |= uniform_integers(1 << BITS, groups.size)
    return np.argsort(key)


def _uniform(size: int) -> Reals:
    """Numbers from 0 up to and without 1."""
    return uniform_integers(1 << 53, size).astype(np.float64) * 2.0**-53
