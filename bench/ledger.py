"""Durable charges per second, one process and eight, beside a bare INSERT and commit on
the same disk.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.harness import Report, Row, at_least, at_most, cpu_seconds, versions
from dither.ledger import Account, Ledger, verify
from dither.privacy import PureDP
from dither.progress import working
from tests.ledger.crash import campaign
from tests.ledger.server import Server, serving

REPEATS = 15
MEMORY = Path("/dev/shm")
"""A file system in memory, where an fsync takes no time."""
CHARGES = {1: 200, 8: 50}
"""For each number of processes, how many charges each of them makes in one measurement.
"""
WARM_UP = 20
KILLS, CAMPAIGNS = 500, 10

FSYNC = "fsync of 4 KiB"
RATE, SHARE = "durable commits per second", "share of the bare rate"

NOTES = (
    "Wall time, not CPU time: a durable commit mostly waits. Systems take turns. A "
    "share is that of one turn; its median, smallest and largest over turns are shown, "
    "and the median of each rate.",
    "The share depends on how long the disk takes to confirm a commit, so it is measured "
    f"in two places: in memory ({MEMORY}), where that takes no time and the share is "
    "smallest, and on the disk of temporary files. How long an fsync takes is measured "
    "before every turn.",
    "The CPU time of a commit is that of the committing process, without the database "
    "server.",
    "Bare: one INSERT of a line as long as a charge's, without a "
    "key, in autocommit; WAL and synchronous=FULL, or "
    "synchronous_commit=on; its processes share nothing but the table.",
    "Charges of eight processes go to one account, so they happen one after the other.",
)

CRASH_NOTES = (
    "A release without a charge, an overspent account, a log that "
    "does not verify or an account that no longer works "
    "ends the run without a result.",
    "In every other SQLite campaign files are handled too: copies "
    "and backups of the open book, other processes that "
    "look, a book that is lost and restored after every tenth kill.",
    "Unreleased: charged, and killed before the answer was written; "
    "what it costs never to answer uncharged.",
)

GROWTH_NOTES = (
    "CPU time of one call in this process. The charges were made "
    "without waiting for the disk, which only building the "
    "book needs.",
    "Verify reads from the last verified mark on; `whole` reads all lines.",
)
SIZES = (1_000, 10_000, 100_000)

Work = Callable[[int], None]
Prepare = Callable[[], Work]
TABLE = (
    "CREATE TABLE bare (seq BIGINT, time TEXT, kind TEXT, account "
    "TEXT, body TEXT, hash TEXT)"
)


def line(place: str) -> tuple[Any, ...]:
    """A line of the log, as it is in a book."""
    with Ledger.open(place) as book:
        book.account("clinic", epsilon=1e9).charge(PureDP(1))
        with book.store.reading() as run:
            return tuple(
                run(
                    "SELECT seq, time, kind, account, body, hash FROM log ORDER BY "
                    "seq DESC LIMIT 1"
                )[0]
            )


def charging(place: str) -> Work:
    account = Ledger.open(place).account("clinic")

    one = PureDP(1)

    def work(times: int) -> None:
        for _ in range(times):
            account.charge(one)

    return work


def bare_sqlite(place: str, values: tuple[Any, ...]) -> Work:
    connection = sqlite3.connect(place, timeout=60, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")

    def work(times: int) -> None:
        for _ in range(times):
            connection.execute("INSERT INTO bare VALUES (?, ?, ?, ?, ?, ?)", values)

    return work


def bare_postgres(place: str, values: tuple[Any, ...]) -> Work:
    import psycopg

    connection = psycopg.connect(place, autocommit=True)
    connection.execute("SET synchronous_commit = on")

    def work(times: int) -> None:
        for _ in range(times):
            connection.execute(
                "INSERT INTO bare VALUES (%s, %s, %s, %s, %s, %s)", values
            )

    return work


def per_second(prepare: Prepare, processes: int) -> float:
    """How much work forked processes do together in a second, from the first that
    starts to the last that ends.
    """
    (started, start), (ended, end) = os.pipe(), os.pipe()
    each = CHARGES[processes]
    children = [
        fork(partial(measured, prepare, each, started, start, end))
        for _ in range(processes)
    ]
    os.close(end)
    for _ in range(processes):
        os.read(ended, 1)
    began = time.perf_counter()
    os.write(start, b"." * processes)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    took = time.perf_counter() - began
    for descriptor in (started, start, ended):
        os.close(descriptor)
    if any(codes):
        raise RuntimeError("a measured process failed")
    return processes * each / took


def fork(call: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            call()
            code = 0
        finally:
            os._exit(code)
    return child


def measured(prepare: Prepare, times: int, started: int, start: int, end: int) -> None:
    os.close(start)
    work = prepare()
    work(WARM_UP)
    os.write(end, b".")
    os.read(started, 1)
    work(times)


@contextmanager
def places(server: Server) -> Iterator[dict[str, dict[str, Prepare]]]:
    """For each backend, what is measured."""
    with tempfile.TemporaryDirectory(prefix="dither-bench-") as folder:
        book, bare = str(Path(folder) / "book.db"), str(Path(folder) / "bare.db")
        shared, other = server.database(), server.database()
        for place in (book, shared):
            with Ledger.open(place) as opened:
                opened.account("clinic", epsilon=1e9)
        with closing(sqlite3.connect(bare)) as connection:
            connection.execute(TABLE)
        create_bare(other)
        yield {
            "SQLite": {
                "dither": partial(charging, book),
                "bare": partial(bare_sqlite, bare, line(book)),
            },
            "PostgreSQL": {
                "dither": partial(charging, shared),
                "bare": partial(bare_postgres, other, line(shared)),
            },
        }


def create_bare(address: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(TABLE)


def fsync_microseconds(folder: str) -> float:
    """How long the disk takes to confirm 4 KiB; a durable commit takes at least that."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        took = []
        for _ in range(40):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            took.append(time.perf_counter() - began)
    return 1e6 * median(took)


