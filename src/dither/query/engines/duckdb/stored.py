"""Tables as DuckDB reads them: columns with their types, read as what they were
declared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.names import find, nameable
from dither.query.catalogue.types import Type
from dither.query.engines.columns import (
    Schema,
    check_id,
    check_readable,
    decimal_type,
    find_column,
    ids,
)
from dither.query.engines.duckdb.casts import DECIMAL, REAL, as_id, as_type
from dither.query.engines.duckdb.words import quoted

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "StoredColumn",
    "StoredTable",
    "TableReader",
    "columns_of",
    "frame_name",
    "plain",
    "type_of",
]

TYPES = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BIGNUM"), Type.INTEGER
    ),
    **dict.fromkeys(
        ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), Type.INTEGER
    ),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Type.REAL),
    **dict.fromkeys(("VARCHAR", "UUID", "JSON", '"NULL"'), Type.TEXT),
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Type.TIMESTAMP
    ),
    **dict.fromkeys(("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"), Type.TIMESTAMP),
    "BOOLEAN": Type.BOOLEAN,
    "DATE": Type.DATE,
}
ENUM = re.compile(r"ENUM\(.*\)", re.DOTALL)


def type_of(stored: str) -> Type | None:
    """The type in which a stored column is asked about; None for lists, structures,
    times of day, bytes and others.
    """
    decimal = DECIMAL.fullmatch(stored)
    if decimal:
        return decimal_type(int(decimal[1]), int(decimal[2]))
    return Type.TEXT if ENUM.fullmatch(stored) else TYPES.get(stored)


def plain(found: Mapping[str, str]) -> dict[str, Type]:
    """The columns that can be asked about, with their types."""
    types = {name: type_of(stored) for name, stored in found.items() if nameable(name)}
    return {name: type_ for name, type_ in types.items() if type_ is not None}


@dataclass(frozen=True)
class StoredColumn:
    """A stored column: its SQL and its type in DuckDB. `raw` is all that is stored,
    where the SQL leaves some out.
    """

    sql: str
    type: str
    raw: str = ""

    @property
    def there(self) -> str:
        """The SQL of what is stored, whether it can be read or not."""
        return self.raw or self.sql


def columns_of(found: Mapping[str, str]) -> dict[str, StoredColumn]:
    """The columns that can be asked about, as they are stored. One without a type holds
    nothing and is not read.
    """
    return {
        name: StoredColumn(
            "NULL" if found[name] == '"NULL"' else quoted(name), found[name]
        )
        for name in plain(found)
    }


@dataclass(frozen=True)
class StoredTable:
    """Rows as they are stored. `row` is the SQL of a row's own id; None means that the
    rows have to be copied.

    `files` are read when questions are asked, not only once; `held` has to be kept as
    long as the rows are read."""

    relation: str
    columns: Mapping[str, StoredColumn]
    row: str | None = None
    files: tuple[str, ...] = ()
    held: object = None

    def read(self, table: Table) -> str:
        """SELECT all declared columns as their types, under their names."""
        columns = [
            f"{self.field(table, field)} AS {quoted(field.name)}"
            for field in table.fields
        ]
        if self.row is not None and not find(
            "rowid", (field.name for field in table.fields)
        ):
            columns.append(f"{self.row} AS rowid")
        return (
            f"SELECT {', '.join(columns or ['NULL AS nothing'])} FROM {self.relation}"
        )

    def field(self, table: Table, field: Field) -> str:
        """A declared column read as its type; refused where it is stored as something
        else altogether.
        """
        column = find_column(self.columns, table, field.name)
        check_readable(table, field, type_of(column.type))
        if field.name not in ids(table):
            return as_type(column.sql, column.type, field.type)
        check_id(table, field, real=column.type in REAL)
        return as_id(column.sql, column.type, field.type)


@runtime_checkable
class TableReader(Protocol):
    """Source of rows. Reading its schema reads no row."""

    def schema(self) -> Schema | None:
        """Its columns; None if it does not list them."""

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:
        """Its rows behind a FROM clause of this connection."""


def frame_name(table: Table) -> str:
    """Under what name a frame is known to a connection while it is copied."""
    return f"frame of {table.name}"
