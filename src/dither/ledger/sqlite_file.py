"""The files of a book in SQLite: what lies beside them, backups, and what their faults
mean.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from dither.errors import LedgerError
from dither.ledger.kind import BOOK, Kind

__all__ = [
    "BESIDE",
    "FAULTS",
    "PATIENCE",
    "backup",
    "backup_file",
    "explain",
    "leftovers",
    "names",
    "put_in_place",
]

PATIENCE = 60.0  # seconds to wait for other writers
# A damaged book can make even the error unreadable: hence the decoding
FAULTS = (sqlite3.Error, UnicodeDecodeError)
BESIDE = ("-wal", "-shm")  # what SQLite keeps beside the file while it is open


def backup(source: sqlite3.Connection, target: str) -> None:
    """SQLite's own online copy: consistent whoever is writing, and it drops nobody's
    locks.
    """
    if Path(target).exists():
        raise LedgerError(f"{target} exists already; name a new file for the backup")
    try:
        copy = sqlite3.connect(target, isolation_level=None)
        try:
            source.backup(copy)
            # One file, with nothing beside it
            copy.execute("PRAGMA journal_mode = DELETE")
            if copy.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                raise LedgerError(
                    f"{target} was damaged while it was written; remove it, and try again"
                )
        finally:
            copy.close()
    except FAULTS as error:
        raise LedgerError(explain(error, target)) from error
    _sync(target)


def backup_file(source: str, target: str) -> None:
    """A backup of a book that this process has not opened."""
    if not Path(source).exists():
        raise LedgerError(f"{source} does not exist; check its path")
    connection = sqlite3.connect(source, timeout=PATIENCE, isolation_level=None)
    try:
        if (
            connection.execute("PRAGMA application_id").fetchone()[0]
            != BOOK.application
        ):
            raise LedgerError(
                f"{source} is not a ledger; name a file that `dither backup` wrote"
            )
        backup(connection, target)
    except FAULTS as error:
        raise LedgerError(explain(error, source)) from error
    finally:
        connection.close()


def leftovers(place: str) -> list[Path]:
    """The files at a book's place, and next to it."""
    return [path for path in names(place) if path.exists()]


def names(place: str) -> list[Path]:
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
            f"{place} could not be created ({error.strerror}); check that you may write "
            "in its folder"
        ) from error
    Path(aside).unlink()


def _sync(path: str) -> None:
    with Path(path).open("rb") as book:
        os.fsync(book.fileno())


def explain(error: Exception, place: str, kind: Kind = BOOK) -> str:
    """The meaning of a fault of SQLite, and the fix."""
    text = str(error)
    for sign, words in (
        (
            "locked",
            f"{place} is in use by another process that does not release it; try "
            "again later",
        ),
        (
            "readonly",
            f"{place} cannot be written; give this user the right to write "
            "the file and its folder",
        ),
        ("not a database", f"{place} is not a {kind.noun}; choose another file"),
        (
            "unable to open",
            f"{place} cannot be opened; check that its folder exists and that you "
            "may write there",
        ),
        (
            "full",
            f"{place} cannot be written because the disk is full, and {kind.nothing}; make "
            "room, and try again",
        ),
        (
            "codec",
            f"{place} is damaged; {kind.mend}",
        ),
        (
            "malformed",
            f"{place} is damaged; {kind.mend}",
        ),
    ):
        if sign in text:
            return words
    return f"{place} could not be used ({text}), and {kind.nothing}; try again"