def cpu_microseconds(prepare: Prepare) -> float:
    """The CPU time of one durable commit in this process."""
    work = prepare()
    work(WARM_UP)
    times = CHARGES[1]
    return 1e6 * cpu_seconds(lambda: work(times)) / times


def spread(
    case: str, system: str, metric: str, values: list[float], digits: int = 4
) -> Iterator[Row]:
    """The median, the smallest and the largest of some values."""
    figures = (("", median), (", smallest", min), (", largest", max))
    for suffix, figure in figures:
        value = float(f"{figure(values):.{digits}g}")
        yield Row(case, system, f"{metric}{suffix}", value)


def compared(
    case: str, systems: dict[str, Prepare], processes: int, waits: list[float]
) -> Iterator[Row]:
    """Rates of charges and of bare commits in turns, and what one is of the other."""
    rates: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(REPEATS):
        waits.append(fsync_microseconds(tempfile.gettempdir()))
        for name, prepare in systems.items():
            rates[name].append(per_second(prepare, processes))
    shares = [
        mine / bare for mine, bare in zip(rates["dither"], rates["bare"], strict=True)
    ]
    for name, found in rates.items():
        yield Row(case, name, RATE, float(f"{median(found):.4g}"))
    yield from spread(case, "dither", SHARE, shares)
    yield Row(case, "both", "processes", processes)
    yield Row(case, "both", "commits of each process in a turn", CHARGES[processes])
    yield Row(case, "both", "turns", REPEATS)


@contextmanager
def temporary(folder: Path | None) -> Iterator[None]:
    """Temporary files in a folder; where they usually are, if it is None."""
    before, tempfile.tempdir = tempfile.tempdir, None if folder is None else str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def measured_in(where: str) -> Iterator[Row]:
    """Rates of both backends, and how long an fsync takes there."""
    waits: list[float] = []
    with serving() as server, places(server) as backends:
        for backend, systems in backends.items():
            for processes in CHARGES:
                many = f"{processes} process{'es' if processes > 1 else ''}"
                case = f"{backend}, {where}, {many}"
                yield from compared(case, systems, processes, waits)
            for name, prepare in systems.items():
                used = [cpu_microseconds(prepare) for _ in range(9)]
                case, metric = f"{backend}, {where}", "CPU-microseconds of a commit"
                yield Row(case, name, metric, float(f"{median(used):.4g}"))
    yield from spread(where, FSYNC, "microseconds", waits)


