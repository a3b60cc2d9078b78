"""Source of rows: the public facts about them, and how they are read after the charge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from dither.dataset import Dataset
from dither.learn.names import EACH_ROW
from dither.learn.rows import Real, Rows
from dither.learn.schema import Schema
from dither.ledger import Receipt

if TYPE_CHECKING:
    from dither.learn.reading import Reading

__all__ = ["Read", "Source"]

Read = tuple[Rows, Any]
"""Rows, and the id of each row's owner; None if each row is a unit of its own."""


@dataclass(frozen=True)
class Source:
    """Source of rows. `read` is called after the charge, with its receipt; `reading`
    reads public frames in the same way, if there are columns.
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
    real_type: torch.dtype = torch.float32

    def real(self, kind: torch.dtype) -> Source:
        """Rows for a model whose parameters are of this type."""
        if kind == torch.float32:
            return self

        def read(receipt: Receipt | None) -> Read:
            rows, owners = self.read(receipt)
            return Real(rows, kind), owners

        return replace(self, schema=self.schema.real(kind), read=read, real_type=kind)

    @property
    def classes(self) -> int | None:
        """Number of declared classes of the target; None if it was not declared."""
        return None if self.reading is None else self.reading.classes

    @property
    def words(self) -> str:
        """What tells these records from others by what is declared of them."""
        about = self.dataset.catalogue if self.dataset is not None else None
        named = () if about is None else (about.name, about.version, self.table)
        owned = self.owner or ("ids" if self.owned else EACH_ROW)
        return repr((self.schema, *named, *self.columns, owned))
