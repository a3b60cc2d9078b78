"""The connection of a process to a book in SQLite, or to what another room keeps there:
how it opens, forks and closes.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, ClassVar

from dither.errors import LedgerError
from dither.ledger.guards import Guard
from dither.ledger.kind import BOOK, Kind
from dither.ledger.locks import check_filesystem
from dither.ledger.note import Note, home_of
from dither.ledger.sqlite_file import BESIDE, FAULTS, PATIENCE, explain

__all__ = ["Last", "SQLiteConnection"]

Last = tuple[int, str, str]
"""The number, time and hash of the last line."""


class SQLiteConnection:
    """An open file, or memory. The lock of its note keeps others from changing it
    meanwhile.
    """

    kind: ClassVar[Kind] = BOOK

    def __init__(self, place: str) -> None:
        noun = self.kind.noun
        if not place.strip():
            raise LedgerError(
                f"the path of the {noun} is empty; pass a file such as {noun}.db"
            )
        self.memory = place == ":memory:"
        self.place, self.latest = "this process only" if self.memory else place, ""
        # Once and for all: a later chdir, or a link, must not lead to another book or
        # another note.
        self._path = Path(place if self.memory else os.path.realpath(place))
        if self._path.is_dir():
            raise LedgerError(f"{place} is a folder; name a file for the {noun}")
        self._near = (
            [] if self.memory else [Path(f"{self._path}{name}") for name in BESIDE]
        )
        self._note = None if self.memory else Note(f"{self._path}-note", place)
        self._lock = threading.RLock()
        self._active = False
        self._last: Last | None = None
        self._seen = b""  # the note, as it was when `_last` was read
        self._book = ""
        self._guard: Guard | None = None
        self._far: int | None = (
            None  # what this machine keeps of the book, away from it
        )
        # The last line that this process has seen, and its hash; it never goes back
        self._highest = (
            0,
            "",
        )
        self._here = ("", 0)  # which machine, and which file on it
        self._connection: sqlite3.Connection | None = None
        try:
            with self._alone():
                self._connect()
        except BaseException:
            self._let_go()
            raise
        _STORES.add(self)

    def _connect(self) -> None:
        if not self.memory:
            check_filesystem(self._path)
            self._check_names()
        self._pid = os.getpid()
        self._connection = _open(str(self._path), self.memory, self.kind)
        # nobody closes a budget that is merely dropped, and Python 3.13 would warn of
        # it
        if self.memory:
            weakref.finalize(self, self._connection.close).atexit = False
        self._file, self._beside = self._identity(), self._neighbours()
        if self._file is not None:
            self._here = (home_of(self._path.parent), self._file[1])
            self._guard = Guard(self._path)

    def _check_names(self) -> None:
        with suppress(FileNotFoundError):
            if self._path.stat().st_nlink != 1:
                raise LedgerError(
                    f"{self.place} has several names (hard links), which is not safe with "
                    "SQLite; remove all but one of them"
                )

    def _alone(self) -> AbstractContextManager[None]:
        """The lock of the note: no other process, and no other thread, changes the book
        meanwhile.
        """
        return nullcontext() if self._note is None else self._note.locked()

    def alone(self) -> AbstractContextManager[None]:
        self._connected()
        return self._alone()

    def _identity(self) -> tuple[int, int, int] | None:
        if self.memory:
            return None
        try:
            found = self._path.stat()
        except OSError:
            return 0, 0, 0
        return found.st_dev, found.st_ino, found.st_nlink

    def _neighbours(self) -> tuple[int, ...]:
        """The inodes of the files that SQLite keeps beside the book. While a connection
        is open, the system gives these numbers to no other file.
        """
        return tuple(map(_inode, self._near))

    def _enter(self, connection: sqlite3.Connection) -> None:
        """Refuse a transaction inside another one, and files that are no longer those
        that were opened.
        """
        if self._active:
            raise LedgerError(
                f"a transaction of this {self.kind.noun} is under way in this thread; "
                "finish it first"
            )
        if connection.in_transaction:  # left open by an interrupt
            connection.execute("ROLLBACK")
        if self._identity() != self._file:
            raise LedgerError(
                f"{self.place} was moved, removed or replaced while it was open; "
                "open it again"
            )
        if self._neighbours() != self._beside:
            raise LedgerError(
                f"{self.place}-wal or {self.place}-shm was removed while the "
                f"{self.kind.noun} was open, and {self.kind.nothing}; end this process, "
                f"and open the {self.kind.noun} again"
            )

    def _connected(self) -> sqlite3.Connection:
        """The connection of this process; a forked one opens its own, for SQLite's
        locks do not survive a fork.
        """
        if self._connection is None:
            raise LedgerError(
                f"the {self.kind.noun} is closed ({self.place}); open it again with "
                f"{self.kind.reopen}"
            )
        if self._pid != os.getpid():
            if self.memory:
                raise LedgerError(
                    "a budget in memory belongs to the process that made it, not to a "
                    "forked one; use a ledger file, or charge in the first process"
                )
            self._after_fork(self._connection)
        return self._connection

    def _after_fork(self, inherited: sqlite3.Connection) -> None:
        _never_close(inherited)
        self._lock, self._active, self._last, self._far = (
            threading.RLock(),
            False,
            None,
            None,
        )
        with self._alone():
            self._connect()

    def close(self) -> None:
        """Close the connection. SQLite removes its log where nobody else has the book
        open, so nobody may write meanwhile.
        """
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._pid != os.getpid():
            _never_close(connection)
            return
        try:
            with self._lock, self._alone():
                self._close(connection)
        finally:
            self._let_go()

    def _close(self, connection: sqlite3.Connection) -> None:
        if self._note is None:
            connection.close()
            return
        if self._guard is not None:
            self._guard.release()
        if self._neighbours() != self._beside and self._note.raw() != self._seen:
            # Somebody went on without the files that this connection has: tidying up
            # would undo what they wrote.
            _never_close(connection)
        else:
            connection.close()

    def _let_go(self) -> None:
        if self._guard is not None:
            self._guard.close()
            self._guard = None
        if self._far is not None:
            os.close(self._far)
            self._far = None
        if self._note is not None:
            self._note.discard_if_empty()
            self._note.close()


_STORES: weakref.WeakSet[SQLiteConnection] = weakref.WeakSet()
_FORKING: list[Any] = []


def _before_fork() -> None:
    """Make sure that no transaction is open when the process forks: SQLite in the child
    would treat it as open permanently.
    """
    for store in list(_STORES):
        store._lock.acquire()
        _FORKING.append(store._lock)


def _after_fork() -> None:
    while _FORKING:
        _FORKING.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _never_close(connection: sqlite3.Connection) -> None:
    """Keep a connection open until the process ends, and even then: closing it would
    write to the book's files.
    """
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _open(place: str, memory: bool, kind: Kind) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            place, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        if not memory:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            # Where fsync leaves data in the disk's cache (macOS)
            connection.execute("PRAGMA fullfsync = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        # A header that SQLite takes for another mode's
        if not memory and not Path(f"{place}-shm").exists():
            raise sqlite3.OperationalError(
                "malformed: the file is not in write-ahead mode"
            )
    except FAULTS as error:
        raise LedgerError(explain(error, place, kind)) from error
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead mode. SQLite waits for other writers by itself, but not for
    others that switch too.
    """
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
