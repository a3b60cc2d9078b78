"""A book in PostgreSQL, for several servers that share it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dither.errors import LedgerError, MissingExtra
from dither.ledger.store import Run

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore"]

LOCK = 0x64697468  # one advisory lock makes all writers of the book take turns


class PostgresStore:
    """The tables of a book in one schema of a PostgreSQL database; `synchronous_commit` is on."""

    def __init__(self, place: str) -> None:
        self._address = place
        self.place = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", place)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._connection: psycopg.Connection[Any] | None = None
        self._connected()

    def _connected(self) -> psycopg.Connection[Any]:
        if self._pid != os.getpid():
            self._pid, self._lock, self._connection = os.getpid(), threading.RLock(), None
        if self._connection is None or self._connection.closed:
            self._connection = _open(self._address, self.place)
        return self._connection

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._transaction() as run:
            run("SELECT pg_advisory_xact_lock(?)", (LOCK,))
            yield run

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._transaction() as run:
            run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield run

    @contextmanager
    def _transaction(self) -> Iterator[Run]:
        import psycopg

        connection = self._connected()
        with self._lock:
            try:
                yield _runner(connection)
                connection.commit()
            except psycopg.Error as error:
                _undo(connection)
                raise LedgerError(f"{self.place} could not be used: {error}; nothing was spent") from error
            except BaseException:
                _undo(connection)
                raise

    def version(self) -> int | None:
        with self._transaction() as run:
            found = run("SELECT to_regclass('meta')")
            if found[0][0] is None:
                return None
            return int(run("SELECT value FROM meta WHERE name = ?", ("schema",))[0][0])

    def anchor(self) -> tuple[int, str] | None:
        return None

    def note(self, seq: int, digest: str) -> None:
        """A server's book has no file beside it: keep receipts elsewhere and verify against them."""

    def close(self) -> None:
        with self._lock, suppress(Exception):
            if self._connection is not None:
                self._connection.close()
        self._connection = None


def _open(address: str, place: str) -> psycopg.Connection[Any]:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    try:
        connection = psycopg.connect(address, autocommit=True)
        connection.execute("SET synchronous_commit = on")
        connection.autocommit = False
    except psycopg.Error as error:
        raise LedgerError(f"{place} cannot be reached: {error}") from error
    return connection


def _runner(connection: psycopg.Connection[Any]) -> Run:
    def run(sql: str, parameters: Sequence[Any] = ()) -> Any:
        cursor = connection.execute(sql.replace("?", "%s").encode(), parameters or None)
        return cursor.fetchall() if cursor.description is not None else cursor.rowcount

    return run


def _undo(connection: psycopg.Connection[Any]) -> None:
    with suppress(Exception):
        connection.rollback()
