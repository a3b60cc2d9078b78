"""DuckDB, embedded: tables copied into memory or read in place, behind a connection
that can do nothing else.

CSV, JSON and data frames are copied when they are opened, each column as its declared
type (what cannot be read is NULL). Parquet files and DuckDB databases are read in
place. Then all other files are out of reach, nothing is fetched from elsewhere, and the
settings are locked.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

import duckdb

from dither.errors import ArgumentError
from dither.progress import working
from dither.query.catalogue.model import Catalogue, Table
from dither.query.engines.duckdb.connection import (
    PrivateFolder,
    connect,
    limit,
    lock,
    text,
)
from dither.query.engines.duckdb.dialect import DuckDBDialect
from dither.query.engines.duckdb.lookup import reader_of
from dither.query.engines.duckdb.stored import StoredTable, TableReader, frame_name
from dither.query.engines.duckdb.words import quoted
from dither.query.engines.session import (
    EngineBase,
    ThreadedSession,
    given_sources,
    source_for,
)

__all__ = ["DuckDBEngine", "DuckDBSession"]


class DuckDBSession(ThreadedSession):
    """Statements on one connection."""

    def __init__(
        self, cursor: duckdb.DuckDBPyConnection, seconds: float, failures: deque[str]
    ) -> None:
        super().__init__("duckdb", seconds, failures)
        self._cursor = cursor

    def _execute(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return self._cursor.execute(sql, parameters).fetchall()

    def _stop(self) -> None:
        self._cursor.interrupt()

    def close(self) -> None:
        self._end()
        self._cursor.close()


class DuckDBEngine(EngineBase[DuckDBSession]):
    """Private tables in DuckDB. Each question has a connection of its own."""

    asking = "asking the engine"

    def __init__(self, catalogue: Catalogue, sources: Mapping[str, Any]) -> None:
        super().__init__(catalogue)
        self.dialect = DuckDBDialect()
        self.readers: dict[str, TableReader] = {}
        self._lock = threading.Lock()
        self._connection = connect()
        self._held: list[object] = []
        self._spill = PrivateFolder()
        try:
            self._open(catalogue, sources)
        except BaseException:
            self.close()
            raise

    @classmethod
    def of(cls, catalogue: Catalogue, sources: Mapping[str, Any] | None = None) -> Self:
        """All tables of a catalogue, from the given sources or from where it says they
        are.
        """
        places = {
            table.name: (table.source, table.stored)
            for table in catalogue.tables
            if table.source
        }
        return cls(catalogue, places | given_sources(catalogue, sources))

    def _open(self, catalogue: Catalogue, sources: Mapping[str, Any]) -> None:
        spill = text(str(self._spill.path))
        self._connection.execute(f"SET temp_directory = {spill}")
        files: list[str] = []
        with working("opening the tables") as tell:
            for number, table in enumerate(catalogue.tables):
                tell(number, len(catalogue.tables))
                reader = reader_of(source_for(table, sources))
                self.readers[table.name] = reader
                files.extend(self._load(table, reader).files)
        # After the tables are loaded, so that what they take does not count
        limit(self._connection, self._limits)
        lock(self._connection, files)

    def _load(self, table: Table, reader: TableReader) -> StoredTable:
        """Copy the rows, or make a view of them if they have ids of their own."""
        stored = reader.store(self._connection, table)
        sql = stored.read(table)
        kind = "TABLE" if stored.row is None else "VIEW"
        with suppress(duckdb.Error):
            self._connection.execute(
                f"CREATE {kind} {quoted(table.name)} AS {sql}"
            ).fetchall()
            self._connection.unregister(frame_name(table))
            if kind == "VIEW":  # what its rows are read from has to stay
                self._held.append(stored.held)
            return stored
        raise ArgumentError(
            table.name,
            f"the source of {table.name!r} cannot be read to the end; check whether it "
            "is damaged",
        )

    def _begin(self) -> DuckDBSession:
        with self._lock:  # a connection must not be used by two threads at once
            cursor = self._connection.cursor()
        return DuckDBSession(cursor, self._limits.seconds, self.failures)

    def close(self) -> None:
        self._connection.close()
        self._held.clear()
        self._spill.delete()
