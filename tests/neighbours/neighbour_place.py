"""Where neighbouring databases lie while they are asked: catalogues, and an engine
whose rows can be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import duckdb

from dither.privacy import Relation, Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.columns import Schema
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.engines.duckdb.stored import StoredColumn, StoredTable

__all__ = ["FACTS", "IDS", "NUMBERED", "ROWS", "Place", "replacing"]


def _day(year: int, month: int, number: int) -> int:
    return (date(year, month, number) - date(1970, 1, 1)).days


FACTS = (
    Field("ward", Type.TEXT, ANY, ("A", "B", "a")),
    Field("day", Type.DATE, Range(_day(2020, 1, 1), _day(2020, 3, 31))),
    Field("at", Type.TIMESTAMP),
    Field("cost", Type.INTEGER, Range(-20, 100)),
    Field("big", Type.INTEGER),
    Field("score", Type.REAL, Range(-2.5, 7.3)),
    Field("raw", Type.REAL),
    Field("ok", Type.BOOLEAN),
    Field("note", Type.TEXT),
)
WARDS = Table(
    "wards",
    (
        Field("ward", Type.TEXT),
        Field("beds", Type.INTEGER, Range(0, 1000)),
        Field("factor", Type.REAL, Range(0.5, 2)),
    ),
    public=True,
)
PUBLIC: list[list[Any]] = [
    ["A", "10", 0.5],
    ["A", "20", 2.0],
    ["A", "20", 2.0],
    ["a", "30", 1.5],
    ["C", None, 1.0],
    [None, "5", 0.5],
]


def _clinic(ids: Type, id: Range = ANY, visit: Range = ANY) -> Catalogue:
    """Tables that share a unit. Ids outside their bounds, more rows than declared and
    keys that are there twice do occur."""
    people = (
        Field("id", ids, id),
        Field("sex", Type.TEXT, ANY, ("F", "M", None)),
        Field("city", Type.TEXT),
        Field("weight", Type.REAL, Range(0.1, 0.7)),
    )
    tables = (
        Table("people", people, owner="id", rows=1),
        Table(
            "visits",
            (Field("visit", Type.INTEGER, visit), Field("id", ids), *FACTS),
            owner="id",
        ),
        Table(
            "codes",
            (
                Field("visit", Type.INTEGER),
                Field("code", Type.TEXT),
                Field("grade", Type.INTEGER, Range(1, 5)),
            ),
            link=Link("visit", "visits", "visit"),
        ),
        WARDS,
    )
    return Catalogue("clinic", tables, unit=Unit("id"), delta=1e-6)


IDS = _clinic(Type.TEXT)
NUMBERED = _clinic(Type.INTEGER, Range(0, 7), Range(0, 2000))
ROWS = Catalogue("survey", (Table("visits", FACTS), WARDS), delta=1e-6)


def replacing(catalogue: Catalogue) -> Unit:
    return Unit(catalogue.unit.name, Relation.REPLACE)


STORED = {"score": "DOUBLE", "raw": "DOUBLE", "weight": "DOUBLE", "factor": "DOUBLE"}
"""All other columns are stored as texts, so that they can hold what their types cannot.
"""


@dataclass
class _Base:
    """A table in which rows can be changed while an engine reads it. `mine` marks the
    one unit's rows.
    """

    name: str

    def schema(self) -> Schema | None:
        return None

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:
        connection.execute("SET threads = 1")
        types = {one.name: STORED.get(one.name, "VARCHAR") for one in table.fields}
        columns = ", ".join(f'"{name}" {type_}' for name, type_ in types.items())
        connection.execute(
            f'CREATE TABLE "base {table.name}" ({columns}, mine BOOLEAN)'
        )
        return StoredTable(
            f'"base {table.name}"',
            {name: StoredColumn(f'"{name}"', types[name]) for name in types},
            "rowid",
        )


@dataclass
class Place:
    """An engine whose tables hold one database after the other. Rows of the others keep
    their row ids.
    """

    catalogue: Catalogue
    engine: DuckDBEngine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = DuckDBEngine(
            self.catalogue,
            {table.name: _Base(table.name) for table in self.catalogue.tables},
        )
        if WARDS in self.catalogue.tables:
            self._insert("wards", PUBLIC, mine=False)

    def _run(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        self.engine._connection.execute(sql, list(parameters)).fetchall()

    def hold(self, others: Mapping[str, list[list[Any]]]) -> None:
        """All other units' rows, and none of the one unit."""
        for table in self.catalogue.private:
            self._run(f'DELETE FROM "base {table.name}"')
            self._insert(table.name, others.get(table.name, []), mine=False)

    def version(self, rows: Mapping[str, list[list[Any]]]) -> None:
        """The one unit's rows in place of those it had."""
        for table in self.catalogue.private:
            self._run(f'DELETE FROM "base {table.name}" WHERE mine')
            self._insert(table.name, rows.get(table.name, []), mine=True)

    def shuffle(self, seed: int) -> None:
        """All rows in another order."""
        for table in self.catalogue.private:
            name = f'"base {table.name}"'
            self._run(
                f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM {name} ORDER BY hash(rowid, {seed})"
            )

    def _insert(self, name: str, rows: Sequence[Sequence[Any]], *, mine: bool) -> None:
        if rows:
            types = [
                STORED.get(one.name, "VARCHAR")
                for one in self.catalogue.table(name).fields
            ]
            columns = ", ".join(
                f"unnest(${i}::{type_}[])" for i, type_ in enumerate(types, 1)
            )
            self._run(
                f'INSERT INTO "base {name}" SELECT {columns}, {mine}',
                [list(column) for column in zip(*rows, strict=True)],
            )

    def close(self) -> None:
        self.engine.close()
