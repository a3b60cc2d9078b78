"""A book in a SQLite file, or in memory for one process."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from dither.errors import LedgerError
from dither.ledger.entry import digest
from dither.ledger.guards import Guard
from dither.ledger.locks import check_filesystem
from dither.ledger.note import Doubt, Note, Record, home_of, same_home, state_folder
from dither.ledger.store import (
    APPEND,
    APPLICATION,
    LAST,
    SPEND,
    SPEND_BY,
    WAIT,
    Charge,
    Run,
    version_of,
)

__all__ = ["SQLiteStore", "backup_file", "leftovers", "put_in_place"]

PATIENCE = 60.0  # seconds to wait for other writers
# The latter where a damaged book makes even the error unreadable
FAULTS = (
    sqlite3.Error,
    UnicodeDecodeError,
)
BESIDE = ("-wal", "-shm")  # what SQLite keeps beside the file while it is open
MISSING = "no note lies beside it: it was copied or moved, or is what is left of a book"

Last = tuple[int, str, str]
"""The number, time and hash of the last line."""


class SQLiteStore:
    """One file in write-ahead mode with full synchronisation: a commit is on the disk
    when it returns.

    Whoever changes it holds the lock of its note (rule R32).
    """

    extras: tuple[str, ...] = (f"PRAGMA application_id = {APPLICATION}",)
    key = "INTEGER"  # the row's own number, which needs no index beside the table

    def __init__(self, place: str) -> None:
        if not place.strip():
            raise LedgerError(
                "the path of the book is empty; pass a file such as book.db"
            )
        self.memory = place == ":memory:"
        self.place, self.latest = "this process only" if self.memory else place, ""
        # Once and for all: a later chdir, or a link, must not lead to another book or
        # another note.
        self._path = Path(place if self.memory else os.path.realpath(place))
        if self._path.is_dir():
            raise LedgerError(
                f"{place} cannot be opened: it is a folder; name a file for the book"
            )
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
        self._connection = _open(str(self._path), self.memory)
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
                    f"{self.place} has several names (hard links), which SQLite "
                    "cannot keep apart; use one of them"
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
        """Which files SQLite has beside the book. While a connection is open, their
        numbers are not given anew.
        """
        return tuple(map(_inode, self._near))

    def _enter(self, connection: sqlite3.Connection) -> None:
        """Nothing is done inside another transaction, nor on files that are no longer
        those that were opened.
        """
        if self._active:
            raise LedgerError(
                "a transaction of this book is under way in this thread; finish "
                "it first"
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
                f"{self.place}-wal or {self.place}-shm was removed while the book "
                "was open; nothing was spent: "
                "end this process, and open the book again"
            )

    def _connected(self) -> sqlite3.Connection:
        """The connection of this process; a forked one opens its own, for SQLite's
        locks do not survive a fork.
        """
        if self._connection is None:
            raise LedgerError(
                f"the book is closed ({self.place}); open it again with Ledger.open"
            )
        if self._pid != os.getpid():
            if self.memory:
                raise LedgerError(
                    "this budget belongs to the process that made it; a forked one "
                    "cannot spend it again"
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

    @contextmanager
    def writing(self, *, anew: bool = False) -> Iterator[Run]:
        """A transaction that is alone; `anew` also writes the note anew, whatever it
        said.
        """
        connection = self._connected()
        # The note last: a thread that waits for another's long reading keeps no other
        # process waiting.
        with self._lock, self._alone():
            self._enter(connection)
            self._last = None
            with self._transaction(connection, "BEGIN IMMEDIATE") as run:
                if not anew:
                    self._check_head(connection.execute)
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
        """The ordinary way without its detours: beside a commit to a fast disk,
        Python's own time counts.
        """
        connection = self._connected()
        with self._lock, self._alone():
            self._enter(connection)
            try:
                connection.execute("BEGIN IMMEDIATE")
                made = _charge(
                    connection.execute, charge, self._check_head(connection.execute)
                )
            except FAULTS as error:
                _undo(connection)
                raise LedgerError(_explain(error, self.place)) from error
            except BaseException:
                _undo(connection)
                raise
            if made is not None:
                self._write_note(made)
            return made

    def _check_head(self, execute: Callable[..., sqlite3.Cursor]) -> Last:
        """The last line. The one that the note names, and the last one seen here, must
        be in the book as it is now.
        """
        last: Last = execute(LAST).fetchone()
        known, self._last = self._last, None
        if self._note is None or (last == known and self._note.raw() == self._seen):
            return last
        record = self._note.read()
        if record is None:
            raise Doubt(MISSING)
        for seq, head in ((record.seq, record.head), self._highest):
            if seq:
                _check_line(
                    execute("SELECT hash FROM log WHERE seq = ?", (seq,)).fetchall(),
                    head,
                )
        self._book = record.book
        return last

    def _write_note(self, last: Last, anew: bool = False) -> None:
        """After the commit, and before anybody is told that it was granted."""
        if self._note is not None:
            record = Record(self._book, last[0], last[2], *self._here)
            self._seen = self._note.create(record) if anew else self._note.write(record)
            self._write_far(self._seen)
            if anew:
                Path(f"{self._path}-anchor").unlink(missing_ok=True)
        self._last, self._highest, self.latest = last, (last[0], last[2]), last[1]

    def _write_far(self, data: bytes) -> None:
        """Note the head in this machine's own folder too, if it has one: a backup of
        the book's folder has it not.
        """
        with suppress(OSError):
            if self._far is None:
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
                self._far = os.open(self._far_path(), flags, 0o600)
            os.lseek(self._far, 0, os.SEEK_SET)
            os.write(self._far, data)

    def _far_path(self) -> Path:
        return (
            state_folder()
            / f"{hashlib.sha256(f'{self._book} {self._path}'.encode()).hexdigest()[:32]}.note"
        )

    def _check_far(self, run: Run) -> None:
        """A book that was put back together with its note is found by what this machine
        has seen of it.
        """
        try:
            data = self._far_path().read_bytes()
        except OSError:
            return
        if data:
            record = Record.of(data)
            rows = run("SELECT hash FROM log WHERE seq = ?", (record.seq,))
            if not rows or rows[0][0] != record.head:
                raise Doubt("this machine has seen a later state of it")

    def version(self) -> int | None:
        connection = self._connected()
        try:
            tables = {
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                )
            }
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
            if tables and (mark != APPLICATION or "meta" not in tables):
                raise LedgerError(
                    f"{self.place} is a database of something else; choose another "
                    "file for the book"
                )
            if not tables:
                return None
            return version_of(
                connection.execute(
                    "SELECT value FROM meta WHERE name = 'schema'"
                ).fetchall(),
                self.place,
            )
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
        if not rows and record.seq == 1:
            return  # the book that was here held no account, so nothing was promised
        if not rows:
            raise LedgerError(
                f"a book with {record.seq} lines was at {self.place}: restore it "
                "from a backup with `dither restore`, "
                f"or remove {self.place}-note if there never was one"
            )
        _check_line(
            run("SELECT hash FROM log WHERE seq = ?", (record.seq,)), record.head
        )
        if record.book and record.book != rows[0][0][:32]:
            raise Doubt("the note beside it is of another book")
        home, inode = self._here
        if record.home and not (record.inode == inode and same_home(record.home, home)):
            raise Doubt("it was copied here, or comes from another machine")
        self._book = rows[0][0][:32]
        self._check_far(run)

    def _older_note(self, version: int | None) -> Record | None:
        """What books of the first schema had beside them: a head, and nothing else."""
        beside = Path(f"{self._path}-anchor")
        if version not in (1, None) or not beside.exists():
            return None
        seq, _, head = (
            beside.read_text(errors="replace").partition("\n")[0].partition(" ")
        )
        return Record("", int(seq), head, "", 0) if seq.isdecimal() else None

    def know(self, run: Run, first: str) -> None:  # noqa: ARG002 - other stores keep it
        self._book = first[:32]

    def backup(self, target: str) -> None:
        """A copy of the book at one moment, on the disk when this returns."""
        connection = self._connected()
        if os.path.realpath(target) in {
            os.path.realpath(path) for path in _names(str(self._path))
        }:
            raise LedgerError(
                f"{target} is a name that the book itself uses; choose another one"
            )
        # Alone: a process that copies files may have lost the lock on what it reads.
        with self._lock, self._alone():
            self._enter(connection)
            _backup(connection, target)

    def close(self) -> None:
        """Let go. SQLite tidies up where nobody else has the book open, so nobody may
        write meanwhile.
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


