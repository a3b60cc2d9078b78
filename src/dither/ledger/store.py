"""Where a book is kept: one small interface, for SQLite and PostgreSQL alike.

The SQL is the same for both, with `?` for parameters. A store gives one thing, a transaction in which statements run
alone: no other writer comes between them, and when it is left without an error all of it is on the disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from dither.errors import LedgerError

__all__ = ["APPLICATION", "SCHEMA", "VERSION", "Rows", "Store", "connect", "prepare", "schema_of"]

APPLICATION = 0x64697468  # "dith": marks a SQLite file as a book
VERSION = 1

META = "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
SCHEMA = (
    """CREATE TABLE account (
        name TEXT PRIMARY KEY, dataset TEXT NOT NULL, unit TEXT NOT NULL, relation TEXT NOT NULL,
        accounting TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, alpha BIGINT NOT NULL,
        pure_cap BIGINT NOT NULL, loss_cap BIGINT NOT NULL, delta_cap BIGINT NOT NULL,
        pure_spent BIGINT NOT NULL, loss_spent BIGINT NOT NULL, delta_spent BIGINT NOT NULL,
        impure BIGINT NOT NULL, failures BIGINT NOT NULL, period BIGINT NOT NULL, frozen TEXT NOT NULL,
        policy TEXT NOT NULL)""",
    """CREATE TABLE share (
        account TEXT NOT NULL, analyst TEXT NOT NULL, part TEXT NOT NULL,
        pure_cap BIGINT NOT NULL, loss_cap BIGINT NOT NULL, delta_cap BIGINT NOT NULL,
        pure_spent BIGINT NOT NULL, loss_spent BIGINT NOT NULL, delta_spent BIGINT NOT NULL,
        impure BIGINT NOT NULL, PRIMARY KEY (account, analyst))""",
    """CREATE TABLE log (
        seq {key} PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, account TEXT NOT NULL, body TEXT NOT NULL,
        hash TEXT NOT NULL)""",
    """CREATE TABLE replay (
        account TEXT NOT NULL, name TEXT NOT NULL, seq BIGINT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (account, name))""",
)

# Whether the charge fits is decided by the statement that spends it, so that no two charges can both see room for one.
FITS = """((impure + ? = 0 AND pure_spent + ? <= pure_cap)
    OR (loss_cap > 0 AND loss_spent + ? <= loss_cap AND delta_spent + ? <= delta_cap))"""
ADD = """pure_spent = pure_spent + ?, loss_spent = loss_spent + ?, delta_spent = delta_spent + ?, impure = impure + ?"""
SPEND = f"UPDATE account SET {ADD} WHERE name = ? AND frozen = '' AND {FITS}"
SPEND_SHARE = f"UPDATE share SET {ADD} WHERE account = ? AND analyst = ? AND {FITS}"

LAST = "SELECT seq, time, hash FROM log ORDER BY seq DESC LIMIT 1"
APPEND = "INSERT INTO log (seq, time, kind, account, body, hash) VALUES (?, ?, ?, ?, ?, ?)"

Rows = list[tuple[Any, ...]]
Units = tuple[int, int, int, int]
"""What a charge adds: ε, loss, δ, and 1 if it is not pure."""


class Run(Protocol):
    """Runs one statement of a transaction; returns its rows, or how many rows it changed."""

    def __call__(self, sql: str, parameters: Sequence[Any] = ()) -> Any: ...


class Store(Protocol):
    """A place that holds one book."""

    place: str
    """Where it is, in words for people."""
    extras: tuple[str, ...]
    """What it needs in a new book beside the tables."""
    key: str
    """Its type for a 64-bit number that is a key."""

    def writing(self) -> AbstractContextManager[Run]:
        """A transaction that is alone and durable when left."""

    def reading(self) -> AbstractContextManager[Run]:
        """A transaction that sees one state of the book."""

    def charge(
        self, account: str, by: str | None, units: Units, time: str, body: Mapping[str, Any]
    ) -> tuple[int, str, str] | None:
        """Spend and write the log line in one step: its number, time and hash.

        None if the charge does not fit, or is not of the kind that has this short way; the ordinary way then says why.
        """

    def version(self) -> int | None:
        """The schema version of the book that is there, or None if there is none."""

    def anchor(self) -> tuple[int, str] | None:
        """The latest (sequence number, hash) noted outside the book, if any."""

    def note(self, seq: int, digest: str) -> None:
        """Note the head outside the book."""

    def close(self) -> None: ...


def connect(place: str) -> Store:
    """The store for a path, or for a postgresql:// address."""
    if place.startswith(("postgresql://", "postgres://")):
        from dither.ledger.postgres import PostgresStore

        return PostgresStore(place)
    from dither.ledger.sqlite import SQLiteStore

    return SQLiteStore(place)


def schema_of(rows: Rows, place: str) -> int:
    """The schema version a book says it has."""
    if not rows or not str(rows[0][0]).isdigit():
        raise LedgerError(f"{place} does not say which schema it has: it was damaged; restore it from a copy")
    return int(str(rows[0][0]))


MIGRATIONS: dict[int, tuple[str, ...]] = {}
"""For each old version, the statements that lead to the next one."""


def prepare(store: Store) -> None:
    """Create the tables in an empty place, or bring an older book up to this version."""
    version = store.version()
    if version is not None and version > VERSION:
        raise LedgerError(
            f"{store.place} was written by a newer Dither (schema {version}); install that one to open it"
        )
    if version == VERSION:
        return
    if version is not None and not all(step in MIGRATIONS for step in range(version, VERSION)):
        raise LedgerError(f"{store.place} says it has schema {version}, which never was; restore it from a copy")
    with store.writing() as run:
        # Another process may have been faster: only what is seen in here counts.
        run(META)
        rows = run("SELECT value FROM meta WHERE name = ?", ("schema",))
        if not rows:
            for statement in (*SCHEMA, *store.extras):
                run(statement.replace("{key}", store.key))
            run("INSERT INTO meta (name, value) VALUES (?, ?)", ("schema", str(VERSION)))
            return
        for step in range(int(rows[0][0]), VERSION):
            for statement in MIGRATIONS[step]:
                run(statement)
        run("UPDATE meta SET value = ? WHERE name = ?", (str(VERSION), "schema"))
