"""The questions of the race through SmartNoise SQL: on a pandas frame, or in
PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.scripts.entrant import AMOUNTS, ROWS, CannotAsk, race

snsql: Any = import_module("snsql")


def metadata(private_keys: bool) -> dict[str, Any]:
    """The table as SmartNoise wants it described: the owner's id, bounds, and how many
    rows a user may have.

    It has no way to declare keys. Not to censor any shows those that are there, which
    is right for public ones only.
    """
    low, high = AMOUNTS
    return {
        "": {
            "public": {
                "purchases": {
                    "row_privacy": False,
                    "max_ids": ROWS,
                    "censor_dims": private_keys,
                    "clamp_counts": False,
                    "user_id": {"type": "int", "private_id": True},
                    "category": {"type": "string"},
                    "city": {"type": "string"},
                    "amount": {"type": "int", "lower": low, "upper": high},
                }
            }
        }
    }


def begin(
    path: str, epsilon: float, delta: float, address: str | None = None
) -> dict[str, Callable[[], list[list[Any]]]]:
    privacy = snsql.Privacy(epsilon=epsilon, delta=delta)
    if address is None:
        frame = import_module("pandas").read_csv(f"{path}.csv")
        readers = [
            snsql.from_df(frame, privacy=privacy, metadata=metadata(private))
            for private in (False, True)
        ]
    else:
        connection = import_module("psycopg2").connect(address)
        readers = [
            snsql.from_connection(
                connection,
                privacy=privacy,
                metadata=metadata(private),
                engine="postgres",
            )
            for private in (False, True)
        ]

    def ask(value: str, key: str | None = None) -> list[list[Any]]:
        columns, groups = (f"{key}, ", f" GROUP BY {key}") if key else ("", "")
        sql = f"SELECT {columns}{value} AS answer FROM public.purchases{groups}"
        answer = readers[key == "city"].execute(sql)
        return [[*row[:-1], float(row[-1])] for row in answer[1:]]

    def median() -> list[list[Any]]:
        raise CannotAsk("no median or other quantile")

    return {
        "count": lambda: ask("COUNT(*)"),
        "distinct users": lambda: ask("COUNT(DISTINCT user_id)"),
        "sum": lambda: ask("SUM(amount)"),
        "mean": lambda: ask("AVG(amount)"),
        "grouped count": lambda: ask("COUNT(*)", "category"),
        "grouped sum": lambda: ask("SUM(amount)", "category"),
        "private keys": lambda: ask("COUNT(*)", "city"),
        "median": median,
    }


if __name__ == "__main__":
    race(begin)
