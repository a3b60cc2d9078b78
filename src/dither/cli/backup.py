"""`dither backup` and `dither restore`: the only ways to copy a book, and to put a copy
in its place.
"""

from __future__ import annotations

from pathlib import Path

import click

from dither.cli import book as books
from dither.cli.book import say
from dither.cli.completing import files
from dither.errors import LedgerError

__all__ = ["backup", "commands", "restore"]


@click.command("backup", short_help="Copy a book while it is in use.")
@click.argument("book", shell_complete=files)
@click.argument("target", shell_complete=files)
def backup(book: str, target: str) -> None:
    """Copy BOOK to the new file TARGET, while others go on using it.

    Never copy a book with cp or the like: such a copy may be damaged. A PostgreSQL
    database is copied with pg_dump.
    """
    with books.open_book(book) as ledger:
        number, digest = ledger.head  # before the copy, which may hold a few lines more
        ledger.backup(target)
    say(
        f"{target} holds {book} up to line {number} at least; its head "
        f"was {number}:{digest}"
    )
    say("keep the receipts of later charges: a restored book lacks them")


@click.command(
    "restore", short_help="Put a backup in the place of a book; it opens frozen."
)
@click.argument("copy", metavar="BACKUP", shell_complete=files)
@click.argument("place", shell_complete=files)
def restore(copy: str, place: str) -> None:
    """Put the BACKUP of a book at PLACE, where no book may be: move what is left of it
    away first, and keep it.

    PLACE is a file, or a catalogue that says where its book is. The book opens frozen,
    because charges that were made after the backup are missing in it.
    """
    from dither.ledger import Ledger

    target = _target(place)
    if not Path(copy).is_file():
        raise LedgerError(f"there is no backup at {copy}")
    with Ledger.restore(copy, target) as ledger:
        names = [account.name for account in ledger.accounts()]
    say(
        f"{target} is restored from {copy}, and frozen: charges that were "
        "made after the backup are missing"
    )
    say(
        f"accounts: {', '.join(names) or 'none'}; for each of them, enter "
        "the receipts of later charges in Python"
    )
    say(f'  Ledger.open({target!r}).account("…").recover(receipts)')
    say("or, where they are lost, give up what is left of it for ever:")
    say(f"  dither write-off {target} --account … --reason …")
    say(f"then: dither thaw {target} --reason …")


def _target(place: str) -> str:
    found = books.place_of(place) if Path(place).suffix == ".toml" else place
    if "://" in found:
        raise LedgerError(
            "a PostgreSQL database is restored with pg_restore or psql; its "
            "book then opens frozen: thaw it"
        )
    return found


commands = (backup, restore)
