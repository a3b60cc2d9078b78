"""Messages of devices counted on Spark and in one process: every integer, messages per
second, and what an executor holds.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.harness import Goal, Report, Row, at_least, at_most, medians, versions
from dither import local
from dither.local import arrow
from dither.local.spark import _count
from dither.local.wire import HEADER

N = 10_000_000
PART = 500_000
REPEATS = 3
USUAL: dict[str, Any] = {"epsilon": 1, "n": N}
LISTED, COLUMN, SPARK = "one process, list", "one process, column", "Spark, two cores"
TIMES, HELD = f"times {LISTED}", "MB a worker takes"
MASTER = "local[2, 4]"
"""Two cores, and a task that fails is tried four times."""

NOTES = (
    "Messages are rows of Parquet files, in the file cache; one in a hundred is bad: of "
    "another task or version, late, of no stratum, impossible, or no message. Systems "
    "take turns; each rate is the median of the repeats, by the clock.",
    "In one process, a list is `task.tally` of the values as bytes, 10,000 at a time; a "
    "column is what an executor does, without Spark: on one machine that is faster, as "
    "nothing has to be planned, and sent to other processes.",
    "What a worker takes: the most memory of a process of Spark's while it counts one of "
    "two partitions, above what it has before its first message. It is compared with "
    "eight tallies and four Arrow batches of 10,000 messages, which are for the process "
    "that adds up, too.",
    "Where workers die, each is killed after 30,000 messages of its partition, at the "
    "first attempt.",
)


@dataclass(frozen=True)
class Case:
    """Messages of a task in files."""

    name: str
    task: local.Task
    messages: int
    batches: int = 0  # messages of a row, where a row is a batch


CASES = (
    Case(
        "local hashing, 2 strata",
        local.task(
            "hashed",
            domain=1000,
            strata=("old", "new"),
            oracle="local hashing",
            **USUAL,
        ),
        N,
    ),
    Case(
        "LOLOHA, 7 days, 2 strata",
        local.task(
            "daily",
            domain=20,
            strata=("old", "new"),
            every="day",
            for_ever=2,
            distinct=2,
            **USUAL,
        ),
        N // 10,
    ),
    Case(
        "optimized unary, batches of 1,000",
        local.task("relayed", domain=1000, oracle="optimized unary", **USUAL),
        N // 10,
        batches=1000,
    ),
)
LARGE = Case(
    "k-ary response, 1,000,000 cells",
    local.task("large", domain=1_000_000, none=False, oracle="k-ary response", **USUAL),
    N // 10,
)


def make(case: Case, folder: Path, messages: int) -> None:
    """Files of messages in random order, with bad ones among them."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    for place, start in enumerate(range(0, messages, PART)):
        values = sent(case, min(PART, messages - start), rng)
        table = pa.table({"message": pa.array(values, pa.binary())})
        pq.write_table(table, folder / f"{place}.parquet")


def sent(case: Case, count: int, rng: np.random.Generator) -> list[bytes | None]:
    task = case.task
    days = range(min(task.periods, 7))
    headers = [(day, one) for day in days for one in task.strata or (None,)]
    parts = np.array_split(rng.integers(0, 20, count), len(headers))
    groups = [
        task.randomize(values, period=day, stratum=one)
        for values, (day, one) in zip(parts, headers, strict=True)
    ]
    if case.batches:
        return list(batched(groups[0], case.batches))
    rows = np.concatenate([packed(group) for group in groups])
    return spoilt(rng.permutation(rows), rng)


def batched(messages: local.Messages, size: int) -> Iterator[bytes]:
    for start in range(0, len(messages), size):
        records = messages.records[start : start + size]
        yield local.Messages(messages.header, records).to_bytes()


def packed(messages: local.Messages) -> Any:
    head = np.frombuffer(messages.header.to_bytes(), np.uint8)
    heads = np.broadcast_to(head, (len(messages), len(head)))
    return np.concatenate([heads, messages.records], axis=1)


