"""The curator's look at the data itself (`dither doctor --data`).

What it says are facts about private rows, exact and without noise. It is for the curator alone and must never reach an
analyst (rule R1): no other part of Dither calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb

from dither.errors import EngineFailed
from dither.query.catalogue import Catalogue, Field, Table
from dither.query.declared import value_at
from dither.query.engines.check_sources import about_source
from dither.query.engines.duckdb import DuckDBEngine, DuckDBSession
from dither.query.engines.duckdb_words import quoted
from dither.query.engines.storage import connect
from dither.query.sql.types import Type

__all__ = ["check"]


def check(engine: DuckDBEngine, catalogue: Catalogue) -> list[str]:
    """What in the data does not fit its declarations, in words. For the curator alone: these are private facts."""
    with engine.session() as session:
        return [line for table in catalogue.tables for line in _guarded(engine, catalogue, session, table)]


def _guarded(engine: DuckDBEngine, catalogue: Catalogue, session: DuckDBSession, table: Table) -> Iterator[str]:
    """A table whose source the engine itself cannot read would fail in the middle of a question (rule R5)."""
    try:
        yield from _about(engine, catalogue, session, table)
    except (EngineFailed, duckdb.Error):
        yield f"{table.name}: its source cannot be read to the end, so it is damaged; write it anew"


def _about(engine: DuckDBEngine, catalogue: Catalogue, session: DuckDBSession, table: Table) -> Iterator[str]:
    rows = _one(session, f"SELECT count(*) FROM {quoted(table.name)}")
    yield f"{table.name}: {rows:,} rows"
    yield from _source(engine, table)
    for field in table.fields:
        yield from _outside(session, table, field)
    if table.owner is not None:
        yield from _owners(session, table, table.owner)
    if table.link is not None:
        yield from _orphans(session, table)
    for key in sorted({other.link.key for other in catalogue.tables if other.link and other.link.table == table.name}):
        yield from _doubles(session, table, key)


def _one(session: DuckDBSession, sql: str, parameters: list[Any] | None = None) -> int:
    return int(session.fetch(sql, parameters or [])[0][0])


def _said(number: int, what: str) -> Iterator[str]:
    if number:
        yield what.format(f"{number:,}")


def _source(engine: DuckDBEngine, table: Table) -> Iterator[str]:
    """What in the source itself is not read, or not as it was meant."""
    source = engine.sources[table.name]
    with connect() as connection:
        stored = source.store(connection, table)
        for about, number, what in about_source(connection, source, stored, table):
            yield from _said(number, f"{about}: {what}")


def _outside(session: DuckDBSession, table: Table, field: Field) -> Iterator[str]:
    column, where = quoted(field.name), quoted(table.name)
    for end, sign in ((field.range.low, "<"), (field.range.high, ">")):
        if end is not None:
            sql = f"SELECT count(*) FROM {where} WHERE {column} {sign} $1"
            side = "below" if sign == "<" else "above"
            found = _one(session, sql, [value_at(end, field.type)])
            yield from _said(found, f"{table.name}.{field.name}: {{}} values are {side} the bounds and are clipped")
    if field.keys is not None:
        known = [key for key in field.keys if key is not None]
        nulls = "" if None in field.keys else f" OR {column} IS NULL"
        sql = f"SELECT count(*) FROM {where} WHERE {column} NOT IN (SELECT unnest($1)){nulls}"
        found = _one(session, sql, [known])
        yield from _said(found, f"{table.name}.{field.name}: {{}} rows are not among the declared keys")


def _owners(session: DuckDBSession, table: Table, owner: str) -> Iterator[str]:
    where = quoted(table.name)
    ownerless = _one(session, f"SELECT count(*) FROM {where} WHERE {quoted(owner)} IS NULL")
    yield from _said(ownerless, f"{table.name}: {{}} rows have no owner and are left out")
    if table.field(owner).type is Type.TEXT:
        similar = f"count(DISTINCT {quoted(owner)}) - count(DISTINCT lower(trim({quoted(owner)})))"
        found = _one(session, f"SELECT {similar} FROM {where}")
        yield from _said(found, f"{table.name}.{owner}: {{}} ids differ from another only in case or spaces")
    if table.rows is not None:
        owned = f"{where} WHERE {quoted(owner)} IS NOT NULL"
        groups = f"SELECT 1 FROM {owned} GROUP BY {quoted(owner)} HAVING count(*) > {table.rows}"
        above = _one(session, f"SELECT count(*) FROM ({groups}) t")
        yield from _said(above, f"{table.name}: {{}} units have more than {table.rows:,} rows; the others are dropped")


def _orphans(session: DuckDBSession, table: Table) -> Iterator[str]:
    link = table.link
    assert link is not None
    parents = f"SELECT {quoted(link.key)} FROM {quoted(link.table)} WHERE {quoted(link.key)} IS NOT NULL"
    column = quoted(link.column)
    sql = f"SELECT count(*) FROM {quoted(table.name)} WHERE {column} IS NULL OR {column} NOT IN ({parents})"
    yield from _said(_one(session, sql), f"{table.name}: {{}} rows belong to no row of {link.table} and are left out")


def _doubles(session: DuckDBSession, table: Table, key: str) -> Iterator[str]:
    """Rule R9: a parent's key has to be unique."""
    column = quoted(key)
    groups = f"SELECT 1 FROM {quoted(table.name)} WHERE {column} IS NOT NULL GROUP BY {column} HAVING count(*) > 1"
    found = _one(session, f"SELECT count(*) FROM ({groups}) t")
    yield from _said(found, f"{table.name}.{key}: {{}} keys are there more than once; rows linked to them are left out")
