"""How DuckDB stores what sources hold: types by their names, casts that cannot fail,
rows behind a FROM clause.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dither.errors import ArgumentError
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.names import clash, find, nameable, nearest
from dither.query.catalogue.types import Type
from dither.query.engines.duckdb.casts import DECIMAL, REAL, as_id, as_type
from dither.query.engines.duckdb.words import quoted

if TYPE_CHECKING:
    import duckdb

__all__ = [
    "Column",
    "Folder",
    "Schema",
    "Source",
    "Stored",
    "check_id",
    "column_of",
    "columns_of",
    "connect",
    "described",
    "frame_name",
    "ids",
    "limited",
    "plain",
    "text",
    "type_of",
    "unique",
]

Schema = Mapping[str, Type | None]
"""Columns and their types; None where the source holds texts (CSV). Types that cannot
be asked about are left out.
"""

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
READABLE = {
    Type.TEXT: tuple(Type),
    Type.INTEGER: (Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN),
    Type.REAL: (Type.REAL, Type.INTEGER, Type.TEXT),
    Type.BOOLEAN: (Type.BOOLEAN, Type.INTEGER, Type.REAL, Type.TEXT),
    Type.DATE: (Type.DATE, Type.TIMESTAMP, Type.TEXT),
    Type.TIMESTAMP: (Type.TIMESTAMP, Type.DATE, Type.TEXT),
}
"""As what a column of each type may be declared."""


MEGABYTE = 1_000_000
CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "false",
}


def connect() -> duckdb.DuckDBPyConnection:
    """A database in memory that fetches nothing from elsewhere, takes no Python
    variable for a table, and is in UTC.
    """
    import duckdb

    connection = duckdb.connect(":memory:", config=dict(CONFIG))
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    return connection


def limited(connection: duckdb.DuckDBPyConnection, limits: Limits) -> None:
    """Limit the memory and the disk space of questions; what tables take that were
    copied into memory comes on top.

    DuckDB's own limit, most of what the machine has, stays where it is lower.
    """
    ((used, own),) = connection.execute(
        "SELECT sum(memory_usage_bytes), current_setting('memory_limit') "
        "FROM duckdb_memory()"
    ).fetchall()
    wanted = used + limits.memory * MEGABYTE
    if wanted < _bytes(own):
        connection.execute(f"SET memory_limit = '{wanted} B'")
    connection.execute(f"SET max_temp_directory_size = '{limits.disk * MEGABYTE} B'")


def _bytes(written: str) -> float:
    """A size as DuckDB writes it, such as 12.4 GiB."""
    number, _, unit = written.partition(" ")
    power = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB").index(unit)
    return float(number) * float(1024**power)


def type_of(stored: str) -> Type | None:
    """The type in which a stored column is asked about; None for lists, structures,
    times of day, bytes and others.
    """
    decimal = DECIMAL.fullmatch(stored)
    if decimal:
        return (
            Type.INTEGER if decimal[2] == "0" and int(decimal[1]) <= 18 else Type.REAL
        )
    return Type.TEXT if ENUM.fullmatch(stored) else TYPES.get(stored)


def plain(found: Mapping[str, str]) -> dict[str, Type]:
    """The columns that can be asked about, with their types."""
    types = {name: type_of(stored) for name, stored in found.items() if nameable(name)}
    return {name: type_ for name, type_ in types.items() if type_ is not None}


@dataclass(frozen=True)
class Column:
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


def columns_of(found: Mapping[str, str]) -> dict[str, Column]:
    """The columns that can be asked about, as they are stored. One without a type holds
    nothing and is not read.
    """
    return {
        name: Column("NULL" if found[name] == '"NULL"' else quoted(name), found[name])
        for name in plain(found)
    }


class Folder:
    """A folder for copies of private files, readable by this user alone, which is
    deleted with this object.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="dither-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True)
class Stored:
    """Rows as they are stored. `row` is the SQL of a row's own id; None means that the
    rows have to be copied.

    `files` are read when questions are asked, not only once; `held` has to be kept as
    long as the rows are read."""

    relation: str
    columns: Mapping[str, Column]
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
        column = column_of(self.columns, table, field.name)
        found = type_of(column.type)
        if found is None or field.type not in READABLE[found]:
            raise ArgumentError(
                table.name,
                (
                    f"{field.name} holds a {found}, not a {field.type}; declare what "
                    "it holds"
                ),
            )
        if field.name not in ids(table):
            return as_type(column.sql, column.type, field.type)
        check_id(table, field, real=column.type in REAL)
        return as_id(column.sql, column.type, field.type)


def ids(table: Table) -> set[str]:
    """The columns by which owners are found, its own and those of rows that are linked
    to it.
    """
    return {
        name
        for name in (table.owner, table.link and table.link.column, *table.linked)
        if name
    }


def check_id(table: Table, field: Field, *, real: bool) -> None:
    """Refuses texts of reals as ids (rule R10): 1.0 would not be the 1 of another
    table, and NaN would be a unit.
    """
    if real and field.type is Type.TEXT:
        raise ArgumentError(
            table.name,
            f"{field.name} holds reals, which are no ids; declare it as INTEGER",
        )


def column_of(columns: Mapping[str, Column], table: Table, name: str) -> Column:
    """A column by its name, as it is spelled or in another case."""
    found = name if name in columns else find(name, columns)
    if found is None:
        raise ArgumentError(
            table.name, f"its source has no column {name}; {nearest(name, columns)}"
        )
    return columns[found]


@runtime_checkable
class Source(Protocol):
    """Where rows come from. Reading its schema reads no row."""

    def schema(self) -> Schema | None:
        """Its columns; None where it does not list them."""

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> Stored:
        """Its rows behind a FROM clause of this connection."""


def text(value: str) -> str:
    """A text in SQL."""
    return "'" + value.replace("'", "''") + "'"


def unique(where: str, names: list[str]) -> list[str]:
    """Column names that can be told apart."""
    double = clash(names)
    if double is not None:
        raise ArgumentError(
            where, f"has two columns named {double} (case does not matter); rename one"
        )
    return names


def frame_name(table: Table) -> str:
    """Under what name a frame is known to a connection while it is copied."""
    return f"frame of {table.name}"


def described(connection: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Names and DuckDB types of the columns of a relation."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return {name: stored for name, stored, *_ in rows}
