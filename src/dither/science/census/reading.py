"""How many people there are in each cell of each block, from columns in memory or
counted inside a database: both read every record by itself, and alike.

Whoever has a label that is not declared counts for nobody. With exact totals of a level
it is otherwise: whoever has a declared label there counts in its first block and first
categories, where the rest is not declared, so that all levels add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Axis, ColumnFacts, Dataset, Kind
from dither.errors import ArgumentError
from dither.question import Paid
from dither.science.census.attributes import Attributes, Categories, Edges
from dither.science.census.geography import Geography
from dither.science.census.labels import LONGEST, Codes, items_of
from dither.science.ids import EXACT
from dither.science.maps.owners import chosen, codes_of

__all__ = ["Counted", "Source", "filled", "source_of"]

Integers = NDArray[np.int64]

MOST_BINS = 60
WAY_OUT = "pass a frame, a mapping of columns, or a dataset from dither.open"


class Counted(NamedTuple):
    """Exact counts: of each block and cell, and of the places of one level if their
    totals are exact.
    """

    leaves: Integers
    totals: Integers | None


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
        raise ArgumentError("attributes", f"{double!r} is a level already; drop one")
    if isinstance(people, Dataset):
        if owner is not None:
            raise ArgumentError(
                "owner", f"is the dataset's: {people.unit}; leave it out"
            )
        return Stored.of(people, geography, attributes, table)
    if table is not None:
        raise ArgumentError("table", "names a table of a dataset; leave it out")
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
            coding.codes(items_of(self.columns[name]))
            for name, coding in zip(
                self.geography.levels, self.geography.codings, strict=True
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
            code = one.codes(items_of(self.columns[name]))
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
            return (owners >= 0) & (times[owners] == 1)
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
    if not isinstance(people, Mapping) and not hasattr(people, "columns"):
        kind = type(people).__name__
        raise ArgumentError("people", f"are not understood ({kind}); {WAY_OUT}")
    known = list(
        people
        if isinstance(people, Mapping)
        else getattr(people, "column_names", people.columns)
    )
    wanted = [*geography.levels, *attributes.names]
    ids = owner
    if isinstance(owner, str):
        wanted.append(owner)
    for name in wanted:
        if name not in known:
            listed = ", ".join(repr(one) for one in known[:12])
            raise ArgumentError(
                "people", f"have no column {name!r}; there are {listed}"
            )
    columns = {name: people[name] for name in wanted}
    if isinstance(owner, str):
        ids = columns.pop(owner)
    lengths = {len(one) for one in columns.values()}
    if len(lengths) > 1 or (ids is not None and len(ids) not in lengths):
        raise ArgumentError(
            "people", "must have columns of one length, one record in each line"
        )
    return Held(columns, geography, attributes, ids)


# In a database


@dataclass(frozen=True)
class Stored:
    """A table of a dataset, counted inside its engine."""

    dataset: Dataset
    geography: Geography
    axes: tuple[Axis, ...]
    exact: tuple[Axis, ...]
    cells: int
    table: str | None = None

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        geography: Geography,
        attributes: Attributes,
        table: str | None,
    ) -> Stored:
        levels = [_label_axis(dataset, name, table) for name in geography.levels]
        blocks = _listed(levels, _block_names(geography))
        others = [
            _attribute_axis(dataset, name, one, table)
            for name, one in attributes.named.items()
        ]
        # Each level by itself too, for exact totals of one
        alone = tuple(
            _listed([column], [[names[code] for code in codes.tolist()]])
            if geography.unique(level)
            else _listed([column], [list(names)])
            for level, (column, names, codes) in enumerate(
                zip(levels, geography.names, geography.codes, strict=True)
            )
        )
        axes = (blocks, *others)
        dataset.check_listed(axes, table=table)
        return cls(dataset, geography, axes, alone, attributes.cells, table)

    def counted(self, paid: Paid, rows: int, exact: int | None) -> Counted:
        def count(axes: tuple[Axis, ...]) -> Integers:
            return self.dataset.count_listed(
                axes,
                rows=rows,
                alone=exact is not None,
                table=self.table,
                receipt=paid.receipt,
            )

        leaves = count(self.axes).reshape(self.geography.blocks, self.cells)
        return Counted(leaves, None if exact is None else count((self.exact[exact],)))


class _Column(NamedTuple):
    """A column as SQL, compared as whole numbers where all labels are such."""

    number: str
    text: str


def _listed(columns: list[_Column], names: list[list[str]]) -> Axis:
    expressions: list[str] = []
    values: list[list[Any]] = []
    for column, labels in zip(columns, names, strict=True):
        whole = bool(column.number) and all(map(_is_number, labels))
        expressions.append(column.number if whole else column.text)
        values.append([int(one) for one in labels] if whole else labels)
    return Axis(tuple(expressions), tuple(values))


def _is_number(label: str) -> bool:
    return label.removeprefix("-").isdigit() and label.isascii()


def _block_names(geography: Geography) -> list[list[str]]:
    """The labels of all blocks, level by level, as they are compared."""
    nodes = np.arange(geography.blocks)
    found: list[list[str]] = []
    for level in range(len(geography.levels) - 1, -1, -1):
        names = geography.names[level]
        codes = geography.codes[level][nodes]
        found.insert(0, [names[code] for code in codes.tolist()])
        nodes = geography.tree.parents[level][nodes]
    return found


def _facts(dataset: Dataset, name: str, table: str | None) -> ColumnFacts:
    found = dataset.facts.get(f"{table}.{name}") or dataset.facts.get(name)
    if found is None or table not in (None, found.table):
        listed = ", ".join(repr(one) for one in list(dataset.facts)[:12])
        raise ArgumentError("people", f"have no column {name!r}; there are {listed}")
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _label_axis(dataset: Dataset, name: str, table: str | None) -> _Column:
    """A column's labels in the form of `labels.canonical`, written as SQL."""
    facts = _facts(dataset, name, table)
    column = _quoted(facts.column)
    if facts.kind is Kind.INTEGERS:
        return _Column(column, f"CAST({column} AS VARCHAR)")
    if facts.kind is Kind.TRUTHS:
        whole = f"CAST({column} AS BIGINT)"
        return _Column(whole, f"CAST({whole} AS VARCHAR)")
    if facts.kind is Kind.REALS:
        return _Column("", f"CASE WHEN {_is_whole(column)} THEN {_digits(column)} END")
    # DuckDB reads 1_000 as a number, and other engines do not
    sure = f"LENGTH({column}) <= {LONGEST} AND NOT CONTAINS({column}, '_')"
    word = f"LOWER(TRIM({column}))"
    text = (
        f"CASE WHEN {sure} AND {_is_whole(column)} THEN {_digits(column)} "
        f"WHEN {word} = 'true' THEN '1' WHEN {word} = 'false' THEN '0' "
        f"ELSE {column} END"
    )
    return _Column("", text)


