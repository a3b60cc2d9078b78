"""What an analyst who need not be trusted has in hand, and all that they can see."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

import pyarrow as pa

import dither
from dither.dataset import Dataset
from dither.errors import DitherError
from dither.privacy import Unit
from dither.query.catalogue.model import Catalogue, Field, Link, Table
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.engines.duckdb.engine import DuckDBEngine
from dither.query.open import dataset_of

__all__ = ["PUBLIC", "clinic", "log", "promised", "row", "seen", "visits"]

SCHEMA = pa.schema(
    [
        ("patient_id", pa.string()),
        ("ward", pa.string()),
        ("cost", pa.int64()),
        ("points", pa.int64()),
        ("rating", pa.float64()),
        ("weight", pa.float64()),
        ("note", pa.string()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us")),
    ]
)
PUBLIC: dict[str, Any] = {
    "unit": "patient_id",
    "bounds": {
        "cost": (0, 100),
        "rating": (0.0, 1.0),
        "day": (date(2020, 1, 1), date(2024, 12, 31)),
    },
    "keys": {"ward": ["A", "B"]},
    "budget": (1e3, 1e-6),
    "name": "visits",
}
ORDINARY: dict[str, Any] = {
    "ward": "A",
    "cost": 7,
    "points": 7,
    "rating": 0.5,
    "weight": 0.5,
    "note": "8",
    "day": date(2022, 2, 2),
    "at": datetime(2022, 2, 2, 12, 30),
}


def row(patient: str | None = "p1", **values: Any) -> dict[str, Any]:
    """A visit; `points`, `weight`, `note` and `at` have no declared bounds."""
    return {"patient_id": patient} | ORDINARY | values


def visits(rows: list[dict[str, Any]], **declared: Any) -> Dataset:
    return dither.open(pa.Table.from_pylist(rows, schema=SCHEMA), **PUBLIC | declared)


def seen(database: Dataset, sql: str, **cost: Any) -> tuple[Any, ...]:
    """All that can be seen of a question but its noisy numbers: success, messages,
    shape, keys, order, notes, cost.
    """
    before = len(log(database))
    shown = (
        _told(lambda: str(database.preview(sql, **cost))),
        _told(lambda: database.explain_plan(sql, **cost)),
        _told(lambda: _shape(database.sql(sql, **cost))),
    )
    account = database.account
    return (
        *shown,
        account.spent,
        str(account),
        [line[0] for line in log(database)][before:],
    )


def _told(ask: Any) -> Any:
    try:
        return ask()
    except DitherError as error:
        return type(error).__name__, str(error)


def _shape(release: Any) -> tuple[Any, ...]:
    keys = [place for place in range(len(release.columns)) if release.is_key(place)]
    named = [tuple(found[place] for place in keys) for found in release.rows]
    return (
        release.columns,
        len(release.rows),
        named,
        str(release.guarantee),
        release.notes,
    )


def log(database: Dataset) -> list[tuple[str, str]]:
    """What each line of the account's log is about, and all that it says."""
    entries = database.account._ledger.entries(account=database.account.name)
    return [(entry.kind, repr(entry)) for entry in entries]


def promised(database: Dataset, sql: str, **cost: Any) -> list[float]:
    """The sensitivities that the plan states, one for each measure; the largest radius if
    it is chosen privately, since what it cuts off is measured too.
    """
    plan = database.explain_plan(sql, **cost)
    pattern = r" (?:changes it by|counts up to a radius of) at most ([0-9.,e+-]+)"
    return [float(found.replace(",", "")) for found in re.findall(pattern, plan)]


PATIENTS = Table(
    "patients",
    (
        Field("id", Type.INTEGER),
        Field("sex", Type.TEXT, ANY, ("F", "M")),
        Field("born", Type.INTEGER, Range(1900, 2024)),
    ),
    owner="id",
)
STAYS = Table(
    "stays",
    (
        Field("stay", Type.INTEGER, Range(0, 1000)),
        Field("id", Type.INTEGER, Range(0, 100)),
        Field("days", Type.INTEGER, Range(0, 30)),
    ),
    owner="id",
)
TESTS = Table(
    "tests",
    (Field("stay", Type.INTEGER), Field("result", Type.INTEGER, Range(-5, 5))),
    link=Link("stay", "stays", "stay"),
)
REGIONS = Table(
    "regions", (Field("sex", Type.TEXT), Field("region", Type.TEXT)), public=True
)


def clinic(budget: Any = None, **rows: list[tuple[Any, ...]]) -> Dataset:
    """Three private tables with one unit, one of them linked, whose ids are declared
    with different bounds; a public table that has many rows for each of its keys."""
    unit = Unit("id")
    catalogue = Catalogue("clinic", (PATIENTS, STAYS, TESTS, REGIONS), unit=unit)
    listed = {
        "regions": [(sex, f"{sex}{number}") for sex in "FM" for number in range(5)]
    } | rows
    places = {
        table.name: _table(table, listed.get(table.name, []))
        for table in catalogue.tables
    }
    account = budget or dither.Budget(1e3, 1e-6, unit=unit)
    return dataset_of(catalogue, DuckDBEngine.of(catalogue, places), account)


def _table(table: Table, rows: list[tuple[Any, ...]]) -> pa.Table:
    types = {Type.INTEGER: pa.int64(), Type.TEXT: pa.string()}
    schema = pa.schema([(field.name, types[field.type]) for field in table.fields])
    return pa.Table.from_pylist(
        [dict(zip(schema.names, values, strict=True)) for values in rows], schema=schema
    )
