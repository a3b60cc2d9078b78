"""People in a table of a dataset, counted inside its engine: labels are compared in the
same form as in memory, written as SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Axis, ColumnFacts, Dataset, Kind
from dither.errors import ArgumentError, QueryError
from dither.ids import EXACT
from dither.question import Paid
from dither.science.census.attributes import Attributes, Categories, Edges
from dither.science.census.geography import Geography
from dither.science.census.labels import LONGEST

__all__ = ["Counted", "Stored"]

Integers = NDArray[np.int64]

MOST_BINS = 60


class Counted(NamedTuple):
    """Exact counts: of each block and cell, and of the places of one level if their
    totals are exact.
    """

    leaves: Integers
    totals: Integers | None


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
        try:
            dataset.check_listed(axes, table=table)
        except QueryError as problem:
            raise ArgumentError(
                "attributes",
                f"cannot be counted by this engine ({problem}); declare fewer bins or "
                "attributes",
            ) from None
        return cls(dataset, geography, axes, alone, attributes.cells, table)

    def counted(self, paid: Paid, rows: int, exact: int | None) -> Counted:
        wanted = [self.axes, *([] if exact is None else [(self.exact[exact],)])]
        leaves, *totals = self.dataset.count_listed(
            *wanted,
            rows=rows,
            alone=exact is not None,
            table=self.table,
            receipt=paid.receipt,
        )
        shape = (self.geography.blocks, self.cells)
        return Counted(leaves.reshape(shape), totals[0] if totals else None)


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
        raise ArgumentError("people", f"have no column {name!r}; use one of {listed}")
    return found


def _is_text(dataset: Dataset, facts: ColumnFacts) -> bool:
    if facts.table is None:
        return True  # a dataset of columns in memory, which is refused later
    fields = dataset.catalogue.table(facts.table).fields
    return any(one.name == facts.column and one.type == "text" for one in fields)


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
    if not _is_text(dataset, facts):
        raise ArgumentError(
            "people",
            f"the column {name!r} holds dates, which are not labels; add a column of "
            "strings, or of whole numbers such as years",
        )
    sure = f"{_sure(column)} AND NOT CONTAINS(LOWER({column}), 'e')"
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
            "attributes",
            f"the column {name!r} holds booleans, which have no edges; list categories, "
            "such as [False, True]",
        )
    if count > MOST_BINS:
        raise ArgumentError(
            "attributes",
            f"the attribute {name!r} has {count:,} bins, and databases support at most "
            f"{MOST_BINS}; list whole numbers as categories, such as range(111)",
        )
    sure = ""
    if facts.kind is Kind.OTHER:
        sure, column = f"{_sure(column)} AND ", f"CAST({column} AS DOUBLE)"
    low, *cuts, high = map(repr, bins.edges)
    inside = f"{sure}{column} >= {low} AND {column} <= {high}"
    place = _place(column, cuts, 0)
    return Axis((f"CASE WHEN {inside} THEN {place} END",), (list(range(count)),))


def _place(column: str, cuts: list[str], first: int) -> str:
    """The bin of a number, found by halves: a question may have so many words only."""
    if not cuts:
        return str(first)
    half = len(cuts) // 2
    below = _place(column, cuts[:half], first)
    above = _place(column, cuts[half + 1 :], first + half + 1)
    return f"CASE WHEN {column} < {cuts[half]} THEN {below} ELSE {above} END"


def _sure(column: str) -> str:
    """DuckDB reads 1_000 as a number, and other engines do not."""
    return f"LENGTH({column}) <= {LONGEST} AND NOT CONTAINS({column}, '_')"
