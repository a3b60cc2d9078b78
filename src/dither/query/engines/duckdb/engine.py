"""DuckDB, embedded: tables copied into memory or read in place, behind a connection
that can do nothing else.

CSV, JSON and data frames are copied when they are opened, each column as its declared
type (what cannot be read is NULL). Parquet files and DuckDB databases are read in
place. Then all other files are out of reach, nothing is fetched from elsewhere, and the
settings are locked.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

import duckdb

from dither.errors import ArgumentError
from dither.progress import working
from dither.query.catalogue.model import Catalogue, Table
from dither.query.engines.duckdb.dialect import DuckDBDialect
from dither.query.engines.duckdb.sources import source_of
from dither.query.engines.duckdb.storage import (
    Source,
    Stored,
    connect,
    frame_name,
    limited,
    text,
)
from dither.query.engines.duckdb.words import quoted
from dither.query.engines.running import Running

__all__ = ["DuckDBEngine", "DuckDBSession"]

KEPT_FAILURES = 20


class DuckDBEngine:
    """Private tables in DuckDB. Questions run in sessions, several at a time if need
    be.

    `failures` are the engine's own words about what failed, newest last. They may hold
    private values: they are for the curator in this process alone, and never part of an
    error.
    """

    def __init__(self, catalogue: Catalogue, sources: Mapping[str, Any]) -> None:
        self.dialect = DuckDBDialect()
        self.sources: dict[str, Source] = {}
        self.failures: deque[str] = deque(maxlen=KEPT_FAILURES)
        self._limits = catalogue.limits
        self._lock = threading.Lock()
        self._connection = connect()
        self._held: list[object] = []
        self._spill = tempfile.mkdtemp(prefix="dither-")
        self._clean = weakref.finalize(
            self, shutil.rmtree, self._spill, ignore_errors=True
        )
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
        given = {
            catalogue.table(name).name: value for name, value in (sources or {}).items()
        }
        places = {
            table.name: (table.source, table.stored)
            for table in catalogue.tables
            if table.source
        }
        return cls(catalogue, {**places, **given})

    def _open(self, catalogue: Catalogue, sources: Mapping[str, Any]) -> None:
        self._connection.execute(f"SET temp_directory = {text(self._spill)}")
        files: list[str] = []
        with working("opening the tables") as tell:
            for number, table in enumerate(catalogue.tables):
                tell(number, len(catalogue.tables))
                if table.name not in sources:
                    raise ArgumentError(
                        table.name, "has no source; say where its rows are"
                    )
                self.sources[table.name] = source = source_of(sources[table.name])
                files.extend(self._load(table, source).files)
        limited(self._connection, self._limits)
        self._connection.execute(f"SET allowed_paths = [{', '.join(map(text, files))}]")
        for setting in ("enable_external_access = false", "lock_configuration = true"):
            self._connection.execute(f"SET {setting}")

    def _load(self, table: Table, source: Source) -> Stored:
        """Copy the rows, or make a view of them where they have ids of their own."""
        stored = source.store(self._connection, table)
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
            table.name, "its source cannot be read to the end; look whether it is whole"
        )

    @contextmanager
    def session(self) -> Iterator[DuckDBSession]:
        """A connection of its own: its temporary tables are seen by nobody else and end
        with it.
        """
        with self._lock:
            cursor = self._connection.cursor()
        session = DuckDBSession(cursor, self._limits.seconds, self.failures)
        try:
            with working("asking the engine"):
                yield session
        finally:
            session.close()

    def close(self) -> None:
        """Let go of the tables. Closing twice does nothing."""
        self._connection.close()
        self._held.clear()
        self._clean()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class DuckDBSession:
    """Statements on one connection."""

    def __init__(
        self, cursor: duckdb.DuckDBPyConnection, seconds: float, failures: deque[str]
    ) -> None:
        self._cursor = cursor
        self._running = Running("duckdb", seconds, cursor.interrupt, failures)

    def create(self, name: str, select: str, parameters: Sequence[Any] = ()) -> None:
        self.fetch(f"CREATE TEMP TABLE {name} AS {select}", parameters)

    def fetch(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._running.run(lambda: self._execute(sql, list(parameters)))

    def _execute(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        return self._cursor.execute(sql, parameters).fetchall()

    def close(self) -> None:
        self._running.close()
        self._cursor.close()
