"""Make a book ready for use: create it, migrate it to the current schema, and freeze it
where it may not be the latest.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dither.errors import DitherError, LedgerError
from dither.ledger.note import Note
from dither.ledger.sqlite_file import leftovers
from dither.ledger.store import META, VERSION, version_of
from dither.ledger.tables import check_version, create, migrate
from dither.noise import token

if TYPE_CHECKING:
    from dither.ledger.ledger import Ledger
    from dither.ledger.store import Run

__all__ = ["begin", "remove", "set_aside"]


def begin(ledger: Ledger, reason: str = "") -> None:
    """Make the book ready: new, migrated, or as it is; frozen where it may not be the
    latest (rule R20).
    """
    try:
        _begin(ledger, reason)
    except LedgerError as error:
        raise error.at(ledger.store.place) from error.__cause__
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, DitherError):
            raise
        raise LedgerError(
            f"{ledger.store.place} is damaged; restore it from a backup with "
            "`dither restore`"
        ) from error


def _begin(ledger: Ledger, reason: str) -> None:
    store = ledger.store
    with store.alone():
        version = store.version()
        if version == VERSION and not reason:
            with store.reading() as run:
                if run("SELECT 1 FROM log LIMIT 1") and not store.doubt(run, version):
                    return
        with store.writing(anew=True) as run:
            _make_ready(ledger, run, reason)


def _make_ready(ledger: Ledger, run: Run, reason: str) -> None:
    # Another process may have been faster: only what is seen in here counts.
    store = ledger.store
    run(META)
    rows = run("SELECT value FROM meta WHERE name = 'schema'")
    version = version_of(rows, store.place) if rows else None
    if version is None:
        create(run, store)
    else:
        check_version(version, store.place)
    reason = reason or store.doubt(run, version)
    if version == 1:
        ledger.append(run, "schema", {"version": VERSION})
        migrate(run, store)
    if not run("SELECT 1 FROM log LIMIT 1"):
        ledger.append(run, "book", {"id": token(16), "schema": VERSION})
    store.know(run, run("SELECT hash FROM log WHERE seq = 1")[0][0])
    if reason:
        ledger.freeze_all(run, reason)


def remove(place: str) -> None:
    """Remove a book that was never put in place."""
    for path in leftovers(place):
        path.unlink()


def set_aside(place: str) -> None:
    """Before a restoring: move away what is left of the book that was there.

    A write-ahead log that stayed would be played into the restored book.
    """
    mark = token(4)
    note = Note(f"{place}-note", place)
    with note.locked():
        for path in leftovers(place):
            path.rename(f"{path}.old-{mark}")
    note.close()
    old = Path(f"{place}-note.old-{mark}")
    if old.exists() and not old.stat().st_size:
        old.unlink()
