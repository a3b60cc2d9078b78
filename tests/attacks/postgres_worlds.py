"""The attacked table in PostgreSQL."""

from __future__ import annotations

from typing import Any

import dither
from dither.dataset import Dataset
from tests.attacks.analyst import PUBLIC, SCHEMA
from tests.conformance.postgres_asking import server

__all__ = ["WORLDS", "filled", "visits"]

TYPES = {
    "string": "text",
    "int64": "bigint",
    "double": "double precision",
    "date32[day]": "date",
}


def filled(rows: list[dict[str, Any]]) -> str:
    """The address of a database with a table `visits`."""
    import psycopg

    address = server().database()
    columns = ", ".join(
        f'"{one.name}" {TYPES.get(str(one.type), "timestamp")}' for one in SCHEMA
    )
    with psycopg.connect(address) as connection:
        connection.execute(f"CREATE TABLE visits ({columns})".encode())
        with connection.cursor().copy(b"COPY visits FROM STDIN") as copy:
            for row in rows:
                copy.write_row([row[name] for name in SCHEMA.names])
    return address


def visits(rows: list[dict[str, Any]], **declared: Any) -> Dataset:
    budget = {"ledger": ":memory:"} | PUBLIC | declared
    return dither.open(filled(rows), table="visits", **budget)


WORLDS = {"postgres": visits}
