"""A store that several servers share in PostgreSQL. Each machine notes how far it has
seen it come.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dither.errors import LedgerError, MissingExtra
from dither.ledger.entry import canonical
from dither.ledger.kind import BOOK, Kind
from dither.ledger.note import STATE, Doubt, Note, Record, state_folder
from dither.ledger.store import Run, version_of

if TYPE_CHECKING:
    import psycopg

__all__ = ["NotedPostgres"]

INHERITED: list[
    psycopg.Connection[Any]
] = []  # a forked process must not close these: its parent speaks through them
IDLE = 0  # psycopg.pq.TransactionStatus.IDLE

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


class NotedPostgres:
    """Tables in one schema of a PostgreSQL database; `synchronous_commit` is on.

    Each machine that uses them keeps a note of how far it has seen them come.
    """

    kind: ClassVar[Kind] = BOOK
    extras: tuple[str, ...] = ()
    key = "BIGINT"

    def __init__(self, place: str) -> None:
        self._address, self.latest = place, ""
        self.place = _without_password(place)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._active = False
        self._book = ""
        # The last step that this process has seen, and its hash: another process of
        # this machine may have opened an older state on purpose, and noted it
        self._highest = (0, "")
        self._connection: psycopg.Connection[Any] | None = self._open()
        try:
            self._note = Note(str(_note_of(self._connection, self.kind)), self.place)
        except BaseException:
            self.close()
            raise

    def _open(self) -> psycopg.Connection[Any]:
        schema = self.kind.schema
        own = (f"SET search_path = {schema}",) if schema else ()
        return _open(self._address, self.place, (*SESSION, *own))

    def alone(self) -> AbstractContextManager[None]:
        """The server's own lock suffices: it is taken where something is written."""
        return nullcontext()

    def _after_fork(self) -> None:
        """A forked process opens a connection of its own."""
        if self._pid != os.getpid() and self._connection is not None:
            INHERITED.append(self._connection)
            self._pid, self._lock, self._active = os.getpid(), threading.RLock(), False
            self._connection = self._open()

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            raise LedgerError(
                f"the {self.kind.noun} is closed ({self.place}); open it again with "
                f"{self.kind.reopen}"
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
        self._connection = self._open()

    @contextmanager
    def writing(self, *, anew: bool = False) -> Iterator[Run]:
        begin = f"BEGIN; SELECT pg_advisory_xact_lock({self.kind.application})"
        with self._transaction(begin) as run:
            if not anew:
                self._check_noted(run)
            yield run
            last = run(self.kind.last)[0]
        self._highest = (last[0], last[2])
        self._write_note(last[0], last[2], anew)
        self.latest = last[1]

    def _check_noted(self, run: Run) -> None:
        """Under the lock: a book that was put back while this process was connected
        lacks what was noted, or what this process has seen.
        """
        # Once: another process writes the note after it has let go of the lock
        for seq, head in {self._noted(), self._highest}:
            if seq and run(self.kind.line, (seq,)) != [(head,)]:
                raise Doubt(self._older)

    @property
    def _older(self) -> str:
        return (
            f"the {self.kind.noun} is older than the head that this machine has noted"
        )

    def _noted(self) -> tuple[int, str]:
        with self._note.locked():
            record = self._note.read()
        if record is None:
            raise Doubt("the note that this machine keeps of it is empty")
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
                    f"a transaction of this {self.kind.noun} is under way in this "
                    "thread; finish it first"
                )
            connection = self._connected()
            self._active = True
            try:
                yield connection
            except psycopg.errors.LockNotAvailable:
                raise LedgerError(
                    f"{self.place} is in use by another process that does not release it; "
                    "try again later"
                ) from None
            except psycopg.Error as error:
                raise LedgerError(
                    f"{self.place} could not be used: {error}; there is no receipt. Try again"
                ) from error
            finally:
                self._active = False

    def version(self) -> int | None:
        with self.reading() as run:
            found = run("SELECT to_regclass('meta')")
            if found[0][0] is None:
                return None
            return version_of(
                run("SELECT value FROM meta WHERE name = ?", ("schema",)), self.place
            )

    def doubt(self, run: Run, version: int | None) -> str:
        first = run(self.kind.first)
        if not first:
            if self._note.exists():
                raise LedgerError(
                    f"the {self.kind.noun} at {self.place} is empty, but it had "
                    f"{self._noted()[0]} lines before; restore it, or remove "
                    f"{self._note.path} if they are lost"
                )
            return ""
        reason = self._doubt(run)
        self._book = first[0][0][:32]
        homes = run("SELECT value FROM meta WHERE name = 'home'")
        if self._has_home(version) and homes != [(_home(run, self.kind.table),)]:
            return f"the {self.kind.noun} comes from a dump of another database"
        return reason

    def _has_home(self, version: int | None) -> bool:
        """Whether tables of this schema say which database they were made in."""
        return version is not None

    def _doubt(self, run: Run) -> str:
        """Check this machine's note against the book. A machine that sees it for the
        first time begins one.
        """
        last = run(self.kind.last)[0]
        self._note.begin(Record("-", last[0], last[2], "-", 0))
        try:
            with self._note.locked():
                record = self._note.read()
        except Doubt as doubt:
            return str(doubt)
        if record is None:
            return "the note that this machine keeps of it is empty"
        rows = run(self.kind.line, (record.seq,))
        if not rows or rows[0][0] != record.head:
            return self._older
        return ""

    def know(self, run: Run, first: str) -> None:
        self._book = first[:32]
        home = _home(run, self.kind.table)
        run("DELETE FROM meta WHERE name = 'home'")
        run("INSERT INTO meta (name, value) VALUES ('home', ?)", (home,))

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


def _without_password(address: str) -> str:
    """An address as it may be shown."""
    shown = re.sub(r"(://[^:/@]*):[^@]*@", r"\1:…@", address)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1…", shown)


def _seq(note: Note) -> int:
    try:
        record = note.read()
    except Doubt:
        return 1 << 62  # someone must look at it first
    return 1 << 62 if record is None else record.seq


def _home(run: Run, table: str) -> str:
    """Numbers that a dump does not carry over: those that the server gave the database
    and a table.
    """
    rows = run(
        f"SELECT oid, '{table}'::regclass::oid FROM pg_database WHERE datname "
        "= current_database()"
    )
    return f"{rows[0][0]}.{rows[0][1]}"


def _note_of(connection: psycopg.Connection[Any], kind: Kind) -> Path:
    """The note of a book on a server, in the folder where this machine keeps such
    things.
    """
    try:
        folder = state_folder()
    except (OSError, RuntimeError) as error:
        raise LedgerError(
            "the folder for this machine's notes of ledgers cannot be made "
            f"({error}); set {STATE} to a folder that outlives this process"
        ) from error
    current = connection.execute(b"SELECT current_schema()").fetchall()[0][0]
    schema = kind.schema or current  # which may not be there yet
    info = connection.info
    which = canonical([info.host, info.port, info.dbname, schema])
    return folder / f"{hashlib.sha256(which.encode()).hexdigest()[:32]}.note"


def _open(
    address: str, place: str, session: tuple[str, ...]
) -> psycopg.Connection[Any]:
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    try:
        if "connect_timeout" not in address:
            address = psycopg.conninfo.make_conninfo(address, connect_timeout=10)
        connection = psycopg.connect(address, autocommit=True)
        connection.execute("; ".join(session).encode())
    except psycopg.Error as error:
        raise LedgerError(
            f"{place} cannot be reached; check the address and the server: {error}"
        ) from error
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
