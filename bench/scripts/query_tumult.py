"""The questions of the race through Tumult Analytics on local Spark, from a Parquet
file.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.scripts.entrant import AMOUNTS, CATEGORIES, GROUPS, PER_GROUP, ROWS, race

os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
tmlt: Any = import_module("tmlt.analytics")
sql: Any = import_module("pyspark.sql")

CORES = os.cpu_count() or 2
LARGE = 10_000.0
"""The session's own budget; every answer takes its ε of it."""


def spark() -> Any:
    """Few partitions, which suit one machine: Spark's 200 would only make it slower."""
    settings = {
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": str(2 * CORES),
        "spark.sql.warehouse.dir": tempfile.mkdtemp(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = sql.SparkSession.builder.master(f"local[{CORES}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def begin(
    path: str, epsilon: float, delta: float
) -> dict[str, Callable[[], list[list[Any]]]]:
    session = tmlt.Session.from_dataframe(
        privacy_budget=tmlt.ApproxDPBudget(LARGE, 0.1),
        source_id="purchases",
        dataframe=spark().read.parquet(f"{path}.parquet"),
        protected_change=tmlt.AddRowsWithID("user_id"),
    )
    categories = tmlt.KeySet.from_dict({"category": CATEGORIES})
    whole = tmlt.ApproxDPBudget(epsilon, delta)

    def rows_of(query: Any, budget: Any = whole) -> list[list[Any]]:
        return [list(row) for row in session.evaluate(query, budget).collect()]

    def scalar() -> Any:
        return tmlt.QueryBuilder("purchases").enforce(tmlt.MaxRowsPerID(ROWS))

    def bounded(key: str) -> Any:
        query = tmlt.QueryBuilder("purchases").enforce(tmlt.MaxGroupsPerID(key, GROUPS))
        return query.enforce(tmlt.MaxRowsPerGroupPerID(key, PER_GROUP))

    def by_city() -> list[list[Any]]:
        """Half the cost for the names, half for the counts."""
        names = session.evaluate(
            bounded("city").get_groups(["city"]),
            tmlt.ApproxDPBudget(epsilon / 2, delta),
        )
        counts = bounded("city").groupby(tmlt.KeySet.from_dataframe(names)).count()
        return rows_of(counts, tmlt.ApproxDPBudget(epsilon / 2, 0))

    return {
        "count": lambda: rows_of(scalar().count()),
        "distinct users": lambda: rows_of(
            tmlt.QueryBuilder("purchases")
            .enforce(tmlt.MaxRowsPerID(1))
            .count_distinct(["user_id"])
        ),
        "sum": lambda: rows_of(scalar().sum("amount", *AMOUNTS)),
        "mean": lambda: rows_of(scalar().average("amount", *AMOUNTS)),
        "grouped count": lambda: rows_of(
            bounded("category").groupby(categories).count()
        ),
        "grouped sum": lambda: rows_of(
            bounded("category").groupby(categories).sum("amount", *AMOUNTS)
        ),
        "private keys": by_city,
        "median": lambda: rows_of(scalar().median("amount", *AMOUNTS)),
    }


if __name__ == "__main__":
    race(begin)
