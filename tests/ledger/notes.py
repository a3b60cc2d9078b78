"""The note beside a book, as someone who forges the book and knows of all notes would
leave it.
"""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from dither.ledger.note import Record, home_of, state_folder

__all__ = ["agree", "noted"]


def agree(path):
    """Make the note fit the book as it is now, if the book can be read at all."""
    note = Path(f"{path}-note")
    note.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(path)) as connection:
            (first,) = connection.execute(
                "SELECT hash FROM log WHERE seq = 1"
            ).fetchone()
            seq, head = connection.execute(
                "SELECT seq, hash FROM log ORDER BY seq DESC LIMIT 1"
            ).fetchone()
            record = Record(
                first[:32],
                seq,
                head,
                home_of(Path(path).parent),
                Path(path).stat().st_ino,
            )
            note.write_bytes(record.to_bytes())
            far = hashlib.sha256(
                f"{first[:32]} {Path(path).resolve()}".encode()
            ).hexdigest()[:32]
            (state_folder() / f"{far}.note").unlink(missing_ok=True)
    except (sqlite3.Error, TypeError, UnicodeError, ValueError):
        return


def noted(path):
    """What the note says."""
    return Record.of(Path(f"{path}-note").read_bytes())
