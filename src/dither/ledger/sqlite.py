"""A book in a SQLite file, or in memory for one process."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from dither.errors import LedgerError
from dither.ledger.store import APPEND, APPLICATION, LAST, SPEND, Run, Units, schema_of
from dither.ledger.wire import canonical, digest

__all__ = ["SQLiteStore", "copy_book", "discard", "put_in_place"]

PATIENCE = 60.0  # seconds to wait for other writers
FAULTS = (sqlite3.Error, UnicodeDecodeError)  # the latter where a damaged book makes even the error unreadable
INHERITED: list[sqlite3.Connection] = []  # a forked process must not close these: that could undo its parent's writing


class SQLiteStore:
    """One file in write-ahead mode with full synchronisation: a commit is on the disk when it returns."""

    extras: tuple[str, ...] = ()
    key = "INTEGER"  # the row's own number, which needs no index beside the table

    def __init__(self, place: str) -> None:
        if not place.strip():
            raise LedgerError("the path of the book is empty; pass a file such as book.db")
        self.memory = place == ":memory:"
        self.place = "this process only" if self.memory else place
        # Once and for all: a later chdir, or a link, must not lead to another book or another note.
        self._path = Path(place if self.memory else os.path.realpath(place))
        self._beside = f"{self._path}-anchor"
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._active = False
        self._notes: int | None = None
        self._connection: sqlite3.Connection | None = _open(str(self._path), self.memory)
        self._file = self._identity()
        if self._file and self._file[2] != 1:
            self.close()
            raise LedgerError(
                f"{place} has several names (hard links), which SQLite cannot keep apart; use one of them"
            )

    def _identity(self) -> tuple[int, int, int] | None:
        if self.memory:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return 0, 0, 0
        return found.st_dev, found.st_ino, found.st_nlink

    def _enter(self, connection: sqlite3.Connection) -> None:
        """Nothing is done inside another transaction, nor on a file that is no longer the one that was opened."""
        if self._active:
            raise LedgerError("a transaction of this book is under way in this thread; finish it first")
        if connection.in_transaction:  # left open by an interrupt
            connection.execute("ROLLBACK")
        if self._identity() != self._file:
            raise LedgerError(f"{self.place} was moved, removed or replaced while it was open; open it again")

    def _connected(self) -> sqlite3.Connection:
        """The connection of this process; a forked one opens its own, for SQLite's locks do not survive a fork."""
        if self._connection is None:
            raise LedgerError(f"the book is closed ({self.place}); open it again with Ledger.open")
        if self._pid != os.getpid():
            if self.memory:
                raise LedgerError("this budget belongs to the process that made it; a forked one cannot spend it again")
            INHERITED.append(self._connection)
            self._pid, self._lock, self._active = os.getpid(), threading.RLock(), False
            self._connection = _open(str(self._path), self.memory)
        return self._connection

    def writing(self) -> AbstractContextManager[Run]:
        return self._transaction("BEGIN IMMEDIATE")

    def reading(self) -> AbstractContextManager[Run]:
        return self._transaction("BEGIN")

    def charge(
        self, account: str, by: str | None, units: Units, time: str, body: Mapping[str, Any]
    ) -> tuple[int, str, str] | None:
        """The ordinary way without its detours: beside a commit to a fast disk, Python's own time counts."""
        if by is not None:
            return None
        text = canonical(body)
        connection = self._connected()
        with self._lock:
            self._enter(connection)
            try:
                return _charge(connection.execute, account, units, time, text)
            except FAULTS as error:
                _undo(connection)
                raise LedgerError(_explain(error, self.place)) from error
            except BaseException:
                _undo(connection)
                raise

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Run]:
        connection = self._connected()
        with self._lock:
            self._enter(connection)
            self._active = True
            try:
                connection.execute(begin)
                yield _runner(connection)
                connection.execute("COMMIT")
            except FAULTS as error:
                _undo(connection)
                raise LedgerError(_explain(error, self.place)) from error
            except BaseException:
                _undo(connection)
                raise
            finally:
                self._active = False

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
            return schema_of(connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchall(), self.place)
        except FAULTS as error:
            raise LedgerError(_explain(error, self.place)) from error

    def anchor(self) -> tuple[int, str] | None:
        beside = Path(self._beside)
        if self.memory or not beside.exists():
            return None
        seq, _, digest = beside.read_text().partition("\n")[0].partition(" ")
        return (int(seq), digest) if seq.isdigit() else None

    def note(self, seq: int, digest: str) -> None:
        """Beside the file, and not forced to the disk: it may lag behind the book, but is never ahead of it.

        Written over the last note, which is as long: a file that is emptied first is forced to the disk by ext4.
        """
        if self.memory:
            return
        with suppress(OSError):
            if self._notes is None:
                self._notes = os.open(self._beside, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.pwrite(self._notes, f"{seq:020d} {digest}\n".encode(), 0)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._notes is not None:
                os.close(self._notes)
                self._notes = None


def _charge(
    execute: Callable[..., sqlite3.Cursor], account: str, units: Units, time: str, text: str
) -> tuple[int, str, str] | None:
    execute("BEGIN IMMEDIATE")
    pure, loss, delta, impure = units
    if execute(SPEND, (*units, account, impure, pure, loss, delta)).rowcount != 1:
        execute("ROLLBACK")
        return None
    last, latest, previous = execute(LAST).fetchone()
    seq, when = last + 1, max(time, latest)
    line = digest(previous, seq, when, "charge", account, text)
    execute(APPEND, (seq, when, "charge", account, text, line))
    execute("COMMIT")
    return seq, when, line


def _open(place: str, memory: bool) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(place, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        if not memory:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except FAULTS as error:
        raise LedgerError(_explain(error, place)) from error
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead mode. SQLite waits for other writers by itself, but not for others that switch too."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def copy_book(source: str, target: str) -> None:
    """A consistent copy of a book that may be in use."""
    if not Path(source).exists():
        raise LedgerError(f"there is no book at {source}")
    try:
        with sqlite3.connect(source) as old, sqlite3.connect(target) as new:
            old.backup(new)
        old.close()
        new.close()
    except FAULTS as error:
        raise LedgerError(_explain(error, source)) from error


def discard(place: str) -> None:
    """Remove what an earlier, interrupted restoring left."""
    for name in (place, f"{place}-wal", f"{place}-shm", f"{place}-anchor"):
        Path(name).unlink(missing_ok=True)


def put_in_place(aside: str, place: str) -> None:
    """Give a finished, closed book its name, in one step that fails if the name is taken."""
    with Path(aside).open("rb") as book:
        os.fsync(book.fileno())
    try:
        os.link(aside, place)
    except OSError as error:
        raise LedgerError(f"{place} could not be put in place: {error.strerror}") from error
    discard(aside)


def _runner(connection: sqlite3.Connection) -> Run:
    def run(sql: str, parameters: Sequence[Any] = ()) -> Any:
        cursor = connection.execute(sql, parameters)
        return cursor.fetchall() if cursor.description is not None else cursor.rowcount

    return run


def _undo(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _explain(error: Exception, place: str) -> str:
    text = str(error)
    for sign, words in (
        ("locked", f"{place} is in use by another process that does not let go; try again when it is done"),
        ("readonly", f"{place} cannot be written; give this user the right to write the file and its folder"),
        ("not a database", f"{place} is not a book; choose another file"),
        ("unable to open", f"{place} cannot be opened; does its folder exist, and may this user write there?"),
        ("full", f"there is no room left to write {place}; nothing was spent, make room and try again"),
        ("codec", f"{place} is damaged; restore it from a copy with `Ledger.restore`"),
        ("malformed", f"{place} is damaged; restore it from a copy with `Ledger.restore`"),
    ):
        if sign in text:
            return words
    return f"{place} could not be used: {text}; nothing was spent"
