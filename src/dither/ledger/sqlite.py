"""A book in a SQLite file, or in memory for one process."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dither.errors import LedgerError
from dither.ledger.store import APPLICATION, Run

__all__ = ["SQLiteStore", "copy_book"]

PATIENCE = 60.0  # seconds to wait for other writers


class SQLiteStore:
    """One file in write-ahead mode with full synchronisation: a commit is on the disk when it returns."""

    def __init__(self, place: str) -> None:
        self.memory = place == ":memory:"
        self.place = "this process only" if self.memory else place
        self._path = Path(place)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._connected()

    def _connected(self) -> sqlite3.Connection:
        """The connection of this process; a forked one opens its own, for SQLite's locks do not survive a fork."""
        if self._pid != os.getpid():
            if self.memory:
                raise LedgerError("this budget belongs to the process that made it; a forked one cannot spend it again")
            self._pid, self._lock, self._connection = os.getpid(), threading.RLock(), None
        if self._connection is None:
            self._connection = _open(str(self._path) if not self.memory else ":memory:", self.memory)
        return self._connection

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._transaction("BEGIN IMMEDIATE") as run:
            yield run

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._transaction("BEGIN") as run:
            yield run

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Run]:
        connection = self._connected()
        with self._lock:
            try:
                connection.execute(begin)
                yield _runner(connection)
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                _undo(connection)
                raise LedgerError(_explain(error, self.place)) from error
            except BaseException:
                _undo(connection)
                raise

    def version(self) -> int | None:
        connection = self._connected()
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
            if tables and (mark != APPLICATION or "meta" not in tables):
                raise LedgerError(f"{self.place} is a database of something else; choose another file for the book")
            if not tables:
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                return None
            return int(connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()[0])
        except sqlite3.Error as error:
            raise LedgerError(_explain(error, self.place)) from error

    @property
    def _beside(self) -> Path:
        return self._path.with_name(self._path.name + "-anchor")

    def anchor(self) -> tuple[int, str] | None:
        if self.memory or not self._beside.exists():
            return None
        seq, _, digest = self._beside.read_text().partition(" ")
        return (int(seq), digest.strip()) if seq.isdigit() else None

    def note(self, seq: int, digest: str) -> None:
        """Beside the file, and not forced to the disk: it may lag behind the book, but is never ahead of it."""
        if not self.memory:
            with suppress(OSError):
                self._beside.write_text(f"{seq:020d} {digest}\n")

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _open(place: str, memory: bool) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(place, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        if not memory:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise LedgerError(_explain(error, place)) from error
    return connection


def copy_book(source: str, target: str) -> None:
    """A consistent copy of a book that may be in use."""
    if not Path(source).exists():
        raise LedgerError(f"there is no book at {source}")
    try:
        with sqlite3.connect(source) as old, sqlite3.connect(target) as new:
            old.backup(new)
        old.close()
        new.close()
    except sqlite3.Error as error:
        raise LedgerError(_explain(error, source)) from error


def _runner(connection: sqlite3.Connection) -> Run:
    def run(sql: str, parameters: Sequence[Any] = ()) -> Any:
        cursor = connection.execute(sql, parameters)
        return cursor.fetchall() if cursor.description is not None else cursor.rowcount

    return run


def _undo(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _explain(error: sqlite3.Error, place: str) -> str:
    text = str(error)
    for sign, words in (
        ("locked", f"{place} is in use by another process that does not let go; try again when it is done"),
        ("readonly", f"{place} cannot be written; give this user the right to write the file and its folder"),
        ("not a database", f"{place} is not a book; choose another file"),
        ("unable to open", f"{place} cannot be opened; does its folder exist, and may this user write there?"),
        ("full", f"there is no room left to write {place}; nothing was spent, make room and try again"),
        ("malformed", f"{place} is damaged; restore it from a copy with `Ledger.restore`"),
    ):
        if sign in text:
            return words
    return f"{place} could not be used: {text}; nothing was spent"
