"""A store in a SQLite file, or in memory for one process, with a note outside that
records its progress.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dither.errors import LedgerError
from dither.ledger.note import Doubt, Record, same_home, state_folder
from dither.ledger.sqlite_connection import Last, SQLiteConnection
from dither.ledger.sqlite_file import FAULTS, backup, explain, names
from dither.ledger.store import Run, version_of

__all__ = ["NotedSQLite", "undo"]

MISSING = "the {} does not have its note: it was copied, moved or partly removed"


class NotedSQLite(SQLiteConnection):
    """One file in write-ahead mode with full synchronisation: a commit is on the disk
    when it returns.

    Anyone who changes it holds the lock of its note (rule R32).
    """

    extras: tuple[str, ...] = ()
    key = "INTEGER"  # the row's own number, which needs no index beside the table

    @contextmanager
    def writing(self, *, anew: bool = False) -> Iterator[Run]:
        """A transaction that is alone; with `anew`, the note is also rewritten in any
        case.
        """
        connection = self._connected()
        # The note last: a thread that waits for another's long reading keeps no other
        # process waiting.
        with self._lock, self._alone():
            self._enter(connection)
            with self._transaction(connection, "BEGIN IMMEDIATE") as run:
                if not anew:
                    self._check_head(connection.execute)
                self._last = None  # until this is committed and noted
                yield run
                last = run(self.kind.last)[0]
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
            undo(connection)
            raise LedgerError(explain(error, self.place, self.kind)) from error
        except BaseException:
            undo(connection)
            raise
        finally:
            self._active = False

    def _check_head(self, execute: Callable[..., sqlite3.Cursor]) -> Last:
        """The last line. The one that the note names, and the last one seen here, must
        be in the book as it is now.
        """
        last: Last = execute(self.kind.last).fetchone()
        known, self._last = self._last, None
        if self._note is None or (last == known and self._note.raw() == self._seen):
            return last
        record = self._note.read()
        if record is None:
            raise Doubt(MISSING.format(self.kind.noun))
        for seq, head in ((record.seq, record.head), self._highest):
            if seq:
                rows = execute(self.kind.line, (seq,)).fetchall()
                self._check_line(rows, head)
        self._book = record.book
        return last

    def _check_line(self, rows: list[tuple[Any, ...]], head: str) -> None:
        if not rows or rows[0][0] != head:
            raise Doubt(f"the {self.kind.noun} is older than the state in its note")

    def _write_note(self, last: Last, anew: bool = False) -> None:
        """Write the head to the note: after the commit, and before the caller learns
        that the charge was granted.
        """
        if self._note is not None:
            record = Record(self._book, last[0], last[2], *self._here)
            self._seen = self._note.create(record) if anew else self._note.write(record)
            self._write_far(self._seen)
            if anew:
                self._forget_older_note()
        self._last, self._highest, self.latest = last, (last[0], last[2]), last[1]

    def _write_far(self, data: bytes) -> None:
        """Note the head in a folder of this machine too: a backup of the book's folder
        does not contain that note.
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
        """Find a book that was restored together with its note: this machine has seen a
        later state of it.
        """
        try:
            data = self._far_path().read_bytes()
        except OSError:
            return
        if data:
            record = Record.of(data)
            rows = run(self.kind.line, (record.seq,))
            if not rows or rows[0][0] != record.head:
                raise Doubt(
                    f"this machine has seen a later state of the {self.kind.noun}"
                )

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
            if tables and (mark != self.kind.application or "meta" not in tables):
                raise LedgerError(
                    f"{self.place} is a SQLite database, but not a {self.kind.noun}; choose "
                    f"another file for the {self.kind.noun}"
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
            raise LedgerError(explain(error, self.place, self.kind)) from error

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
        rows = run(self.kind.first)
        if record is None:
            if rows:
                raise Doubt(MISSING.format(self.kind.noun))
            return
        if not rows and record.seq == 1:
            return  # the book that was here held no account, so nothing was promised
        if not rows:
            raise LedgerError(
                f"the {self.kind.noun} at {self.place} is empty, but it had {record.seq} "
                f"lines before; {self.kind.mend}, or remove {self.place}-note if this "
                "place never had one"
            )
        self._check_line(run(self.kind.line, (record.seq,)), record.head)
        if record.book and record.book != rows[0][0][:32]:
            raise Doubt(f"its note belongs to another {self.kind.noun}")
        home, inode = self._here
        if record.home and not (record.inode == inode and same_home(record.home, home)):
            raise Doubt(
                f"the {self.kind.noun} was copied here, or comes from another machine"
            )
        self._book = rows[0][0][:32]
        self._check_far(run)

    def _older_note(self, version: int | None) -> Record | None:  # noqa: ARG002
        """The counterpart of the note in earlier schemas, if there was one."""
        return None

    def _forget_older_note(self) -> None:
        """It is replaced by the note that was just written."""

    def know(self, run: Run, first: str) -> None:  # noqa: ARG002 - other stores keep it
        self._book = first[:32]

    def backup(self, target: str) -> None:
        """A copy of the book at one moment, on the disk when this returns."""
        connection = self._connected()
        if os.path.realpath(target) in {
            os.path.realpath(path) for path in names(str(self._path))
        }:
            raise LedgerError(
                f"{target} is a file that the {self.kind.noun} itself uses; choose another "
                "name"
            )
        # Alone: a process that copies files may have lost the lock on what it reads.
        with self._lock, self._alone():
            self._enter(connection)
            backup(connection, target)


def _runner(connection: sqlite3.Connection) -> Run:
    def run(sql: str, parameters: Sequence[Any] = ()) -> Any:
        cursor = connection.execute(sql, parameters)
        return cursor.fetchall() if cursor.description is not None else cursor.rowcount

    return run


def undo(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
