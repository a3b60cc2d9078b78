"""Data frames as sources: pandas, Polars, Arrow, and whatever else offers an Arrow
stream.

Types come from the frame's own types, which are public. A column of Python objects has
none: it is read as text, record by record, so that no record changes how another is
read (rules R1, R6).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from dither.errors import ArgumentError
from dither.query.catalogue.model import Table
from dither.query.catalogue.names import nameable
from dither.query.catalogue.types import Type
from dither.query.engines.columns import Schema, unique
from dither.query.engines.duckdb.connection import connect, described
from dither.query.engines.duckdb.readers.frame_objects import texts_of
from dither.query.engines.duckdb.stored import (
    StoredColumn,
    StoredTable,
    columns_of,
    frame_name,
    plain,
)
from dither.query.engines.duckdb.words import quoted

if TYPE_CHECKING:
    import duckdb

__all__ = ["ArrowFrame", "PandasFrame", "Stream", "carried", "frame_of"]

KINDS = {
    **dict.fromkeys("iu", Type.INTEGER),
    "f": Type.REAL,
    "b": Type.BOOLEAN,
    "M": Type.TIMESTAMP,
    **dict.fromkeys("OUT", Type.TEXT),
}
WIDEST_REAL = 8
Key = TypeVar("Key", str, int)


def frame_of(value: Any) -> PandasFrame | ArrowFrame | None:
    """The frame as a source; None for any other value."""
    roots = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    if "pandas" in roots and hasattr(value, "dtypes") and hasattr(value, "columns"):
        return PandasFrame(value)
    if "polars" in roots:
        return ArrowFrame(
            Stream(_polars(value.collect() if hasattr(value, "collect") else value))
        )
    if not hasattr(value, "__arrow_c_stream__"):
        return None
    if type(value).__name__ == "DuckDBPyRelation":
        return ArrowFrame(Stream(_carried_whole(value)))
    return ArrowFrame(_arrow(value) if "pyarrow" in roots else Stream(value))


def carried(column: StoredColumn) -> StoredColumn:
    """A column of DuckDB's as it goes through Arrow, which has no integers of more than
    64 bits.
    """
    long = column.type in ("HUGEINT", "UHUGEINT", "BIGNUM")
    return StoredColumn(f"CAST({column.sql} AS VARCHAR)", "VARCHAR") if long else column


def _carried_whole(rows: Any) -> Any:
    """The rows of an open DuckDB query."""
    found = zip(rows.columns, map(str, rows.types), strict=True)
    asked = [
        f"{carried(StoredColumn(quoted(name), stored)).sql} AS {quoted(name)}"
        for name, stored in found
    ]
    return rows.project(", ".join(asked))


class Stream:
    """Something that offers an Arrow stream, and shows nothing else: DuckDB would look
    for pyarrow otherwise.
    """

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.source.__arrow_c_stream__(requested_schema)


def _polars(frame: Any) -> Any:
    """A Polars frame without what DuckDB cannot take over."""
    for name, dtype in frame.schema.items():
        if getattr(dtype, "time_zone", None) is not None:
            frame = frame.with_columns(
                frame[name].to_physical().cast(type(dtype)(dtype.time_unit))
            )
    names = [name for name, dtype in frame.schema.items() if str(dtype) != "Object"]
    return frame.select(_known(names, lambda some: Stream(frame.select(some).head(0))))


def _arrow(frame: Any) -> Any:
    """A table of pyarrow's, or a reader of one, without what DuckDB cannot take over."""
    if not hasattr(frame, "cast"):
        return frame
    pa = sys.modules["pyarrow"]
    fields = [field.with_type(_unzoned(field.type, pa)) for field in frame.schema]
    frame = frame if fields == list(frame.schema) else frame.cast(pa.schema(fields))
    if not hasattr(frame, "select"):
        return frame
    places = list(range(len(fields)))
    known = _known(
        places, lambda some: pa.schema([fields[place] for place in some]).empty_table()
    )
    return frame if known == places else frame.select(known)


def _unzoned(type_: Any, pa: Any) -> Any:
    """Times with a zone are counted in UTC, and stay so without it: DuckDB would
    convert them, and fail at the ends.
    """
    return pa.timestamp(type_.unit) if getattr(type_, "tz", None) is not None else type_


def _known(which: list[Key], columns: Callable[[list[Key]], Any]) -> list[Key]:
    """Of some columns, those that DuckDB has types for. No row of them is looked at."""
    with connect() as connection:
        if _taken(connection, columns(which)):
            return which
        return [one for one in which if _taken(connection, columns([one]))]


def _taken(connection: duckdb.DuckDBPyConnection, columns: Any) -> bool:
    import duckdb

    try:
        connection.register("columns", columns)
    except (duckdb.Error, TypeError):
        return False
    return True


