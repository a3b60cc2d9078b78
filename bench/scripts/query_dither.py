"""Private questions about the made-up purchases, through `dither.open`."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import dither
from bench.harness import cpu_seconds
from bench.query import CATEGORIES
from bench.scripts.loop import peak, serve
from dither.dataset import Dataset
from dither.query.plan.choose import plan_of
from dither.query.plan.request import request_of
from dither.query.sql.bind import bind
from dither.query.sql.parse import parse

opened: list[tuple[Dataset, float]] = []


def begin(path: str, epsilon: float, delta: float) -> None:
    """What is public: 50 categories and the bounds of amounts, not the cities."""
    categories = [f"category {i}" for i in range(CATEGORIES)]
    database = dither.open(
        path,
        table="purchases",
        unit="user_id",
        bounds={"amount": (0, 500)},
        keys={"category": categories},
        budget=(1000.0, delta),
    )
    opened.append((database, epsilon))


def ask(sql: str, turn: int) -> dict[str, Any]:
    """Each turn at another ε, a little smaller: the same question at the same cost
    would be answered from the book.
    """
    database, epsilon = opened[-1][0], opened[-1][1] * (1 - turn / 1_000_000)
    wall, cpu = time.perf_counter(), time.process_time()
    release = database.sql(sql, epsilon=epsilon)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if not isinstance(release, dither.TableRelease) or release.replayed:
        raise RuntimeError("this was answered before: nothing was measured")
    return {"cpu": cpu, "wall": wall, "rows": release.rows}


def preview(sql: str, times: int) -> tuple[float, float]:
    """Milliseconds of CPU of the first preview of this process, and the median of many
    more.
    """
    database, epsilon = opened[-1]
    taken = [
        1000 * cpu_seconds(lambda: database.preview(sql, epsilon=epsilon))
        for _ in range(times + 1)
    ]
    alone = database.preview(sql, epsilon=epsilon).epsilon_alone
    if not 0.999 * epsilon <= alone <= epsilon:
        raise RuntimeError(f"the answer would have ε = {alone:g}")
    return taken[0], median(taken[1:])


def users(sql: str, near: int, times: int) -> tuple[float, float]:
    """How often an answer is near the exact count it is made from, and its ± at 99.9 %."""
    database, epsilon = opened[-1]
    plan = plan_of(
        bind(parse(sql), database.catalogue),
        request_of({"epsilon": epsilon}),
        database.account.terms,
    )
    (measurement,) = plan.measurements
    mechanism = plan.additive(measurement, measurement.radius or 1)
    exact = np.full(times, 1_000_000)
    off = np.abs(mechanism.release(exact) - exact)
    return float(np.mean(off <= near * measurement.vector.row)), mechanism.error(
        0.999, integer=True
    ) / measurement.vector.row


TASKS: dict[str, Callable[..., Any]] = {
    "open": begin,
    "ask": ask,
    "preview": preview,
    "users": users,
    "peak": peak,
}


def answer(task: str, **request: Any) -> Any:
    return TASKS[task](**request)


serve(answer)
