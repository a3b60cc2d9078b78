"""What a store holds: a book here, the tallies of a collector in another room.

Both are opened, locked, noted and forked alike. They differ in a few words of their
errors, and in the statements that say how far they have come.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BOOK", "LAST", "Kind"]

LAST = "SELECT seq, time, hash FROM log ORDER BY seq DESC LIMIT 1"


@dataclass(frozen=True)
class Kind:
    """The words and statements of one kind of store."""

    noun: str
    nothing: str
    """Statement of what did not happen after a failure."""
    mend: str
    """The fix for a damaged one."""
    reopen: str
    """The call that opens it."""
    application: int
    """Marks a SQLite file. Writers in PostgreSQL take turns by a lock of this number."""
    table: str
    """The table that says how far it has come."""
    last: str
    """Its last step: number, time and hash."""
    line: str
    """The hash of a step, given its number; no row if there was no such step."""
    first: str
    """The hash by which it is known."""
    schema: str = ""
    """The schema of PostgreSQL that it has for itself; empty for that of the session."""


BOOK = Kind(
    noun="ledger",
    nothing="nothing was spent",
    mend="restore it from a backup with `dither restore`",
    reopen="Ledger.open",
    application=0x64697468,  # "dith"
    table="log",
    last=LAST,
    line="SELECT hash FROM log WHERE seq = ?",
    first="SELECT hash FROM log WHERE seq = 1",
)
