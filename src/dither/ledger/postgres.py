"""A book in PostgreSQL, for several servers that share it."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.errors import LedgerError, MissingExtra
from dither.ledger.entry import canonical
from dither.ledger.note import STATE, Doubt, Note, Record, state_folder
from dither.ledger.store import LAST, SPEND, SPEND_BY, WAIT, Charge, Run, version_of

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore"]

LOCK = 0x64697468  # one advisory lock makes all writers of the book take turns
INHERITED: list[
    psycopg.Connection[Any]
] = []  # a forked process must not close these: its parent speaks through them
IDLE = 0  # psycopg.pq.TransactionStatus.IDLE
REFUSED = "DI001"  # the charge does not fit; the ordinary way finds out why
OLDER = "DI002"  # the line that was noted is not in the book

# No wait without an end. A writer that stops inside a transaction is thrown out before
# those who wait for it give up.
SESSION = (
    "SET synchronous_commit = on",
    # Every statement must see what was committed before the lock was given, whatever
    # the server's default is.
    "SET default_transaction_isolation = 'read committed'",
    "SET lock_timeout = '60s'",
    "SET statement_timeout = '120s'",
    "SET idle_in_transaction_session_timeout = '30s'",
)


def _placed(sql: str, *positions: int) -> str:
    """The statement with the numbers of a function's arguments instead of question
    marks.
    """
    numbers = iter(positions)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql)


# A charge in one step, because every statement costs a way to the server and back, and
# all others wait meanwhile. Arguments: 1 account, 2 analyst, 3 to 6 the four units, 7
# time, 8 deadline, 9 id, 10 the body up to what is spent, 11 the same as part of the
# text that is hashed (see `entry.digest`), where quotation marks are escaped; 12 and 13
# the line that this machine has noted, and its hash; 14 the policy.
#
# A commit usually keeps its locks until the server's log is on the disk, so that the
# charges of many processes would wait for the disk one by one. Whoever had to wait for
# the lock therefore commits without waiting for the disk, and `charge` then commits
# something empty, durably and without a lock, before it returns: the server writes its
# log to the disk in order, so that commit takes the charge, and all charges before it,
# with it, and several such commits share one write. Until then others may see a charge
# that a crash of the server would undo. They can only be refused because of it: what
# they spend comes later in the same log, so it is never durable without it.
CHARGE = f"""CREATE FUNCTION dither_charge(
    text, text, bigint, bigint, bigint, bigint, text, text, text, text, text, bigint, text, text)
RETURNS TABLE (number bigint, at text, digest text, durable boolean) LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
    final record;
    sums record;
    spent text;
BEGIN
    durable := pg_try_advisory_xact_lock({LOCK});
    IF NOT durable THEN
        PERFORM pg_advisory_xact_lock({LOCK}), set_config('synchronous_commit', 'off', true);
    END IF;
    IF NOT EXISTS (SELECT 1 FROM log WHERE seq = $12 AND hash = $13) THEN
        RAISE SQLSTATE '{OLDER}';
    END IF;
    {_placed(SPEND, 3, 4, 5, 6, 1, 14, 6, 3, 4, 5, 7)} INTO sums;
    IF NOT FOUND THEN
        RAISE SQLSTATE '{REFUSED}';
    END IF;
    IF $2 IS NOT NULL THEN
        {_placed(SPEND_BY, 3, 4, 5, 6, 1, 2, 6, 3, 4, 5)};
        IF NOT FOUND THEN
            RAISE SQLSTATE '{REFUSED}';
        END IF;
    END IF;
    SELECT seq, time, hash INTO STRICT final FROM log ORDER BY seq DESC LIMIT 1;
    number := final.seq + 1;
    at := greatest(final.time COLLATE "C", $7);
    spent := concat_ws(',', sums.pure_spent, sums.loss_spent, sums.delta_spent, sums.impure) || ']}}';
    digest := '["' || final.hash || '",' || number || ',"' || at || '",' || $11 || spent || '"]';
    digest := encode(sha256(convert_to(digest, 'UTF8')), 'hex');
    INSERT INTO log (seq, time, kind, account, body, hash) VALUES (number, at, 'charge', $1, $10 || spent, digest);
    {_placed(WAIT, 0, 1, 2, 8, 9).replace("$0", "number")};
    RETURN NEXT;
