"""Durable charges per second, one process and eight, beside a bare INSERT and commit on the same disk."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench.harness import Report, Row, at_least, medians, versions
from dither.ledger import Ledger
from dither.privacy import PureDP
from tests.ledger.crash import campaign
from tests.ledger.server import Server, serving

REPEATS = 9
CHARGES = {1: 800, 8: 200}
"""For each number of processes, how many charges each of them makes in one measurement."""
WARM_UP = 20
KILLS, CAMPAIGNS = 500, 10

NOTES = (
    "Wall time, not CPU time: a durable commit mostly waits. Systems take turns; medians.",
    "Bare: one INSERT of a line as long as a charge's, without a key, in autocommit; WAL and synchronous=FULL, or "
    "synchronous_commit=on; its processes share nothing but the table.",
    "Charges of eight processes go to one account, so they happen one after the other.",
)

CRASH_NOTES = (
    "A release without a charge, an overspent account, a log that does not verify or an account that no longer works "
    "ends the run without a result.",
    "Unreleased: charged, and killed before the answer was written; what it costs never to answer uncharged.",
)

Work = Callable[[int], None]
Prepare = Callable[[], Work]
TABLE = "CREATE TABLE bare (seq BIGINT, time TEXT, kind TEXT, account TEXT, body TEXT, hash TEXT)"


def line(place: str) -> tuple[Any, ...]:
    """A line of the log, as it is in a book."""
    with Ledger.open(place) as book:
        book.account("clinic").charge(PureDP(1))
        with book.store.reading() as run:
            return tuple(run("SELECT seq, time, kind, account, body, hash FROM log ORDER BY seq DESC LIMIT 1")[0])


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
            connection.execute("INSERT INTO bare VALUES (%s, %s, %s, %s, %s, %s)", values)

    return work


def per_second(prepare: Prepare, processes: int) -> float:
    """How much work forked processes do together in a second, from the first that starts to the last that ends."""
    (started, start), (ended, end) = os.pipe(), os.pipe()
    each = CHARGES[processes]
    children = [fork(partial(measured, prepare, each, started, start, end)) for _ in range(processes)]
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
            "SQLite": {"dither": partial(charging, book), "bare": partial(bare_sqlite, bare, line(book))},
            "PostgreSQL": {"dither": partial(charging, shared), "bare": partial(bare_postgres, other, line(shared))},
        }


def create_bare(address: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(TABLE)


def run() -> Report:
    rows, goals = [], []
    with serving() as server, places(server) as backends:
        for backend, systems in backends.items():
            for processes in CHARGES:
                case = f"{backend}, {processes} process{'es' if processes > 1 else ''}"
                measures = {name: partial(per_second, prepare, processes) for name, prepare in systems.items()}
                found = medians(measures, REPEATS)
                rows += [Row(case, name, "durable commits per second", value) for name, value in found.items()]
                goals.append(at_least(f"{case}: share of the bare rate", 0.7, found["dither"] / found["bare"]))
    return Report(tuple(rows), tuple(goals), NOTES, versions("dither", "psycopg") | {"SQLite": sqlite3.sqlite_version})


def crash() -> Report:
    """Kill a charging process 5,000 times on each backend; any fault raises."""
    rows, goals = [], []
    with serving() as server, tempfile.TemporaryDirectory(prefix="dither-crash-") as name:
        for backend in ("SQLite", "PostgreSQL"):
            found = []
            for number in range(CAMPAIGNS):
                place = server.database() if backend == "PostgreSQL" else f"{name}/book{number}.db"
                found.append(campaign(place, Path(name) / f"{backend}{number}", KILLS))
            rows += [
                Row(f"{backend}, SIGKILL at random moments", "dither", what, sum(getattr(one, what) for one in found))
                for what in ("kills", "charges", "releases", "unreleased")
            ]
            goals.append(at_least(f"{backend}: kills survived", 5_000, sum(one.kills for one in found)))
    return Report(tuple(rows), tuple(goals), CRASH_NOTES, versions("dither"))
