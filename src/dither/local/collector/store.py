"""Where tallies are kept: a SQLite file or a PostgreSQL schema of their own, opened,
locked and noted as a book is, and never inside one.

What is kept has no time finer than a day, no address and no content: tasks, relays,
tallies, and the ids of parcels until their period closes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dither.errors import CollectorError, LedgerError
from dither.ledger.kind import Kind
from dither.ledger.note import Doubt
from dither.ledger.postgres_noted import NotedPostgres
from dither.ledger.sqlite_file import FAULTS, PATIENCE, explain
from dither.ledger.sqlite_noted import NotedSQLite
from dither.ledger.store import META, Noted, Run, version_of
from dither.noise import token

__all__ = ["TALLIES", "begin", "check_there", "connect", "explained", "find", "nothing"]

VERSION = 1
SCHEMA = "dither_collector"

# A tally has no log, and needs none: a head that is drawn when the store is begun, and
# a number that grows with every change. A store whose number is below the noted one is
# an older copy; one with another head is another store.
TALLIES = Kind(
    noun="collector",
    nothing="nothing was counted",
    mend="restore it from a backup",
    reopen="Collector",
    application=0x64697463,  # "ditc"
    table="lineage",
    last="SELECT seq, '', head FROM lineage",
    line="SELECT head FROM lineage WHERE seq >= ?",
    first="SELECT head FROM lineage",
    schema=SCHEMA,
)

TABLES = (
    "CREATE TABLE lineage (seq BIGINT NOT NULL, head TEXT NOT NULL, facts BIGINT NOT "
    "NULL)",
    """CREATE TABLE task (
        tag {bytes} PRIMARY KEY, name TEXT NOT NULL, version BIGINT NOT NULL,
        signed TEXT NOT NULL, state TEXT NOT NULL)""",
    """CREATE TABLE relay (
        number {key} PRIMARY KEY, name TEXT NOT NULL UNIQUE, hash TEXT NOT NULL,
        quota BIGINT NOT NULL, state TEXT NOT NULL)""",
    """CREATE TABLE span (
        number {key} PRIMARY KEY, task TEXT NOT NULL, first TEXT NOT NULL,
        closes TEXT NOT NULL, closed BIGINT NOT NULL, UNIQUE (task, first))""",
    # The ids of the last transactions, many in a row of their own; `seen` gets them
    # when there are many, because every id changes another page of it
    """CREATE TABLE fresh (
        number BIGINT NOT NULL, span BIGINT NOT NULL, ids {bytes} NOT NULL,
        PRIMARY KEY (number, span))""",
    # Sorted by id, so that nothing is kept of the order in which they came
    "CREATE TABLE seen (span BIGINT NOT NULL, id {bytes} NOT NULL, PRIMARY KEY (span, "
    "id)){sorted}",
    """CREATE TABLE used (
        span BIGINT NOT NULL, relay BIGINT NOT NULL, messages BIGINT NOT NULL,
        PRIMARY KEY (span, relay))""",
    """CREATE TABLE tally (
        number {key} PRIMARY KEY, tag {bytes} NOT NULL, period BIGINT NOT NULL,
        stratum BIGINT NOT NULL, span BIGINT NOT NULL, messages BIGINT NOT NULL,
        invalid BIGINT NOT NULL, UNIQUE (tag, period, stratum))""",
    """CREATE TABLE cells (
        tally BIGINT NOT NULL, chunk BIGINT NOT NULL, counts {bytes} NOT NULL,
        PRIMARY KEY (tally, chunk))""",
)


class TalliesInSQLite(NotedSQLite):
    """Tallies in a file, or in memory for one process."""

    kind = TALLIES
    extras: tuple[str, ...] = (f"PRAGMA application_id = {TALLIES.application}",)
    types = ("BLOB", " WITHOUT ROWID")

    def _connect(self) -> None:
        super()._connect()
        # Ids that were deleted are gone from the file too
        assert self._connection is not None
        self._connection.execute("PRAGMA secure_delete = ON")
        self._connection.execute("PRAGMA cache_size = -16000")  # in KiB: 16 MB

    def settle(self) -> None:
        """What was deleted is gone from the file's log too, where pages lie as they
        were before. If somebody reads just now, that has time until the next day.
        """
        connection = self._connected()
        with self._lock, self._alone():
            self._enter(connection)
            try:
                connection.execute("PRAGMA busy_timeout = 1000")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except FAULTS as error:
                raise LedgerError(explain(error, self.place, self.kind)) from error
            finally:
                connection.execute(f"PRAGMA busy_timeout = {int(PATIENCE * 1000)}")


class TalliesInPostgres(NotedPostgres):
    """Tallies in a schema of their own."""

    kind = TALLIES
    types = ("BYTEA", "")

    def settle(self) -> None:
        """The server tidies up by itself (`autovacuum`)."""


Tallies = TalliesInSQLite | TalliesInPostgres


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Faults of the store, as a collector's."""
    try:
        yield
    except Doubt as doubt:
        raise CollectorError(
            f"{place} may not be the latest copy: {doubt}; if you restored it on "
            "purpose, open it with restored=True. Messages that were counted since the "
            "copy are lost, and another copy that still collects would count messages "
            "again"
        ) from None
    except LedgerError as error:
        raise CollectorError(str(error)) from error


