"""Genotypes in memory: a matrix of people by variants with 0, 1 or 2 copies, a frame of
it, or calls of two alleles as scikit-allel and sgkit hold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.ids import MANY_DIGITS, identity
from dither.science.genomes.clusters import Roster
from dither.science.genomes.counts import (
    MISSING,
    OTHER,
    Counts,
    Integers,
    Tally,
    alleles,
    counted,
    dosages,
    groups,
    plain,
)
from dither.science.genomes.panel import Panel, known_at

__all__ = ["Calls", "Frame", "Matrix"]

PEOPLE_FIRST = "people by variants; pass X.T"
VARIANTS_FIRST = (
    "variants by people by alleles; swap the first two axes: X.transpose(1, 0, 2)"
)
STEP, CALLS = 8192, 1024
DENSE = 32


@dataclass(frozen=True)
class Matrix:
    """People by variants. `variants` names the columns; without it they are the panel
    in its order.
    """

    allele: ClassVar[str] = "the allele that the data counts"
    data: Any
    variants: Sequence[Any] | None = None

    def check(self, roster: Roster) -> None:
        _check_rows(roster)
        _check_way(_shape(self.data), roster, PEOPLE_FIRST)

    def count(self, panel: Panel, roster: Roster) -> Counts:
        data = _array(self.data)
        places = roster.places(data.shape[0], roster.rows)
        rows = groups(places, roster)
        at = np.array(known_at(panel, self.variants, data.shape[1]))
        tally = Tally.of(len(panel), places, roster)
        for entries, some in _by_block(at, data.shape[1]):
            tally.add(entries, _counted(data, some, rows))
        return tally.done()


@dataclass(frozen=True)
class Frame:
    """A pandas or Polars frame: its columns are variants, and the index of pandas may
    name the people.
    """

    allele: ClassVar[str] = "the allele that the data counts"
    data: Any
    variants: Sequence[Any] | None = None

    @property
    def _index(self) -> Any:
        return getattr(self.data, "index", None)

    def check(self, roster: Roster) -> None:
        if self._index is None or self._only_numbered(roster):
            _check_rows(roster)
        if self._named(roster):
            _check_columns(self.data.columns, roster)
            _check_floats(self._index, roster)
        else:
            _check_way(self.data.shape, roster, PEOPLE_FIRST)

    def _only_numbered(self, roster: Roster) -> bool:
        """Whether its index can name nobody. (Ids that follow each other are an index
        of this class too, until one is missing.)
        """
        numbered = type(self._index).__name__ == "RangeIndex"
        return numbered and not any(one.isdigit() for one in roster.ids or ())

    def _named(self, roster: Roster) -> bool:
        """Whether its index says who the rows are: then how many there are tells how
        many people have genotypes at all, and nothing may depend on that.
        """
        return self._index is not None and roster.rows is None and bool(roster.ids)

    def count(self, panel: Panel, roster: Roster) -> Counts:
        ids = roster.rows if roster.rows is not None else self._index
        names = self.data.columns if self.variants is None else self.variants
        people, columns = self.data.shape
        places = roster.places(people, ids)
        rows = groups(places, roster)
        tally = Tally.of(len(panel), places, roster)
        at = np.array(known_at(panel, names, columns))
        for entries, some in _by_block(at, columns):
            tally.add(entries, counted(plain(self._taken(some)), rows))
        return tally.done()

    def _taken(self, columns: NDArray[np.intp]) -> Any:
        if self._index is not None:
            return self.data.iloc[:, columns].to_numpy()
        # numpy has no type for some columns of Polars
        held = [self.data.to_series(at).to_list() for at in columns.tolist()]
        return np.array([*held, [None] * len(self.data)], object)[:-1].T


@dataclass(frozen=True)
class Calls:
    """Variants by people by alleles, each the number of an allele or negative."""

    allele: ClassVar[str] = OTHER
    data: Any
    variants: Sequence[Any] | None = None

    def check(self, roster: Roster) -> None:
        _check_rows(roster)
        shape = (self.data.shape[1], self.data.shape[0])
        _check_way(shape, roster, VARIANTS_FIRST)

    def count(self, panel: Panel, roster: Roster) -> Counts:
        calls = np.asanyarray(getattr(self.data, "values", self.data))
        places = roster.places(calls.shape[1], roster.rows)
        rows = groups(places, roster)
        tally = Tally.of(len(panel), places, roster)
        at = np.array(known_at(panel, self.variants, calls.shape[0]))
        for entries, some in _by_block(at, calls.shape[0], CALLS):
            copies = dosages(alleles(calls[some]))
            tally.add(entries, counted(copies.T, rows))
        return tally.done()


def _check_rows(roster: Roster) -> None:
    if roster.ids is not None and roster.rows is None:
        raise ArgumentError(
            "samples",
            "is missing: clusters are given by id, but rows of a matrix do not have ids; "
            "pass samples= with the ids of the rows, or the clusters in the order of the "
            "rows",
        )


def _check_way(shape: Sequence[int], roster: Roster, wanted: str) -> None:
    """A matrix that is held the other way round would put one person's genotypes into
    one entry, which the noise is not made for. The roster is public, and so is the
    shape of data about it.
    """
    people = len(roster.labels if roster.rows is None else roster.rows)
    if len(shape) == 2 and shape[0] != people and shape[1] == people:
        raise ArgumentError(
            "X",
            f"X seems to be transposed: the roster has {people:,} people, and the data "
            f"must be {wanted}",
        )


def _check_floats(index: Any, roster: Roster) -> None:
    """Floats merge long ids, and one missing id makes floats of all."""
    kind = getattr(getattr(index, "dtype", None), "kind", "O")
    if kind == "f" and any(len(one) > MANY_DIGITS for one in roster.ids or ()):
        raise ArgumentError(
            "X",
            "the index of X holds floats, which cannot represent long ids exactly; read "
            "the index as strings",
        )


def _check_columns(columns: Any, roster: Roster) -> None:
    """A frame whose columns are people is held the other way round. Columns that are
    only numbered say nothing.
    """
    people = set(roster.ids or ())
    if any(isinstance(one, str) and identity(one) in people for one in columns):
        raise ArgumentError(
            "X",
            "X seems to be transposed: its columns are named after people of the roster, "
            "but columns must be variants; pass X.T",
        )


def _shape(data: Any) -> Sequence[int]:
    """People and variants, of lists by the first row."""
    if not isinstance(data, list | tuple):
        return tuple(getattr(data, "shape", ()))
    first = data[0] if data else ()
    return len(data), len(first) if isinstance(first, list | tuple) else 1


def _array(data: Any) -> NDArray[Any]:
    """The data as an array; masked entries and rows that are too short are missing."""
    if isinstance(data, np.ma.MaskedArray):
        known = data.dtype.kind in "iuf"
        return np.ma.filled(data if known else data.astype(object), MISSING)
    if not isinstance(data, list | tuple):
        found = np.asarray(data)
        return found if found.size else found.reshape(0, 0)
    rows = [_row(row) for row in data]
    width = max(map(len, rows), default=0)
    filled = np.full((len(rows), width), None, object)
    for at, row in enumerate(rows):
        filled[at, : len(row)] = row
    return filled


def _row(row: Any) -> list[Any]:
    """A person's entries; none if a type of somebody's own does not give them."""
    try:
        return list(row) if hasattr(row, "__len__") else [row]
    except KeyboardInterrupt:
        raise
    except BaseException:
        return []


def _by_block(
    at: NDArray[np.intp], columns: int, step: int = STEP
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Entries of the panel and where they are, block of columns by block. Entries that
    are nowhere do not come up: their calls stay missing.
    """
    order = np.argsort(at, kind="stable")
    found = at[order]
    for start in range(0, columns, step):
        ends = np.searchsorted(found, [start, min(start + step, columns)])
        some = slice(*ends)
        if ends[0] < ends[1]:
            yield order[some], found[some]


def _counted(data: NDArray[Any], at: NDArray[np.intp], rows: Any) -> Integers:
    """Counts of some columns, which lie in their order. Side by side they are counted
    faster than picked, so all of a block are where many are wanted.
    """
    first, last = at[0], at[-1] + 1
    if at.size * DENSE < last - first:
        return counted(plain(data[:, at]), rows)
    found = counted(plain(data[:, first:last]), rows)
    return found if at.size == last - first else found[:, :, at - first]
