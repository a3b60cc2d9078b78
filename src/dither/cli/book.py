"""Opening the ledger that a command names. It must exist: no command here creates one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dither.cli import completing
from dither.errors import LedgerError
from dither.text import clean

if TYPE_CHECKING:
    from dither.ledger import Account, Ledger

__all__ = [
    "account",
    "accounts",
    "argument",
    "one_account",
    "open_book",
    "place_of",
    "reason",
    "say",
]

argument = click.argument(
    "book",
    default="book.db",
    metavar="[LEDGER]",
    shell_complete=completing.files,
)
account = click.option(
    "--account",
    metavar="NAME",
    shell_complete=completing.accounts,
    help="Name of the account; needed if the ledger has several.",
)
reason = click.option(
    "--reason", required=True, metavar="TEXT", help="Reason, which the log keeps."
)


def place_of(name: str) -> str:
    """Path or address of a ledger. A catalogue names its own; the ledger of a data file
    is next to it.
    """
    if "://" in name:
        return name
    path = Path(name)
    if path.suffix == ".toml":
        from dither.query.load import load_catalogue

        return load_catalogue(path).book or str(beside(path))
    return (
        str(beside(path)) if path.suffix != ".db" and beside(path).is_file() else name
    )


def beside(path: Path) -> Path:
    """The default ledger of a data file or a catalogue, as in `dither.open`."""
    from dither.query.account import BOOK

    return path.with_name(path.name.partition(".")[0] + BOOK)


def open_book(name: str) -> Ledger:
    """The ledger at a path or a postgresql:// address, or of a catalogue. If it does
    not exist, it is not created.
    """
    from dither.ledger import Ledger
    from dither.ledger.store import connect
    from dither.query.engines.duckdb.lookup import CSV, JSON, PARQUET
    from dither.query.engines.duckdb.readers.text_files import ending

    place = place_of(name)
    if "://" not in place:
        if place == name and ending(Path(name)) in (*CSV, *JSON, *PARQUET):
            raise LedgerError(
                f"there is no ledger at {beside(Path(name))}; run `dither query` about "
                f"{name} first, which creates it"
            )
        if not Path(place).is_file():
            raise LedgerError(
                f"there is no ledger at {place}; pass a ledger, a catalogue, the file of "
                "the data or a postgresql:// address (the first `dither query` creates "
                "the ledger, next to the data)"
            )
        if not Path(place).stat().st_size:
            raise LedgerError(
                f"{place} is empty, so it is not a ledger; pass the file that "
                "`dither query` writes next to the data"
            )
    store = connect(place)
    if store.version() is None:
        store.close()
        raise LedgerError(
            f"there is no ledger at {store.place}; the first `dither query`, or "
            "`dither.Ledger.open`, creates one"
        )
    return Ledger(store)


def accounts(ledger: Ledger, name: str | None = None) -> tuple[Account, ...]:
    """All accounts of a ledger, or the one that is named."""
    found = tuple(one for one in ledger.accounts() if name in (None, one.name))
    if name is not None and not found:
        names = ", ".join(one.name for one in ledger.accounts()) or "none yet"
        raise LedgerError(
            f"the account {name!r} does not exist in {ledger.store.place}; its "
            f"accounts are: {names}"
        )
    return found


def one_account(ledger: Ledger, name: str | None) -> Account:
    """The account that is named; without a name, the only one of the ledger."""
    found = accounts(ledger, name)
    if len(found) == 1:
        return found[0]
    if not found:
        raise LedgerError(
            f"{ledger.store.place} has no account yet; the first charged answer opens "
            "one, so until then change the declarations (budget, analysts, policy)"
        )
    names = ", ".join(one.name for one in found)
    raise LedgerError(
        f"{ledger.store.place} has {len(found)} accounts ({names}); "
        "choose one with --account"
    )


def say(*lines: str) -> None:
    """Print lines. Control characters in names and reasons are escaped."""
    for line in lines:
        click.echo(clean(line))
