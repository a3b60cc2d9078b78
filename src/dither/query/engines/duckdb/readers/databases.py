"""DuckDB databases as sources: a file is read in place, an open connection is copied
from.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError
from dither.query.catalogue.model import Table
from dither.query.catalogue.names import find, nearest
from dither.query.catalogue.types import Type
from dither.query.engines.columns import Schema
from dither.query.engines.duckdb.connection import connect, described, text
from dither.query.engines.duckdb.readers.frames import Stream, carried
from dither.query.engines.duckdb.stored import (
    StoredColumn,
    StoredTable,
    columns_of,
    frame_name,
    plain,
)
from dither.query.engines.duckdb.words import NAMES, quoted

if TYPE_CHECKING:
    import duckdb

__all__ = ["DatabaseTable", "OpenTable"]

TABLES = """
    SELECT schema_name, table_name, sql FROM duckdb_tables() WHERE database_name = $1
    UNION ALL SELECT schema_name, view_name, NULL FROM duckdb_views() WHERE database_name = $1 AND NOT internal
    ORDER BY ALL
"""


@dataclass(frozen=True)
class DatabaseTable:
    """A table (or a view) in a DuckDB file, which is opened for reading only."""

    path: Path
    name: str = ""

    def schema(self) -> Schema:

        with connect() as connection:
            relation, _ = self._find(connection)
            return plain(described(connection, relation))

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:  # noqa: ARG002 - part of the protocol
        relation, sql = self._find(connection)
        types = described(connection, relation)
        columns = columns_of(types)
        if sql is None or "COLLATE" in sql.upper():
            columns = {name: _exact(column) for name, column in columns.items()}
        copied = sql is None or find("rowid", types) is not None
        return StoredTable(relation, columns, None if copied else "rowid")

    @property
    def alias(self) -> str:
        return "source " + hashlib.sha256(str(self.path).encode()).hexdigest()[:16]

    def tables(
        self, connection: duckdb.DuckDBPyConnection
    ) -> dict[str, tuple[str, str | None]]:
        """Names that tables have: their SQL in a FROM clause, and the statement that
        made them (None for views).
        """
        import duckdb

        found = None
        try:
            connection.execute(
                f"ATTACH IF NOT EXISTS {text(str(self.path))} AS "
                f"{quoted(self.alias)} (READ_ONLY)"
            )
            found = connection.execute(TABLES, [self.alias]).fetchall()
        except duckdb.Error:
            pass
        if found is None:
            raise ArgumentError(
                self.path.name,
                "cannot be opened as a DuckDB database; close it if it is open "
                "elsewhere",
            )
        named = {}
        for schema, name, sql in found:
            place = ".".join(map(quoted, (self.alias, schema, name)))
            named[name if schema == "main" else f"{schema}.{name}"] = (place, sql)
        return named

    def _find(self, connection: duckdb.DuckDBPyConnection) -> tuple[str, str | None]:
        tables = self.tables(connection)
        if not self.name and len(tables) == 1:
            return next(iter(tables.values()))
        wanted = find(self.name.removeprefix("main."), tables)
        if wanted is None:
            what = (
                f"has no table {self.name!r}"
                if self.name
                else "needs the name of one of its tables (table=)"
            )
            raise ArgumentError(self.path.name, f"{what}; {nearest(self.name, tables)}")
        return tables[wanted]


@dataclass(frozen=True, eq=False)
class OpenTable:
    """A table of an open DuckDB connection, copied when it is opened."""

    connection: Any
    name: str

    @property
    def relation(self) -> str:
        return ".".join(map(quoted, self.name.split(".")))

    def schema(self) -> Schema:
        return plain(self._types())

    def store(self, connection: duckdb.DuckDBPyConnection, table: Table) -> StoredTable:
        columns = {
            name: carried(_exact(column))
            for name, column in columns_of(self._types()).items()
        }
        asked = ", ".join(
            f"{column.sql} AS {quoted(name)}" for name, column in columns.items()
        )
        rows = self.connection.sql(f"SELECT {asked} FROM {self.relation}")
        connection.register(frame_name(table), Stream(rows))
        here = {
            name: StoredColumn(quoted(name), column.type)
            for name, column in columns.items()
        }
        return StoredTable(quoted(frame_name(table)), here)

    def _types(self) -> dict[str, str]:
        import duckdb

        try:
            return described(self.connection, self.relation)
        except duckdb.Error:
            pass
        raise ArgumentError(
            "table",
            f"the connection has no table {self.name!r} that can be read now; "
            "name another",
        )


def _exact(column: StoredColumn) -> StoredColumn:
    """Strings compared byte by byte, whatever their collation (rule R10)."""
    return (
        StoredColumn(f"decode(encode({column.sql}))", column.type)
        if column.type == NAMES[Type.TEXT]
        else column
    )
