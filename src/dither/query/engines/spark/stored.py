"""Data frames as Spark holds them: columns with their types, read as what they were
declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from dither.errors import ArgumentError
from dither.noise import token
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.columns import (
    check_id,
    check_readable,
    decimal_type,
    find_column,
    ids,
    unique,
)
from dither.query.engines.spark import casts
from dither.query.engines.spark.sessions import shared
from dither.query.engines.spark.words import NAMES
from dither.query.operations import forms
from dither.query.operations.casts import spark_cast

__all__ = [
    "StoredColumn",
    "StoredTable",
    "columns_of",
    "fields_of",
    "placed",
    "places_of",
    "viewed",
]

TYPES = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Type.INTEGER),
    **dict.fromkeys(("float", "double"), Type.REAL),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), Type.TIMESTAMP),
    "string": Type.TEXT,
    "boolean": Type.BOOLEAN,
    "date": Type.DATE,
    "void": Type.TEXT,
}
DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
TEXTS = re.compile(r"(string collate \w+|char\(\d+\)|varchar\(\d+\)).*", re.IGNORECASE)
CHAR = "__CHAR_VARCHAR_TYPE_STRING"


@dataclass(frozen=True)
class StoredTable:
    """Rows as Spark holds them: a FROM clause, its columns read as their declared
    types, a row's own id, and columns as they are."""

    relation: str
    columns: Mapping[str, str]
    row: str = ""
    places: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredColumn:
    """A column of a data frame, by its place and its type in Spark."""

    place: int
    name: str
    stored: str
    padded: bool = False

    @property
    def type(self) -> Type | None:
        """The type in which it is asked about; None for lists, structures, intervals,
        bytes and others.
        """
        decimal = DECIMAL.fullmatch(self.stored)
        if decimal:
            return decimal_type(int(decimal[1]), int(decimal[2]))
        return Type.TEXT if TEXTS.fullmatch(self.stored) else TYPES.get(self.stored)

    def read(self, type_: Type) -> str:
        """Unreadable values are NULL, and so are numbers that would be rounded. Strings
        are compared byte by byte, and CHAR without its padding (rule R10).
        """
        sql, mine = f"d{self.place}", self.type
        assert mine is not None
        if mine is Type.TEXT:
            sql = (
                f"(CAST({sql} AS STRING) COLLATE UTF8_BINARY)"
                if self.stored != "string"
                else sql
            )
            sql = f"rtrim({sql})" if self.padded else sql
            return sql if type_ is Type.TEXT else casts.of_text(sql, type_)
        if type_ is Type.BOOLEAN and mine is not Type.BOOLEAN:
            return casts.one_or_zero(sql)
        if type_ is Type.INTEGER and DECIMAL.fullmatch(self.stored):
            return casts.whole_decimal(sql)
        if type_ is Type.INTEGER and mine is Type.REAL:
            return casts.whole_real(sql)
        if type_ is Type.TEXT and DECIMAL.fullmatch(self.stored):
            return self._digits()
        if self.stored.upper() not in NAMES.values():
            sql = f"CAST({sql} AS {NAMES[mine]})"
        return spark_cast(sql, mine, type_)

    def _digits(self) -> str:
        """A decimal as a string without trailing zeros: 1.50 and 1.5 are one id."""
        text, decimal = f"CAST(d{self.place} AS STRING)", DECIMAL.fullmatch(self.stored)
        return (
            f"rtrim('.', rtrim('0', {text}))"
            if decimal and int(decimal[2]) > 0
            else text
        )

    def read_id(self, type_: Type) -> str:
        """An id: NULL unless it is exactly that, or two ids could become one owner
        (rule R10).
        """
        read, exact = self.read(type_), self._exactly(type_)
        return read if exact is None else f"(CASE WHEN {exact} THEN {read} END)"

    def _exactly(self, type_: Type) -> str | None:
        """Whether a value is read without loss; None if it always is."""
        sql = f"d{self.place}"
        if type_ is Type.INTEGER and self.type is Type.TEXT:
            return f"NOT CAST({sql} AS STRING) RLIKE '[eE]'"
        if type_ is Type.DATE and self.type is Type.TEXT:
            return f"NOT contains(CAST({sql} AS STRING), ':')"
        if type_ is Type.TIMESTAMP and self.type is Type.TEXT:
            finer = casts.written(forms.FINER)
            return f"NOT CAST({sql} AS STRING) RLIKE '{finer}'"
        if type_ is Type.DATE and self.type is Type.TIMESTAMP:
            moment = self.read(Type.TIMESTAMP)
            return f"{moment} = CAST(CAST({moment} AS DATE) AS TIMESTAMP_NTZ)"
        return None

    @property
    def real(self) -> bool:
        return self.stored in ("float", "double")


def columns_of(frame: Any) -> list[StoredColumn]:
    """The columns of a data frame, in order."""
    fields = frame.schema.fields
    unique("table", [field.name for field in fields])
    return [_column(place, field) for place, field in enumerate(fields)]


def _column(place: int, field: Any) -> StoredColumn:
    stored = str(field.metadata.get(CHAR, field.dataType.simpleString())).lower()
    return StoredColumn(place, field.name, stored, stored.startswith("char("))


def fields_of(frame: Any, table: Table) -> dict[str, str]:
    """How each declared column is read; refused where it is stored as something else
    altogether.
    """
    columns = {column.name: column for column in columns_of(frame)}
    return {field.name: _field(columns, table, field) for field in table.fields}


def places_of(frame: Any, table: Table) -> dict[str, str]:
    """The declared columns as they are stored."""
    columns = {column.name: column for column in columns_of(frame)}
    found = {one.name: find_column(columns, table, one.name) for one in table.fields}
    return {name: f"d{column.place}" for name, column in found.items()}


def _field(columns: Mapping[str, StoredColumn], table: Table, field: Field) -> str:
    column = find_column(columns, table, field.name)
    if column.type is None:
        way = "cast it in a view, or leave it out of the catalogue"
        raise ArgumentError(
            table.name,
            f"the column {field.name!r} of {table.name!r} is stored as "
            f"{column.stored:.60}, which cannot be read as {field.type}; {way}",
        )
    check_readable(table, field, column.type)
    if field.name not in ids(table):
        return column.read(field.type)
    check_id(table, field, real=column.real)
    return column.read_id(field.type)


@contextmanager
def viewed(frame: Any) -> Iterator[str]:
    """A data frame in the FROM clause of every session of its context, until this ends."""
    name = f"dither_{token(8)}"
    frame.createGlobalTempView(name)
    try:
        yield f"{shared(frame.sparkSession)}.{name}"
    finally:
        with suppress(Exception):
            frame.sparkSession.catalog.dropGlobalTempView(name)


def placed(frame: Any) -> Any:
    """A data frame with its columns named by their places: d0, d1, …"""
    return frame.toDF(*(f"d{place}" for place in range(len(frame.columns))))