END
$body$"""
CALL = b"SELECT * FROM dither_charge(" + b", ".join([b"%s"] * 14) + b")"
DROP = (
    "DROP FUNCTION IF EXISTS dither_charge(text, text, bigint, "
    "bigint, bigint, bigint, text, text, text)"
)
FLUSH = b"SELECT pg_logical_emit_message(true, 'dither', '')"


class PostgresStore:
    """The tables of a book in one schema of a PostgreSQL database; `synchronous_commit`
    is on.

    Each machine that uses the book keeps a note of how far it has seen it come.
    """

    extras: tuple[str, ...] = (DROP, CHARGE)
    key = "BIGINT"

    def __init__(self, place: str) -> None:
        self._address, self.latest = place, ""
        self.place = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", place)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._active = False
        self._book = ""
        self._connection: psycopg.Connection[Any] | None = _open(place, self.place)
        try:
            self._note = Note(str(_note_of(self._connection)), self.place)
        except BaseException:
            self.close()
            raise

    def alone(self) -> AbstractContextManager[None]:
        """The server's own lock suffices: it is taken where something is written."""
        return nullcontext()

    def _after_fork(self) -> None:
        """A forked process opens a connection of its own."""
        if self._pid != os.getpid() and self._connection is not None:
            INHERITED.append(self._connection)
            self._pid, self._lock, self._active = os.getpid(), threading.RLock(), False
            self._connection = _open(self._address, self.place)

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            raise LedgerError(
                f"the book is closed ({self.place}); open it again with Ledger.open"
            )
        if self._connection.closed or self._connection.info.transaction_status != IDLE:
            self._reconnect()
        return self._connection

    def _reconnect(self) -> None:
        """After an interrupt or a lost server: what is charged inside a transaction
        that was left open could still be undone."""
        with suppress(Exception):
            assert self._connection is not None
            self._connection.close()
        self._connection = _open(self._address, self.place)

    @contextmanager
    def writing(self, *, anew: bool = False) -> Iterator[Run]:
        with self._transaction(f"BEGIN; SELECT pg_advisory_xact_lock({LOCK})") as run:
            if not anew:
                self._check_noted(run)
            yield run
            last = run(LAST)[0]
        self._write_note(last[0], last[2], anew)
        self.latest = last[1]

    def _check_noted(self, run: Run) -> None:
        """Under the lock: a book that was put back while this process was connected
        lacks what was noted.
        """
        # Once: another process writes the note after it has let go of the lock
        seq, head = self._noted()
        if run("SELECT hash FROM log WHERE seq = ?", (seq,)) != [(head,)]:
            raise Doubt("the book is older than the head that this machine has noted")

    def _noted(self) -> tuple[int, str]:
        with self._note.locked():
            record = self._note.read()
        if record is None:
            raise Doubt("the note that this machine keeps of it was emptied")
        return record.seq, record.head

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
                raise LedgerError(
                    "a transaction of this book is under way in this thread; "
                    "finish "
                    "it first"
                )
            connection = self._connected()
            self._active = True
            try:
                yield connection
            except psycopg.errors.LockNotAvailable:
                raise LedgerError(
                    f"{self.place} is in use by another process that does not let "
                    "go; "
                    "try again when it is done"
                ) from None
            except psycopg.Error as error:
                raise LedgerError(
                    f"{self.place} could not be used: {error}; there is no receipt"
                ) from error
            finally:
                self._active = False

    def charge(self, charge: Charge) -> tuple[int, str, str] | None:
        import psycopg

        start = charge.start
        # Without the closing quotation mark and bracket
        end = canonical(["charge", charge.account, start])[1:-2]
        what = (
            charge.account,
            charge.by,
            *charge.units,
            charge.time,
            charge.deadline,
            charge.id,
            start,
            end,
        )
        values = (*what, *self._noted(), charge.policy)
        try:
            with self._using() as connection:
                try:
                    ((number, at, digest, durable),) = connection.execute(
                        CALL, values
                    ).fetchall()
                except psycopg.Error as error:
                    if error.sqlstate == REFUSED:
                        return None
                    if error.sqlstate == OLDER:
                        raise Doubt(
                            "the book is older than the head that this machine has "
                            "noted"
                        ) from None
                    raise
                if not durable:
                    connection.execute(FLUSH)
        except LedgerError as error:
            lost = isinstance(error.__cause__, psycopg.OperationalError)
            if not lost:
                raise
            number, at, digest = self._look_for(charge, error)
        self._write_note(number, digest)
        self.latest = at
        return number, at, digest

    def _look_for(self, charge: Charge, error: LedgerError) -> tuple[int, str, str]:
        """The connection was lost while charging. If the charge is in the book, it was
        made, and this is its line.
        """
        ask = f"ask `charged({charge.id!r})` whether it was charged"
        try:
            with self.writing() as run:
                # The lock was waited for: a charge that had begun is finished, and
                # durable with this transaction.
                rows = run("SELECT seq FROM pending WHERE id = ?", (charge.id,))
                found = (
                    run("SELECT seq, time, hash FROM log WHERE seq = ?", rows[0])
                    if rows
                    else []
                )
        except LedgerError:
            raise LedgerError(
                f"{self.place} was lost while charging; {ask} when it is back"
            ) from error
        if not found:
            raise LedgerError(
                f"{self.place} was lost before it charged; ask again, or {ask}"
            ) from error
        number, at, digest = found[0]
        return number, at, digest

    def version(self) -> int | None:
        with self.reading() as run:
            found = run("SELECT to_regclass('meta')")
            if found[0][0] is None:
                return None
            return version_of(
                run("SELECT value FROM meta WHERE name = ?", ("schema",)), self.place
            )

    def doubt(self, run: Run, version: int | None) -> str:
        first = run("SELECT hash FROM log WHERE seq = 1")
        if not first:
            if self._note.exists():
                raise LedgerError(
                    f"a book with {self._noted()[0]} lines was at {self.place}: "
                    "restore it, or remove "
                    f"{self._note.path} if it is gone for good"
                )
            return ""
        reason = self._doubt(run)
        self._book = first[0][0][:32]
        homes = run("SELECT value FROM meta WHERE name = 'home'")
        if version not in (1, None) and homes != [(_home(run),)]:
            return "it comes from a dump of another database"
        return reason

    def _doubt(self, run: Run) -> str:
        """What this machine's note says against the book. A machine that sees it for
        the first time begins one.
        """
        last = run(LAST)[0]
        self._note.begin(Record("-", last[0], last[2], "-", 0))
        try:
            with self._note.locked():
                record = self._note.read()
        except Doubt as doubt:
            return str(doubt)
        if record is None:
            return "the note that this machine keeps of it was emptied"
        rows = run("SELECT hash FROM log WHERE seq = ?", (record.seq,))
        if not rows or rows[0][0] != record.head:
            return "the book is older than the head that this machine has noted"
        return ""

    def know(self, run: Run, first: str) -> None:
        self._book = first[:32]
        run("DELETE FROM meta WHERE name = 'home'")
        run("INSERT INTO meta (name, value) VALUES ('home', ?)", (_home(run),))

    def _write_note(self, seq: int, head: str, anew: bool = False) -> None:
        """Several processes of this machine share a note, and it never goes back."""
        record = Record(self._book or "-", seq, head, "-", 0)
        self._note.begin(record)
        with self._note.locked():
            if anew:
                self._note.create(record)
            elif _seq(self._note) < seq:
                self._note.write(record)

    def close(self) -> None:
        with self._lock, suppress(Exception):
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
        self._connection = None
        if hasattr(self, "_note"):
            self._note.close()


