"""How many people have no, one or two copies of each variant's allele, by cluster.

Everything is counted in whole numbers, in blocks that fit the processor's cache. What
is not 0, 1 or 2, or within a tenth of it, is a missing call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.genomes.clusters import Roster
from dither.science.genomes.panel import ANY, text

__all__ = [
    "MISSING",
    "OTHER",
    "Counts",
    "Integers",
    "Tally",
    "alleles",
    "counted",
    "dosages",
    "plain",
]

Integers = NDArray[np.int64]

BYTES = 255
"""So many ones fit into a byte, so rows are added up in bytes and widened then."""
WIDTH = 8192
OTHER = "every allele but the reference, or of the alternative that the panel names"
HARD = 0.1005
"""A tenth, and what types that hold it roughly make of it."""
FILL, NO_ALLELE = -2, -1
NOTHING = complex("nan")
UNKNOWN = 64
"""More alleles than any record has, where their list is not known."""
MISSING = 3
"""A missing call: it fits every type of number, and is none of 0, 1 and 2."""


@dataclass(frozen=True)
class Counts:
    """People with 0, 1 and 2 copies: one row for each cluster, one column for each
    entry of the panel.
    """

    none: Integers
    one: Integers
    two: Integers
    seen: NDArray[np.bool_] | None = None
    present: Integers | None = None
    """Which entries have a record, and how many people of each cluster the data has."""

    def with_reference(self) -> Counts:
        """The same, where all who are there have no copies at entries that have no
        record: files that list only what somebody carries mean that.
        """
        assert self.seen is not None
        assert self.present is not None
        none = np.where(self.seen[None, :], self.none, self.present[:, None])
        return replace(self, none=none)

    @property
    def called(self) -> Integers:
        """People whose genotype is there."""
        return self.none + self.one + self.two

    @property
    def centred(self) -> Integers:
        """The sum of (copies - 1) over people whose genotype is there."""
        return self.two - self.none

    @property
    def carriers(self) -> Integers:
        """People with the allele."""
        return self.one + self.two


@dataclass
class Tally:
    """Counts as they come in, block by block. Each entry of the panel is counted
    once: of records that a file holds twice, the first one counts, and one that names
    the entry's allele before one that does not.
    """

    size: int
    present: Integers
    planes: Integers = field(init=False)
    level: NDArray[np.int8] = field(init=False)

    def __post_init__(self) -> None:
        self.planes = np.zeros((3, self.present.size, self.size), np.int64)
        self.level = np.zeros(self.size, np.int8)

    @classmethod
    def of(cls, size: int, places: NDArray[np.intp], roster: Roster) -> Tally:
        """For so many entries, and people in these clusters."""
        known = places[places >= 0]
        return cls(size, np.bincount(known, minlength=len(roster.names)))

    def add(self, entries: Any, found: Integers, named: Any = True) -> None:
        """The counts of some entries: (3, clusters, entries). `named` says whether the
        record has the allele that is counted.
        """
        entries = np.asarray(entries, np.intp)
        sure = np.broadcast_to(named, entries.shape)
        for level, some in ((2, sure), (1, ~sure)):
            places = np.flatnonzero(some)
            each, first = np.unique(entries[places], return_index=True)
            fresh = self.level[each] < level
            each, first = each[fresh], places[first[fresh]]
            self.level[each] = level
            self.planes[:, :, each] = found[:, :, first]

    def done(self) -> Counts:
        none, one, two = self.planes
        return Counts(none, one, two, self.level > 0, self.present)


def groups(places: NDArray[np.intp], roster: Roster) -> list[NDArray[np.intp]]:
    """The rows of each cluster."""
    return [np.flatnonzero(places == one) for one in range(len(roster.names))]


def counted(block: NDArray[Any], rows: Sequence[NDArray[np.intp]]) -> Integers:
    """Counts of a block of people by variants: (3, clusters, variants)."""
    found = np.zeros((3, len(rows), block.shape[1]), np.int64)
    across = block.T.flags.c_contiguous and not block.flags.c_contiguous
    count = _across if across or block.strides[0] < block.strides[1] else _down
    for start in range(0, block.shape[1], WIDTH):
        part = block[:, start : start + WIDTH]
        for number, one in enumerate(rows):
            whole = one.size == block.shape[0]
            found[:, number, start : start + WIDTH] = count(
                part if whole else _taken(part, one)
            )
    return found


def _taken(part: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[Any]:
    """Some people of a block. People who follow each other need no copy."""
    if rows.size and rows[-1] - rows[0] + 1 == rows.size:
        return part[rows[0] : rows[-1] + 1]
    if part.strides[0] < part.strides[1]:
        return part.T.take(rows, axis=1).T
    return part.take(rows, axis=0)


def _down(block: NDArray[Any]) -> Integers:
    """A person's variants lie side by side: people are added up in bytes."""
    found = np.zeros((3, block.shape[1]), np.int64)
    for start in range(0, block.shape[0], BYTES):
        part = block[start : start + BYTES]
        for copies in range(3):
            same = (part == copies).view(np.uint8)
            found[copies] += np.add.reduce(same, axis=0, dtype=np.uint8)
    return found


