"""Rows drawn from a model of a table, with as little chance in them as whole numbers
allow.

Counts are the expected ones rounded up or down, and codes of a new column are spread
evenly over rows that are sorted by the columns before it. So columns that the model
takes for independent, given those between them, are so in the rows too, up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.noise import uniform_integers

__all__ = ["Rows", "rounded", "spread"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

KEY = 63
"""Bits of a number by which codes are sorted."""


def rounded(shares: Reals, totals: Integers) -> Integers:
    """Whole counts of each row of shares, with these sums.

    Each count is the expected one rounded up or down, and right on average: points one
    apart, from a random start, fall on the row's running sum.
    """
    ends = np.cumsum(shares, axis=1)
    whole = np.where(ends[:, -1:] > 0, ends[:, -1:], 1.0)
    ends = ends / whole * totals[:, None]
    ends[:, -1] = totals
    steps = np.floor(ends + _uniform(totals.size)[:, None]).astype(np.int64)
    found: Integers = np.diff(np.minimum(steps, totals[:, None]), axis=1, prepend=0)
    return found


def spread(counts: Integers) -> Integers:
    """The codes of all groups, one group after the other, where group g has
    `counts[g, k]` times the code k. Within a group each code comes at even distances,
    and at every place as likely as its share is large.
    """
    groups, codes = counts.shape
    flat = counts.reshape(-1)
    first = np.cumsum(flat) - flat
    places = np.repeat(_uniform(flat.size) - first, flat)
    places += np.arange(places.size)
    places /= np.repeat(np.maximum(flat, 1), flat)
    low, high = _bits(codes), _bits(groups)
    key = np.repeat(np.arange(groups) << (KEY - high), counts.sum(axis=1))
    middle = KEY - high - low
    # A place below 1 may be rounded to 1.
    steps = np.minimum((places * 2.0**middle).astype(np.int64), (1 << middle) - 1)
    key |= steps << low
    key |= np.repeat(np.tile(np.arange(codes), groups), flat)
    key.sort()
    return (key & ((1 << low) - 1))[_turned(counts.sum(axis=1))]


def _turned(totals: Integers) -> Integers:
    """Places of groups of these sizes, each group turned round by a random number of
    them.
    """
    first = np.cumsum(totals) - totals
    turn = (_uniform(totals.size) * totals).astype(np.int64)
    own = np.repeat(first, totals)
    found = np.arange(own.size) + np.repeat(turn, totals)
    past = found >= own + np.repeat(totals, totals)
    found[past] -= np.repeat(totals, totals)[past]
    return found


class Rows:
    """Rows of a table that gets one column after the other."""

    def __init__(self, rows: int, columns: int) -> None:
        self.table = np.zeros((columns, rows), np.int32)
        self._order: Integers = np.arange(rows)

    def draw(self, column: int, parent: int | None, shares: Reals) -> None:
        """Codes of a column given those of its parent, from shares of both; a column
        without a parent has one row of shares.
        """
        if parent is not None:
            self._sort(self.table[parent, self._order], shares.shape[0])
            totals = np.bincount(self.table[parent], minlength=shares.shape[0])
        else:
            totals = np.array([self._order.size])
        codes = spread(rounded(shares, totals))
        self.table[column, self._order] = codes
        self._sort(codes, shares.shape[1])

    def shuffled(self) -> NDArray[np.int32]:
        """The rows in random order, of shape [rows, columns]."""
        rows = self._order.size
        order = np.argsort(uniform_integers(1 << KEY, rows))
        found: NDArray[np.int32] = self.table[:, order].T
        return found

    def _sort(self, codes: NDArray[Any], size: int) -> None:
        """Sort rows by a column; those with the same code stay sorted as they were."""
        # Numbers of 16 bits are sorted in linear time.
        narrow = codes.astype(np.uint16) if size <= 1 << 16 else codes
        self._order = self._order[np.argsort(narrow, kind="stable")]


def _bits(count: int) -> int:
    return max(count - 1, 1).bit_length()


def _uniform(size: int) -> Reals:
    """Numbers from 0 up to and without 1."""
    return uniform_integers(1 << 53, size).astype(np.float64) * 2.0**-53
