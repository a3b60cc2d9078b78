"""Where rows come from, and whose they are: by types and names alone, which are public."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.learn.rows import Rows
from dither.learn.schema import Schema
from dither.ledger import Receipt

if TYPE_CHECKING:
    from dither.learn.reading import Reading

__all__ = ["EACH_ROW", "Read", "Source", "column_in", "ids_of"]

EACH_ROW = "row"
"""The `owner` that says that each row is a unit of its own."""
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


def ids_of(frame: Any, owner: Any) -> Callable[[], Any]:
    if owner is None:
        raise ArgumentError(
            "owner",
            "is missing: say whose each row is, by a column or by ids; or "
            'owner="row" where each row is a unit of its own',
        )
    if isinstance(owner, str) and owner == EACH_ROW:
        return lambda: None
    if isinstance(owner, str) and frame is None:
        raise ArgumentError(
            "owner", 'names a column, but the data is no frame; pass ids, or "row"'
        )
    held = column_in(frame, "owner", owner) if isinstance(owner, str) else owner
    held = held.cpu().numpy() if isinstance(held, Tensor) else held
    kind = getattr(getattr(held, "dtype", None), "kind", "O")
    flat = len(getattr(held, "shape", (0,))) == 1
    if not hasattr(held, "__len__") or not flat or kind not in "iuOUST":
        raise ArgumentError(
            "owner",
            "must be a column of texts or whole numbers; floats merge large ids, so "
            'read the column as text or, in pandas, as "Int64"',
        )
    return lambda: held


def column_in(frame: Any, argument: str, name: str) -> Any:
    listed = frame if isinstance(frame, Mapping) else _names(frame)
    if name not in list(listed):
        some = ", ".join(repr(one) for one in list(listed)[:12])
        raise ArgumentError(argument, f"there is no column {name!r}; there are {some}")
    # Else numbers of one row would stand in the rows of others.
    twice = list(listed).count(name) > 1
    if twice or len(getattr(frame[name], "shape", (0,))) != 1:
        raise ArgumentError(
            argument,
            f"column {name!r} must be there once and have one value for each row; make "
            "a column of each part, under a name of its own",
        )
    return frame[name]


def _names(frame: Any) -> Any:
    """An Arrow table names its columns elsewhere than pandas and Polars do."""
    return getattr(frame, "column_names", frame.columns)
