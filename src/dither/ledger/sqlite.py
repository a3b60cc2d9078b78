"""A book in a SQLite file, or in memory for one process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dither.errors import LedgerError
from dither.ledger.entry import digest
from dither.ledger.kind import BOOK
from dither.ledger.note import Record
from dither.ledger.sqlite_connection import Last
from dither.ledger.sqlite_file import FAULTS, explain
from dither.ledger.sqlite_noted import NotedSQLite, undo
from dither.ledger.state import State
from dither.ledger.store import APPEND, SPEND, SPEND_BY, WAIT, Charge, Made

__all__ = ["SQLiteStore"]

SPEND_HERE = f"{SPEND}, pure_cap, loss_cap, delta_cap"
SPEND_BY_HERE = f"{SPEND_BY} RETURNING part, {State.COLUMNS}"


class SQLiteStore(NotedSQLite):
    """A book, with a short way to charge."""

    extras: tuple[str, ...] = (f"PRAGMA application_id = {BOOK.application}",)

    def charge(self, charge: Charge) -> Made | None:
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
                self._write_note((made.number, made.time, made.hash))
            return made

    def _older_note(self, version: int | None) -> Record | None:
        """The note of a book of the first schema: only a head."""
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
) -> Made | None:
    fit = (charge.account, charge.policy, *charge.tested, charge.time)
    rows = execute(SPEND_HERE, (*charge.units, *fit)).fetchall()
    shares = _spend_by(execute, charge) if rows and charge.by is not None else None
    if not rows or shares == []:
        execute("ROLLBACK")
        return None
    spent, caps = rows[0][:4], rows[0][4:]
    last, latest, previous = known
    seq, when, text = last + 1, max(charge.time, latest), charge.text(spent)
    line = digest(previous, seq, when, "charge", charge.account, text)
    execute(APPEND, (seq, when, "charge", charge.account, text, line))
    execute(WAIT, (seq, charge.account, charge.by, charge.deadline, charge.id))
    execute("COMMIT")
    states = [State(*caps, *spent)]
    states += [State(*row[1:]) for row in shares or () if row[0]]
    return Made(seq, when, line, tuple(states))


def _spend_by(
    execute: Callable[..., sqlite3.Cursor], charge: Charge
) -> list[tuple[Any, ...]]:
    """The row of the analyst after the charge; nothing if it does not fit."""
    by = (*charge.units, charge.account, charge.by, *charge.tested)
    return execute(SPEND_BY_HERE, by).fetchall()
