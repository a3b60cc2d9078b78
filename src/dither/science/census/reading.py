"""Number of people in each cell of each block, from columns in memory or counted inside
a database: both read every record by itself, and alike.

Anyone who has a label that is not declared is ignored. If a level has exact totals,
anyone who has a declared label there is counted in its first block and first categories
if the rest is not declared, so that all levels add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.question import Paid
from dither.science.census.attributes import Attributes
from dither.science.census.geography import Geography
from dither.science.census.labels import Codes
from dither.science.census.listing import known_columns
from dither.science.census.stored import Counted, Stored
from dither.science.owners import chosen, codes_of

__all__ = ["Counted", "Source", "filled", "source_of"]

Integers = NDArray[np.int64]

WAY_OUT = "pass a frame, a mapping of columns, or a dataset from dither.open"


class Source(Protocol):
    """Where people come from."""

    @property
    def dataset(self) -> Dataset | None: ...

    def counted(self, paid: Paid, rows: int, exact: int | None) -> Counted:
        """The counts, read after the charge; `exact` is the lowest level with exact
        totals.
        """


def source_of(
    people: Any,
    geography: Geography,
    attributes: Attributes,
    *,
    owner: Any = None,
    table: str | None = None,
) -> Source:
    """How to read people, decided by types and declared names alone."""
    names = (*geography.levels, *attributes.names)
    double = next((one for one in names if names.count(one) > 1), None)
    if double is not None:
        raise ArgumentError(
            "attributes",
            f"cannot contain {double!r}, which is also a level; leave it out of attributes",
        )
    if isinstance(people, Dataset):
        if owner is not None:
            raise ArgumentError(
                "owner",
                f"is declared by the dataset, which protects {people.unit}; leave owner "
                "out",
            )
        return Stored.of(people, geography, attributes, table)
    if table is not None:
        raise ArgumentError(
            "table", "can be passed only with a dataset; leave table out"
        )
    return _held(people, geography, attributes, owner)


# In memory


@dataclass(frozen=True)
class Held:
    """Columns in memory. `owner` says whose each row is; if None, each is somebody's
    only one.
    """

    columns: Mapping[str, Any]
    geography: Geography
    attributes: Attributes
    owner: Any = None
    dataset: Dataset | None = None

    def counted(self, paid: Paid, rows: int, exact: int | None) -> Counted:  # noqa: ARG002
        codes = [
            coding.codes(self.columns[name])
            for name, coding in zip(
                self.geography.levels, self.geography.codings(), strict=True
            )
        ]
        block, cell = self.geography.found(codes), self._cells(codes[0].size)
        inside = (block >= 0) & (cell >= 0)
        place = np.where(inside, block * self.attributes.cells + cell, -1)
        kept = self._kept(place, rows, exact is not None)
        shape = (self.geography.blocks, self.attributes.cells)
        leaves = _counts(place[kept & inside], shape[0] * shape[1]).reshape(shape)
        totals = None if exact is None else self._totals(codes[exact][kept], exact)
        return Counted(leaves, totals)

    def _cells(self, size: int) -> Codes:
        cell = np.zeros(size, np.int64)
        for name, one in self.attributes.named.items():
            code = one.codes(self.columns[name])
            known = (cell >= 0) & (code >= 0)
            cell = np.where(known, cell * len(one.labels) + code, -1)
        return cell

    def _kept(self, place: Codes, rows: int, alone: bool) -> NDArray[np.bool_]:
        """Which rows count. Those outside are dropped before an owner's are chosen."""
        if self.owner is None:
            return np.ones(place.size, np.bool_)
        owners = codes_of(self.owner)
        if alone:
            times = np.bincount(owners[owners >= 0], minlength=1)
            single: NDArray[np.bool_] = times[owners] == 1
            return (owners >= 0) & single
        inside = np.flatnonzero(place >= 0)
        some = chosen(owners[inside], place[inside], np.zeros_like(inside), rows)
        kept = np.zeros(place.size, np.bool_)
        kept[inside[some]] = True
        return kept

    def _totals(self, codes: Codes, level: int) -> Integers:
        by_label = _counts(codes[codes >= 0], len(self.geography.names[level]))
        return by_label[self.geography.codes[level]]


def _counts(places: Codes, size: int) -> Integers:
    return np.bincount(places, minlength=size).astype(np.int64)


def _held(
    people: Any, geography: Geography, attributes: Attributes, owner: Any
) -> Held:
    if type(people).__name__ == "LazyFrame":
        raise ArgumentError(
            "people", "cannot be a lazy frame; call .collect() on it first"
        )
    if not isinstance(people, Mapping) and not hasattr(people, "columns"):
        kind = type(people).__name__
        raise ArgumentError("people", f"cannot be of type {kind}; {WAY_OUT}")
    known = list(known_columns(people))
    wanted = [*geography.levels, *attributes.names]
    ids = owner
    if isinstance(owner, str):
        wanted.append(owner)
    for name in wanted:
        if name not in known:
            listed = ", ".join(repr(one) for one in known[:12])
            raise ArgumentError(
                "people", f"have no column {name!r}; use one of {listed}"
            )
    columns = {name: _column(people, name) for name in wanted}
    if isinstance(owner, str):
        ids = columns.pop(owner)
    elif owner is not None and not _is_column(owner):
        raise ArgumentError(
            "owner", "must be a column of people, or a list with one id per row"
        )
    lengths = {len(one) for one in columns.values()}
    if len(lengths) > 1 or (ids is not None and len(ids) not in lengths):
        raise ArgumentError(
            "people",
            "must have columns (and owner ids) of equal length; pass one record per row",
        )
    return Held(columns, geography, attributes, ids)


def _column(people: Any, name: str) -> Any:
    found = people[name]
    if not _is_column(found):
        raise ArgumentError(
            "people",
            f"must have exactly one column {name!r}, with one value per row; drop "
            "duplicate columns, or pass a list of values",
        )
    return found


def _is_column(found: Any) -> bool:
    if isinstance(found, str | bytes | Mapping | set | frozenset):
        return False
    flat = len(getattr(found, "shape", (0,))) == 1
    return flat and isinstance(found, Sized) and isinstance(found, Iterable)


def filled(counted: Counted, geography: Geography, exact: int) -> Integers:
    """The leaves, with whoever counts in an exact total alone put into its place's
    first block and first cell.
    """
    assert counted.totals is not None
    by_place = geography.tree.counts_up(counted.leaves.sum(axis=1))[exact]
    leaves = counted.leaves.copy()
    leaves[geography.first_leaves(exact), 0] += counted.totals - by_place
    return leaves