def spoilt(rows: Any, rng: np.random.Generator) -> list[bytes | None]:
    """One message in a hundred with another byte somewhere; one in a thousand is cut,
    and one is NULL.
    """
    count, size = rows.shape
    bad = rng.choice(count, count // 100, replace=False)
    rows[bad, rng.integers(0, size, len(bad))] ^= rng.integers(
        1, 256, len(bad), np.uint8
    )
    values: list[bytes | None] = [row.tobytes() for row in rows]
    for place in range(0, count, 1000):
        values[place] = rows[place, :-1].tobytes()
        values[place + 1] = None
    return values


def listed(case: Case, folder: Path) -> local.Tally:
    """As a program without Spark would."""
    found = case.task.tally([])
    for column in columns(folder):
        values = column.to_pylist()
        found += case.task.tally(values, batches=case.batches > 0)
    return found


def by_column(case: Case, folder: Path) -> local.Tally:
    record, batches = case.task.oracle.record, case.batches > 0
    every = (
        one
        for column in columns(folder)
        for one in arrow.messages(column, record, batches=batches)
    )
    return case.task.tally(every, batches=batches)


def columns(folder: Path) -> Iterator[Any]:
    for path in sorted(folder.iterdir()):
        for part in pq.ParquetFile(path).iter_batches(10_000):
            yield part.column(0)


def on_spark(case: Case, frame: Any) -> local.Tally:
    return case.task.tally(frame, batches=case.batches > 0)


def integers(tally: local.Tally) -> dict[object, int]:
    """Every integer of a tally, by what it counts."""
    found: dict[object, int] = dict(tally.rejected.items())
    found |= {("period", period): n for period, n in tally.periods.items()}
    found |= {("stratum", place): int(n) for place, n in enumerate(tally.strata)}
    found |= {("cell", place): n for place, n in enumerate(tally.counts.flat)}
    return found


def differ(one: local.Tally, other: local.Tally) -> int:
    """How many integers do, or are in one alone."""
    return len(integers(one).items() ^ integers(other).items())


def measure(case: Case, session: Any, folder: Path, repeats: int) -> list[Row]:
    """The rates of each system, and how many integers differ."""
    frame = session.read.parquet(str(folder))
    found: dict[str, local.Tally] = {}

    def timed(system: str, count: Callable[[], local.Tally]) -> float:
        began = time.perf_counter()
        found[system] = count()
        return time.perf_counter() - began

    systems = {
        LISTED: partial(listed, case, folder),
        COLUMN: partial(by_column, case, folder),
        SPARK: partial(on_spark, case, frame),
    }
    on_spark(case, frame)  # once before it counts, as workers have to start
    spent = medians(
        {name: partial(timed, name, count) for name, count in systems.items()}, repeats
    )
    whole, there = found[LISTED], found[SPARK]
    total = len(whole) + sum(whole.rejected.values())
    rows = [
        Row(case.name, name, "messages per second", total / seconds)
        for name, seconds in spent.items()
    ]
    return [
        *rows,
        *(
            Row(case.name, SPARK, f"times {name}", spent[name] / spent[SPARK])
            for name in (LISTED, COLUMN)
        ),
        Row(case.name, SPARK, "messages counted", len(there)),
        Row(case.name, SPARK, "messages rejected", sum(there.rejected.values())),
        Row(case.name, SPARK, "integers", len(integers(there))),
        Row(case.name, SPARK, "integers that differ", differ(whole, there)),
        Row(case.name, COLUMN, "integers that differ", differ(whole, found[COLUMN])),
    ]


def dying(deaths: str, parts: Iterator[Any]) -> Iterator[Any]:
    """Killed part of the way, at the first attempt, which a file says."""
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    for place, part in enumerate(parts):
        if place == 3 and task.attemptNumber() == 0:
            Path(deaths, str(task.partitionId())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield part


def killed(case: Case, session: Any, folder: Path) -> list[Row]:
    """How many integers differ where every partition is lost once."""
    with tempfile.TemporaryDirectory() as deaths:
        frame = session.read.parquet(str(folder))
        frame = frame.mapInArrow(partial(dying, deaths), "message binary")
        found = on_spark(case, frame)
        count = len(list(Path(deaths).iterdir()))
    wrong = differ(found, by_column(case, folder))
    name = f"{case.name}, workers die"
    return [
        Row(name, SPARK, "workers killed", count),
        Row(name, SPARK, "integers that differ", wrong),
    ]


def held(case: Case, session: Any, paths: list[Path]) -> Row:
    """What a worker takes while it counts one of two partitions."""
    # Other variables of the environment, other workers: these begin with nothing
    session.sparkContext.environment["DITHER_FILES"] = f"{case.name} {len(paths)}"
    frame = session.read.parquet(*map(str, paths)).coalesce(2)
    taken = partial(_taken, case.task.document)
    found = frame.mapInArrow(taken, "bytes long, messages long").collect()
    label = f"{case.name}, {sum(row.messages for row in found):,} messages"
    return Row(label, SPARK, HELD, max(row.bytes for row in found) / 1e6)


def _taken(document: bytes, parts: Iterator[Any]) -> Iterator[Any]:
    """In a worker: the most memory above what it begins with, and how many messages it
    counted.
    """
    first = pa.RecordBatch.from_pydict({"message": [b"no message"]})
    list(_count(CASES[1].task.document, None, False, iter([first])))  # loads all code
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # peak := now
    before = _memory("VmRSS")
    (found,) = _count(document, None, False, parts)
    taken = _memory("VmHWM") - before
    (data,) = found.column(0).to_pylist()
    counted = len(local.Task.from_document(document).read_tally(data))
    yield pa.RecordBatch.from_pydict({"bytes": [taken], "messages": [counted]})


def _memory(line: str) -> int:
    """Bytes, as the kernel counts them for this process."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(text.partition(f"{line}:")[2].split()[0])


def estimate(case: Case) -> float:
    """MB of eight tallies and four Arrow batches of 10,000 messages."""
    tally = 8 * case.task.oracle.cells * max(len(case.task.strata), 1)
    row = HEADER + case.task.oracle.record + 8
    return (8 * tally + 4 * 10_000 * row) / 1e6


def goals(rows: list[Row]) -> tuple[Goal, ...]:
    main = CASES[0]
    wrong = [row.value or 0 for row in rows if row.metric == "integers that differ"]
    few, many, large = (row.value or 0 for row in rows if row.metric == HELD)
    times = {row.case: row.value for row in rows if row.metric == TIMES}
    return (
        at_most("integers that differ between Spark and one process", 0, sum(wrong)),
        at_least(f"{main.name}, {SPARK}, {TIMES}", 2, times[main.name]),
        at_most(
            "MB a worker takes for all messages, over a tenth of them", 1.2, many / few
        ),
        at_most(f"{LARGE.name}, {HELD}", estimate(LARGE), large),
    )


def run(messages: int = N, repeats: int = REPEATS) -> Report:
    from dither.query.engines.spark.sessions import start

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
    session = start(MASTER, **{"spark.driver.memory": "2g"})
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        for number, case in enumerate(CASES):
            folder = Path(place) / str(number)
            make(case, folder, messages * case.messages // N)
            rows += measure(case, session, folder, repeats)
        rows += killed(CASES[1], session, Path(place) / "1")
        paths = sorted((Path(place) / "0").iterdir())
        rows.append(held(CASES[0], session, paths[: max(len(paths) // 10, 2)]))
        rows.append(held(CASES[0], session, paths))
        make(LARGE, Path(place) / "large", messages * LARGE.messages // N)
        paths = sorted((Path(place) / "large").iterdir())
        rows.append(held(LARGE, session, paths))
    return Report(
        tuple(rows),
        goals(rows),
        NOTES,
        versions("dither", "numpy", "pyarrow", "pyspark"),
    )
