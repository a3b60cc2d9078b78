"""TPC-H with a customer as the unit: which questions are answered, how well and how
fast, beside plain DuckDB.
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

import dither
from bench.harness import Goal, Report, Row, at_least, at_most, versions

FOLDER = Path(__file__).parent / "tpch"
CATALOGUE = "tpch.toml"
TOOL = Path(sysconfig.get_path("scripts")) / "tpchgen-cli"
TABLES = (
    "customer",
    "orders",
    "lineitem",
    "nation",
    "region",
    "part",
    "supplier",
    "partsupp",
)
SCALE = 1.0
REPEATS = 3
EPSILON = 1.0
WANTED = ("Q1", "Q3", "Q4", "Q5", "Q6", "Q10", "Q12", "Q13", "Q14")
"""Each of these is answered, or refused for a reason that anyone agrees with."""
ONE_EACH = ("Q3", "Q10")
"""Of these, every group is an order or a customer: nothing can be said about one."""
ERROR = "relative error: "
TIMES = "times DuckDB's CPU-seconds"

NOTES = (
    "Data by tpchgen-cli as Parquet files; questions as in the "
    "specification, with its values for validation. The unit "
    "is a customer: a line belongs to the customer of its order. "
    "Nations, parts and suppliers are public.",
    "Every answer has ε = 1 at δ = 1e-9. How much one customer may "
    "count for is chosen privately, within the cost.",
    "A relative error is the median over the groups of the exact "
    "answer and over repeats. Of private keys only those "
    "that were named have one; declared keys that WHERE leaves out "
    "come with noise around zero, and are not counted.",
    "CPU-seconds of one question, all threads, from parsing to the "
    "answer with its charge in the book; the median of "
    "repeats, in turns with DuckDB, in one process. Both read the "
    "same Parquet files, which are in the file cache.",
)


@dataclass(frozen=True)
class Case:
    """A question of TPC-H."""

    name: str
    sql: str


def cases() -> list[Case]:
    files = sorted(FOLDER.glob("q*.sql"))
    return [
        Case(f"Q{int(path.stem[1:])}", path.read_text(encoding="utf-8"))
        for path in files
    ]


def make(folder: Path, scale: float) -> None:
    """The tables as Parquet files, always the same for a scale factor, and the
    catalogue beside them.
    """
    command = [
        str(TOOL),
        "parquet",
        "--scale-factor",
        f"{scale:g}",
        "--output-dir",
        str(folder),
    ]
    subprocess.run(command, check=True, capture_output=True)
    shutil.copy(FOLDER / CATALOGUE, folder / CATALOGUE)


def plain(folder: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for table in TABLES:
        connection.execute(
            f"CREATE VIEW {table} AS FROM read_parquet('{folder / table}.parquet')"
        )
    return connection


@dataclass(frozen=True)
class Answer:
    """The rows of one answer, with the names of its columns and what it took."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cpu: float


def exact(connection: duckdb.DuckDBPyConnection, sql: str) -> Answer:
    began = time.process_time()
    found = connection.execute(sql)
    rows = found.fetchall()
    cpu = time.process_time() - began
    return Answer(
        tuple(column[0] for column in found.description or ()),
        tuple(map(tuple, rows)),
        cpu,
    )


def private(folder: Path, sql: str) -> tuple[Answer, list[int]]:
    """An answer under an account of its own, and the places of its keys; or a
    QueryError.
    """
    with dither.open(folder / CATALOGUE, ledger=":memory:") as database:
        began = time.process_time()
        release = database.sql(sql, epsilon=EPSILON)
        cpu = time.process_time() - began
    if not isinstance(release, dither.TableRelease):
        raise TypeError("a question of TPC-H has rows")
    keys = [place for place in range(len(release.columns)) if release.is_key(place)]
    return Answer(tuple(release.columns), release.rows, cpu), keys


def errors(truth: Answer, found: Answer, keys: Sequence[int]) -> dict[str, list[float]]:
    """For each column the relative error of every group that both answers have, and
    that is not zero in truth.
    """
    wanted = by_key(truth, keys)
    result: dict[str, list[float]] = {}
    for key, row in by_key(found, keys).items():
        for place, name in enumerate(found.columns):
            value = wanted.get(key, {}).get(place)
            if value and place in row:
                result.setdefault(name, []).append(
                    abs(float(row[place]) / float(value) - 1)
                )
    return result


