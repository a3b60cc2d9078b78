"""A catalogue to be (`dither init`): what is known of some tables from their names and
types, and what is guessed, also from the values of text files.

Guesses are marked as such wherever they are written (rule R6). The unit decides who is
protected, so only a likely one is guessed: if there is none, the curator is asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dither.errors import ArgumentError
from dither.query.catalogue.names import find, nameable, same
from dither.query.catalogue.types import Type
from dither.query.draft.found import Found, found_tables
from dither.query.draft.guesses import LIKELY, guess, likely_link, units
from dither.query.draft.values import Looks, Values

__all__ = [
    "BY_VALUES",
    "GUESSED",
    "Draft",
    "DraftField",
    "Link",
    "Sheet",
    "draft",
    "drafted",
    "first_guess",
]

GUESSED = "a guess of dither init from the name"
"""Beginning of `by` if no bound is declared."""
BY_VALUES = f"{GUESSED} and the values"
ROW = "row"
CAUTIOUS = 1.0
"""An ε to begin with: a total can be raised later, and never lowered below what is
spent.
"""


@dataclass(frozen=True)
class DraftField:
    """A column to be declared. `type` is None if the column is text because nothing
    else is known of it; `typed` is true if the source or the curator states the type.

    Three facts are for the curator alone: how missing values are written, number of
    values that do not fit the type, and the form of strings that are not read."""

    name: str
    type: Type | None = None
    low: Any = None
    high: Any = None
    measure: str = ""
    keys: tuple[Any, ...] | None = None
    by: str = ""
    typed: bool = True
    missing: tuple[str, ...] = ()
    unread: int = 0
    looks: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        """The entry in the catalogue."""
        facts: dict[str, Any] = {"type": (self.type or Type.TEXT).value}
        stated = {"low": self.low, "high": self.high, "keys": self.keys}
        facts |= {name: fact for name, fact in stated.items() if fact is not None}
        return facts | ({"by": self.by} if self.by and len(facts) > 1 else {})


@dataclass(frozen=True)
class Link:
    """A column by which rows find their owner in another table."""

    column: str
    to: str


@dataclass(frozen=True)
class Sheet:
    """A table to be declared. `closed` is the reason why it cannot be opened yet.

    `listed` is true if its columns are known, `ownerless` if only somebody who knows it
    can name the owners of its rows, `empty` if no row of its file can be read."""

    name: str
    source: str
    stored: str
    columns: tuple[DraftField, ...]
    listed: bool = True
    link: Link | None = None
    rows: int | None = None
    closed: str = ""
    ownerless: bool = False
    public: bool = False
    empty: bool = False

    def column(self, name: str) -> DraftField | None:
        return next((one for one in self.columns if same(one.name, name)), None)


@dataclass(frozen=True)
class Draft:
    """A catalogue to be. `candidates` may be the unit, by their names; `guessed` names
    what nobody has said.
    """

    name: str
    sheets: tuple[Sheet, ...]
    candidates: tuple[str, ...] = ()
    unit: str = ""
    epsilon: float = CAUTIOUS
    population: int | None = None
    guessed: frozenset[str] = frozenset({"budget"})

    def stating(self, **facts: Any) -> Draft:
        """The draft with what somebody has stated: `epsilon`, `population`."""
        stated = {name: fact for name, fact in facts.items() if fact is not None}
        known = frozenset({"budget"}) if "epsilon" in stated else frozenset()
        return replace(self, **stated, guessed=self.guessed - known)

    def one_by_one(self) -> Iterator[Draft]:
        """A draft for each table, with its rows as units where it does not have the
        likely one.
        """
        for sheet in self.sheets:
            alone = replace(self, sheets=(sheet,))
            yield alone.with_unit(
                self.unit if self.unit and sheet.column(self.unit) else ROW
            )

    @property
    def open_sheets(self) -> tuple[Sheet, ...]:
        return tuple(sheet for sheet in self.sheets if not sheet.closed)

    def with_unit(self, unit: str) -> Draft:
        """The draft for one unit: which tables have it, which belong to such a table,
        and which stay closed.
        """
        columns = (one.name for sheet in self.sheets for one in sheet.columns)
        found = ROW if same(unit, ROW) else find(unit, columns) or self._unlisted(unit)
        typed = tuple(
            _with_id(sheet, found, _id_type(self.sheets, found))
            for sheet in self.sheets
        )
        return replace(
            self,
            unit=found,
            sheets=tuple(_opened(sheet, typed, found) for sheet in typed),
        )

    def _unlisted(self, unit: str) -> str:
        """A unit may be named that no schema lists where a file lists no columns
        (JSON).
        """
        if all(sheet.listed for sheet in self.sheets):
            known = (
                f"perhaps {', '.join(self.candidates)}"
                if self.candidates
                else 'or "row"'
            )
            raise ArgumentError(
                "unit",
                f"no table has a column {unit!r}; name the column with a person's "
                f"id, {known}",
            )
        return unit


def draft(sources: Sequence[str | Path], unit: str = "") -> str:
    """The text of a catalogue for some sources, with guesses if nothing is said."""
    from dither.query.draft.text import text

    return text(first_guess(drafted(sources), unit))


def drafted(sources: Sequence[str | Path], name: str = "") -> Draft:
    """Facts about the tables of some sources. Only text files are read, for the types
    of their columns.
    """
    if not sources:
        raise ArgumentError(
            "sources", "are missing; name the files that hold the tables"
        )
    found = _distinct(
        [table for source in sources for table in found_tables(str(source))]
    )
    if all(table.problem for table in found):
        raise ArgumentError(
            "sources",
            next(
                (table.problem for table in found),
                "the sources do not hold any tables; name others",
            ),
        )
    sheets = tuple(_sheet(table) for table in found)
    candidates = units(
        {one.name: one.type for one in sheet.columns} for sheet in sheets
    )
    likely = tuple(one for one, strength in candidates.items() if strength >= LIKELY)
    return Draft(
        name if nameable(name) else found[0].name,
        sheets,
        tuple(candidates),
        likely[0] if likely else "",
    )


def first_guess(found: Draft, unit: str = "") -> Draft:
    """The draft with the unit that is stated, or with the one that its name makes
    likely.
    """
    if unit:
        return found.with_unit(unit)
    if not found.unit:
        names = (
            f" (perhaps {', '.join(found.candidates[:5])})" if found.candidates else ""
        )
        way = (
            f"pass --unit with the column of a person's id{names}, or --unit row "
            "if each row is a different person"
        )
        raise ArgumentError(
            "unit",
            "no column is named like a person's id, so the unit to protect cannot "
            f"be guessed; {way}",
        )
    return replace(found.with_unit(found.unit), guessed=found.guessed | {"unit"})


def _distinct(tables: list[Found]) -> list[Found]:
    """The tables under names of their own."""
    found: dict[str, Found] = {}
    for table in tables:
        # A file may be called anything
        own = table.name if nameable(table.name) else "table"
        names = (
            own if count == 1 else f"{own}_{count}" for count in itertools.count(1)
        )
        free = next(name for name in names if name.casefold() not in found)
        found[free.casefold()] = replace(table, name=free)
    return list(found.values())


def _sheet(table: Found) -> Sheet:
    columns = tuple(_columns(table.schema or {}, table.looks))
    return Sheet(
        table.name,
        table.source,
        table.stored,
        columns,
        table.schema is not None,
        closed=table.problem,
        empty=table.looks is not None and table.looks.rows == 0,
    )


def _columns(
    schema: Mapping[str, Type | None], looks: Looks | None
) -> Iterator[DraftField]:
    for name, type_ in schema.items():
        values = looks.columns.get(name) if looks else None
        found = guess(name, type_, values)
        seen = values if values is not None and values.number else Values()
        origin = BY_VALUES if seen.number else GUESSED
        measured = f"{origin}, in {found.measure}" if found.measure else origin
        yield DraftField(
            name,
            found.type,
            found.low,
            found.high,
            found.measure,
            by=f"{measured}: check it",
            typed=type_ is not None,
            missing=values.missing if values else (),
            unread=seen.number - seen.fitting(found.type),
            looks=seen.looks if found.type is None else "",
        )


def _id_type(sheets: tuple[Sheet, ...], unit: str) -> Type | None:
    """The one type of the unit's id in all tables (rule R10): text where tables differ,
    never a real.
    """
    types = {
        column.type for sheet in sheets if (column := sheet.column(unit)) is not None
    }
    if len(types) != 1:
        return Type.TEXT
    (only,) = types
    return Type.INTEGER if only is Type.REAL else only


def _with_id(sheet: Sheet, unit: str, type_: Type | None) -> Sheet:
    """A table whose id is declared as in all others; a file that lists no columns is
    believed to have one.
    """
    if unit == ROW:
        return replace(
            sheet,
            columns=tuple(one for one in sheet.columns if not same(one.name, "rowid")),
        )
    columns = (
        sheet.columns if sheet.listed or sheet.column(unit) else (DraftField(unit),)
    )
    plain = [_id_of(one, type_) if same(one.name, unit) else one for one in columns]
    return replace(sheet, columns=tuple(plain))


def _id_of(column: DraftField, type_: Type | None) -> DraftField:
    """A column declared as the unit's id, which has no bounds."""
    typed = column.typed or type_ is not column.type
    by, missing = column.by, column.missing
    return DraftField(column.name, type_, by=by, typed=typed, missing=missing)