def _across(block: NDArray[Any]) -> Integers:
    """A variant's people lie side by side."""
    turned = block.T
    return np.stack(
        [np.count_nonzero(turned == copies, axis=1) for copies in range(3)]
    ).astype(np.int64)


def plain(block: Any) -> NDArray[Any]:
    """A block as numbers that can be compared with 0, 1 and 2; never fails. Reals are
    treated as the whole number that they are within a tenth of (PLINK's hard calls).
    """
    array = np.asarray(block)
    kind = array.dtype.kind
    if kind in "biu":
        return array
    if kind == "m":  # what numpy makes of whole numbers beside a duration
        return array.view(np.int64)
    if kind in "fc":
        return _hard(array)
    copies = np.full(array.shape, MISSING, np.int8)
    for place in np.ndindex(array.shape):
        copies[place] = _copies(array[place])
    return copies


def _hard(array: NDArray[Any]) -> NDArray[np.int8]:
    with np.errstate(all="ignore"):
        near = np.rint(array.real)
        there = (near >= 0) & (near <= 2) & (abs(array.real - near) <= HARD)
        there &= array.imag == 0
    copies: NDArray[np.int8] = np.where(there, near, MISSING).astype(np.int8)
    return copies


def _copies(value: Any) -> int:
    """One value of a column that holds more than plain numbers.

    One person's odd value can change the type of all numbers beside it (to text,
    complex, Decimal), so whatever is a number counts as it would among numbers.
    """
    return int(_hard(np.array([_number(value)]))[0])


def _number(value: Any) -> complex:
    """The number that a value is; NaN where it is none."""
    known = isinstance(value, str | bytes | Number | np.number)
    if isinstance(value, np.timedelta64) or not known:
        return NOTHING
    try:
        plain_text = isinstance(value, str | bytes)
        return complex(text(value).strip() if plain_text else value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # text that is no number, or a type of somebody's own
        return NOTHING


def alleles(calls: Any) -> NDArray[np.int8]:
    """Numbers of alleles; never fails. What is not a whole number from 0 on is missing,
    and FILL stays. It is decided entry by entry, whatever type an odd one gives to all.
    """
    array = np.asarray(np.ma.getdata(calls))
    kind = array.dtype.kind
    if kind == "m":  # what numpy makes of whole numbers beside a duration
        array = array.view(np.int64)
    elif kind not in "biufc":
        array = np.array([_number(one) for one in array.flat], complex)
        array = array.reshape(np.shape(calls))
    found = _whole_alleles(array)
    found[np.ma.getmaskarray(calls)] = NO_ALLELE
    return found


def _whole_alleles(array: NDArray[Any]) -> NDArray[np.int8]:
    with np.errstate(all="ignore"):
        there = (array.real >= 0) & (array.real <= UNKNOWN) | (array.real == FILL)
        there &= (array.imag == 0) & (np.rint(array.real) == array.real)
    found: NDArray[np.int8] = np.where(there, array.real, NO_ALLELE).astype(np.int8)
    return found


def dosages(
    calls: NDArray[Any], allele: Any = ANY, most: Any = UNKNOWN
) -> NDArray[np.int8]:
    """Copies of an allele, or of all but the reference, from the alleles of each person
    (last axis).

    A call with a missing half, or of other than two alleles, is missing; phase does not
    matter. The last axis is as wide as the call with the most alleles, and filled up
    with FILL. `most` is the highest allele that the record has: one beyond is missing.
    """
    if calls.shape[-1] < 2:
        return np.full(calls.shape[:-1], MISSING, np.int8)
    first, second = calls[..., 0], calls[..., 1]
    there = (first >= 0) & (second >= 0) & (first <= most) & (second <= most)
    there &= (calls[..., 2:] == FILL).all(axis=-1)
    wanted = np.asarray(allele)
    copies = np.zeros(first.shape, np.int8)
    for half in (first, second):
        copies += np.where(wanted == ANY, half > 0, half == wanted)
    copies[~there] = MISSING
    return copies