_STORES: weakref.WeakSet[SQLiteStore] = weakref.WeakSet()
_FORKING: list[Any] = []


def _before_fork() -> None:
    """Nobody is inside a transaction when the process forks: SQLite in the child would
    believe that for ever.
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


def _charge(
    execute: Callable[..., sqlite3.Cursor], charge: Charge, known: Last
) -> Last | None:
    fit = (charge.account, charge.policy, *charge.tested, charge.time)
    rows = execute(SPEND, (*charge.units, *fit)).fetchall()
    if not rows or (charge.by is not None and not _spend_by(execute, charge)):
        execute("ROLLBACK")
        return None
    last, latest, previous = known
    seq, when, text = last + 1, max(charge.time, latest), charge.text(rows[0])
    line = digest(previous, seq, when, "charge", charge.account, text)
    execute(APPEND, (seq, when, "charge", charge.account, text, line))
    execute(WAIT, (seq, charge.account, charge.by, charge.deadline, charge.id))
    execute("COMMIT")
    return seq, when, line


def _spend_by(execute: Callable[..., sqlite3.Cursor], charge: Charge) -> bool:
    return (
        execute(
            SPEND_BY, (*charge.units, charge.account, charge.by, *charge.tested)
        ).rowcount
        == 1
    )


def _check_line(rows: list[tuple[Any, ...]], head: str) -> None:
    if not rows or rows[0][0] != head:
        raise Doubt("the book is older than the head noted beside it")


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


def _open(place: str, memory: bool) -> sqlite3.Connection:
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
        raise LedgerError(_explain(error, place)) from error
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


def _backup(source: sqlite3.Connection, target: str) -> None:
    """SQLite's own online copy: consistent whoever is writing, and it drops nobody's
    locks.
    """
    if Path(target).exists():
        raise LedgerError(f"{target} is there already; name a new file for the backup")
    try:
        copy = sqlite3.connect(target, isolation_level=None)
        try:
            source.backup(copy)
            # One file, with nothing beside it
            copy.execute("PRAGMA journal_mode = DELETE")
            if copy.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                raise LedgerError(
                    f"{target} was damaged on the way; remove it, and try again"
                )
        finally:
            copy.close()
    except FAULTS as error:
        raise LedgerError(_explain(error, target)) from error
    _sync(target)


def backup_file(source: str, target: str) -> None:
    """A backup of a book that this process has not opened."""
    if not Path(source).exists():
        raise LedgerError(f"there is no book at {source}")
    connection = sqlite3.connect(source, timeout=PATIENCE, isolation_level=None)
    try:
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise LedgerError(
                f"{source} is not a book; name a file that `dither backup` wrote"
            )
        _backup(connection, target)
    except FAULTS as error:
        raise LedgerError(_explain(error, source)) from error
    finally:
        connection.close()


def leftovers(place: str) -> list[Path]:
    """What lies at a book's place, and beside it."""
    return [path for path in _names(place) if path.exists()]


