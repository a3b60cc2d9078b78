"""What a call names: columns of frames, declared columns of datasets, owners of rows.
Only what is public is looked at: types, names, declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dither.dataset import ColumnFacts, Dataset
from dither.errors import ArgumentError

__all__ = [
    "EACH_ROW",
    "check_apart",
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
        raise ArgumentError(
            "owner", f"is declared by the dataset ({data.unit}); leave it out"
        )
    known = [one.name for one in data.catalogue.private]
    if table not in known and (table is not None or len(known) > 1):
        raise ArgumentError("table", f"must be one of {', '.join(map(repr, known))}")
    return table


def facts_of(data: Dataset, name: str, table: str | None) -> ColumnFacts:
    """The declaration of a column."""
    found = data.facts.get(f"{table}.{name}") or data.facts.get(name)
    if found is None or table not in (None, found.table):
        known = ", ".join(map(repr, data.facts))
        raise ArgumentError(
            "inputs", f"there is no column {name!r}; use one of {known}"
        )
    return found


def listed(inputs: Any, otherwise: str | None = None) -> list[str]:
    """Names of columns, or their replacements that `otherwise` describes."""
    kinds = Sequence if otherwise is None else Sequence | Mapping
    fine = isinstance(inputs, kinds) and not isinstance(inputs, str) and len(inputs)
    if not fine or not all(isinstance(one, str) for one in inputs):
        more = "" if otherwise is None else f", {otherwise}"
        raise ArgumentError(
            "inputs",
            'must list the columns to learn from; pass one such as ["age", '
            f'"days"]{more}',
        )
    return list(inputs)


def named(target: Any) -> str:
    if not isinstance(target, str):
        raise ArgumentError("target", 'must name a column; pass one such as "ward"')
    return target


def check_apart(inputs: Iterable[str], target: str) -> None:
    """Refuse to learn a target from itself."""
    if target in inputs:
        raise ArgumentError(
            "inputs", f"must not contain the target {target!r}; leave it out of inputs"
        )


def column_in(frame: Any, argument: str, name: str) -> Any:
    """A column of a frame."""
    known = column_names(frame)
    if name not in known:
        some = ", ".join(repr(one) for one in known[:12])
        raise ArgumentError(argument, f"there is no column {name!r}; use one of {some}")
    # Else numbers of one row would stand in the rows of others.
    if known.count(name) > 1 or len(getattr(frame[name], "shape", (0,))) != 1:
        raise ArgumentError(
            argument,
            f"the column {name!r} must occur once and have one value for each row; "
            "rename duplicates, and split wider columns into several",
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
    """How to read the id of each row's owner: None if each row is a unit."""
    if owner is None:
        raise ArgumentError(
            "owner",
            "is missing, but it defines the unit of each row; pass a column "
            'name, ids of the rows, or "row" if each row is a unit of its own',
        )
    if isinstance(owner, str) and owner == EACH_ROW:
        return lambda: None
    if isinstance(owner, str) and frame is None:
        raise ArgumentError(
            "owner",
            "cannot be the name of a column, because the data is not a frame; pass ids "
            'of the rows, or "row"',
        )
    held = column_in(frame, "owner", owner) if isinstance(owner, str) else owner
    # by its type: a label of a pandas index reads like an attribute
    held = held.cpu().numpy() if hasattr(type(held), "cpu") else held
    kind = getattr(getattr(held, "dtype", None), "kind", "O")
    flat = len(getattr(held, "shape", (0,))) == 1
    if not hasattr(held, "__len__") or not flat or kind not in "iuOUST":
        raise ArgumentError(
            "owner",
            "must be a column of strings or whole numbers, because floats merge large "
            'ids; convert the column to strings or, in pandas, to "Int64"',
        )
    return lambda: held
