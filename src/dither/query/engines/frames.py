"""Data frames as sources: pandas, Polars, Arrow, and whatever else offers an Arrow stream.

Types come from the frame's own types, which are public. A column of Python objects has none: it is read as text, record
by record, so that no record changes how another is read (rules R1, R6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.errors import ArgumentError
from dither.query.catalogue import Table
from dither.query.engines.duckdb_words import quoted
from dither.query.engines.storage import (
    Column,
    Schema,
    Stored,
    columns_of,
    connect,
    described,
    frame_name,
    plain,
    unique,
)
from dither.query.names import nameable
from dither.query.sql.types import Type

if TYPE_CHECKING:
    import duckdb

__all__ = ["ArrowFrame", "PandasFrame", "Stream", "frame_of", "text_of"]

KINDS = {
    **dict.fromkeys("iu", Type.INTEGER),
    "f": Type.REAL,
    "b": Type.BOOLEAN,
    "M": Type.TIMESTAMP,
    **dict.fromkeys("OUT", Type.TEXT),
}
LONGEST_INTEGER = 128


def text_of(item: Any) -> str | None:
    """A Python object as a text; None for what has no plain one."""
    if isinstance(item, str):
        return item if item.isascii() else item.encode("utf-8", "replace").decode()
    if isinstance(item, bool | np.bool_):
        return "true" if item else "false"
    if isinstance(item, int | np.integer):
        whole = int(item)
        return str(whole) if whole.bit_length() <= LONGEST_INTEGER else None
    if isinstance(item, float | np.floating):
        return None if math.isnan(item) else repr(float(item))
    if isinstance(item, Decimal):
        return str(item) if item.is_finite() else None
    return item.isoformat() if isinstance(item, date) and type(item).__name__ != "NaTType" else None


def frame_of(value: Any) -> PandasFrame | ArrowFrame | None:
    """The frame as a source; None if it is none."""
    roots = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    if "pandas" in roots and hasattr(value, "dtypes") and hasattr(value, "columns"):
        return PandasFrame(value)
    if "polars" in roots:
        whole = value.collect() if hasattr(value, "collect") else value
        kept = [name for name, dtype in whole.schema.items() if str(dtype) != "Object"]
        return ArrowFrame(Stream(whole.select(kept)))
    if not hasattr(value, "__arrow_c_stream__"):
        return None
    return ArrowFrame(value if "pyarrow" in roots else Stream(value))


class Stream:
    """Something that offers an Arrow stream, and shows nothing else: DuckDB would look for pyarrow otherwise."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.source.__arrow_c_stream__(requested_schema)


@dataclass(frozen=True, eq=False)
class ArrowFrame:
    """A frame with Arrow types."""

    frame: Any

    def schema(self) -> Schema:

        with connect() as connection:
            return plain(self._types(connection, "frame"))

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> Stored:
        name = frame_name(table)
        return Stored(quoted(name), columns_of(self._types(connection, name)))

    def _types(self, connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, str]:
        import duckdb

        try:
            connection.register(name, self.frame)
            return described(connection, quoted(name))
        except (duckdb.Error, TypeError):
            pass
        raise ArgumentError("source", "the frame's columns cannot be read; give them plain types")


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

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> Stored:
        known = self.schema()
        wanted = {field.name.casefold() for field in table.fields}
        places = {name: place for place, name in enumerate(self.names()) if name in known and name.casefold() in wanted}
        name = frame_name(table)
        # A frame without columns would have no rows either, so their number is always there.
        arrays = {f"c{place}": _array(self.frame.iloc[:, place]) for place in places.values()}
        connection.register(name, {**arrays, "n": np.arange(len(self.frame))})
        types = described(connection, quoted(name))
        columns = {one: Column(f"c{place}", types[f"c{place}"]) for one, place in places.items()}
        others = dict.fromkeys(known, Column("NULL", "VARCHAR"))  # known by name, and never asked about
        return Stored(quoted(name), {**others, **columns})


def _type(dtype: Any) -> Type | None:
    """The type of a column's values, or of its categories; None for one that cannot be asked about."""
    if hasattr(dtype, "categories"):
        return _type(dtype.categories.dtype)
    return Type.DATE if str(dtype).startswith(("date32", "date64")) else KINDS.get(dtype.kind)


def _array(series: Any) -> Any:
    """A pandas column as a numpy array, masked where values are missing; its type depends on its dtype alone."""
    if hasattr(series.dtype, "categories"):
        return _by_code(np.asarray(series.cat.codes), _array(series.cat.categories.to_series()))
    kind = _type(series.dtype)
    if kind in (Type.TEXT, Type.DATE):
        return np.array([text_of(item) for item in series.tolist()], object)
    if kind is Type.TIMESTAMP:
        naive = series if series.dt.tz is None else series.dt.tz_convert(None)
        return naive.to_numpy()
    if kind is Type.REAL:
        return series.to_numpy(np.float64, na_value=np.nan)
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    wanted = bool if kind is Type.BOOLEAN else np.uint64 if series.dtype.kind == "u" else np.int64
    return np.ma.array(series.to_numpy(wanted, na_value=wanted(0)), mask=series.isna().to_numpy())


def _by_code(codes: Any, values: Any) -> Any:
    """The values that codes stand for; none where a code is negative."""
    missing = codes < 0
    if not len(values):
        return np.full(len(codes), None, object)
    found = values[np.where(missing, 0, codes)]
    if found.dtype == object:
        found[missing] = None
        return found
    return np.ma.array(found, mask=missing | np.ma.getmaskarray(found))
