"""Private SQL on ten million rows, beside the same questions asked of DuckDB without
privacy in the same run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import duckdb
import numpy as np

from bench.harness import Goal, Report, Row, at_least, at_most, versions
from bench.peers import Worker

ROWS = 10_000_000
REPEATS = 5
SEED = 19
ROWS_PER_USER = 8.065
CATEGORIES = 50
CITIES = 5_000
EPSILON, DELTA = 1.0, 1e-6
NEAR = 8
"""Distinct users should be within ± this."""
WITHIN = f"share of 20,000 answers within ±{NEAR}"
PREVIEW = "preview, CPU-milliseconds"

SYSTEMS: Mapping[str, tuple[str | None, str]] = {
    "dither": (None, "query_dither"),
    "duckdb": (None, "query_duckdb"),
}
"""The environment (None: this one) and the script of each system. Another system is one
more line here.
"""

NOTES = (
    "The purchases are made up, always the same. Rows of a user "
    "follow a lognormal law, categories Zipf's with an "
    "exponent of 1, cities with 1.4; categories, cities and amounts "
    "are drawn for each row by itself.",
    "Every answer has ε = 1 at δ = 1e-6 for all rows of a user, and "
    "bounds of 0 to 500 for amounts of up to 1,000. "
    "DuckDB is asked the same about amounts cut at 500; that is also "
    "the truth that errors are taken from.",
    "How much one user may count for is not stated: it is chosen "
    "privately, within the cost.",
    "CPU-seconds of one question, all threads, from parsing to the "
    "answer with its charge in the book; the median of "
    "repeats, systems taking turns. Each question of each system has "
    "a process of its own, whose peak memory is shown.",
    "Both read one DuckDB database file, which is in the file cache.",
)


@dataclass(frozen=True)
class Case:
    """A question, and the CPU-seconds it may take."""

    name: str
    sql: str
    seconds: float


CASES = (
    Case("count", "SELECT COUNT(*) AS answer FROM purchases", 1.0),
    Case(
        "distinct users", "SELECT COUNT(DISTINCT user_id) AS answer FROM purchases", 0.7
    ),
    Case("sum", "SELECT SUM(amount) AS answer FROM purchases", 1.0),
    Case("mean", "SELECT AVG(amount) AS answer FROM purchases", 1.0),
    Case(
        "grouped count",
        "SELECT category, COUNT(*) AS answer FROM purchases GROUP BY category",
        3.5,
    ),
    Case(
        "grouped sum",
        "SELECT category, SUM(amount) AS answer FROM purchases GROUP BY category",
        3.5,
    ),
    Case(
        "private keys",
        "SELECT city, COUNT(*) AS answer FROM purchases GROUP BY city",
        4.0,
    ),
    Case("median", "SELECT MEDIAN(amount) AS answer FROM purchases", 1.5),
)


def make(path: Path, rows: int) -> None:
    """The table, always the same for a number of rows: a DuckDB database file."""
    generator = np.random.default_rng(
        SEED
    )  # allowed: made-up data, the same every time
    people = round(rows / ROWS_PER_USER)
    each = np.maximum(
        1, np.rint(generator.lognormal(np.log(5.25), 0.955, people))
    ).astype(np.int64)
    users = generator.permutation(np.repeat(np.arange(people), each))[:rows]
    size = users.size
    columns = {
        "user_id": users,
        "category": zipf(generator, CATEGORIES, 1.0, size),
        "city": zipf(generator, CITIES, 1.4, size),
        "amount": np.minimum(np.rint(generator.gamma(1.5, 130, size)), 1000).astype(
            np.int64
        ),
    }
    with duckdb.connect(str(path)) as connection:
        connection.register("made", columns)
        connection.execute(
            "CREATE TABLE purchases AS SELECT user_id, 'category ' || "
            "category AS category, 'city ' || city AS city, "
            "amount FROM made"
        )


def about(path: Path) -> list[Row]:
    """How large the table is, and how unevenly users have rows."""
    users = "SELECT count(*) AS n FROM purchases GROUP BY user_id"
    figures = (
        "rows",
        "users",
        "rows of a user, median",
        "rows of a user, 99 %",
        "rows of a user, most",
    )
    sql = (
        "SELECT sum(n), count(*), quantile_disc(n, 0.5), "
        f"quantile_disc(n, 0.99), max(n) FROM ({users})"
    )
    with duckdb.connect(str(path), read_only=True) as connection:
        (found,) = connection.execute(sql).fetchall()
        values = dict(zip(figures, found, strict=True))
        for key in ("category", "city"):
            pairs = (
                f"SELECT count(*) FROM (SELECT DISTINCT user_id, {key} FROM purchases)"
            )
            values[f"pairs of user and {key}"] = connection.execute(pairs).fetchall()[
                0
            ][0]
    return [
        Row("purchases", "data", figure, float(value))
        for figure, value in values.items()
    ]


def zipf(
    generator: np.random.Generator, values: int, exponent: float, size: int
) -> np.ndarray[Any, Any]:
    """Numbers from 0 on, each as frequent as its rank's power says."""
    weights = np.arange(1, values + 1) ** -exponent
    return np.searchsorted(np.cumsum(weights) / weights.sum(), generator.random(size))


