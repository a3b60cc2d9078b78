"""The attacked table in Spark."""

from __future__ import annotations

from typing import Any

import dither
from dither.dataset import Dataset
from tests.attacks.analyst import PUBLIC, SCHEMA
from tests.conformance.spark_asking import session

__all__ = ["WORLDS", "frame", "visits"]

TYPES = {
    "string": "string",
    "int64": "bigint",
    "double": "double",
    "date32[day]": "date",
}


def frame(rows: list[dict[str, Any]]) -> Any:
    schema = ", ".join(
        f"`{one.name}` {TYPES.get(str(one.type), 'timestamp_ntz')}" for one in SCHEMA
    )
    return session().createDataFrame(
        [tuple(row[name] for name in SCHEMA.names) for row in rows], schema
    )


def visits(rows: list[dict[str, Any]], **declared: Any) -> Dataset:
    return dither.open(frame(rows), **{"ledger": ":memory:"} | PUBLIC | declared)


WORLDS = {"spark": visits}