def _opened(sheet: Sheet, sheets: tuple[Sheet, ...], unit: str) -> Sheet:
    """A table with its owner or its link; without either it stays closed, for nobody
    can tell whose its rows are.
    """
    if sheet.closed:
        return sheet
    if unit == ROW:  # rows of two tables are two kinds of units (rule R7)
        first = next(one for one in sheets if not one.closed)
        other = (
            f"its rows are different units from those of {first.name}; declare it "
            "in a catalogue of its own"
        )
        return sheet if sheet.name == first.name else replace(sheet, closed=other)
    if sheet.column(unit) is not None:
        return sheet
    link = _link(
        sheet,
        [one for one in sheets if not one.closed and one.column(unit) is not None],
    )
    if link is not None:
        return replace(sheet, link=link)
    way = (
        'declare an owner, a link (link = { column = "…", to = '
        '"table.column" }), or public = true'
    )
    closed = f"it has no column {unit}, so the owners of its rows are unknown; {way}"
    return replace(sheet, closed=closed, ownerless=True)


def _link(sheet: Sheet, owned: list[Sheet]) -> Link | None:
    """The parent that a column is named after and that has the same column, of the same
    type.
    """
    for column in sheet.columns:
        for parent in owned:
            key = parent.column(column.name)
            if (
                key is not None
                and key.type == column.type
                and likely_link(column.name, parent.name)
            ):
                return Link(column.name, f"{parent.name}.{key.name}")
    return None
