"""Where rows come from: what is public of them, and how they are read after the charge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dither.dataset import Dataset
from dither.learn.names import EACH_ROW
from dither.learn.rows import Rows
from dither.learn.schema import Schema
from dither.ledger import Receipt

if TYPE_CHECKING:
    from dither.learn.reading import Reading

__all__ = ["Read", "Source"]

Read = tuple[Rows, Any]
"""Rows, and the id of each row's owner; None where each row is a unit of its own."""


@dataclass(frozen=True)
class Source:
    """Where rows come from. `read` is called after the charge, with its receipt;
    `reading` reads public frames in the same way, where there are columns.
    """

    schema: Schema
    read: Callable[[Receipt | None], Read]
    owned: bool
    owner: str | None = None
    dataset: Dataset | None = None
    table: str | None = None
    notes: tuple[str, ...] = ()
    reading: Reading | None = None
    columns: tuple[str, ...] = ()
    """Which columns are read, and how, in full."""

    @property
    def classes(self) -> int | None:
        """How many classes the target was declared to have; None where it was not."""
        return None if self.reading is None else self.reading.classes

    @property
    def words(self) -> str:
        """What tells these records from others by what is declared of them."""
        about = self.dataset.catalogue if self.dataset is not None else None
        named = () if about is None else (about.name, about.version, self.table)
        owned = self.owner or ("ids" if self.owned else EACH_ROW)
        return repr((self.schema, *named, *self.columns, owned))