def by_key(
    answer: Answer, keys: Sequence[int]
) -> dict[tuple[Any, ...], dict[int, Any]]:
    """The values of each group, by their place. NULL is no value."""
    return {
        tuple(row[place] for place in keys): {
            place: value
            for place, value in enumerate(row)
            if place not in keys and value is not None
        }
        for row in answer.rows
    }


def ask(
    case: Case, folder: Path, connection: duckdb.DuckDBPyConnection, repeats: int
) -> tuple[list[Row], list[str]]:
    """The figures of a question; or, if it is refused, what was said."""
    try:
        turns = [
            (exact(connection, case.sql), *private(folder, case.sql))
            for _ in range(repeats)
        ]
    except dither.QueryError as problem:
        return [Row(case.name, "dither", "refused", 1.0)], [
            f"{case.name} is refused: {problem.reason}."
        ]
    return figures(case, turns), []


def figures(case: Case, turns: Sequence[tuple[Answer, Answer, list[int]]]) -> list[Row]:
    truth = turns[0][0]
    groups = {tuple(row[place] for place in turns[0][2]) for row in truth.rows}
    named = [
        {tuple(row[place] for place in keys) for row in found.rows}
        for _, found, keys in turns
    ]
    cpu = {
        "dither": median(found.cpu for _, found, _ in turns),
        "duckdb": median(raw.cpu for raw, _, _ in turns),
    }
    rows = [
        Row(case.name, system, "CPU-seconds", seconds)
        for system, seconds in cpu.items()
    ]
    rows.append(Row(case.name, "dither", TIMES, cpu["dither"] / cpu["duckdb"]))
    rows.append(Row(case.name, "duckdb", "groups", float(len(groups))))
    rows.append(
        Row(
            case.name,
            "dither",
            "groups found",
            float(median(len(one & groups) for one in named)),
        )
    )
    collected: dict[str, list[float]] = {}
    for raw, found, keys in turns:
        for name, values in errors(raw, found, keys).items():
            collected.setdefault(name, []).extend(values)
    return [
        *rows,
        *(
            Row(case.name, "dither", ERROR + name, median(found))
            for name, found in collected.items()
        ),
    ]


def about(connection: duckdb.DuckDBPyConnection) -> list[Row]:
    """How large the data is, and how unevenly customers have lines."""
    rows = []
    for table in TABLES[:3]:
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0]
        rows.append(Row("data", "data", f"rows of {table}", float(count)))
    lines = (
        "SELECT count(*) AS n FROM lineitem JOIN orders ON l_orderkey = "
        "o_orderkey GROUP BY o_custkey"
    )
    figures = connection.execute(
        f"SELECT median(n), quantile_disc(n, 0.99), max(n) FROM ({lines})"
    ).fetchall()[0]
    names = ("median", "99 %", "most")
    return rows + [
        Row("data", "data", f"lines of a customer, {name}", float(n))
        for name, n in zip(names, figures, strict=True)
    ]


def goals(rows: Sequence[Row]) -> tuple[Goal, ...]:
    """The nine questions: those about many customers answered, those about single ones
    refused.
    """
    found: Mapping[tuple[str, str], float | None] = {
        (row.case, row.metric): row.value for row in rows
    }
    answered = [name for name in WANTED if (name, TIMES) in found]
    refused = [name for name in WANTED if (name, "refused") in found]
    ratios = [found[name, TIMES] for name in answered]
    return (
        at_least(
            "of nine questions answered",
            len(WANTED) - len(ONE_EACH),
            float(len(answered)),
        ),
        Goal(
            "refused are those with a customer or an order as a group",
            "2",
            float(len(refused)),
            refused == [*ONE_EACH],
        ),
        at_most(
            f"most {TIMES}",
            20,
            max((ratio for ratio in ratios if ratio is not None), default=None),
        ),
    )


def run(scale: float = SCALE, repeats: int = REPEATS) -> Report:
    rows, notes = list[Row](), list(NOTES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, scale)
        with plain(folder) as connection:
            rows += about(connection)
            for case in cases():
                found, said = ask(case, folder, connection, repeats)
                rows, notes = [*rows, *found], [*notes, *said]
    return Report(
        tuple(rows),
        goals(rows),
        tuple(notes),
        versions("dither", "duckdb", "tpchgen-cli"),
    )
