"""How commands open a book: one that is there, never a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dither.errors import LedgerError

if TYPE_CHECKING:
    from dither.ledger import Ledger

__all__ = ["argument", "open_book"]

argument = click.argument("book", default="book.db")


def place_of(name: str) -> str:
    """Where a book is: a path or an address stays as it is; a catalogue says where its own is; else it is beside."""
    if "://" in name:
        return name
    path = Path(name)
    if path.suffix == ".toml":
        from dither.query.catalogue_file import load_catalogue

        return load_catalogue(path).book or str(beside(path))
    return str(beside(path)) if path.suffix != ".db" and beside(path).is_file() else name


def beside(path: Path) -> Path:
    """The book of a data file or a catalogue that names none, as `dither.open` keeps it."""
    from dither.query.opening import BOOK

    return path.with_name(path.name.partition(".")[0] + BOOK)


def open_book(name: str) -> Ledger:
    """The book at a path or a postgresql:// address, or of a catalogue; looking at nothing creates nothing."""
    from dither.ledger import Ledger
    from dither.ledger.store import connect

    place = place_of(name)
    if "://" not in place:
        if not Path(place).is_file():
            raise LedgerError(f"there is no book at {place}; name its file or its postgresql:// address")
        if not Path(place).stat().st_size:
            raise LedgerError(f"{place} is empty; it is not a book")
    store = connect(place)
    if store.version() is None:
        store.close()
        raise LedgerError(f"there is no book at {store.place}; `dither.Ledger.open` begins one")
    return Ledger(store)
