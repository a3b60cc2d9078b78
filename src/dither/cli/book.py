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


def open_book(place: str) -> Ledger:
    """The book at a path or a postgresql:// address; looking at nothing creates nothing."""
    from dither.ledger import Ledger
    from dither.ledger.store import connect

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
