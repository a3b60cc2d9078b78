"""What a call names: columns of frames, declared columns of datasets, owners of rows.
Only what is public is looked at: types, names, declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dither.dataset import ColumnFacts, Dataset
from dither.errors import ArgumentError

__all__ = [
    "EACH_ROW",
    "column_in",
    "column_names",
    "facts_of",
    "ids_of",
    "is_frame",
    "listed",
    "named",
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


def facts_of(data: Dataset, name: str, table: str | None) -> ColumnFacts:
    """What is declared of a column."""
    found = data.facts.get(f"{table}.{name}") or data.facts.get(name)
    if found is None or table not in (None, found.table):
        known = ", ".join(map(repr, data.facts))
        raise ArgumentError("inputs", f"there is no column {name!r}; there are {known}")
    return found


def listed(inputs: Any, otherwise: str | None = None) -> list[str]:
    """Names of columns; also by what stands for each, where `otherwise` says how."""
    kinds = Sequence if otherwise is None else Sequence | Mapping
    fine = isinstance(inputs, kinds) and not isinstance(inputs, str) and len(inputs)
    if not fine or not all(isinstance(one, str) for one in inputs):
        more = "" if otherwise is None else f", {otherwise}"
        raise ArgumentError(
            "inputs",
            f'must list the columns to learn from, such as ["age", "days"]{more}',
        )
    return list(inputs)


def named(target: Any) -> str:
    if not isinstance(target, str):
        raise ArgumentError("target", 'must name a column, such as "ward"')
    return target


def column_in(frame: Any, argument: str, name: str) -> Any:
    """A column of a frame."""
    known = column_names(frame)
    if name not in known:
        some = ", ".join(repr(one) for one in known[:12])
        raise ArgumentError(argument, f"there is no column {name!r}; there are {some}")
    # Else numbers of one row would stand in the rows of others.
    if known.count(name) > 1 or len(getattr(frame[name], "shape", (0,))) != 1:
        raise ArgumentError(
            argument,
            f"column {name!r} must be there once and have one value for each row; make "
            "a column of each part, under a name of its own",
        )
    return frame[name]


def column_names(frame: Any) -> list[Any]:
    """An Arrow table names its columns elsewhere than pandas and Polars do."""
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(frame, "column_names", None)
    # a column of pandas can have that name, and what it holds is private
    return list(names if isinstance(names, list) else frame.columns)


def ids_of(frame: Any, owner: Any) -> Callable[[], Any]:
    """How to read the id of each row's owner: None where each row is a unit."""
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
    # by its type: a label of a pandas index reads like an attribute
    held = held.cpu().numpy() if hasattr(type(held), "cpu") else held
    kind = getattr(getattr(held, "dtype", None), "kind", "O")
    flat = len(getattr(held, "shape", (0,))) == 1
    if not hasattr(held, "__len__") or not flat or kind not in "iuOUST":
        raise ArgumentError(
            "owner",
            "must be a column of texts or whole numbers; floats merge large ids, so "
            'read the column as text or, in pandas, as "Int64"',
        )
    return lambda: held
