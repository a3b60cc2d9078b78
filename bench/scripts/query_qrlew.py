"""The questions of the race through Qrlew, which rewrites SQL that PostgreSQL then
runs, noise included.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.scripts.entrant import AMOUNTS, CATEGORIES, GROUPS, ROWS, race

os.environ["RUST_BACKTRACE"] = "0"  # a panic is reported in one line
qrlew: Any = import_module("pyqrlew")
sqlalchemy: Any = import_module("sqlalchemy")

MOST = 1000
"""What amounts are known not to exceed; the question itself cuts them at the bounds of
the race.
"""


def begin(
    epsilon: float, delta: float, address: str, **_: Any
) -> dict[str, Callable[[], list[list[Any]]]]:
    engine = sqlalchemy.create_engine(
        address.replace("postgresql://", "postgresql+psycopg2://", 1)
    )
    dataset = qrlew.Dataset.from_database("shop", engine, "public", ranges=False)
    dataset = dataset.with_range("public", "purchases", "amount", 0.0, float(MOST))
    dataset = dataset.with_possible_values(
        "public", "purchases", "category", CATEGORIES
    )
    amount = f"LEAST(amount, {AMOUNTS[1]})"

    def ask(value: str, key: str | None = None) -> list[list[Any]]:
        columns, groups = (f"{key} AS name, ", f" GROUP BY {key}") if key else ("", "")
        relation = dataset.relation(
            f"SELECT {columns}{value} AS answer FROM purchases{groups}"
        )
        private = relation.rewrite_with_differential_privacy(
            dataset,
            epsilon_delta={"epsilon": epsilon, "delta": delta},
            privacy_unit=[("purchases", [], "user_id")],
            max_multiplicity=float(ROWS),
            max_privacy_unit_groups=GROUPS if key else 1,
        )
        with engine.connect() as connection:
            found = connection.execute(
                sqlalchemy.text(private.relation().to_query().replace(":", r"\:"))
            )
            return [[*row[:-1], float(row[-1])] for row in found]

    return {
        "count": lambda: ask("COUNT(*)"),
        "distinct users": lambda: ask("COUNT(DISTINCT user_id)"),
        "sum": lambda: ask(f"SUM({amount})"),
        "mean": lambda: ask(f"AVG({amount})"),
        "grouped count": lambda: ask("COUNT(*)", "category"),
        "grouped sum": lambda: ask(f"SUM({amount})", "category"),
        "private keys": lambda: ask("COUNT(*)", "city"),
        "median": lambda: ask(f"MEDIAN({amount})"),
    }


if __name__ == "__main__":
    race(begin)
