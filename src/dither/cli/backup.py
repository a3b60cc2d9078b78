"""`dither backup` and `dither restore`: the only ways to copy a ledger and to restore
it.
"""

from __future__ import annotations

from pathlib import Path

import click

from dither.cli import book as books
from dither.cli.book import say
from dither.cli.budget import as_data
from dither.cli.completing import files
from dither.cli.output import json_option, print_json
from dither.errors import LedgerError

__all__ = ["backup", "commands", "restore"]


@click.command("backup", short_help="Copy a ledger while it is in use.")
@click.argument("book", metavar="LEDGER", shell_complete=files)
@click.argument("target", metavar="BACKUP", shell_complete=files)
@json_option
def backup(book: str, target: str, as_json: bool) -> None:
    """Copy LEDGER to the new file BACKUP, also while other processes use it.

    Do not copy a ledger with cp or similar tools: such a copy may be damaged. Copy a
    PostgreSQL database with pg_dump.

    \b
    Examples:
      dither backup clinic.toml backup.db
    """
    with books.open_book(book) as ledger:
        number, digest = ledger.head  # before the copy, which may hold a few lines more
        ledger.backup(target)
    if as_json:
        print_json({"backup": target, "lines": number, "head": f"{number}:{digest}"})
        return
    say(
        f"{target} contains at least the lines up to {number} of {book}; the head was "
        f"{number}:{digest}",
        "keep the receipts of later charges: the backup does not contain them",
    )


@click.command("restore", short_help="Restore a ledger from a backup; it opens frozen.")
@click.argument("copy", metavar="BACKUP", shell_complete=files)
@click.argument("place", metavar="LEDGER", shell_complete=files)
@json_option
def restore(copy: str, place: str, as_json: bool) -> None:
    """Restore LEDGER from BACKUP. No file may exist at LEDGER: if a damaged ledger is
    there, move it away first, and keep it.

    LEDGER is a file, or a catalogue that names its ledger. The ledger opens frozen,
    because it lacks the charges that were made after the backup.

    \b
    Examples:
      dither restore backup.db book.db
    """
    from dither.ledger import Ledger

    target = _target(place)
    if not Path(copy).is_file():
        raise LedgerError(
            f"{copy} is not a file; pass the file that `dither backup` wrote"
        )
    with Ledger.restore(copy, target) as ledger:
        accounts = [as_data(one) for one in ledger.accounts()] if as_json else []
        names = ", ".join(one.name for one in ledger.accounts()) or "none"
    if as_json:
        print_json({"ledger": target, "accounts": accounts})
        return
    say(
        f"{target} is restored from {copy}, and frozen: it lacks the charges that were "
        "made after the backup",
        f"accounts: {names}; for each of them, enter the receipts of later charges in "
        "Python:",
        f'  Ledger.open({target!r}).account("…").recover(receipts)',
        "or, if the receipts are lost, write off its remaining budget, permanently:",
        f"  dither write-off {target} --account … --reason …",
        "then thaw the ledger:",
        f"  dither thaw {target} --reason …",
    )


def _target(place: str) -> str:
    found = books.place_of(place) if Path(place).suffix == ".toml" else place
    if "://" in found:
        raise LedgerError(
            "a ledger in a PostgreSQL database is restored with pg_restore or psql; it "
            "then opens frozen, so run `dither thaw` afterwards"
        )
    return found


commands = (backup, restore)