@dataclass(frozen=True)
class Asked:
    """What one system said about one question: each time its figures and its rows, and
    at last what it needed.
    """

    times: tuple[Mapping[str, float], ...]
    answers: tuple[dict[Any, float], ...]
    peak: float | None

    def of(self, figure: str) -> float:
        return median(time[figure] for time in self.times)


def ask(case: Case, path: Path, repeats: int) -> dict[str, Asked]:
    """Every system in a process of its own, in turns."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in SYSTEMS}
    peaks = {}
    with ExitStack() as stack:
        workers = {
            name: stack.enter_context(Worker(*where)) for name, where in SYSTEMS.items()
        }
        for worker in workers.values():
            worker.ask(task="open", path=str(path), epsilon=EPSILON, delta=DELTA)
        for i in range(repeats):
            for name, worker in workers.items():
                found[name].append(worker.ask(task="ask", sql=case.sql, turn=i))
        for name, worker in workers.items():
            peaks[name] = worker.ask(task="peak")
    return {
        name: Asked(tuple(each), tuple(map(by_key, each)), peaks[name])
        for name, each in found.items()
    }


def by_key(time: Mapping[str, Any]) -> dict[Any, float]:
    """The answer of each group; of no group, under None."""
    return {row[0] if len(row) > 1 else None: row[-1] for row in time["rows"]}


def relative_error(asked: Asked, truth: Mapping[Any, float]) -> float:
    """The mean over groups and repeats; of private keys, over those that were named."""
    return fmean(
        abs(value / truth[key] - 1)
        for answer in asked.answers
        for key, value in answer.items()
    )


def rows_of(case: Case, asked: Mapping[str, Asked]) -> list[Row]:
    rows = []
    for name, one in asked.items():
        rows += [
            Row(case.name, name, "CPU-seconds", one.of("cpu")),
            Row(case.name, name, "seconds", one.of("wall")),
        ]
        rows += [Row(case.name, name, "peak MB", one.peak)]
        if name != "duckdb":
            rows.append(
                Row(
                    case.name,
                    name,
                    "times DuckDB's CPU-seconds",
                    one.of("cpu") / asked["duckdb"].of("cpu"),
                )
            )
            rows.append(
                Row(
                    case.name,
                    name,
                    "mean relative error",
                    relative_error(one, asked["duckdb"].answers[0]),
                )
            )
        if case.name == "private keys":
            rows.append(
                Row(
                    case.name,
                    name,
                    "keys found",
                    median(len(answer) for answer in one.answers),
                )
            )
    return rows


def previewed(path: Path, case: Case) -> list[Row]:
    """What it takes to say cost and error before anything is spent."""
    with Worker(*SYSTEMS["dither"]) as worker:
        worker.ask(task="open", path=str(path), epsilon=EPSILON, delta=DELTA)
        first, many = worker.ask(task="preview", sql=case.sql, times=100)
    return [
        Row(case.name, "dither", PREVIEW, many),
        Row(case.name, "dither", f"first {PREVIEW}", first),
    ]


def users_near(path: Path) -> list[Row]:
    """Noise drawn anew for one exact count of users."""
    with Worker(*SYSTEMS["dither"]) as worker:
        worker.ask(task="open", path=str(path), epsilon=EPSILON, delta=DELTA)
        share, width = worker.ask(
            task="users", sql=CASES[1].sql, near=NEAR, times=20_000
        )
    return [
        Row("distinct users", "dither", WITHIN, share),
        Row("distinct users", "dither", "± at 99.9 %", width),
    ]


def goals(rows: Sequence[Row]) -> tuple[Goal, ...]:
    ours = {(row.case, row.metric): row.value for row in rows if row.system == "dither"}

    def worst(wanted: str) -> float | None:
        found = [
            value
            for (_, metric), value in ours.items()
            if metric == wanted and value is not None
        ]
        return max(found, default=None)

    return (
        *(
            at_most(
                f"{case.name}, CPU-seconds",
                case.seconds,
                ours.get((case.name, "CPU-seconds")),
            )
            for case in CASES
        ),
        at_most("most memory of a process, MB", 1300, worst("peak MB")),
        at_most(
            "grouped count, mean relative error",
            0.02,
            ours.get(("grouped count", "mean relative error")),
        ),
        at_least(
            f"distinct users, {WITHIN}", 0.999, ours.get(("distinct users", WITHIN))
        ),
        at_least("private keys found", 1000, ours.get(("private keys", "keys found"))),
        at_most("slowest preview, CPU-milliseconds", 10, worst(PREVIEW)),
    )


def run(
    rows: int = ROWS, repeats: int = REPEATS, cases: Sequence[Case] = CASES
) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.duckdb"
        make(path, rows)
        found = about(path)
        for case in cases:
            found += [*rows_of(case, ask(case, path, repeats)), *previewed(path, case)]
        found += users_near(path)
    return Report(
        tuple(found), goals(found), NOTES, versions("dither", "duckdb", "numpy")
    )


def peers() -> Report:
    """The same questions asked of other systems: `python -m bench query --peers`."""
    from bench.race.run import race

    return race()
