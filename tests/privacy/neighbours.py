"""Neighbouring databases, as hostile as rows can be: what one unit brings, beside what others bring.

A `World` is what all other units bring, and several versions of what one more unit brings. No version against one is a
pair of neighbours for add/remove; two versions are a pair for replace.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from random import Random  # allowed: it chooses test data, and its seeds are fixed
from typing import Any

import duckdb

from dither.privacy import Relation, Unit
from dither.query.catalogue import Catalogue, Field, Link, Table
from dither.query.engines.duckdb import DuckDBEngine
from dither.query.engines.storage import Column, Schema, Stored
from dither.query.sql.types import ANY, Range, Type

__all__ = ["IDS", "NUMBERED", "ROWS", "Place", "World", "replacing", "world"]


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
    (Field("ward", Type.TEXT), Field("beds", Type.INTEGER, Range(0, 1000)), Field("factor", Type.REAL, Range(0.5, 2))),
    public=True,
)
PUBLIC = [["A", "10", 0.5], ["A", "20", 2.0], ["A", "20", 2.0], ["a", "30", 1.5], ["C", None, 1.0], [None, "5", 0.5]]


def _clinic(ids: Type, id: Range = ANY, visit: Range = ANY) -> Catalogue:
    """Tables that share a unit. Ids outside their bounds, more rows than declared and keys that are there twice do
    occur."""
    people = (
        Field("id", ids, id),
        Field("sex", Type.TEXT, ANY, ("F", "M", None)),
        Field("city", Type.TEXT),
        Field("weight", Type.REAL, Range(0.1, 0.7)),
    )
    tables = (
        Table("people", people, owner="id", rows=1),
        Table("visits", (Field("visit", Type.INTEGER, visit), Field("id", ids), *FACTS), owner="id"),
        Table(
            "codes",
            (Field("visit", Type.INTEGER), Field("code", Type.TEXT), Field("grade", Type.INTEGER, Range(1, 5))),
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
"""All other columns are stored as texts, so that they can hold what their types cannot."""

LONG = [
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "4611686018427387904",
    "-72057594037927937",
]
NO_NUMBERS = [None, "", "abc", "1e5", "3.7", " 12 ", "nan", "0x10"]
REALS = [
    math.nan,
    math.inf,
    -math.inf,
    None,
    0.0,
    -0.0,
    1e308,
    -1e308,
    5e-324,
    -5e-324,
    2.3e-308,
    1 / 3,
    7.3,
    -2.5,
    1e15,
]
TEXTS = [
    "x",
    "X",
    "x ",
    " x",
    "é",
    "e\u0301",
    "ß",
    "SS",
    "",
    None,
    "a%_\\b",
    "'; --",
    "\U0001f600",
    "12",
    "2020-02-02",
    "y" * 300,
]
DATES = [
    None,
    "2020-02-30",
    "x",
    "0001-01-01",
    "9999-12-31",
    "infinity",
    "-infinity",
    "0044-03-15 (BC)",
    "294000-01-01",
]
TIMES = [*DATES, "1969-12-31 23:59:59.999999", "2020-02-29 12:34:56+05", "2020-03-29 01:30:00", "290000-01-01 00:00:00"]

COMMON: dict[str, Sequence[Any]] = {
    "ward": ["A", "B", "a"],
    "day": ["2020-01-01", "2020-01-31", "2020-02-29", "2020-03-31"],
    "at": ["2020-01-01 00:00:00", "2020-02-29 12:34:56.789", "2021-12-31 23:59:59"],
    "cost": ["-20", "0", "1", "7", "100"],
    "big": ["0", "1", "-3", "1000000"],
    "score": [-2.5, 0.0, 1.25, 7.3, 0.1],
    "raw": [0.5, -1.0, 1000.0, 0.0],
    "ok": ["true", "false"],
    "note": ["x", "y", "z", "x"],
    "sex": ["F", "M"],
    "city": ["Rome", "Oslo", "Lima"],
    "weight": [0.1, 0.7, 0.3],
    "code": ["I10", "J45", "Z00"],
    "grade": ["1", "3", "5"],
}
ODD: dict[str, Sequence[Any]] = {
    "ward": [None, "A ", "b", "\uff21", "C"],
    "day": DATES,
    "at": TIMES,
    "cost": ["101", "-21", *LONG, *NO_NUMBERS],
    "big": [*LONG, *NO_NUMBERS],
    "score": REALS,
    "raw": REALS,
    "ok": [None, "maybe", "t", "1"],
    "note": TEXTS,
    "sex": [None, "f", "F ", "X"],
    "city": TEXTS,
    "weight": REALS,
    "code": TEXTS,
    "grade": ["0", "6", *LONG, *NO_NUMBERS],
}
NAMES = ["Ann", "ann", "Ann ", " Ann", "ANN", "\u00e9", "e\u0301", "\u00df", "ss", "", "0", "null", "a\u0000b"]
SPELLINGS = [
    ["7", "07", " 7", "7.4"],
    ["-7"],
    ["9223372036854775807"],
    ["-9223372036854775808"],
    ["0", "-0"],
    ["8", "7.6"],
]
OWNERLESS = {Type.TEXT: [None], Type.INTEGER: [None, "", "seven", "9223372036854775808", "nan"]}
SHARED_VISIT = "999"
"""A parent key that two of the other units have, and sometimes this one too: rows linked to it have no owner."""

Rows = dict[str, list[list[Any]]]
"""For each table its rows, each a list of stored values."""


@dataclass(frozen=True)
class World:
    """What all other units bring, and what the one unit brings in each version."""

    catalogue: Catalogue
    others: Rows
    versions: Sequence[Rows]


def world(random: Random, catalogue: Catalogue, versions: int = 3) -> World:
    """Up to five other units, ownerless rows, and versions of one more unit; some of it heavy, some of it nothing."""
    if catalogue is ROWS:
        others: Rows = {"visits": [_facts(random) for _ in range(random.choice([0, 1, 3, 8, 20]))]}
        return World(catalogue, others, [{"visits": [_facts(random)]} for _ in range(versions)])
    ids = _ids(random, catalogue)
    others = _joined(_unit(random, spellings, 1000 * place) for place, spellings in enumerate(ids[1:], 1))
    if len(ids) > 2 and random.random() < 0.5:
        others = _joined([others, *({"visits": [[SHARED_VISIT, one[0], *_facts(random)]]} for one in ids[1:3])])
    nobody = OWNERLESS[catalogue.tables[0].fields[0].type]
    others = _joined([others, _unit(random, nobody, 500_000), {"codes": [[None, "I10", "3"], ["777", "I10", "3"]]}])
    return World(catalogue, others, [_version(random, ids[0]) for _ in range(versions)])


def _ids(random: Random, catalogue: Catalogue) -> list[list[str]]:
    """The spellings of some ids. Texts are compared byte by byte; numbers have several spellings."""
    pool = [[name] for name in NAMES] if catalogue is IDS else SPELLINGS
    return random.sample(pool, random.choice([1, 1, 2, 3, 4, 6]))


def _joined(parts: Iterator[Rows] | Sequence[Rows]) -> Rows:
    found: Rows = {"people": [], "visits": [], "codes": []}
    for part in parts:
        for table, rows in part.items():
            found[table].extend(rows)
    return found


def _version(random: Random, ids: Sequence[str | None]) -> Rows:
    found = _unit(random, ids, 0)
    if random.random() < 0.2:
        found["visits"].append([SHARED_VISIT, ids[0], *_facts(random)])
    return found


def _unit(random: Random, ids: Sequence[str | None], first: int) -> Rows:
    """What one unit brings. Its visits have keys of their own, which are sometimes there twice."""
    people = [
        [random.choice(ids), *_row(random, "sex", "city", "weight")] for _ in range(random.choice([0, 1, 1, 1, 3]))
    ]
    visits = [[str(first + n), random.choice(ids), *_facts(random)] for n in range(random.choice([0, 1, 2, 5, 9]))]
    if visits and random.random() < 0.3:
        visits += [[str(first + 100 + n), *visits[0][1:]] for n in range(random.choice([20, 100]))]
    if visits and random.random() < 0.2:
        visits.append(list(visits[-1]))
    keys = [row[0] for row in visits] or [str(first)]
    codes = [[random.choice(keys), *_row(random, "code", "grade")] for _ in range(random.choice([0, 1, 4, 30]))]
    return {"people": people, "visits": visits, "codes": codes}


def _facts(random: Random) -> list[Any]:
    return _row(random, *(one.name for one in FACTS))


def _row(random: Random, *columns: str) -> list[Any]:
    odd = random.choice([0.0, 0.1, 0.5])
    return [random.choice(ODD[name] if random.random() < odd else COMMON[name]) for name in columns]


@dataclass
class _Base:
    """A table in which rows can be changed while an engine reads it. `mine` marks the one unit's rows."""

    name: str

    def schema(self) -> Schema | None:
        return None

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> Stored:
        connection.execute("SET threads = 1")
        types = {one.name: STORED.get(one.name, "VARCHAR") for one in table.fields}
        columns = ", ".join(f'"{name}" {type_}' for name, type_ in types.items())
        connection.execute(f'CREATE TABLE "base {table.name}" ({columns}, mine BOOLEAN)')
        return Stored(f'"base {table.name}"', {name: Column(f'"{name}"', types[name]) for name in types}, "rowid")


@dataclass
class Place:
    """An engine whose tables hold one database after the other. Rows of the others keep their row ids."""

    catalogue: Catalogue
    engine: DuckDBEngine = field(init=False)

    def __post_init__(self) -> None:
        self.engine = DuckDBEngine(self.catalogue, {table.name: _Base(table.name) for table in self.catalogue.tables})
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
            self._run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM {name} ORDER BY hash(rowid, {seed})")

    def _insert(self, name: str, rows: Sequence[Sequence[Any]], *, mine: bool) -> None:
        if rows:
            types = [STORED.get(one.name, "VARCHAR") for one in self.catalogue.table(name).fields]
            columns = ", ".join(f"unnest(${i}::{type_}[])" for i, type_ in enumerate(types, 1))
            self._run(
                f'INSERT INTO "base {name}" SELECT {columns}, {mine}',
                [list(column) for column in zip(*rows, strict=True)],
            )

    def close(self) -> None:
        self.engine.close()