@dataclass(frozen=True, eq=False)
class ArrowFrame:
    """A frame with Arrow types."""

    frame: Any

    def schema(self) -> Schema:

        with connect() as connection:
            return plain(self._types(connection, "frame"))

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:
        name = frame_name(table)
        columns = columns_of(self._types(connection, name))
        return StoredTable(
            quoted(name), {one: _decoded(column) for one, column in columns.items()}
        )

    def _types(
        self, connection: duckdb.DuckDBPyConnection, name: str
    ) -> dict[str, str]:
        import duckdb

        try:
            connection.register(name, self.frame)
            return described(connection, quoted(name))
        except (duckdb.Error, TypeError):
            pass
        raise ArgumentError(
            "source",
            "the columns of the frame cannot be read; convert them to numbers, "
            "strings, booleans, dates or timestamps",
        )


def _decoded(column: StoredColumn) -> StoredColumn:
    """Arrow promises that strings are UTF-8, but nobody looks; what is not is NULL."""
    if column.type != "VARCHAR":
        return column
    return StoredColumn(f"TRY(decode(encode({column.sql})))", column.type, column.sql)


@dataclass(frozen=True, eq=False)
class PandasFrame:
    """A pandas frame."""

    frame: Any

    def names(self) -> list[str]:
        return unique("source", [str(name) for name in self.frame.columns])

    def schema(self) -> Schema:
        dtypes = zip(self.names(), self.frame.dtypes, strict=True)
        types = {name: _type(dtype) for name, dtype in dtypes if nameable(name)}
        return {name: type_ for name, type_ in types.items() if type_ is not None}

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:
        known = self.schema()
        wanted = {field.name.casefold() for field in table.fields}
        places = {
            name: place
            for place, name in enumerate(self.names())
            if name in known and name.casefold() in wanted
        }
        name = frame_name(table)
        # A frame without columns would have no rows either, so their number is always
        # there.
        arrays = {
            f"c{place}": _forwards(_array(self.frame.iloc[:, place]))
            for place in places.values()
        }
        connection.register(name, {**arrays, "n": np.arange(len(self.frame))})
        types = described(connection, quoted(name))
        columns = {
            one: StoredColumn(f"c{place}", types[f"c{place}"])
            for one, place in places.items()
        }
        # Known by name, and never asked about
        others = dict.fromkeys(known, StoredColumn("NULL", "VARCHAR"))
        return StoredTable(quoted(name), {**others, **columns})


def _type(dtype: Any) -> Type | None:
    """The type of a column's values, or of its categories; None for one that cannot be
    asked about.
    """
    if hasattr(dtype, "categories"):
        return _type(dtype.categories.dtype)
    return (
        Type.DATE
        if str(dtype).startswith(("date32", "date64"))
        else KINDS.get(dtype.kind)
    )


def _forwards(array: Any) -> Any:
    """The same array, copied if it runs backwards: DuckDB does not read such ones."""
    return array.copy() if min(array.strides, default=0) < 0 else array


def _array(series: Any) -> Any:
    """A pandas column as a numpy array, masked where values are missing; its type
    depends on its dtype alone.
    """
    if hasattr(series.dtype, "categories"):
        return _by_code(
            np.asarray(series.cat.codes), _array(series.cat.categories.to_series())
        )
    kind = _type(series.dtype)
    if kind in (Type.TEXT, Type.DATE) or (
        kind is Type.REAL and series.dtype.itemsize > WIDEST_REAL
    ):
        return np.array(texts_of(_items(series)), object)
    if kind is Type.TIMESTAMP:
        naive = series if series.dt.tz is None else series.dt.tz_convert(None)
        return naive.to_numpy()
    if kind is Type.REAL:
        return series.to_numpy(np.float64, na_value=np.nan)
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    wanted = (
        bool
        if kind is Type.BOOLEAN
        else np.uint64
        if series.dtype.kind == "u"
        else np.int64
    )
    return np.ma.array(
        series.to_numpy(wanted, na_value=wanted(0)), mask=series.isna().to_numpy()
    )


def _items(series: Any) -> list[Any]:
    """The objects of a column. If pandas fails to make them all, those that it can make
    one by one.
    """
    with suppress(Exception):
        return list(series.tolist())
    return [_item(series, place) for place in range(len(series))]


def _item(series: Any, place: int) -> Any:
    with suppress(Exception):
        return series.iloc[place]
    return None


def _by_code(codes: Any, values: Any) -> Any:
    """The values that codes stand for; none if a code is negative."""
    missing = codes < 0
    if not len(values):
        return np.full(len(codes), None, object)
    found = values[np.where(missing, 0, codes)]
    if found.dtype == object:
        found[missing] = None
        return found
    return np.ma.array(found, mask=missing | np.ma.getmaskarray(found))