def _names(place: str) -> list[Path]:
    return [
        Path(f"{place}{name}") for name in ("", *BESIDE, "-journal", "-note", "-anchor")
    ]


def put_in_place(aside: str, place: str) -> None:
    """Give a finished, closed book and its note their names, the book's in one step
    that fails if it is taken.
    """
    _sync(aside)
    Path(f"{aside}-note").replace(f"{place}-note")
    try:
        os.link(aside, place)
    except OSError as error:
        raise LedgerError(
            f"{place} could not be put in place: {error.strerror}"
        ) from error
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
        (
            "locked",
            f"{place} is in use by another process that does not let go; try "
            "again when it is done",
        ),
        (
            "readonly",
            f"{place} cannot be written; give this user the right to write "
            "the file and its folder",
        ),
        ("not a database", f"{place} is not a book; choose another file"),
        (
            "unable to open",
            f"{place} cannot be opened; does its folder exist, and may this "
            "user write there?",
        ),
        (
            "full",
            f"there is no room left to write {place}; nothing was spent, make "
            "room and try again",
        ),
        (
            "codec",
            f"{place} is damaged; restore it from a backup with `dither restore`",
        ),
        (
            "malformed",
            f"{place} is damaged; restore it from a backup with `dither restore`",
        ),
    ):
        if sign in text:
            return words
    return f"{place} could not be used: {text}; nothing was spent"
