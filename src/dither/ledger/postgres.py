"""A book in PostgreSQL, for several servers that share it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dither.errors import LedgerError, MissingExtra
from dither.ledger.store import SPEND, SPEND_SHARE, Run, Units, schema_of
from dither.ledger.wire import canonical

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore"]

LOCK = 0x64697468  # one advisory lock makes all writers of the book take turns
INHERITED: list[psycopg.Connection[Any]] = []  # a forked process must not close these: its parent speaks through them
IDLE = 0  # psycopg.pq.TransactionStatus.IDLE
REFUSED = "DI001"  # the charge does not fit; the ordinary way finds out why


def _placed(sql: str, *positions: int) -> str:
    """The statement with the numbers of a function's arguments instead of question marks."""
    numbers = iter(positions)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql)


# A charge in one step, because every statement costs a way to the server and back, and all others wait meanwhile.
# Arguments: account, analyst, the four units, time, body, and the end of the text that is hashed (see `wire.digest`).
#
# A commit usually keeps its locks until the server's log is on the disk, so that the charges of many processes would
# wait for the disk one by one. Whoever had to wait for the lock therefore commits without waiting for the disk, and
# `charge` then commits something empty, durably and without a lock, before it returns: the server writes its log to the
# disk in order, so that commit takes the charge, and all charges before it, with it, and several such commits share one
# write. Until then others may see a charge that a crash of the server would undo. They can only be refused because of
# it: what they spend comes later in the same log, so it is never durable without it.
CHARGE = f"""CREATE FUNCTION dither_charge(text, text, bigint, bigint, bigint, bigint, text, text, text)
RETURNS TABLE (number bigint, at text, digest text, durable boolean) LANGUAGE plpgsql AS $body$
DECLARE
    last record;
BEGIN
    durable := pg_try_advisory_xact_lock({LOCK});
    IF NOT durable THEN
        PERFORM pg_advisory_xact_lock({LOCK}), set_config('synchronous_commit', 'off', true);
    END IF;
    {_placed(SPEND, 3, 4, 5, 6, 1, 6, 3, 4, 5)};
    IF NOT FOUND THEN
        RAISE SQLSTATE '{REFUSED}';
    END IF;
    IF $2 IS NOT NULL THEN
        {_placed(SPEND_SHARE, 3, 4, 5, 6, 1, 2, 6, 3, 4, 5)};
        IF NOT FOUND AND EXISTS (SELECT 1 FROM share WHERE account = $1) THEN
            RAISE SQLSTATE '{REFUSED}';
        END IF;
    END IF;
    SELECT seq, time, hash INTO STRICT last FROM log ORDER BY seq DESC LIMIT 1;
    number := last.seq + 1;
    at := greatest(last.time COLLATE "C", $7);
    digest := '["' || last.hash || '",' || number || ',"' || at || '",' || $9;
    digest := encode(sha256(convert_to(digest, 'UTF8')), 'hex');
    INSERT INTO log (seq, time, kind, account, body, hash) VALUES (number, at, 'charge', $1, $8, digest);
    RETURN NEXT;
END
$body$"""
CALL = b"SELECT * FROM dither_charge(%s, %s, %s, %s, %s, %s, %s, %s, %s)"
FLUSH = b"SELECT pg_logical_emit_message(true, 'dither', '')"


class PostgresStore:
    """The tables of a book in one schema of a PostgreSQL database; `synchronous_commit` is on."""

    extras: tuple[str, ...] = (CHARGE,)
    key = "BIGINT"

    def __init__(self, place: str) -> None:
        self._address = place
        self.place = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", place)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._active = False
        self._connection: psycopg.Connection[Any] | None = _open(place, self.place)

    def _after_fork(self) -> None:
        """A forked process opens a connection of its own."""
        if self._pid != os.getpid() and self._connection is not None:
            INHERITED.append(self._connection)
            self._pid, self._lock, self._active = os.getpid(), threading.RLock(), False
            self._connection = _open(self._address, self.place)

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            raise LedgerError(f"the book is closed ({self.place}); open it again with Ledger.open")
        if self._connection.closed or self._connection.info.transaction_status != IDLE:
            # Left open by an interrupt: what is charged inside such a transaction could still be undone.
            with suppress(Exception):
                self._connection.close()
            self._connection = _open(self._address, self.place)
        return self._connection

    def writing(self) -> AbstractContextManager[Run]:
        return self._transaction(f"BEGIN; SELECT pg_advisory_xact_lock({LOCK})")

    def reading(self) -> AbstractContextManager[Run]:
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Run]:
        with self._using() as connection:
            try:
                connection.execute(begin.encode())
                yield _runner(connection)
                connection.commit()
            except BaseException:
                _undo(connection)
                raise

    @contextmanager
    def _using(self) -> Iterator[psycopg.Connection[Any]]:
        import psycopg

        self._after_fork()
        with self._lock:
            if self._active:
                raise LedgerError("a transaction of this book is under way in this thread; finish it first")
            connection = self._connected()
            self._active = True
            try:
                yield connection
            except psycopg.Error as error:
                raise LedgerError(f"{self.place} could not be used: {error}; there is no receipt") from error
            finally:
                self._active = False

    def charge(
        self, account: str, by: str | None, units: Units, time: str, body: Mapping[str, Any]
    ) -> tuple[int, str, str] | None:
        import psycopg

        text = canonical(body)
        end = canonical(["charge", account, text])[1:]
        with self._using() as connection:
            try:
                cursor = connection.execute(CALL, (account, by, *units, time, text, end))
            except psycopg.Error as error:
                if error.sqlstate == REFUSED:
                    return None
                raise
            ((number, at, digest, durable),) = cursor.fetchall()
            if not durable:
                connection.execute(FLUSH)
        return number, at, digest

    def version(self) -> int | None:
        with self.reading() as run:
            found = run("SELECT to_regclass('meta')")
            if found[0][0] is None:
                return None
            return schema_of(run("SELECT value FROM meta WHERE name = ?", ("schema",)), self.place)

    def anchor(self) -> tuple[int, str] | None:
        return None

    def note(self, seq: int, digest: str) -> None:
        """A server's book has no file beside it: keep receipts elsewhere and verify against them."""

    def close(self) -> None:
        with self._lock, suppress(Exception):
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
        self._connection = None


def _open(address: str, place: str) -> psycopg.Connection[Any]:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    try:
        connection = psycopg.connect(address, autocommit=True)
        # Every statement must see what was committed before the lock was given, whatever the server's default is.
        connection.execute("SET synchronous_commit = on; SET default_transaction_isolation = 'read committed'")
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