def _is_whole(column: str) -> str:
    real = f"CAST({column} AS DOUBLE)"
    return f"ABS({real}) < {EXACT} AND {real} = CAST({column} AS BIGINT)"


def _digits(column: str) -> str:
    return f"CAST(CAST({column} AS BIGINT) AS VARCHAR)"


def _attribute_axis(
    dataset: Dataset, name: str, attribute: Any, table: str | None
) -> Axis:
    if isinstance(attribute, Edges):
        return _binned(dataset, name, attribute, table)
    assert isinstance(attribute, Categories)
    return _listed([_label_axis(dataset, name, table)], [list(attribute.names)])


def _binned(dataset: Dataset, name: str, bins: Edges, table: str | None) -> Axis:
    facts = _facts(dataset, name, table)
    column, count = _quoted(facts.column), len(bins.edges) - 1
    if facts.kind is Kind.TRUTHS:
        raise ArgumentError(
            "attributes", f"{name!r} holds truths, which have no edges; list categories"
        )
    if count > MOST_BINS:
        raise ArgumentError(
            "attributes",
            f"{name!r} has {count:,} bins, and {MOST_BINS} is the most in a database; "
            "list whole numbers as categories, such as range(111)",
        )
    if facts.kind is Kind.OTHER:
        sure = f"LENGTH({column}) <= {LONGEST} AND NOT CONTAINS({column}, '_')"
        column = f"CASE WHEN {sure} THEN CAST({column} AS DOUBLE) END"
    cases = [
        f"WHEN ({column}) >= {low!r} AND ({column}) {'<=' if last else '<'} {high!r} "
        f"THEN {place}"
        for place, (low, high, last) in enumerate(
            (low, high, place == count - 1)
            for place, (low, high) in enumerate(
                zip(bins.edges, bins.edges[1:], strict=False)
            )
        )
    ]
    return Axis((f"CASE {' '.join(cases)} END",), (list(range(count)),))


def filled(counted: Counted, geography: Geography, exact: int) -> Integers:
    """The leaves, with whoever counts in an exact total alone put into its place's
    first block and first cell.
    """
    assert counted.totals is not None
    by_place = geography.tree.counts_up(counted.leaves.sum(axis=1))[exact]
    leaves = counted.leaves.copy()
    leaves[geography.first_leaves(exact), 0] += counted.totals - by_place
    return leaves
