"""Of each owner at most so many points count, chosen by that owner's points alone.

An owner with more points keeps those that come first by a keyed hash of the point. The
key is fresh and secret; equal points have equal hashes, and as they lie in the same cell
it does not matter which of them stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dither.ids import canonical, codes_of
from dither.noise import random_words

__all__ = ["canonical", "chosen", "codes_of"]

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]


def chosen(owners: Integers, x: Integers, y: Integers, most: int) -> NDArray[np.bool_]:
    """Which points count: all of an owner with at most `most`, and that many of every
    other. Points without an owner do not count.
    """
    keep = owners >= 0
    many = np.bincount(owners[keep]) > most
    if not many.any():
        return keep
    rows = np.flatnonzero(keep)[many[owners[keep]]]
    mixed = _hashes(x[rows], y[rows])
    # Where hashes tie, the place itself decides: the order of rows never does.
    order = np.lexsort((y[rows], x[rows], mixed, owners[rows]))
    rows, sorted_owners = rows[order], owners[rows][order]
    first = np.searchsorted(sorted_owners, sorted_owners)
    keep[rows[np.arange(rows.size) - first >= most]] = False
    return keep


def _hashes(x: Integers, y: Integers) -> Words:
    """A keyed hash of each place. Its quality is a matter of fairness only: whatever it
    is, an owner's choice depends on that owner's points. An owner's number is not part
    of it, because who else is there decides what number that is.
    """
    keys = random_words(6).view(np.uint64) | np.uint64(1)
    words: Words = x.astype(np.uint64) * keys[0] + y.astype(np.uint64) * keys[1]
    words += keys[2]
    for shift in (33, 29, 32):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(0xFF51AFD7ED558CCD)
    return words
