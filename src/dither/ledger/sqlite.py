"""A book in a SQLite file, or in memory for one process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from dither.errors import LedgerError
from dither.ledger.entry import digest
from dither.ledger.kind import BOOK
from dither.ledger.note import Record
from dither.ledger.sqlite_connection import Last
from dither.ledger.sqlite_file import FAULTS, explain
from dither.ledger.sqlite_noted import NotedSQLite, undo
from dither.ledger.store import APPEND, SPEND, SPEND_BY, WAIT, Charge

__all__ = ["SQLiteStore"]


class SQLiteStore(NotedSQLite):
    """A book, with a short way to charge."""

    extras: tuple[str, ...] = (f"PRAGMA application_id = {BOOK.application}",)

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
                undo(connection)
                raise LedgerError(explain(error, self.place)) from error
            except BaseException:
                undo(connection)
                raise
            if made is not None:
                self._write_note(made)
            return made

    def _older_note(self, version: int | None) -> Record | None:
        """What books of the first schema had beside them: a head, and nothing else."""
        beside = Path(f"{self._path}-anchor")
        if version not in (1, None) or not beside.exists():
            return None
        seq, _, head = (
            beside.read_text(errors="replace").partition("\n")[0].partition(" ")
        )
        return Record("", int(seq), head, "", 0) if seq.isdecimal() else None

    def _forget_older_note(self) -> None:
        Path(f"{self._path}-anchor").unlink(missing_ok=True)


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
