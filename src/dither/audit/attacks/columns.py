"""Columns of a table that an attack is run on: a frame, a mapping of columns, or a
file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.items import items_of
from dither.science.census.listing import known_columns

__all__ = ["coded", "columns_of", "joint", "names_of", "numeric", "read", "reals"]

Codes = NDArray[np.intp]
MOST_NAMES = 64


def names_of(names: Any, argument: str) -> tuple[str, ...]:
    """Some names of columns, each once."""
    listed = (names,) if isinstance(names, str) else names
    plain = isinstance(listed, Iterable) and not isinstance(listed, Mapping)
    found = tuple(listed) if plain else ()
    texts = all(isinstance(one, str) for one in found)
    if (
        not found
        or not texts
        or len(set(found)) < len(found)
        or len(found) > MOST_NAMES
    ):
        raise ArgumentError(
            argument,
            f"must name 1 to {MOST_NAMES} columns, each once; pass a list such as "
            '["age", "sex", "region"]',
        )
    return found


def columns_of(
    table: Any, names: Sequence[str], argument: str
) -> dict[str, Sequence[Any]]:
    """The columns of a table with at least one row."""
    known = [one for one in known_columns(checked(table)) if isinstance(one, str)]
    missing = next((one for one in names if one not in known), None)
    if missing is not None:
        listed = ", ".join(known[:12]) or "none"
        raise ArgumentError(
            argument,
            f"{missing!r} is not a column of the table; name columns from: {listed}",
        )
    double = next((one for one in names if known.count(one) > 1), None)
    if double is not None:
        raise ArgumentError(
            argument, f"two columns have the name {double!r}; rename one of them"
        )
    found = {name: items_of(table[name]) for name in names}
    sizes = {len(column) for column in found.values()}
    if len(sizes) > 1:
        raise ArgumentError(
            "table", "has columns of different lengths; make them equally long"
        )
    if sizes == {0}:
        raise ArgumentError(
            "table", "has no rows; pass a table with at least one person"
        )
    return found


def checked(table: Any) -> Any:
    if isinstance(table, Dataset):
        raise ArgumentError(
            "table",
            "must hold the people themselves, and a dataset only gives noisy answers; "
            "pass a data frame",
        )
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise ArgumentError(
            "table",
            f"must be a table, not {type(table).__name__}; pass a data frame or a "
            "mapping of columns",
        )
    return table


def numeric(column: Sequence[Any]) -> bool:
    """Whether every value is a number; booleans are categories."""
    return all(isinstance(one, Real) and not isinstance(one, bool) for one in column)


def reals(column: Sequence[Any]) -> NDArray[np.float64] | None:
    """The numbers of a column, if they are finite."""
    try:
        found = np.array(column, np.float64)
    except OverflowError:
        return None
    return found if np.isfinite(found).all() else None


def coded(column: Sequence[Any]) -> tuple[Codes, list[Any]]:
    """The place of each value among the different ones, in their order of coming. Two
    values that are not numbers are treated as equal.
    """
    places: dict[Any, int] = {}
    codes = [places.setdefault(_key(one), len(places)) for one in column]
    return np.array(codes, np.intp), [value for _, value in places]


def _key(value: Any) -> tuple[str, Any]:
    """Values of different types differ: 1 is not True."""
    if isinstance(value, float) and math.isnan(value):
        return "float", None
    try:
        hash(value)
    except TypeError:
        return type(value).__name__, repr(value)
    kind = "number" if numeric([value]) else type(value).__name__
    return kind, value


def joint(columns: Iterable[Codes]) -> Codes:
    """One code for each combination of several columns."""
    together: Codes | None = None
    for codes in columns:
        paired = codes if together is None else together * (codes.max() + 1) + codes
        together = np.unique(paired, return_inverse=True)[1].reshape(-1)
    if together is None:
        raise ArgumentError(
            "columns", "is empty; pass at least one column, such as ['age']"
        )
    return np.asarray(together, np.intp)


def read(path: str | Path) -> dict[str, list[Any]]:
    """The columns of a CSV, JSON or Parquet file."""
    import duckdb

    place = Path(path)
    if not place.is_file():
        raise ArgumentError(
            "table", f"'{place}' is not a file; name a CSV or Parquet file"
        )
    with duckdb.connect() as connection:
        try:
            found = connection.execute("SELECT * FROM query_table($1)", [str(place)])
            names = [one[0] for one in found.description]
            rows = found.fetchall()
        except duckdb.Error:
            raise ArgumentError(
                "table", f"'{place}' cannot be read; save it as CSV or Parquet"
            ) from None
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: list(one) for name, one in zip(names, columns, strict=True)}
