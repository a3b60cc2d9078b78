"""Of each unit at most so many rows count, chosen by that unit's rows alone.

A unit with more rows keeps those that come first by a keyed hash of its id and of the
row's codes. The key is fresh and secret. Equal rows have equal hashes, and then it does
not matter which of them stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.ids import StoredIds, codes_of, hashed, mixed
from dither.noise import secret_bytes
from dither.science.arrays import integers
from dither.science.synth.values import Codes

__all__ = ["kept"]

Words = NDArray[np.uint64]
Places = NDArray[np.intp]

RANGE = 1 << 64


def kept(
    codes: Codes, there: Places, owners: Any, most: int, sizes: Sequence[int]
) -> Codes:
    """The rows that count, of those that are `there`: of each owner at most `most`.
    Rows without an owner do not count.
    """
    numbers = _numbered(owners)
    there = there[numbers[there] >= 0]
    units = numbers[there]
    many = np.bincount(units, minlength=1) > most
    crowded = many[units] if units.size else np.zeros(0, np.bool_)
    rows, units = there[crowded], units[crowded]
    salts = _salts(rows, units, owners)
    ordered = np.lexsort((*_hashes(codes[rows], salts, sizes), units))
    rows, units = rows[ordered], units[ordered]
    first = np.searchsorted(units, units)
    within = rows[np.arange(rows.size) - first < most]
    found: Codes = codes[np.sort(np.concatenate([there[~crowded], within]))]
    return found


def _numbered(owners: Any) -> NDArray[np.int64]:
    """A number for each owner, -1 where a row has none."""
    found = None if isinstance(owners, StoredIds) else integers(owners)
    if found is None:
        return codes_of(owners)
    array, missing = found
    numbers = np.unique(array, return_inverse=True)[1].astype(np.int64)
    numbers[missing] = -1
    return numbers


def _salts(rows: Places, units: NDArray[np.int64], owners: Any) -> Words:
    """A secret word for the owner of each row, a keyed hash of the id by itself: the
    number of an owner depends on who else is there, so it is not part of it.
    """
    _, first, place = np.unique(units, return_index=True, return_inverse=True)
    found: Words = hashed(owners, rows[first], secret_bytes(32))[place]
    return found


def _hashes(codes: Codes, salts: Words, sizes: Sequence[int]) -> Iterator[Words]:
    """Words that are different together for different rows of one unit, as each step
    has an inverse. Their quality is a matter of fairness only.
    """
    words = salts
    for packed in _packed(codes, sizes):
        words = mixed(packed + words)
        yield words


def _packed(codes: Codes, sizes: Sequence[int]) -> Iterator[Words]:
    """The codes of each row as few words."""
    found: Words = np.zeros(len(codes), np.uint64)
    room = RANGE
    for place, size in enumerate(sizes):
        if size > room:
            yield found
            found, room = np.zeros(len(codes), np.uint64), RANGE
        found = found * np.uint64(size) + codes[:, place].astype(np.uint64)
        room //= size
    yield found