def _seq(note: Note) -> int:
    try:
        record = note.read()
    except Doubt:
        return 1 << 62  # someone must look at it first
    return 1 << 62 if record is None else record.seq


def _home(run: Run) -> str:
    """What a dump does not carry over: the numbers that the server gave the database
    and the log.
    """
    rows = run(
        "SELECT oid, 'log'::regclass::oid FROM pg_database WHERE datname "
        "= current_database()"
    )
    return f"{rows[0][0]}.{rows[0][1]}"


def _note_of(connection: psycopg.Connection[Any]) -> Path:
    """The note of a book on a server, in the folder where this machine keeps such
    things.
    """
    try:
        folder = state_folder()
    except (OSError, RuntimeError) as error:
        raise LedgerError(
            "there is no folder for this machine's note of the book "
            f"({error}): name one that outlives the process "
            f"in {STATE}"
        ) from error
    schema = connection.execute(b"SELECT current_schema()").fetchall()[0][0]
    info = connection.info
    which = canonical([info.host, info.port, info.dbname, schema])
    return folder / f"{hashlib.sha256(which.encode()).hexdigest()[:32]}.note"


def _open(address: str, place: str) -> psycopg.Connection[Any]:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    try:
        if "connect_timeout" not in address:
            address = psycopg.conninfo.make_conninfo(address, connect_timeout=10)
        connection = psycopg.connect(address, autocommit=True)
        connection.execute("; ".join(SESSION).encode())
    except psycopg.Error as error:
        raise LedgerError(f"{place} cannot be reached: {error}") from error
    return connection


def _runner(connection: psycopg.Connection[Any]) -> Run:
    def run(sql: str, parameters: Sequence[Any] = ()) -> Any:
        # psycopg takes a percent sign for the beginning of a parameter, also inside a
        # text.
        query = sql.replace("%", "%%").replace("?", "%s") if parameters else sql
        cursor = connection.execute(query.encode(), parameters or None)
        return cursor.fetchall() if cursor.description is not None else cursor.rowcount

    return run


def _undo(connection: psycopg.Connection[Any]) -> None:
    with suppress(Exception):
        connection.rollback()
