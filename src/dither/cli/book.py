"""How commands open a book: one that is there, never a new one."""

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

argument = click.argument("book", default="book.db", shell_complete=completing.files)
account = click.option(
    "--account",
    metavar="NAME",
    shell_complete=completing.accounts,
    help="Which account; not needed where the book has only one.",
)
reason = click.option(
    "--reason", required=True, metavar="WORDS", help="Why: the log keeps it."
)


def place_of(name: str) -> str:
    """Where a book is: a path or an address stays as it is; a catalogue says where its
    own is; else it is beside.
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
    """The book of a data file or a catalogue that names none, as `dither.open` keeps
    it.
    """
    from dither.query.account import BOOK

    return path.with_name(path.name.partition(".")[0] + BOOK)


def open_book(name: str) -> Ledger:
    """The book at a path or a postgresql:// address, or of a catalogue; looking at
    nothing creates nothing.
    """
    from dither.ledger import Ledger
    from dither.ledger.store import connect
    from dither.query.engines.duckdb.lookup import CSV, JSON, PARQUET
    from dither.query.engines.duckdb.readers.text_files import ending

    place = place_of(name)
    if "://" not in place:
        if place == name and ending(Path(name)) in (*CSV, *JSON, *PARQUET):
            raise LedgerError(
                f"there is no book at {beside(Path(name))}; ask about {name} "
                "first, which begins it"
            )
        if not Path(place).is_file():
            raise LedgerError(
                f"there is no book at {place}; ask a question first, which begins "
                "it, or name another file, "
                "catalogue or postgresql:// address"
            )
        if not Path(place).stat().st_size:
            raise LedgerError(
                f"{place} is empty, so it is no book; name the file that `dither "
                "query` keeps beside the data"
            )
    store = connect(place)
    if store.version() is None:
        store.close()
        raise LedgerError(
            f"there is no book at {store.place}; the first `dither query`, or "
            "`dither.Ledger.open`, begins one"
        )
    return Ledger(store)


def accounts(ledger: Ledger, name: str | None = None) -> tuple[Account, ...]:
    """All accounts of a book, or the one that is named."""
    found = tuple(one for one in ledger.accounts() if name in (None, one.name))
    if name is not None and not found:
        names = ", ".join(one.name for one in ledger.accounts()) or "none yet"
        raise LedgerError(
            f"there is no account {name!r} in {ledger.store.place}; there is {names}"
        )
    return found


def one_account(ledger: Ledger, name: str | None) -> Account:
    """The account that is named; without a name, the only one that the book has."""
    found = accounts(ledger, name)
    if len(found) == 1:
        return found[0]
    if not found:
        way_out = (
            "the first answer that is charged opens one; until then change "
            "what is declared (budget, analysts, policy)"
        )
        raise LedgerError(f"{ledger.store.place} has no account yet; {way_out}")
    names = ", ".join(one.name for one in found)
    raise LedgerError(
        f"{ledger.store.place} has {len(found)} accounts ({names}); "
        "choose one with --account"
    )


def say(*lines: str) -> None:
    """Print lines; what names and reasons hold is shown, and not obeyed by the
    terminal.
    """
    for line in lines:
        click.echo(clean(line))
