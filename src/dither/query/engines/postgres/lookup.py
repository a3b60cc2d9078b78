"""What is known of a PostgreSQL server's tables before they are opened. It comes from
the server's catalogue; no row is read.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.names import find, nameable, nearest
from dither.query.catalogue.types import Type
from dither.query.engines.columns import public_keys
from dither.query.engines.postgres.connection import place, reading
from dither.query.engines.postgres.dialect import PostgresDialect
from dither.query.engines.postgres.stored import StoredColumn, StoredTable, type_of
from dither.query.engines.postgres.views import check_rows, check_view
from dither.query.engines.postgres.words import quoted

if TYPE_CHECKING:
    from dither.query.engines.postgres.connection import Connection

__all__ = ["find_table", "name_of", "public_values", "schema_of", "table_names"]

TABLES = """
    SELECT n.nspname, c.relname, c.oid::bigint, c.relkind::text,
        EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        AND n.nspname !~ '^pg_(toast|temp)' AND has_schema_privilege(n.oid, 'USAGE')
    ORDER BY n.nspname, c.relname
"""
COLUMNS = """
    WITH RECURSIVE kinds AS (
        SELECT attnum, attname, atttypid AS kind, atttypmod AS typmod FROM pg_attribute
        WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped AND has_column_privilege(attrelid, attnum, 'SELECT')
        UNION ALL
        SELECT k.attnum, k.attname, t.typbasetype, t.typtypmod FROM kinds k JOIN pg_type t ON t.oid = k.kind
        WHERE t.typtype = 'd'
    )
    SELECT k.attname, t.typname, format_type(k.kind, k.typmod), t.typtype = 'e',
        t.typnamespace = 'pg_catalog'::regnamespace OR t.typtype = 'e' OR (t.typname = 'citext' AND t.typcategory = 'S')
    FROM kinds k JOIN pg_type t ON t.oid = k.kind WHERE t.typtype <> 'd' ORDER BY k.attnum
"""
PARTS = '(CAST(tableoid AS text) || CAST(ctid AS text)) COLLATE "C"'
DENIED = "42501"


def find_table(connection: Connection, stored: str, shown: str) -> StoredTable:
    """A table or view by its name (schema.table outside of `public`), after a look at
    what it is made of.
    """
    import psycopg

    tables = _tables(connection)
    wanted = stored.removeprefix("public.")
    named = (
        next(iter(tables))
        if not wanted and len(tables) == 1
        else wanted
        if wanted in tables
        else find(wanted, tables)
    )
    if named is None:
        what = (
            f"has no table {stored!r}"
            if stored
            else "needs the name of one of its tables (table=)"
        )
        raise ArgumentError(shown, f"{what}; {nearest(stored, tables)}")
    schema, name, oid, kind, parts = tables[named]
    check_view(connection, oid, named)
    check_rows(connection, oid, named)
    table = StoredTable(schema, name, _columns(connection, oid), _row(kind, parts))
    denied = None
    try:
        listed = ", ".join(map(quoted, table.columns)) or "1"
        connection.execute(f"SELECT {listed} FROM {table.relation} LIMIT 0".encode())
    except psycopg.Error as error:
        denied = error.sqlstate == DENIED
    if denied is not None or not table.columns:
        way = (
            f"run GRANT SELECT ON {named} TO the user"
            if denied is not False
            else f"run SELECT * FROM {named} as this user to see why"
        )
        raise ArgumentError(
            named, f"the table {named!r} cannot be read by this user; {way}"
        )
    return table


def _tables(connection: Connection) -> dict[str, tuple[Any, ...]]:
    """All tables and views by their names: schema.table outside of `public`."""
    rows = connection.execute(TABLES.encode()).fetchall()
    return {row[1] if row[0] == "public" else f"{row[0]}.{row[1]}": row for row in rows}


def table_names(source: Any) -> list[str]:
    """Names of the tables and views of a database."""
    with reading(source) as connection:
        return list(_tables(connection))


def _columns(connection: Connection, oid: int) -> dict[str, StoredColumn]:
    rows = connection.execute(COLUMNS.encode(), [oid]).fetchall()
    return {
        name: StoredColumn(
            name,
            kind,
            shown,
            type_of(kind, shown, enumerated=enumerated) if known else None,
        )
        for name, kind, shown, enumerated, known in rows
    }


def _row(kind: str, parts: bool) -> str | None:
    """A row's own id: where it lies, which does not change while a transaction looks at
    it.
    """
    if kind in ("v", "f"):
        return None
    return PARTS if kind == "p" or parts else "ctid"


def schema_of(source: Any, stored: str = "") -> dict[str, Type | None]:
    """The columns that can be asked about, with their types. Others are left out."""
    with reading(source) as connection:
        columns = find_table(connection, stored, place(source)).columns
    return {
        name: column.type
        for name, column in columns.items()
        if column.type is not None and nameable(name)
    }


def name_of(source: Any, stored: str = "") -> str:
    """Default name of a table."""
    if stored:
        return stored.rpartition(".")[2]
    return place(source).rpartition("/")[2] if isinstance(source, str) else "data"


def public_values(source: Any, stored: str, column: str, type_: Type) -> list[Any]:
    """The different values of a column of a public table, in order, without NULL."""
    import psycopg

    field, values = Field(column, type_), None
    table = Table("keys", (field,), public=True)
    with reading(source) as connection:
        dialect = PostgresDialect(
            {"keys": find_table(connection, stored, place(source))}
        )
        sql = (
            f"SELECT DISTINCT {dialect.read(table, field)} FROM "
            f"{dialect.relation(table)} ORDER BY 1"
        )
        with suppress(psycopg.Error):
            values = connection.execute(sql.encode()).fetchall()
    return public_keys(values, column, stored, type_)
