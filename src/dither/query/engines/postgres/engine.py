"""PostgreSQL: private tables stay on their server, and are read by statements that can
write nothing.

Each question has a connection and a transaction of its own, in which all its statements
see one snapshot (REPEATABLE READ). Its temporary tables are made empty; everything that
looks at rows runs in a READ ONLY part of the transaction, which the server itself
enforces: there, temporary tables can be filled, and nothing else can be written. At the
end the transaction is rolled back.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from dither.errors import ArgumentError, EngineFailed
from dither.query.catalogue.limits import Limits
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.engines.postgres.connection import WRITING, connect, place, reading
from dither.query.engines.postgres.dialect import PostgresDialect
from dither.query.engines.postgres.lookup import find_table
from dither.query.engines.postgres.stored import StoredTable
from dither.query.engines.postgres.words import quoted
from dither.query.engines.session import (
    EngineBase,
    SessionBase,
    given_sources,
    source_for,
)

if TYPE_CHECKING:
    from dither.query.engines.postgres.connection import Connection

__all__ = ["PostgresEngine", "PostgresSession"]

WORKERS = 64
"""A sort or a hash table gets this part of a question's memory; a statement has
several, and parallel workers too.
"""
LARGE = 10_000
"""Temporary tables with more rows than this are looked at by the planner before they
are used.
"""
CASES = ("pg_c_utf8", "C.utf8", "C.UTF-8", "und-x-icu")
"""Collations that know the upper and lower case of all letters, the one most like other
engines first.
"""
COLLATIONS = """
    SELECT collname FROM pg_collation WHERE collname = ANY ($1) AND collencoding IN (-1, 6)
    ORDER BY array_position($1, collname::text) LIMIT 1
"""


class PostgresSession(SessionBase):
    """The statements of one question, in one transaction."""

    def __init__(
        self, connection: Connection, limits: Limits, failures: deque[str]
    ) -> None:
        super().__init__(limits.seconds, failures)
        self._connection, self._guarded = connection, False
        memory = f"SET LOCAL work_mem = '{max(1, limits.memory // WORKERS)}MB'"
        self.run(lambda: connection.execute(f"{WRITING}; {memory}".encode()))

    def _create(self, name: str, select: str, parameters: list[Any]) -> None:
        """WITH NO DATA, the server only finds out the columns; it reads nothing and
        calls no function.
        """
        # A table can only be made outside of the READ ONLY part; whatever looks at rows
        # runs inside of it.
        self._guard(reading=False)
        self._connection.execute(
            f"CREATE TEMP TABLE {name} AS {select} WITH NO DATA".encode(), parameters
        )
        self._guard(reading=True)
        self._time()
        filled = self._connection.execute(
            f"INSERT INTO pg_temp.{name} {select}".encode(), parameters
        )
        # Nobody has looked at a temporary table yet, so the planner would guess its size.
        if filled.rowcount > LARGE:
            self._connection.execute(f"ANALYZE pg_temp.{name}".encode())

    def _execute(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        self._guard(reading=True)
        self._time()
        return self._connection.execute(sql.encode(), parameters).fetchall()

    def _guard(self, *, reading: bool) -> None:
        """In or out of the part of the transaction that is READ ONLY; what is done
        there stays.
        """
        if reading and not self._guarded:
            self._connection.execute(
                b"SAVEPOINT dither_reading; SET TRANSACTION READ ONLY"
            )
        if self._guarded and not reading:
            self._connection.execute(b"RELEASE SAVEPOINT dither_reading")
        self._guarded = reading

    def _time(self) -> None:
        """The next statement ends, on the server, when the question's time is up."""
        milliseconds = max(1, math.ceil(1000 * self._allowance.left))
        self._connection.execute(
            f"SET LOCAL statement_timeout = {milliseconds}".encode()
        )

    def close(self) -> None:
        """The end of the transaction and of its temporary tables, even if the server is
        gone.
        """
        with suppress(Exception):
            self._connection.close()


class PostgresEngine(EngineBase[PostgresSession]):
    """Private tables in one PostgreSQL database. Each question has a connection of its
    own.
    """

    asking = "asking the server"

    def __init__(
        self, catalogue: Catalogue, address: str, stored: Mapping[str, str]
    ) -> None:
        super().__init__(catalogue)
        self._address, self._closed = address, False
        with reading(address) as connection:
            tables = {
                name: find_table(connection, names, place(address))
                for name, names in stored.items()
            }
            cases = connection.execute(COLLATIONS.encode(), [list(CASES)]).fetchall()
        self.dialect = PostgresDialect(tables, cases[0][0] if cases else "default")
        _check_columns(catalogue, tables)

    @classmethod
    def of(cls, catalogue: Catalogue, sources: Mapping[str, Any] | None = None) -> Self:
        """All tables of a catalogue, from the given sources or from where it says they
        are.
        """
        given = {
            name: value if isinstance(value, tuple) else (value, name)
            for name, value in given_sources(catalogue, sources).items()
        }
        places = {
            table.name: (table.source, table.stored or table.name)
            for table in catalogue.tables
        } | given
        known = {name: where for name, where in places.items() if where[0]}
        for table in catalogue.tables:
            source_for(table, known)
        addresses = {address for address, _ in places.values()}
        if len(addresses) > 1:
            raise ArgumentError(
                "source",
                "the tables are in different databases, but a question can read only "
                "one; copy them to one",
            )
        return cls(
            catalogue,
            addresses.pop(),
            {name: stored for name, (_, stored) in places.items()},
        )

    def raw(self, table: Table, field: Field) -> str:
        """A column as it is stored: NULL only if nothing is."""
        return quoted(self.dialect.tables[table.name].column(table, field).name)

    def _begin(self) -> PostgresSession:
        if self._closed:
            raise EngineFailed("the engine is closed; open the tables again")
        return PostgresSession(connect(self._address), self._limits, self.failures)

    # Nothing is held between questions, so there is nothing to let go of.
    def close(self) -> None:
        """No more questions. Closing twice does nothing."""
        self._closed = True

    def __repr__(self) -> str:
        return f"<PostgresEngine {place(self._address)}>"


def _check_columns(catalogue: Catalogue, tables: Mapping[str, StoredTable]) -> None:
    """Check that declared columns can be read; a row without an id of its own cannot be
    a unit.
    """
    for table in catalogue.tables:
        for field in table.fields:
            tables[table.name].column(table, field)
        if not table.public and table.owner is None and table.link is None:
            tables[table.name].row_id()
