"""The questions of the race asked of PostgreSQL without privacy, about amounts within
the same bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

from bench.scripts.entrant import AMOUNTS, race


def begin(address: str, **_: Any) -> dict[str, Callable[[], list[list[Any]]]]:
    connection = psycopg.connect(address)
    amount = f"LEAST(GREATEST(amount, {AMOUNTS[0]}), {AMOUNTS[1]})"

    def ask(value: str, key: str | None = None) -> list[list[Any]]:
        columns, groups = (f"{key}, ", f" GROUP BY {key}") if key else ("", "")
        found = connection.execute(
            f"SELECT {columns}{value} FROM purchases{groups}".encode()
        ).fetchall()
        return [[*row[:-1], float(row[-1])] for row in found]

    return {
        "count": lambda: ask("COUNT(*)"),
        "distinct users": lambda: ask("COUNT(DISTINCT user_id)"),
        "sum": lambda: ask(f"SUM({amount})"),
        "mean": lambda: ask(f"AVG({amount})"),
        "grouped count": lambda: ask("COUNT(*)", "category"),
        "grouped sum": lambda: ask(f"SUM({amount})", "category"),
        "private keys": lambda: ask("COUNT(*)", "city"),
        "median": lambda: ask(f"PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY {amount})"),
    }


if __name__ == "__main__":
    race(begin)
