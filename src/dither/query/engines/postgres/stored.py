"""Tables as PostgreSQL stores them: columns with their types, read as what they were
declared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import Type
from dither.query.engines.columns import (
    check_id,
    check_readable,
    decimal_type,
    find_column,
    ids,
)
from dither.query.engines.postgres.words import BYTES, NAMES, quoted
from dither.query.operations import postgres_casts as casts

__all__ = ["StoredColumn", "StoredTable", "type_of"]

TYPES = {
    **dict.fromkeys(("int2", "int4", "int8"), Type.INTEGER),
    **dict.fromkeys(("float4", "float8", "numeric"), Type.REAL),
    **dict.fromkeys(
        ("text", "varchar", "bpchar", "name", "citext", "uuid", "json", "jsonb"),
        Type.TEXT,
    ),
    **dict.fromkeys(("timestamp", "timestamptz"), Type.TIMESTAMP),
    "bool": Type.BOOLEAN,
    "date": Type.DATE,
}
"""By the names of the types in the server's catalogue. Enumerations are strings, and a
domain has the type that it is based on.
"""
WHOLE = re.compile(r"numeric\((\d+),0\)")
EARLIEST, LATEST = "DATE '0001-01-01'", "DATE '9999-12-31'"


def type_of(name: str, shown: str, *, enumerated: bool = False) -> Type | None:
    """The type in which a column is asked about; None for lists, structures, times of
    day, bytes and others.
    """
    whole = WHOLE.fullmatch(shown)
    if whole:
        return decimal_type(int(whole[1]), 0)
    return Type.TEXT if enumerated else TYPES.get(name)


@dataclass(frozen=True)
class StoredColumn:
    """A column: the name of its type in the server's catalogue, the type as SQL writes
    it, and our own.
    """

    name: str
    kind: str
    shown: str
    type: Type | None

    def read(self, wanted: Type, *, id: bool) -> str:
        """The column as a type: what cannot be read is NULL, and nothing is rounded to
        an integer. Fewer forms of a string are ids (rule R10).
        """
        x = quoted(self.name)
        if self.kind == "numeric":
            return _of_number(x, wanted, id)
        match self.type:
            case Type.TEXT:
                return casts.of_stored(f"(CAST({x} AS text) {BYTES})", wanted, id=id)
            case Type.REAL:
                return _of_real(f"CAST({x} AS double precision)", wanted)
            case Type.DATE | Type.TIMESTAMP:
                naive = f"({x} AT TIME ZONE 'UTC')" if self.kind == "timestamptz" else x
                return _of_moment(naive, self.type, wanted, id)
        return _of_whole(x, self.type or Type.TEXT, wanted)


def _of_number(x: str, wanted: Type, id: bool) -> str:
    """A number of any size. As a text it has all its digits, or two long ids would
    become one, and no zeros behind them: 1.0 and 1.00 are one id."""
    if wanted is Type.TEXT:  # a number that is none would be an id
        return casts.as_text(
            f"trim_scale(nullif({x}, 'NaN'))" if id else f"trim_scale({x})",
            Type.INTEGER,
        )
    if wanted is Type.BOOLEAN:
        return _of_one_or_zero(x)
    return (
        casts.whole_of(x, exact=True)
        if wanted is Type.INTEGER
        else casts.real_of(x, infinite=True)
    )


def _of_whole(x: str, type_: Type, wanted: Type) -> str:
    """Whole numbers and booleans."""
    if wanted is Type.TEXT:
        return casts.as_text(x, type_)
    if type_ is Type.BOOLEAN and wanted.numeric:
        return f"CAST(CAST({x} AS integer) AS {NAMES[wanted]})"
    return (
        _of_one_or_zero(x)
        if wanted is not type_ and wanted is Type.BOOLEAN
        else f"CAST({x} AS {NAMES[wanted]})"
    )


def _of_real(x: str, wanted: Type) -> str:
    if wanted is Type.INTEGER:
        return casts.whole_real(x, exact=True)
    return casts.as_text(x, Type.REAL) if wanted is Type.TEXT else x


def _of_one_or_zero(x: str) -> str:
    """A number as a boolean."""
    return f"(CASE WHEN {x} = 1 THEN TRUE WHEN {x} = 0 THEN FALSE END)"


def _of_moment(x: str, type_: Type, wanted: Type, id: bool) -> str:
    if wanted is Type.TEXT:
        return casts.as_text(x, type_)
    # Dates reach farther than times do
    if type_ is Type.DATE and wanted is Type.TIMESTAMP:
        # Which are one, and would make one id of many
        ends = ("NULL", "NULL") if id else ("'-infinity'", "'infinity'")
        far = (
            f"CASE WHEN {x} < {EARLIEST} THEN {ends[0]} WHEN {x} > {LATEST} "
            f"THEN {ends[1]}"
        )
        return f"({far} ELSE CAST({x} AS timestamp) END)"
    if id and type_ is Type.TIMESTAMP and wanted is Type.DATE:
        return f"(CASE WHEN {x} = date_trunc('day', {x}) THEN CAST({x} AS date) END)"
    return f"CAST({x} AS {NAMES[wanted]})"


@dataclass(frozen=True)
class StoredTable:
    """A table or a view of the server. `row` is the SQL of a row's own id; None if its
    rows have no id.
    """

    schema: str
    name: str
    columns: Mapping[str, StoredColumn]
    row: str | None

    @property
    def relation(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.name)}"

    def row_id(self) -> str:
        if self.row is None:
            raise ArgumentError(
                "unit",
                f"{self.name!r} is a view, whose rows do not have ids of their own; "
                "name the column with the unit's id",
            )
        return self.row

    def read(self, table: Table, field: Field) -> str:
        column, id = self.column(table, field), field.name in ids(table)
        if id:
            check_id(table, field, real=column.kind in ("float4", "float8"))
        return column.read(field.type, id=id)

    def column(self, table: Table, field: Field) -> StoredColumn:
        """The column that a declaration is about; refused where it is not there or is
        something else altogether.
        """
        column = find_column(self.columns, table, field.name)
        if column.type is None:
            way = (
                "leave it out, or make a view that casts it to text, a number, a "
                "date or a timestamp"
            )
            raise ArgumentError(
                table.name,
                f"the column {column.name!r} of {table.name!r} has the type "
                f"{column.shown}, which is not supported; {way}",
            )
        check_readable(table, field, column.type)
        return column
