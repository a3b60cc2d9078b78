"""The same questions asked of DuckDB without privacy, about amounts within the same
bounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from bench.scripts.loop import peak, serve

connections: list[duckdb.DuckDBPyConnection] = []


def begin(path: str, **_: float) -> None:
    """A database file, or a folder of Parquet files."""
    connections.append(
        duckdb.connect()
        if Path(path).is_dir()
        else duckdb.connect(path, read_only=True)
    )
    if Path(path).is_dir():
        connections[-1].execute(
            f"CREATE VIEW purchases AS FROM read_parquet('{path}/*.parquet')"
        )


def ask(sql: str, **_: int) -> dict[str, Any]:
    bounded = sql.replace("(amount)", "(least(greatest(amount, 0), 500))")
    wall, cpu = time.perf_counter(), time.process_time()
    rows = connections[-1].execute(bounded).fetchall()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {
        "cpu": cpu,
        "wall": wall,
        "rows": [[float(x) if i else x for i, x in enumerate(row)] for row in rows],
    }


TASKS: dict[str, Callable[..., Any]] = {"open": begin, "ask": ask, "peak": peak}


def answer(task: str, **request: Any) -> Any:
    return TASKS[task](**request)


serve(answer)