def run() -> Report:
    rows: list[Row] = []
    if MEMORY.is_dir():
        with temporary(MEMORY):
            rows += measured_in("in memory")
    with temporary(None):
        rows += measured_in("on disk")
    goals = tuple(
        at_most(f"{row.case}: CPU-microseconds of a charge", 1_000, row.value)
        for row in rows
        if row.system == "dither" and row.metric == "CPU-microseconds of a commit"
    )
    return Report(
        tuple(rows),
        goals,
        NOTES,
        versions("dither", "psycopg") | {"SQLite": sqlite3.sqlite_version},
    )


def growth() -> Report:
    """What looking at a book costs when it has grown."""
    rows, found = [], dict[str, list[float]]()
    with (
        tempfile.TemporaryDirectory(prefix="dither-growth-") as folder,
        Ledger.open(f"{folder}/book.db") as book,
    ):
        account = book.account("clinic", epsilon=1e9)
        book.store._connected().execute("PRAGMA synchronous = OFF")  # type: ignore[attr-defined]
        made = 0
        for size in SIZES:
            for _ in range(size - made):
                account.settle(
                    account.charge(PureDP(1), by="ana", purpose="count of visits")
                )
            made = size
            for name, look in looks(book, account).items():
                seconds = cpu_seconds(look)
                found.setdefault(name, []).append(seconds)
                rows.append(
                    Row(f"{size:,} charges", name, "CPU milliseconds", 1000 * seconds)
                )
    goals = [
        at_most(
            f"{name}: growth from {SIZES[0]:,} to {SIZES[-1]:,} charges",
            3,
            found[name][-1] / found[name][0],
        )
        for name in (
            "print(account)",
            "burn-down",
            "last 100 lines",
            "verify from the mark",
        )
    ]
    return Report(
        tuple(rows),
        tuple(goals),
        GROWTH_NOTES,
        versions("dither") | {"SQLite": sqlite3.sqlite_version},
    )


def looks(book: Ledger, account: Account) -> dict[str, Callable[[], object]]:
    """In this order: the first verification leaves the mark from which the next one
    starts.
    """

    def again() -> None:
        for _ in range(100):
            account.charge(PureDP(1))
        verify(book)

    return {
        "print(account)": lambda: str(account),
        "burn-down": account.burn_down,
        "last 100 lines": lambda: list(book.entries(last=100)),
        "verify whole": lambda: verify(book, whole=True),
        "verify from the mark": again,
    }


def crash() -> Report:
    """Kill a charging process 5,000 times on each backend; any fault raises."""
    rows, goals = [], []
    backends = ("SQLite", "PostgreSQL")
    with (
        serving() as server,
        tempfile.TemporaryDirectory(prefix="dither-crash-") as name,
        working("crash campaigns") as tell,
    ):
        for turn, backend in enumerate(backends):
            found = []
            for number in range(CAMPAIGNS):
                tell(turn * CAMPAIGNS + number, len(backends) * CAMPAIGNS)
                files = backend == "SQLite" and number % 2 == 1
                place = (
                    f"{name}/{number}/book.db"
                    if backend == "SQLite"
                    else server.database()
                )
                Path(f"{name}/{number}").mkdir(exist_ok=True)
                found.append(
                    campaign(
                        place, Path(name) / f"{backend}{number}", KILLS, files=files
                    )
                )
            rows += [
                Row(
                    f"{backend}, SIGKILL at random moments",
                    "dither",
                    what,
                    sum(getattr(one, what) for one in found),
                )
                for what in ("kills", "charges", "releases", "unreleased", "restores")
            ]
            goals.append(
                at_least(
                    f"{backend}: kills survived", 5_000, sum(one.kills for one in found)
                )
            )
    return Report(tuple(rows), tuple(goals), CRASH_NOTES, versions("dither"))
