"""Connections to PostgreSQL: what is wrong with one is said without its password, and
no setting is left to chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError, MissingExtra

if TYPE_CHECKING:
    import psycopg
    from psycopg.adapt import Loader

    Connection = psycopg.Connection[Any]

__all__ = ["SETTINGS", "WRITING", "connect", "place", "reading"]

OLDEST = 140_000
SECONDS = 10
SETTINGS = {
    # Functions and operators of other schemas might be taken for the server's own.
    "search_path": "pg_catalog",
    "row_security": "off",
    # How values are written as texts, and read from them
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    # Statements are long and run once, so compiling them takes longer than they do.
    "jit": "off",
    "lock_timeout": "60s",
}
"""What a database or a role may have set otherwise. Without `row_security`, a policy
that hides rows is an error.
"""
BEGIN = "; ".join(f"SET LOCAL {name} = '{value}'" for name, value in SETTINGS.items())
READING = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {BEGIN}"
WRITING = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE; {BEGIN}"


def connect(address: str) -> Connection:
    """A connection that starts and ends its transactions when it is told to. Statements
    have parameters $1, $2, …
    """
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    try:
        connection = psycopg.connect(
            address,
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            prepare_threshold=None,
            connect_timeout=SECONDS,
            application_name="dither",
            client_encoding="utf8",
        )
        connection.adapters.register_loader("numeric", _whole_loader())
        return connection
    except psycopg.ProgrammingError:
        problem = "is not a PostgreSQL address; write postgresql://user@host/database"
    except psycopg.Error as error:
        problem = _problem(str(error).lower())
    raise ArgumentError(place(address), problem)


def _whole_loader() -> type[Loader]:
    """All wide numbers that statements return are whole."""
    from psycopg.adapt import Loader

    class Whole(Loader):
        def load(self, data: Any) -> int:
            return int(bytes(data))

    return Whole


def _problem(words: str) -> str:
    """The error of the server or of the way to it, in words that hold neither its
    answer nor a secret.
    """
    if "password" in words or "authentication" in words or "pg_hba" in words:
        return (
            "does not accept this user or password; check both (a password is best "
            "kept in ~/.pgpass or PGPASSWORD)"
        )
    if "database" in words and "does not exist" in words:
        return "does not have this database; check the last part of the address"
    return (
        "cannot be reached; check the address, and that the server runs "
        "and accepts connections from here"
    )


def place(address: str) -> str:
    """An address without user, password and options, to be shown. If a sign in a
    password was not written as %…, a part of it is taken for host, port or database;
    then nothing is shown.
    """
    from psycopg import Error, conninfo

    try:
        parts = conninfo.conninfo_to_dict(address)
    except Error:
        return "source"
    host, port, name = (
        str(parts.get(part) or "") for part in ("host", "port", "dbname")
    )
    if "@" in host + name or (port and not port.replace(",", "").isdecimal()):
        return "source"
    where = "" if host.startswith("/") else host + (f":{port}" if host and port else "")
    return f"postgresql://{where}/{name}"


def check_server(connection: Connection, shown: str) -> None:
    """Check what this engine needs of a server: a version, UTF-8, and temporary tables."""
    if connection.info.server_version < OLDEST:
        raise ArgumentError(
            shown,
            "is older than PostgreSQL 14; upgrade it, or copy the tables to "
            "Parquet files",
        )
    sql = (
        "SELECT pg_catalog.current_setting('server_encoding') = 'UTF8', "
        "NOT pg_catalog.pg_is_in_recovery(), "
        "pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMP')"
    )
    ((utf8, primary, temporary),) = connection.execute(sql.encode()).fetchall()
    if not utf8:
        raise ArgumentError(
            shown,
            "does not store text in UTF-8; copy the tables to a database that does",
        )
    if not primary:
        raise ArgumentError(
            shown,
            "is a standby server, which cannot have temporary tables; connect "
            "to the primary server",
        )
    if not temporary:
        raise ArgumentError(
            shown,
            "does not let this user make temporary tables; run GRANT TEMPORARY ON "
            "DATABASE … TO the user",
        )


@contextmanager
def reading(address: Any) -> Iterator[Connection]:
    """A transaction that can write nothing, on a server that can be used."""
    if not isinstance(address, str):
        raise ArgumentError(
            "source", 'must be an address, such as "postgresql://user@host/database"'
        )
    connection = connect(address)
    from psycopg import Error

    try:
        connection.execute(READING.encode())
        check_server(connection, place(address))
        yield connection
    except Error:
        broken = True
    else:
        broken = False
    finally:
        connection.close()
    if broken:
        raise ArgumentError(
            place(address),
            f"the connection to {place(address)} broke off while its tables were "
            "looked up; try again",
        )
