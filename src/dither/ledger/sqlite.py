"""A book in a SQLite file, or in memory for one process."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dither.errors import LedgerError
from dither.ledger.entry import digest
from dither.ledger.note import Doubt, Record, same_home, state_folder
from dither.ledger.sqlite_connection import Last, SQLiteConnection
from dither.ledger.sqlite_file import FAULTS, backup, explain, names
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

__all__ = ["SQLiteStore"]

MISSING = "no note lies beside it: it was copied or moved, or is what is left of a book"


class SQLiteStore(SQLiteConnection):
    """One file in write-ahead mode with full synchronisation: a commit is on the disk
    when it returns.

    Whoever changes it holds the lock of its note (rule R32).
    """

    extras: tuple[str, ...] = (f"PRAGMA application_id = {APPLICATION}",)
    key = "INTEGER"  # the row's own number, which needs no index beside the table

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
            raise LedgerError(explain(error, self.place)) from error
        except BaseException:
            _undo(connection)
            raise
        finally:
            self._active = False

    def charge(self, charge: Charge) -> Last | None:
        """Spend in one short transaction. It skips the steps of the ordinary way,
        because on a fast disk Python takes longer than the commit.
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
                raise LedgerError(explain(error, self.place)) from error
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
        """Write the head to the note: after the commit, and before the caller learns
        that the charge was granted.
        """
        if self._note is not None:
            record = Record(self._book, last[0], last[2], *self._here)
            self._seen = self._note.create(record) if anew else self._note.write(record)
            self._write_far(self._seen)
            if anew:
                Path(f"{self._path}-anchor").unlink(missing_ok=True)
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
            raise LedgerError(explain(error, self.place)) from error

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
            os.path.realpath(path) for path in names(str(self._path))
        }:
            raise LedgerError(
                f"{target} is a name that the book itself uses; choose another one"
            )
        # Alone: a process that copies files may have lost the lock on what it reads.
        with self._lock, self._alone():
            self._enter(connection)
            backup(connection, target)


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


def _runner(connection: sqlite3.Connection) -> Run:
    def run(sql: str, parameters: Sequence[Any] = ()) -> Any:
        cursor = connection.execute(sql, parameters)
        return cursor.fetchall() if cursor.description is not None else cursor.rowcount

    return run


def _undo(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
