"""The tables that every engine is asked about, what is declared of them, and what plain
SQL may see of them.

Tables are stored in a plain DuckDB database: `stored.visits` and so on, with rows that
belong to nobody among them. The views `visits` and so on leave those rows out; plain
SQL over them gives the answers to compare with. All values lie within their bounds, so
that nothing is clipped but what a test clips.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

import duckdb
import numpy as np

from dither.privacy import ROW, Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import ANY, Type
from dither.query.catalogue.values import bounds_of

__all__ = ["CATALOGUES", "TABLES", "plain_answer", "stored"]


def field(
    name: str,
    type_: Type,
    low: Any = None,
    high: Any = None,
    keys: tuple[Any, ...] | None = None,
) -> Field:
    return Field(
        name, type_, ANY if low is None else bounds_of(name, low, high, type_), keys
    )


PATIENTS = Table(
    "patients",
    (
        field("patient_id", Type.INTEGER),
        field("born", Type.DATE, date(1920, 1, 1), date(2019, 12, 31)),
        field("sex", Type.TEXT, keys=("F", "M", "X", None)),
        field("region", Type.TEXT),
        field("weight", Type.REAL, 0.0, 256.0),
        field("height", Type.INTEGER, 40, 220),
    ),
    owner="patient_id",
    rows=1,
)
VISITS = Table(
    "visits",
    (
        field("visit_id", Type.INTEGER),
        field("patient_id", Type.INTEGER),
        field("ward", Type.TEXT, keys=("A", "B", "C", "D", "closed")),
        field("day", Type.DATE, date(2022, 1, 1), date(2023, 12, 31)),
        field("moment", Type.TIMESTAMP, datetime(2022, 1, 1), datetime(2024, 1, 1)),
        field("cost", Type.INTEGER, 0, 4000),
        field("change", Type.INTEGER, -50, 50),
        field("paid", Type.REAL, 0.0, 1024.0),
        field("share", Type.REAL, 0.0, 1.0),
        field("urgent", Type.BOOLEAN),
        field("note", Type.TEXT),
        field("doctor", Type.TEXT),
    ),
    owner="patient_id",
)
DIAGNOSES = Table(
    "diagnoses",
    (
        field("visit_id", Type.INTEGER),
        field("code", Type.TEXT),
        field("severity", Type.INTEGER, 1, 5),
    ),
    link=Link("visit_id", "visits", "visit_id"),
)
REGIONS = Table(
    "regions",
    (
        field("region", Type.TEXT),
        field("country", Type.TEXT, keys=("N", "S")),
        field("beds", Type.INTEGER, 0, 1000),
    ),
    public=True,
)
SHIFTS = Table(
    "shifts",
    (
        field("ward", Type.TEXT),
        field("nurse", Type.TEXT),
        field("hours", Type.INTEGER, 0, 12),
    ),
    public=True,
)
ANSWERS = Table(
    "answers",
    (
        field("age", Type.INTEGER, 0, 110),
        field("income", Type.REAL, 0.0, 8192.0),
        field("score", Type.INTEGER, -100, 100),
        field("region", Type.TEXT),
        field("smokes", Type.BOOLEAN),
        field("party", Type.TEXT, keys=("left", "right", "none")),
        field("moment", Type.TIMESTAMP, datetime(2024, 1, 1), datetime(2024, 2, 1)),
    ),
)
MEASURED = (
    field("ward", Type.TEXT, keys=("A", "B", "C", "D")),
    field("x", Type.INTEGER, 0, 100),
    field("y", Type.INTEGER, 0, 100),
    field("z", Type.REAL, 0.0, 50.0),
    field("wide", Type.INTEGER, 0, 4000),
    field("tag", Type.INTEGER),
)
CROWD = Table(
    "crowd", (field("person", Type.INTEGER), *MEASURED), owner="person", rows=7
)
SAMPLES = Table("samples", MEASURED)
TABLES = {
    table.name: table
    for table in (PATIENTS, VISITS, DIAGNOSES, REGIONS, SHIFTS, ANSWERS)
}
CLINIC = (PATIENTS, VISITS, DIAGNOSES, REGIONS, SHIFTS)
SURVEY = (ANSWERS, REGIONS)
CATALOGUES = {
    "clinic": Catalogue("clinic", CLINIC, unit=Unit("patient_id")),
    "clinic, replace": Catalogue("clinic", CLINIC, unit=Unit("patient_id").replacing()),
    "survey": Catalogue("survey", SURVEY, unit=ROW),
    "survey, replace": Catalogue("survey", SURVEY, unit=ROW.replacing()),
    "crowd": Catalogue("crowd", (CROWD,), unit=Unit("person")),
    "crowd, no rows": Catalogue(
        "crowd", (replace(CROWD, rows=None),), unit=Unit("person")
    ),
    "samples": Catalogue("samples", (SAMPLES,), unit=ROW),
}

TYPES = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
OWNED = {
    "patients": "patient_id IS NOT NULL",
    "visits": "patient_id IS NOT NULL",
    "diagnoses": "visit_id IN (SELECT visit_id FROM visits GROUP BY visit_id HAVING COUNT(*) = 1)",
}
"""Which rows belong to someone: those with an id, or with a parent's key that is there
once (rule R9).
"""


@cache
def stored() -> duckdb.DuckDBPyConnection:
    """The database with all tables, made once."""
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA stored")
    for name, rows in _rows().items():
        columns = ", ".join(
            f"{one.name} {TYPES[one.type]}" for one in TABLES[name].fields
        )
        connection.execute(f"CREATE TABLE stored.{name} ({columns})")
        marks = ", ".join("?" for _ in TABLES[name].fields)
        connection.executemany(f"INSERT INTO stored.{name} VALUES ({marks})", rows)
        connection.execute(
            f"CREATE VIEW {name} AS SELECT * FROM stored.{name} WHERE {OWNED.get(name, 'TRUE')}"
        )
    connection.register("people", _crowd())
    connection.execute(
        "CREATE TABLE stored.crowd AS SELECT * FROM people ORDER BY person"
    )
    connection.execute(
        "CREATE TABLE stored.samples AS SELECT * EXCLUDE (person) FROM stored.crowd"
    )
    for name in ("crowd", "samples"):
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM stored.{name}")
    return connection


def plain_answer(sql: str) -> list[tuple[Any, ...]]:
    """What plain SQL answers, over the rows that belong to someone."""
    return stored().cursor().execute(sql).fetchall()


def _rows() -> dict[str, list[tuple[Any, ...]]]:
    random = np.random.default_rng(11)  # allowed: test inputs, not noise
    patients, visits = _patients(random), _visits(random)
    return {
        "patients": patients,
        "visits": visits,
        "diagnoses": _diagnoses(random, len(visits)),
        "regions": [
            ("north", "N", 120),
            ("east", "N", 80),
            ("south", "S", 200),
            ("coast", "S", 40),
        ],
        "shifts": [
            ("A", "Ann", 8),
            ("A", "Bo", 4),
            ("A", "Cy", 12),
            ("B", "Ann", 6),
            ("C", "Di", 0),
            ("E", "Ed", 9),
        ],
        "answers": _answers(random),
    }


REGION = ("north", "east", "south", "west", None)
FIRST_ID = 1 << 53
"""From here on floats cannot tell one id from the next."""


def _some(random: np.random.Generator, values: Any, missing: float = 0.0) -> Any:
    """One of the values, or now and then none."""
    value = values[int(random.integers(len(values)))]
    return None if random.random() < missing else value


def _patients(random: np.random.Generator) -> list[tuple[Any, ...]]:
    rows = []
    for number in range(60):
        born = date(1930, 1, 1) + timedelta(days=int(random.integers(30_000)))
        weight = None if number % 13 == 5 else int(random.integers(8, 1000)) / 4
        sex = _some(random, ("F", "M", "M", "X", None))
        rows.append(
            (
                FIRST_ID + number,
                born,
                sex,
                _some(random, REGION),
                weight,
                int(random.integers(40, 221)),
            )
        )
    rows[7] = (*rows[7][:3], "island", *rows[7][4:])
    return [
        *rows,
        (None, date(1950, 5, 5), "F", "north", 70.0, 170),
        (None, None, None, None, None, None),
    ]


def _visits(random: np.random.Generator) -> list[tuple[Any, ...]]:
    """Most patients come a few times, one comes 28 times, some never. Two who come are
    no patients; two visits belong to nobody, and two have the same id."""
    owners: list[int | None] = [
        FIRST_ID + number
        for number in range(50)
        for _ in range(int(min(random.pareto(1.2) * 2 + 1, 12)))
    ]
    owners += [FIRST_ID + 50] * 28 + [FIRST_ID + 70] * 2 + [FIRST_ID + 71] + [None] * 2
    rows = [_visit(random, number, owner) for number, owner in enumerate(owners)]
    return [*rows, (rows[3][0], *rows[90][1:])]


def _visit(
    random: np.random.Generator, number: int, owner: int | None
) -> tuple[Any, ...]:
    day = date(2022, 1, 1) + timedelta(days=int(random.integers(730)))
    at = datetime(day.year, day.month, day.day) + timedelta(
        seconds=int(random.integers(86_400))
    )
    cost = int(random.integers(1, 4001)) if number % 11 else 0
    return (
        1000 + number,
        owner,
        _some(random, ("A", "A", "B", "C", "D", "E"), 0.05),
        None if number % 17 == 3 else day,
        None if number % 17 == 3 else at,
        None if number % 19 == 4 else cost,
        int(random.integers(-50, 51)),
        None if number % 23 == 6 else int(random.integers(4097)) / 4,
        float(random.random()),
        _some(random, (True, False, False), 0.1),
        _some(
            random,
            ("check-up", "Check-in", "flu 5%", "flu", "broken leg", "", "été"),
            0.1,
        ),
        _some(random, ("Li", "Ng", "Ode", "Pim"), 0.05),
    )


def _diagnoses(random: np.random.Generator, visits: int) -> list[tuple[Any, ...]]:
    codes = ("J10", "J11", "S82", "Z00")
    rows = [
        (1000 + number, _some(random, codes, 0.05), int(random.integers(1, 6)))
        for number in range(visits)
        for _ in range(int(random.integers(0, 3)))
    ]
    return [*rows, (9_999, "J10", 3), (None, "J10", 3)]


def _answers(random: np.random.Generator) -> list[tuple[Any, ...]]:
    return [
        (
            None if number % 29 == 1 else int(random.integers(0, 111)),
            None if number % 31 == 2 else int(random.integers(4 * 8192 + 1)) / 4,
            int(random.integers(-100, 101)),
            _some(random, REGION) if number else "island",
            _some(random, (True, False), 0.1),
            _some(random, ("left", "right", "none", "other"), 0.05),
            datetime(2024, 1, 1) + timedelta(seconds=int(random.integers(31 * 86_400))),
        )
        for number in range(300)
    ]


def _crowd() -> dict[str, Any]:
    """Many people with one to seven rows each, for what needs numbers that noise does
    not drown.
    """
    random = np.random.default_rng(12)  # allowed: test inputs, not noise
    person = np.repeat(np.arange(6000), np.minimum(random.geometric(0.4, 6000), 7))
    rows = person.size
    x = np.clip(random.normal(45, 18, rows), 0, 100).astype(np.int64)
    return {
        "person": person,
        "ward": np.array(["A", "B", "C", "D"], object)[
            np.minimum(random.geometric(0.4, rows), 4) - 1
        ],
        "x": x,
        "y": np.clip(x / 2 + random.normal(30, 12, rows), 0, 100).astype(np.int64),
        "z": np.clip(random.exponential(10, rows), 0, 50),
        "wide": np.clip(random.normal(1800, 600, rows), 0, 4000).astype(np.int64),
        "tag": random.integers(5000, size=rows),
    }
