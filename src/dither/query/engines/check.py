"""The curator's look at the data itself (`dither doctor --data`), in whichever engine
it lies.

What it says are facts about private rows, exact and without noise. It is for the
curator alone and must never reach an analyst (rule R1): no other part of Dither calls
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from typing import Any

import duckdb

from dither.errors import EngineFailed
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.names import same
from dither.query.catalogue.types import ANY, Type
from dither.query.catalogue.values import value_at
from dither.query.engines.duckdb.check import about_source
from dither.query.engines.duckdb.connection import connect
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.protocol import Dialect, Engine, Session

__all__ = ["check"]

GUESS = "a guess of dither init"
EARLY = {Type.DATE: date(100, 1, 1), Type.TIMESTAMP: datetime(100, 1, 1)}  # noqa: DTZ001 - times have no zone


def check(engine: Engine, catalogue: Catalogue) -> list[str]:
    """Mismatches between the data and its declarations, in words. For the curator
    alone: these are private facts.
    """
    with engine.session() as session:
        return [
            line
            for table in catalogue.tables
            for line in _guarded(engine, catalogue, session, table)
        ]


def _guarded(
    engine: Engine, catalogue: Catalogue, session: Session, table: Table
) -> Iterator[str]:
    """A table whose source the engine itself cannot read would fail in the middle of a
    question (rule R5).
    """
    try:
        yield from _about(engine, catalogue, session, table)
    except (EngineFailed, duckdb.Error):
        yield (
            f"{table.name}: the source is damaged and cannot be read to the end; "
            "write it again"
        )


Counted = tuple[str, str]
"""Words about a number, and the SQL of that number over all rows of a table."""


@dataclass(frozen=True)
class _Look:
    """The rows of one table as they are read, before anything is clipped: c0, c1, … are
    its declared columns, and where the engine can say, s0, s1, … are the same as they
    are stored, and r0, r1, … as questions read them."""

    session: Session
    dialect: Dialect
    table: Table
    raw: Callable[[Table, Field], str] | None = None
    parameters: list[Any] = field(default_factory=list)

    @cached_property
    def rows(self) -> str:
        table = self.table
        read = [
            self.dialect.read(table, replace(one, range=ANY, keys=None))
            for one in table.fields
        ]
        columns = [f"{sql} AS c{place}" for place, sql in enumerate(read)]
        if self.raw is not None:
            columns += [
                f"{self.raw(table, one)} AS s{place}, "
                f"{self.dialect.read(table, one)} AS r{place}"
                for place, one in enumerate(table.fields)
            ]
        return (
            f"(SELECT {', '.join(columns) or '1 AS nothing'} FROM "
            f"{self.dialect.relation(table)}) t"
        )

    def column(self, name: str) -> str:
        place = next(
            place for place, one in enumerate(self.table.fields) if same(one.name, name)
        )
        return f"c{place}"

    def literal(self, value: Any, type_: Type) -> str:
        return self.dialect.literal(value, type_, self.parameters)

    def numbers(self, counted: Sequence[Counted]) -> list[int]:
        """All of them in one statement, so that a large table is read once."""
        listed = ", ".join(sql for _, sql in counted)
        return [
            int(number)
            for number in self.session.fetch(
                f"SELECT {listed} FROM {self.rows}", self.parameters
            )[0]
        ]

    def one(self, sql: str) -> int:
        return int(self.session.fetch(sql, [])[0][0])


def _about(
    engine: Engine, catalogue: Catalogue, session: Session, table: Table
) -> Iterator[str]:
    look = _Look(session, engine.dialect, table, getattr(engine, "raw", None))
    counted = [("", "count(*)"), *_unread(look), *_outside(look), *_ownerless(look)]
    rows, *numbers = look.numbers(counted)
    yield f"{table.name}: {rows:,} rows"
    yield from _guesses(table)
    yield from (
        _source(engine, table) if isinstance(engine, DuckDBEngine) else _copies(look)
    )
    for (words, _), number in zip(counted[1:], numbers, strict=True):
        yield from _said(number, words)
    if table.owner is not None and table.rows is not None:
        yield from _above_cap(look, table.owner, table.rows)
    if table.link is not None:
        yield from _orphans(
            look, _Look(session, engine.dialect, catalogue.table(table.link.table))
        )
    for key in sorted(
        {
            other.link.key
            for other in catalogue.tables
            if other.link and other.link.table == table.name
        }
    ):
        yield from _doubles(look, key)


def _said(number: int, what: str) -> Iterator[str]:
    if number:
        yield what.format(f"{number:,}")


def _guesses(table: Table) -> Iterator[str]:
    """Declarations that are still missing."""
    found = [one.name for one in table.fields if one.provenance.startswith(GUESS)]
    if found:
        yield (
            f"{table.name}: the bounds of {', '.join(found)} are guesses; "
            "check them, and declare their source (by)"
        )


def _source(engine: DuckDBEngine, table: Table) -> Iterator[str]:
    """Parts of a file that are not read, or not as they were meant."""
    reader = engine.readers[table.name]
    with connect() as connection:
        stored = reader.store(connection, table)
        for about, number, what in about_source(connection, reader, stored, table):
            yield from _said(number, f"{about}: {what}")


def _copies(look: _Look) -> Iterator[str]:
    """The same of a table on a server or a cluster, as far as its declared columns
    tell.
    """
    if look.table.fields:
        columns = ", ".join(look.column(one.name) for one in look.table.fields)
        groups = f"SELECT count(*) AS n FROM {look.rows} GROUP BY {columns}"
        copies = look.one(f"SELECT coalesce(sum(n - 1), 0) FROM ({groups}) g")
        yield from _said(
            copies,
            f"{look.table.name}: {{}} rows are copies of other rows in all "
            "declared columns",
        )


def _unread(look: _Look) -> Iterator[Counted]:
    """Values that are there and cannot be read as declared; of files, `about_source`
    says more.
    """
    for place, one in enumerate(look.table.fields if look.raw is not None else ()):
        about = f"{look.table.name}.{one.name}"
        lost = f"s{place} IS NOT NULL AND r{place} IS NULL"
        yield (
            f"{about}: {{}} values are not of type {one.type} and are read as NULL",
            _where(lost),
        )
        if one.type in EARLY:
            years = (
                "values are before the year 100; check whether years were written "
                "with two digits"
            )
            yield (
                f"{about}: {{}} {years}",
                _where(f"c{place} < {look.literal(EARLY[one.type], one.type)}"),
            )


def _where(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


def _outside(look: _Look) -> Iterator[Counted]:
    for place, one in enumerate(look.table.fields):
        about = f"{look.table.name}.{one.name}"
        for end, sign, side in (
            (one.range.low, "<", "below"),
            (one.range.high, ">", "above"),
        ):
            if end is not None:
                bound = look.literal(value_at(end, one.type), one.type)
                words = f"{about}: {{}} values are {side} the bounds and are clipped"
                yield words, _where(f"c{place} {sign} {bound}")
        if one.keys is not None:
            known = [look.literal(key, one.type) for key in one.keys if key is not None]
            others = (
                f"c{place} NOT IN ({', '.join(known)})"
                if known
                else f"c{place} IS NOT NULL"
            )
            nulls = "" if None in one.keys else f" OR c{place} IS NULL"
            yield (
                f"{about}: {{}} rows are not among the declared keys",
                _where(f"{others}{nulls}"),
            )


def _ownerless(look: _Look) -> Iterator[Counted]:
    table, owner = look.table, look.table.owner
    if owner is None:
        return
    column = look.column(owner)
    yield (
        f"{table.name}: {{}} rows have no owner and are left out",
        _where(f"{column} IS NULL"),
    )
    if table.field(owner).type is Type.TEXT:
        similar = f"count(DISTINCT {column}) - count(DISTINCT lower(trim({column})))"
        yield (
            f"{table.name}.{owner}: {{}} ids differ from another only in case "
            "or spaces",
            similar,
        )


def _above_cap(look: _Look, owner: str, most: int) -> Iterator[str]:
    column = look.column(owner)
    owned = f"{look.rows} WHERE {column} IS NOT NULL"
    groups = f"SELECT {column} FROM {owned} GROUP BY {column} HAVING count(*) > {most}"
    cap = (
        f"units have more than {most:,} rows, so the cap is wrong; declare a higher one"
    )
    yield from _said(
        look.one(f"SELECT count(*) FROM ({groups}) g"), f"{look.table.name}: {{}} {cap}"
    )


def _orphans(look: _Look, parent: _Look) -> Iterator[str]:
    link = look.table.link
    assert link is not None
    key, column = parent.column(link.key), look.column(link.column)
    parents = f"SELECT {key} FROM {parent.rows} WHERE {key} IS NOT NULL"
    orphans = f"{look.rows} WHERE {column} IS NULL OR {column} NOT IN ({parents})"
    found = look.one(f"SELECT count(*) FROM {orphans}")
    yield from _said(
        found,
        f"{look.table.name}: {{}} rows do not match any row of {link.table} "
        "and are left out",
    )


def _doubles(look: _Look, key: str) -> Iterator[str]:
    """Rule R9: a parent's key has to be unique."""
    column = look.column(key)
    groups = (
        f"SELECT {column} FROM {look.rows} WHERE {column} IS NOT NULL "
        f"GROUP BY {column} HAVING count(*) > 1"
    )
    found = look.one(f"SELECT count(*) FROM ({groups}) g")
    about = f"{look.table.name}.{key}"
    yield from _said(
        found,
        f"{about}: {{}} keys occur more than once; rows linked to them are left out",
    )
