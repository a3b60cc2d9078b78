"""A book in a SQLite file, or in memory for one process."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from dither.errors import LedgerError
from dither.ledger.entry import digest
from dither.ledger.locks import check_filesystem, hold
from dither.ledger.note import Doubt, Note, Record, home_of, same_home
from dither.ledger.store import APPEND, APPLICATION, LAST, SPEND, SPEND_BY, WAIT, Charge, Run, version_of

__all__ = ["SQLiteStore", "backup_file", "leftovers", "put_in_place"]

PATIENCE = 60.0  # seconds to wait for other writers
FAULTS = (sqlite3.Error, UnicodeDecodeError)  # the latter where a damaged book makes even the error unreadable
BESIDE = ("-wal", "-shm")  # what SQLite keeps beside the file while it is open
MISSING = "no note lies beside it: it was copied or moved, or is what is left of a book"

Last = tuple[int, str, str]
"""The number, time and hash of the last line."""


class SQLiteStore:
    """One file in write-ahead mode with full synchronisation: a commit is on the disk when it returns.

    Whoever changes it holds the lock of its note (rule R32).
    """

    extras: tuple[str, ...] = (f"PRAGMA application_id = {APPLICATION}",)
    key = "INTEGER"  # the row's own number, which needs no index beside the table

    def __init__(self, place: str) -> None:
        if not place.strip():
            raise LedgerError("the path of the book is empty; pass a file such as book.db")
        self.memory = place == ":memory:"
        self.place = "this process only" if self.memory else place
        # Once and for all: a later chdir, or a link, must not lead to another book or another note.
        self._path = Path(place if self.memory else os.path.realpath(place))
        if self._path.is_dir():
            raise LedgerError(f"{place} cannot be opened: it is a folder; name a file for the book")
        self._near = [] if self.memory else [Path(f"{self._path}{name}") for name in BESIDE]
        self._note = None if self.memory else Note(f"{self._path}-note", place)
        self._lock = threading.RLock()
        self._active = False
        self._last: Last | None = None
        self._seen = b""  # the note, as it was when `_last` was read
        self._book = ""
        self._guard: int | None = None
        self._here = ("", 0)  # which machine, and which file on it
        self._connection: sqlite3.Connection | None = None
        try:
            with self._alone():
                self._connect()
        except BaseException:
            self._let_go()
            raise

    def _connect(self) -> None:
        if not self.memory:
            check_filesystem(self._path)
            self._check_names()
        self._pid = os.getpid()
        self._connection = _open(str(self._path), self.memory)
        self._file, self._beside = self._identity(), self._neighbours()
        if self._file is not None:
            self._here = (home_of(self._path.parent), self._file[1])
            self._guard = os.open(self._path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            hold(self._guard, True)

    def _check_names(self) -> None:
        with suppress(FileNotFoundError):
            if self._path.stat().st_nlink != 1:
                raise LedgerError(
                    f"{self.place} has several names (hard links), which SQLite cannot keep apart; use one of them"
                )

    def _alone(self) -> AbstractContextManager[None]:
        """The lock of the note: no other process, and no other thread, changes the book meanwhile."""
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
        """Which files SQLite has beside the book. While a connection is open, their numbers are not given anew."""
        return tuple(map(_inode, self._near))

    def _enter(self, connection: sqlite3.Connection) -> None:
        """Nothing is done inside another transaction, nor on files that are no longer those that were opened."""
        if self._active:
            raise LedgerError("a transaction of this book is under way in this thread; finish it first")
        if connection.in_transaction:  # left open by an interrupt
            connection.execute("ROLLBACK")
        if self._identity() != self._file:
            raise LedgerError(f"{self.place} was moved, removed or replaced while it was open; open it again")
        if self._neighbours() != self._beside:
            raise LedgerError(
                f"{self.place}-wal or {self.place}-shm was removed while the book was open; nothing was spent: "
                "end this process, and open the book again"
            )

    def _connected(self) -> sqlite3.Connection:
        """The connection of this process; a forked one opens its own, for SQLite's locks do not survive a fork."""
        if self._connection is None:
            raise LedgerError(f"the book is closed ({self.place}); open it again with Ledger.open")
        if self._pid != os.getpid():
            if self.memory:
                raise LedgerError("this budget belongs to the process that made it; a forked one cannot spend it again")
            self._after_fork(self._connection)
        return self._connection

    def _after_fork(self, inherited: sqlite3.Connection) -> None:
        _never_close(inherited)
        guard, self._guard = self._guard, None
        if guard is not None:
            os.close(guard)
        self._lock, self._active, self._last = threading.RLock(), False, None
        with self._alone():
            self._connect()

    @contextmanager
    def writing(self, *, anew: bool = False) -> Iterator[Run]:
        """A transaction that is alone; `anew` also writes the note anew, whatever it said."""
        connection = self._connected()
        with self._alone(), self._lock:
            self._enter(connection)
            if not anew:
                self._check_head(connection.execute)
            self._last = None
            with self._transaction(connection, "BEGIN IMMEDIATE") as run:
                yield run
                last = run(LAST)[0]
            self._write_note(last, anew)

    @contextmanager
    def reading(self) -> Iterator[Run]:
        connection = self._connected()
        with self._lock:
            self._enter(connection)
            with self._transaction(connection, "BEGIN") as run:
                yield run

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection, begin: str) -> Iterator[Run]:
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

    def charge(self, charge: Charge) -> Last | None:
        """The ordinary way without its detours: beside a commit to a fast disk, Python's own time counts."""
        connection = self._connected()
        with self._alone(), self._lock:
            self._enter(connection)
            try:
                self._check_head(connection.execute)
                made = self._charge(connection, charge)
            except FAULTS as error:
                _undo(connection)
                raise LedgerError(_explain(error, self.place)) from error
            except BaseException:
                _undo(connection)
                raise
            if made is not None:
                self._write_note(made)
            return made

    def _charge(self, connection: sqlite3.Connection, charge: Charge) -> Last | None:
        known, self._last = self._last, None
        try:
            return _charge(connection.execute, charge, known)
        except sqlite3.IntegrityError:
            # A process was killed between its commit and its note: there is a line that the note does not know.
            _undo(connection)
            return _charge(connection.execute, charge, None)

    def _check_head(self, execute: Callable[..., sqlite3.Cursor]) -> None:
        """The line that the note names must be in the book that this process sees."""
        if self._note is None or (self._last is not None and self._note.raw() == self._seen):
            return
        self._last = None
        record = self._note.read()
        if record is None:
            raise Doubt(MISSING)
        _check_line(execute("SELECT hash FROM log WHERE seq = ?", (record.seq,)).fetchall(), record)
        self._book = record.book

    def _write_note(self, last: Last, anew: bool = False) -> None:
        """After the commit, and before anybody is told that it was granted."""
        if self._note is not None:
            record = Record(self._book, last[0], last[2], *self._here)
            self._seen = self._note.create(record) if anew else self._note.write(record)
            if anew:
                Path(f"{self._path}-anchor").unlink(missing_ok=True)
        self._last = last

    def version(self) -> int | None:
        connection = self._connected()
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
            if tables and (mark != APPLICATION or "meta" not in tables):
                raise LedgerError(f"{self.place} is a database of something else; choose another file for the book")
            if not tables:
                return None
            return version_of(connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchall(), self.place)
        except FAULTS as error:
            raise LedgerError(_explain(error, self.place)) from error

    def doubt(self, run: Run, version: int | None) -> str:
        if self._note is None:
            return ""
        try:
            with self._alone():
                self._compare(run, self._note.read() or self._older_note(version))
        except Doubt as doubt:
            return str(doubt)
        return ""

    def _compare(self, run: Run, record: Record | None) -> None:
        rows = run("SELECT hash FROM log WHERE seq = 1")
        if record is None:
            if rows:
                raise Doubt(MISSING)
            return
        if not rows:
            raise LedgerError(
                f"a book with {record.seq} lines was at {self.place}: restore it from a backup with `dither restore`, "
                f"or remove {self.place}-note if there never was one"
            )
        _check_line(run("SELECT hash FROM log WHERE seq = ?", (record.seq,)), record)
        if record.book and record.book != rows[0][0][:32]:
            raise Doubt("the note beside it is of another book")
        home, inode = self._here
        if record.home and not (record.inode == inode and same_home(record.home, home)):
            raise Doubt("it was copied here, or comes from another machine")
        self._book = rows[0][0][:32]

    def _older_note(self, version: int | None) -> Record | None:
        """What books of the first schema had beside them: a head, and nothing else."""
        beside = Path(f"{self._path}-anchor")
        if version not in (1, None) or not beside.exists():
            return None
        seq, _, head = beside.read_text(errors="replace").partition("\n")[0].partition(" ")
        return Record("", int(seq), head, "", 0) if seq.isdecimal() else None

    def know(self, run: Run, first: str) -> None:  # noqa: ARG002 - other stores keep it
        self._book = first[:32]

    def backup(self, target: str) -> None:
        """A copy of the book at one moment, on the disk when this returns."""
        connection = self._connected()
        with self._lock:
            self._enter(connection)
            _backup(connection, target)

    def close(self) -> None:
        """Let go. SQLite tidies up where nobody else has the book open, so nobody may write meanwhile."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._pid != os.getpid():
            _never_close(connection)
            return
        try:
            with self._alone(), self._lock:
                self._close(connection)
        finally:
            self._let_go()

    def _close(self, connection: sqlite3.Connection) -> None:
        if self._note is None:
            connection.close()
            return
        if self._guard is not None:
            hold(self._guard, False)
        if self._neighbours() != self._beside and self._note.raw() != self._seen:
            # Somebody went on without the files that this connection has: tidying up would undo what they wrote.
            _never_close(connection)
        else:
            connection.close()

    def __del__(self) -> None:
        # A book that nobody closed: SQLite closes its own files, and finds the book in use, so it tidies nothing up.
        if getattr(self, "_guard", None) is not None and self._pid == os.getpid():
            with suppress(Exception):
                self._connection = None
                os.close(self._guard)  # type: ignore[arg-type]

    def _let_go(self) -> None:
        if self._guard is not None:
            os.close(self._guard)
            self._guard = None
        if self._note is not None:
            self._note.discard_if_empty()
            self._note.close()


def _charge(execute: Callable[..., sqlite3.Cursor], charge: Charge, known: Last | None) -> Last | None:
    execute("BEGIN IMMEDIATE")
    fit = (charge.account, *charge.tested, charge.time)
    rows = execute(SPEND, (*charge.units, *fit)).fetchall()
    if not rows or (charge.by is not None and not _spend_by(execute, charge)):
        execute("ROLLBACK")
        return None
    last, latest, previous = known or execute(LAST).fetchone()
    seq, when, text = last + 1, max(charge.time, latest), charge.text(rows[0])
    line = digest(previous, seq, when, "charge", charge.account, text)
    execute(APPEND, (seq, when, "charge", charge.account, text, line))
    execute(WAIT, (seq, charge.account, charge.by, charge.deadline, charge.id))
    execute("COMMIT")
    return seq, when, line


def _spend_by(execute: Callable[..., sqlite3.Cursor], charge: Charge) -> bool:
    return execute(SPEND_BY, (*charge.units, charge.account, charge.by, *charge.tested)).rowcount == 1


def _check_line(rows: list[tuple[Any, ...]], record: Record) -> None:
    if not rows or rows[0][0] != record.head:
        raise Doubt("the book is older than the head noted beside it")


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _never_close(connection: sqlite3.Connection) -> None:
    """Keep a connection open until the process ends, and even then: closing it would write to the book's files."""
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _open(place: str, memory: bool) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(place, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        if not memory:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # where fsync leaves data in the disk's cache (macOS)
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


def _backup(source: sqlite3.Connection, target: str) -> None:
    """SQLite's own online copy: consistent whoever is writing, and it drops nobody's locks."""
    if Path(target).exists():
        raise LedgerError(f"{target} is there already; name a new file for the backup")
    try:
        copy = sqlite3.connect(target, isolation_level=None)
        try:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
        finally:
            copy.close()
    except FAULTS as error:
        raise LedgerError(_explain(error, target)) from error
    _sync(target)


def backup_file(source: str, target: str) -> None:
    """A backup of a book that this process has not opened."""
    if not Path(source).exists():
        raise LedgerError(f"there is no book at {source}")
    connection = _open(source, memory=False)
    try:
        _backup(connection, target)
    finally:
        connection.close()


def leftovers(place: str) -> list[Path]:
    """What may lie beside a book."""
    names = ("", *BESIDE, "-journal", "-note", "-anchor")
    return [path for name in names if (path := Path(f"{place}{name}")).exists()]


def put_in_place(aside: str, place: str) -> None:
    """Give a finished, closed book and its note their names, the book's in one step that fails if it is taken."""
    _sync(aside)
    Path(f"{aside}-note").replace(f"{place}-note")
    try:
        os.link(aside, place)
    except OSError as error:
        raise LedgerError(f"{place} could not be put in place: {error.strerror}") from error
    Path(aside).unlink()


def _sync(path: str) -> None:
    with Path(path).open("rb") as book:
        os.fsync(book.fileno())


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
        ("codec", f"{place} is damaged; restore it from a backup with `dither restore`"),
        ("malformed", f"{place} is damaged; restore it from a backup with `dither restore`"),
    ):
        if sign in text:
            return words
    return f"{place} could not be used: {text}; nothing was spent"
