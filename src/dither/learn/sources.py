"""What a call names: columns of frames, declared columns of datasets, owners of rows.
Only what is public is looked at: types, names, declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.ids import StoredIds, codes_of

__all__ = [
    "EACH_ROW",
    "column",
    "column_names",
    "facts_of",
    "ids",
    "is_frame",
    "listed",
    "named",
    "owner_numbers",
    "table_of",
]

EACH_ROW = "row"
"""The `owner` that says that each row is a unit of its own."""


def is_frame(data: Any) -> bool:
    return isinstance(data, Mapping) or hasattr(data, "columns")


def table_of(data: Dataset, owner: Any, table: str | None) -> str | None:
    """The table that is meant, if it is there; a dataset knows its unit."""
    if owner is not None:
        raise ArgumentError("owner", f"is the dataset's: {data.unit}; leave it out")
    known = [one.name for one in data.catalogue.private]
    if table not in known and (table is not None or len(known) > 1):
        raise ArgumentError("table", f"must be one of {', '.join(known)}")
    return table


def owner_numbers(owners: Any) -> NDArray[np.int64] | None:
    """The number of each row's unit, told apart as the dataset does."""
    return None if owners is None else codes_of(StoredIds(owners))


def facts_of(data: Dataset, name: str, table: str | None) -> Any:
    found = data.facts.get(f"{table}.{name}") or data.facts.get(name)
    if found is None or table not in (None, found.table):
        known = ", ".join(map(repr, data.facts))
        raise ArgumentError("inputs", f"there is no column {name!r}; there are {known}")
    return found


def listed(inputs: Any) -> list[str]:
    fine = isinstance(inputs, Sequence) and not isinstance(inputs, str) and len(inputs)
    if not fine or not all(isinstance(one, str) for one in inputs):
        raise ArgumentError(
            "inputs", 'must list the columns to learn from, such as ["age", "days"]'
        )
    return list(inputs)


def named(target: Any) -> str:
    if not isinstance(target, str):
        raise ArgumentError("target", 'must name a column, such as "ward"')
    return target


def column(frame: Any, argument: str, name: str) -> Any:
    known = list(frame if isinstance(frame, Mapping) else column_names(frame))
    if name not in known:
        some = ", ".join(repr(one) for one in known[:12])
        raise ArgumentError(argument, f"there is no column {name!r}; there are {some}")
    return frame[name]


def column_names(frame: Any) -> Any:
    """An Arrow table names its columns elsewhere than pandas and Polars do."""
    return getattr(frame, "column_names", frame.columns)


def ids(frame: Any, owner: Any) -> Callable[[], NDArray[np.int64] | None]:
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
    held = column(frame, "owner", owner) if isinstance(owner, str) else owner
    held = held.cpu().numpy() if hasattr(held, "cpu") else held
    kind = getattr(getattr(held, "dtype", None), "kind", "O")
    flat = len(getattr(held, "shape", (0,))) == 1
    if not hasattr(held, "__len__") or not flat or kind not in "iuOUST":
        raise ArgumentError(
            "owner",
            "must be a column of texts or whole numbers; floats merge large ids, so "
            'read the column as text or, in pandas, as "Int64"',
        )
    return lambda: codes_of(held)
