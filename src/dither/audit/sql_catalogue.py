"""Questions in SQL that are audited with the catalogue, about made-up visits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import duckdb

from dither.audit.finding import Finding
from dither.audit.questions import query
from dither.audit.trial import FEWEST
from dither.dataset import Dataset
from dither.query.open import open as open_database

__all__ = ["QUESTIONS", "SqlCase"]

Rows = list[tuple[str, str, int, str]]

OTHERS: Rows = [(f"p{n % 20}", "AB"[n % 2], n % 90, f"c{n % 3}") for n in range(60)]
ONE: Rows = [("one", "A", 90, "rare")] * 40
"""A unit with far more rows than all others, at an end of the bounds, with a key of its
own.
"""


@dataclass(frozen=True)
class SqlCase:
    """A question and what it may cost. Those that choose a radius or name keys are
    drawn more rarely.
    """

    name: str
    sql: str
    cost: dict[str, Any] = field(default_factory=dict)
    seldom: int = 1
    rows: int | None = None

    def audit(self, draws: int, confidence: float) -> Finding:
        cost = self.cost if "rho" in self.cost else {"epsilon": 1.0, **self.cost}
        with _opened([*OTHERS, *ONE], self.rows) as visits:
            return query(
                visits,
                self.sql,
                ONE[0][0],
                draws=max(draws // self.seldom, 4 * FEWEST),
                confidence=confidence,
                **cost,
            )


def _opened(rows: Rows, most: int | None) -> Dataset:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE visits (id VARCHAR, ward VARCHAR, age INTEGER, code VARCHAR)"
    )
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", rows)
    return open_database(
        connection,
        table="visits",
        unit="id",
        bounds={"age": (0, 110)},
        keys={"ward": ["A", "B"]},
        rows=most,
        budget=(3.0, 1e-2),
    )


COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
QUESTIONS = (
    SqlCase("SQL, number of units", "SELECT COUNT(DISTINCT id) AS n FROM visits"),
    SqlCase("SQL, counts by public key", COUNT, {"radius": 5}),
    SqlCase(
        "SQL, sum and mean",
        "SELECT SUM(age) AS s, AVG(age) AS m FROM visits",
        {"radius": {"s": 200, "m": 3}},
    ),
    SqlCase(
        "SQL, different values",
        "SELECT COUNT(DISTINCT age) AS n FROM visits",
        {"values": 2},
    ),
    SqlCase(
        "SQL, median", "SELECT MEDIAN(age) AS m FROM visits", {"radius": 2}, seldom=10
    ),
    SqlCase("SQL, counts with a chosen radius", COUNT, seldom=100),
    SqlCase(
        "SQL, counts, and what clipping hides of them",
        COUNT,
        {"rho": 0.1, "radius": 10},
        rows=60,
    ),
    SqlCase(
        "SQL, the same with declared rows that are wrong",
        COUNT,
        {"rho": 0.1, "radius": 1},
        rows=5,
    ),
    SqlCase(
        "SQL, counts by private key",
        "SELECT code, COUNT(*) AS n FROM visits GROUP BY code",
        {"radius": 5},
        seldom=20,
    ),
    SqlCase(
        "SQL, variance",
        "SELECT VARIANCE(age) AS v FROM visits",
        {"radius": 3},
        seldom=10,
    ),
    SqlCase(
        "SQL, a join of a unit's rows",
        "SELECT COUNT(*) AS n FROM visits v JOIN visits w ON v.id = w.id",
        {"radius": 50},
        rows=60,
    ),
    SqlCase(
        "SQL, a summary of each unit",
        "SELECT AVG(n) AS m FROM (SELECT id, LEAST(COUNT(*), 20) AS n FROM visits "
        "GROUP BY id) s",
    ),
    SqlCase(
        "SQL, a condition on a unit's other rows",
        "SELECT COUNT(DISTINCT id) AS n FROM visits v WHERE EXISTS (SELECT * FROM "
        "visits w WHERE w.id = v.id AND w.ward = 'B')",
    ),
)
