"""Ids of owners in one form, and of each owner at most so many records that count,
chosen by that owner's records alone.

An owner with more records keeps those that come first by a keyed hash of their place.
The key is fresh and secret; records of one place have equal hashes, and as they lie in
the same cell it does not matter which of them stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dither.noise import random_words
from dither.science.arrays import items_of
from dither.science.ids import identity

__all__ = ["StoredIds", "canonical", "chosen", "codes_of"]

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

LONGEST = 1024


@dataclass(frozen=True)
class StoredIds:
    """Owners as an opened dataset returns them, in the one form by which it tells its
    units apart: there "7" and "007" are two, so nothing else may make them one.
    """

    held: Sequence[Any]


def codes_of(owners: Any) -> Integers:
    """A number for each owner, -1 where a record has none. Owners are told apart by
    their ids in canonical form (rule R10), those of a dataset as they are.
    """
    if isinstance(owners, StoredIds):
        return _numbered(owners.held)
    dtype = getattr(owners, "dtype", None)
    plain = isinstance(dtype, np.dtype) and dtype.kind in "iu"
    if plain and not np.ma.isMaskedArray(owners):
        return np.unique(np.asarray(owners), return_inverse=True)[1].astype(np.int64)
    return _numbered(map(canonical, items_of(owners)))


def _numbered(names: Iterable[str | bytes | int | None]) -> Integers:
    seen: dict[str | bytes | int, int] = {}
    found = [-1 if name is None else seen.setdefault(name, len(seen)) for name in names]
    return np.array(found, np.int64)


def canonical(owner: Any) -> str | bytes | int | None:
    """An id as text: a whole number by its digits, a text as it is. None for what is no
    id: a missing one, a fraction, a truth. Bytes are the text that they spell; those
    that spell none, and numbers of hundreds of digits, stay what they are.

    A float among other things is an id if it is a whole number. (A column of floats is
    refused: what made integers floats has merged large ones.)
    """
    try:
        return _canonical(owner)
    except Exception:  # a class of its own may raise anything (rule R1)
        return None


def _canonical(owner: Any) -> str | bytes | int | None:
    if isinstance(owner, bytes):
        return _of_bytes(bytes(memoryview(owner)))
    if isinstance(owner, str | float | np.floating | Decimal | Fraction):
        return identity(owner)
    if isinstance(owner, int | np.integer) and not isinstance(owner, bool):
        # Python refuses to write out more digits than some thousands.
        number = int(owner)
        return str(number) if number.bit_length() < LONGEST else number
    return UUID.__str__(owner) if isinstance(owner, UUID) else None


def _of_bytes(held: bytes) -> str | bytes | None:
    """Bytes that are no text are not made one: that could merge two owners."""
    try:
        return identity(held.decode())
    except UnicodeDecodeError:
        return held


def chosen(owners: Integers, x: Integers, y: Integers, most: int) -> NDArray[np.bool_]:
    """Which records count: all of an owner with at most `most`, and that many of every
    other. Records without an owner do not count. `x` and `y` say where a record lies.
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
    is, an owner's choice depends on that owner's records. An owner's number is not part
    of it, because who else is there decides what number that is.
    """
    keys = random_words(6).view(np.uint64) | np.uint64(1)
    words: Words = x.astype(np.uint64) * keys[0] + y.astype(np.uint64) * keys[1]
    words += keys[2]
    for shift in (33, 29, 32):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(0xFF51AFD7ED558CCD)
    return words