def connect(place: str) -> Tallies:
    """The store for a path, or for a postgresql:// address."""
    if place.startswith(("postgresql://", "postgres://")):
        return TalliesInPostgres(place)
    return TalliesInSQLite(place)


def begin(store: Noted, *, restored: bool = False) -> None:
    """Make the store ready: new, or as it is; refused where it may not be the latest."""
    with store.alone():
        version = store.version()
        _check_version(version, store.place)
        if version is not None and not restored:
            with store.reading() as run:
                if not store.doubt(run, version):
                    return
        # Alone, or the note of somebody who commits right now would be doubted
        with store.writing(anew=True) as run:
            _make_ready(store, run, restored)


def check_there(place: str) -> None:
    """Refuse a file that is not there, or that holds nothing."""
    if "://" in place:
        return
    path = Path(place)
    if not path.is_file() or not path.stat().st_size:
        raise CollectorError(nothing(place))


def nothing(place: str) -> str:
    return f"there is no collector at {place}; start one with `dither local serve`"


def find(store: Noted, *, copy: bool = False) -> None:
    """Make sure that a collector is there; one that may not be the latest is refused,
    unless it is to be read as a copy.
    """
    with store.alone():
        version = store.version()
    if version is None:
        raise LedgerError(nothing(store.place))
    _check_version(version, store.place)
    if not copy:
        begin(store)


def _check_version(version: int | None, place: str) -> None:
    if version not in (None, VERSION):
        raise LedgerError(
            f"{place} was written by another version of Dither (schema {version}); "
            "install that version"
        )


def _make_ready(store: Noted, run: Run, restored: bool) -> None:
    # Another process may have been faster: only what is seen in here counts
    _make_schema(store, run)
    run(META)
    rows = run("SELECT value FROM meta WHERE name = 'schema'")
    if not rows:
        _create(store, run)
    else:
        _check_version(version_of(rows, store.place), store.place)
    doubt = "" if restored else store.doubt(run, VERSION)
    if doubt:
        raise Doubt(doubt)
    if restored or not rows:
        # A new head: the store that this is a copy of is another one from now on
        seq, facts = (run("SELECT seq, facts FROM lineage") or [(0, 0)])[0]
        run("DELETE FROM lineage")
        run("INSERT INTO lineage VALUES (?, ?, ?)", (seq + 1, token(32), facts + 1))
    store.know(run, run(TALLIES.first)[0][0])


def _make_schema(store: Noted, run: Run) -> None:
    if isinstance(store, TalliesInPostgres) and run(
        "SELECT to_regnamespace(?) IS NULL", (SCHEMA,)
    ) == [(True,)]:
        run(f"CREATE SCHEMA {SCHEMA}")


def _create(store: Noted, run: Run) -> None:
    assert isinstance(store, TalliesInSQLite | TalliesInPostgres)
    kept, ordered = store.types
    for table in (*TABLES, *store.extras):
        run(
            table.replace("{key}", store.key)
            .replace("{bytes}", kept)
            .replace("{sorted}", ordered)
        )
    run("INSERT INTO meta (name, value) VALUES ('schema', ?)", (str(VERSION),))
