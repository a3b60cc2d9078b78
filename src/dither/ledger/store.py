"""Where a book is kept: one small interface, for SQLite and PostgreSQL alike.

The SQL is the same for both, with `?` for parameters. A store gives one thing, a transaction in which statements run
alone: no other writer comes between them, and when it is left without an error all of it is on the disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from dither.errors import LedgerError

__all__ = ["APPLICATION", "SCHEMA", "VERSION", "Rows", "Store", "connect", "prepare"]

APPLICATION = 0x64697468  # "dith": marks a SQLite file as a book
VERSION = 1

SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
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
        seq BIGINT PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, account TEXT NOT NULL, body TEXT NOT NULL,
        hash TEXT NOT NULL)""",
    """CREATE TABLE replay (
        account TEXT NOT NULL, name TEXT NOT NULL, seq BIGINT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (account, name))""",
)

Rows = list[tuple[Any, ...]]


class Run(Protocol):
    """Runs one statement of a transaction; returns its rows, or how many rows it changed."""

    def __call__(self, sql: str, parameters: Sequence[Any] = ()) -> Any: ...


class Store(Protocol):
    """A place that holds one book."""

    place: str
    """Where it is, in words for people."""

    def writing(self) -> AbstractContextManager[Run]:
        """A transaction that is alone and durable when left."""

    def reading(self) -> AbstractContextManager[Run]:
        """A transaction that sees one state of the book."""

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
    with store.writing() as run:
        if version is None:
            for statement in SCHEMA:
                run(statement)
        for step in range(version or VERSION, VERSION):
            for statement in MIGRATIONS[step]:
                run(statement)
        _set(run, "schema", str(VERSION), new=version is None)


def _set(run: Run, name: str, value: str, *, new: bool) -> None:
    if new:
        run("INSERT INTO meta (name, value) VALUES (?, ?)", (name, value))
    else:
        run("UPDATE meta SET value = ? WHERE name = ?", (value, name))
