"""Which rows of a unit count, and for how much (rule R8)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dither.noise import random_words

__all__ = ["WHOLE", "kept"]

Integers = NDArray[np.int64]
WHOLE = 1 << 8
"""What the weights of a unit's rows add up to, at most, where several rows count."""


def kept(there: NDArray[np.bool_], owners: Integers | None, most: int) -> Integers:
    """The weight of each row: 0 where it does not count.

    Of a unit with more than `most` rows a random choice counts, drawn for that unit
    alone. The rows that count share `WHOLE` evenly, rounded down; a single row that
    counts has weight 1.
    """
    weights = there.astype(np.int64)
    if owners is None:
        return weights
    weights[owners < 0] = 0
    most = min(most, WHOLE)  # no row that counts has weight 0
    held = weights > 0
    counts = np.bincount(owners[held], minlength=1)
    many = np.flatnonzero(held)[counts[owners[held]] > most]
    if many.size:
        weights[many[_beyond(owners[many], most)]] = 0
    if most == 1:
        return weights
    held = weights > 0
    counts = np.bincount(owners[held], minlength=1)
    weights[held] = WHOLE // counts[owners[held]]
    return weights


def _beyond(owners: Integers, most: int) -> NDArray[np.intp]:
    """Rows that come after the first `most` of their owner, in random order."""
    mixed = random_words(2 * owners.size).view(np.uint64)
    order = np.lexsort((mixed, owners))
    ordered = owners[order]
    first = np.searchsorted(ordered, ordered)
    return order[np.arange(owners.size) - first >= most]
