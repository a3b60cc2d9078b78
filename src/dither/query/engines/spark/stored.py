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
from dither.query.engines.spark.sessions import shared
from dither.query.engines.spark.words import NAMES
from dither.query.operations.casts import SPARK_DAY, SPARK_WHOLE, spark_cast

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
        """What cannot be read is NULL. Texts are compared byte by byte, and CHAR
        without its padding (rule R10).
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
        elif DECIMAL.fullmatch(self.stored) and type_ in (Type.INTEGER, Type.TEXT):
            return (
                f"try_cast(round({sql}) AS BIGINT)"
                if type_ is Type.INTEGER
                else self._digits()
            )
        elif self.stored.upper() not in NAMES.values():
            sql = f"CAST({sql} AS {NAMES[mine]})"
        return spark_cast(sql, mine, type_)

    def _digits(self) -> str:
        """A decimal as a text without zeros behind its digits: 1.50 and 1.5 are one id."""
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
        """Whether a value is read without loss; None where it always is."""
        sql = f"d{self.place}"
        if type_ is Type.INTEGER and self.real:
            return f"{sql} = rint({sql})"
        if type_ is Type.INTEGER and self.type in (Type.TEXT, Type.REAL):
            return f"CAST({sql} AS STRING) RLIKE '{SPARK_WHOLE}'"
        if type_ is Type.DATE and self.type is Type.TEXT:
            return f"CAST({sql} AS STRING) RLIKE '{SPARK_DAY}'"
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
        way = "cast it to one in a view, or leave it out of the catalogue"
        raise ArgumentError(
            table.name,
            f"{field.name} is stored as {column.stored:.60}, which is no "
            f"{field.type}; {way}",
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
