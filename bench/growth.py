"""Private SQL on Parquet files from one million rows to a hundred million: how time and
memory grow.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from bench.harness import Goal, Report, Row, at_most, versions
from bench.peers import Worker
from bench.query import (
    CATEGORIES,
    CITIES,
    DELTA,
    EPSILON,
    ROWS_PER_USER,
    SEED,
    SYSTEMS,
    zipf,
)
from dither.dataset import Dataset
from dither.query.collect.runner import running
from dither.query.open import open as opened

SIZES = (1_000_000, 10_000_000, 100_000_000)
PART = 1_000_000
CASES = {
    "count": "SELECT COUNT(*) AS answer FROM purchases",
    "distinct users": "SELECT COUNT(DISTINCT user_id) AS answer FROM purchases",
    "sum": "SELECT SUM(amount) AS answer FROM purchases",
    "grouped sum": (
        "SELECT category, SUM(amount) AS answer FROM purchases GROUP BY category"
    ),
    "private keys": "SELECT city, COUNT(*) AS answer FROM purchases GROUP BY city",
    "median": "SELECT MEDIAN(amount) AS answer FROM purchases",
}
COLUMNS_BYTES = 8 + 16 + 16 + 8
"""What a row takes in memory at least: two numbers and two references to short texts.
"""

NOTES = (
    "The purchases of `bench query`, made in parts of a million "
    "rows, each part a Parquet file; a part's users are "
    "drawn from all. The files are read in place: no table is loaded.",
    "CPU-seconds of one question, all threads; the median of three "
    "at the smaller sizes, one at the largest. Each "
    "question of each system has a process of its own, whose peak memory is shown.",
    "DuckDB asked without privacy has no units to keep apart; what "
    "is grouped by user grows with the number of users.",
)


def make(folder: Path, rows: int) -> None:
    """Parquet files of a million rows each, always the same for a number of rows."""
    generator = np.random.default_rng(
        SEED
    )  # allowed: made-up data, the same every time
    weights = np.cumsum(
        generator.lognormal(np.log(5.25), 0.955, round(rows / ROWS_PER_USER))
    )
    for part in range(rows // PART):
        columns = {
            "user_id": np.searchsorted(weights, generator.random(PART) * weights[-1]),
            "category": zipf(generator, CATEGORIES, 1.0, PART),
            "city": zipf(generator, CITIES, 1.4, PART),
            "amount": np.minimum(np.rint(generator.gamma(1.5, 130, PART)), 1000).astype(
                np.int64
            ),
        }
        with duckdb.connect() as connection:
            connection.register("made", columns)
            connection.execute(
                "COPY (SELECT user_id, 'category ' || category AS category, "
                "'city ' || city AS city, amount FROM made) "
                f"TO '{folder / f'part{part:03}.parquet'}' (FORMAT parquet)"
            )


def measured(folder: Path, rows: int, case: str, repeats: int) -> list[Row]:
    """One question of both systems, in turns."""
    name, found = f"{case}, {rows // PART} M rows", []
    workers = {system: Worker(*where) for system, where in SYSTEMS.items()}
    for system, worker in workers.items():
        with worker:
            worker.ask(task="open", path=str(folder), epsilon=EPSILON, delta=DELTA)
            times = [
                worker.ask(task="ask", sql=CASES[case], turn=turn)
                for turn in range(repeats)
            ]
            for figure, label in (("cpu", "CPU-seconds"), ("wall", "seconds")):
                found.append(
                    Row(
                        name,
                        system,
                        label,
                        float(np.median([time[figure] for time in times])),
                    )
                )
            found.append(Row(name, system, "peak MB", worker.ask(task="peak")))
    return found


def growth(
    rows: Sequence[Row], case: str, sizes: Sequence[int], metric: str
) -> float | None:
    """How many times more each row takes at the largest size than at the one before it."""
    each = []
    for size in sizes[-2:]:
        wanted = (f"{case}, {size // PART} M rows", "dither", metric)
        value = next(
            (row.value for row in rows if (row.case, row.system, row.metric) == wanted),
            None,
        )
        if value is None:
            return None
        each.append(value / size)
    return each[1] / each[0]


def goals(rows: Sequence[Row], sizes: Sequence[int]) -> tuple[Goal, ...]:
    steps = f"from {sizes[-2] // PART} to {sizes[-1] // PART} million rows"
    peaks = [
        row.value
        for row in rows
        if row.system == "dither" and row.metric == "peak MB" and row.value is not None
    ]
    table = sizes[-1] * COLUMNS_BYTES / 1e6
    return (
        *(
            at_most(
                f"{case}: CPU-seconds a row, {steps}, times",
                1.5,
                growth(rows, case, sizes, "CPU-seconds"),
            )
            for case in CASES
        ),
        *(
            at_most(
                f"{case}: memory a row, {steps}, times",
                1.2,
                growth(rows, case, sizes, "peak MB"),
            )
            for case in CASES
        ),
        at_most(
            "most memory, as a share of the table in memory",
            1.0,
            max(peaks, default=float("nan")) / table,
        ),
    )


def run(sizes: Sequence[int] = SIZES) -> Report:
    rows: list[Row] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            make(folder, size)
            stored = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
            rows.append(
                Row(
                    f"purchases, {size // PART} M rows",
                    "data",
                    "MB of Parquet files",
                    stored,
                )
            )
            for case in CASES:
                rows += measured(
                    folder, size, case, repeats=1 if size >= 50_000_000 else 3
                )
    return Report(
        tuple(rows), goals(rows, sizes), NOTES, versions("dither", "duckdb", "numpy")
    )


RADIUS = 8
"""In rows: small enough that many users are clipped."""


def spark(rows: int = 1_000_000) -> Report:
    """The exact integers that DuckDB and a local Spark collect from the same files."""
    from dither.query.engines.spark.sessions import start

    session = start("local[2]", **{"spark.driver.memory": "4g"})
    found, differ = list[Row](), 0
    with tempfile.TemporaryDirectory() as place:
        make(Path(place), rows)
        for case, sql in CASES.items():
            ours, theirs = (
                integers(source, sql) for source in (place, session.read.parquet(place))
            )
            differ += sum(one != other for one, other in zip(ours, theirs, strict=True))
            name = f"{case}, {rows // PART} M rows"
            found.append(Row(name, "both", "integers compared", float(len(ours))))
    goal = at_most("exact integers that differ between DuckDB and Spark", 0, differ)
    return Report(
        tuple(found), (goal,), NOTES[:1], versions("dither", "duckdb", "pyspark")
    )


def integers(source: Any, sql: str) -> list[Any]:
    """All integers of a question before noise, in order."""
    keys = {"category": [f"category {i}" for i in range(CATEGORIES)]}
    options: dict[str, Any] = {
        "unit": "user_id",
        "bounds": {"amount": (0, 500)},
        "keys": keys,
        "ledger": ":memory:",
    }
    with opened(
        source, budget=(1000.0, DELTA), name="purchases", **options
    ) as database:
        return _collected(database, sql)


def _collected(database: Dataset, sql: str) -> list[Any]:
    plan = database.plan(sql, epsilon=EPSILON, groups=1000)
    engine, table = database.engine, database.catalogue.table
    with running(plan, engine, table, "salt") as runner:
        found: list[Any] = []
        if plan.keys is not None:
            keys = runner.every_key()
            found += sorted(zip(keys, runner.candidates().tolist(), strict=True))
            runner.name([keys.index(key) for key in sorted(keys)])
        for m, one in enumerate(plan.measurements):
            found += runner.units(m).tolist() if one.radius is None else []
            radius = one.radius or RADIUS * one.vector.row
            found += runner.totals(m, radius).ravel().tolist()
    return found
