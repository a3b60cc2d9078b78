"""Small databases that differ in one person's row: with the secret, and without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["PEOPLE", "TARGET", "database", "guarded"]

PEOPLE = 20
TARGET = "p0"
ROWS = """
CREATE OR REPLACE TABLE people AS
SELECT 'p' || i AS person, i AS age,
    CASE WHEN i = 0 AND {ill} THEN 'ill' ELSE '7' END AS note,
    CASE WHEN i = 0 AND {ill} THEN {long} ELSE 1 END AS length
FROM range({people}) AS t(i)
"""


@contextmanager
def database(*, ill: bool, long: int = 1) -> Iterator[Any]:
    """A DuckDB connection with a table of people. If the target is ill, their note is
    not a number, and their length is `long`.
    """
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(ROWS.format(ill=str(ill).upper(), long=long, people=PEOPLE))
        yield connection


@contextmanager
def guarded(connection: Any, budget: float) -> Iterator[Any]:
    """The people behind an account."""
    from dither.query.open import open as open_dataset

    with open_dataset(
        connection,
        table="people",
        unit="person",
        bounds={"age": (0, 99)},
        rows=1,
        budget=budget,
        ledger=":memory:",
    ) as held:
        yield held
