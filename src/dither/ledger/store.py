"""Where a book is kept: one small interface, for SQLite and PostgreSQL alike.

The SQL is the same for both, with `?` for parameters. A store gives one thing, a
transaction in which statements run alone: no other writer comes between them, and when
it is left without an error all of it is on the disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from dither.errors import LedgerError
from dither.ledger.entry import canonical
from dither.ledger.kind import LAST
from dither.ledger.state import State

__all__ = [
    "LAST",
    "TABLES",
    "VERSION",
    "Charge",
    "Head",
    "Made",
    "Noted",
    "Rows",
    "Store",
    "connect",
    "version_of",
]

VERSION = 2

META = "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
CAPS = "pure_cap BIGINT NOT NULL, loss_cap BIGINT NOT NULL, delta_cap BIGINT NOT NULL"
SPENT = """pure_spent BIGINT NOT NULL, loss_spent BIGINT NOT NULL, delta_spent BIGINT NOT NULL,
    impure BIGINT NOT NULL"""
LOG = """CREATE TABLE log (
    seq {key} PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, account TEXT NOT NULL, body TEXT NOT NULL,
    hash TEXT NOT NULL)"""
TABLES = (
    f"""CREATE TABLE account (
        name TEXT PRIMARY KEY, dataset TEXT NOT NULL, unit TEXT NOT NULL, relation TEXT NOT NULL,
        accounting TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, alpha BIGINT NOT NULL,
        policy TEXT NOT NULL, {CAPS}, {SPENT},
        failures BIGINT NOT NULL, own BIGINT NOT NULL, period BIGINT NOT NULL, began BIGINT NOT NULL,
        began_at TEXT NOT NULL, charges BIGINT NOT NULL, frozen TEXT NOT NULL, written_off BIGINT NOT NULL)""",
    f"""CREATE TABLE analyst (
        account TEXT NOT NULL, name TEXT NOT NULL, part TEXT NOT NULL, {CAPS}, {SPENT},
        charges BIGINT NOT NULL, failures BIGINT NOT NULL, frozen TEXT NOT NULL, PRIMARY KEY (account, name))""",
    """CREATE TABLE pending (
        seq {key} PRIMARY KEY, account TEXT NOT NULL, analyst TEXT, deadline TEXT NOT NULL, id TEXT NOT NULL)""",
    "CREATE INDEX pending_deadline ON pending (account, deadline)",
    "CREATE INDEX log_account ON log (account, seq)",
    """CREATE TABLE replay (
        account TEXT NOT NULL, name TEXT NOT NULL, seq BIGINT NOT NULL, line BIGINT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (account, name))""",
)
"""All tables but the log, which every version has."""

# Whether the charge fits is decided by the statement that spends it, so that no two
# charges can both see room for one. `transitions.refusal` says the same, in words; a
# test compares the two.
FITS = """((impure + ? = 0 AND pure_spent + ? <= pure_cap)
    OR (loss_cap > 0 AND loss_spent + ? <= loss_cap AND delta_spent + ? <= delta_cap))"""
ADD = """pure_spent = pure_spent + ?, loss_spent = loss_spent + ?, delta_spent = delta_spent + ?, impure = impure + ?,
    charges = charges + 1"""
SPEND = f"""UPDATE account SET {ADD}
    WHERE name = ? AND policy = ? AND frozen = '' AND written_off = 0 AND {FITS}
    AND NOT EXISTS (SELECT 1 FROM pending WHERE pending.account = account.name AND deadline <= ?)
    RETURNING pure_spent, loss_spent, delta_spent, impure"""
SPEND_BY = f"""UPDATE analyst SET {ADD}
    WHERE account = ? AND name = ? AND frozen = ''
    AND ((part <> '' AND {FITS}) OR (part = '' AND NOT EXISTS (
        SELECT 1 FROM analyst AS other WHERE other.account = analyst.account AND other.part <> '')))"""
WAIT = "INSERT INTO pending VALUES (?, ?, ?, ?, ?)"

APPEND = (
    "INSERT INTO log (seq, time, kind, account, body, hash) VALUES (?, ?, ?, ?, ?, ?)"
)

Rows = list[tuple[Any, ...]]
Units = tuple[int, int, int, int]
"""The amounts that a charge adds: ε, loss, δ, and 1 if it is not pure."""
Head = tuple[int, str]
"""The number of the last line, and its hash."""


@dataclass(frozen=True)
class Charge:
    """A charge to be made in one step."""

    account: str
    by: str | None
    units: Units
    time: str
    deadline: str
    id: str
    body: Mapping[str, Any]
    policy: str
    """The policy that it was checked against, as the book has it."""

    @property
    def tested(self) -> Units:
        """The units in the order in which `FITS` asks for them."""
        pure, loss, delta, impure = self.units
        return impure, pure, loss, delta

    def text(self, spent: Sequence[int]) -> str:
        """The line's body: the amount spent with it comes last, because only the book
        can compute it.
        """
        return f"{self.start}{','.join(map(str, spent))}]}}"

    @property
    def start(self) -> str:
        """The body as far as it is known before the charge; no key of it comes after
        `spent`.
        """
        return f'{canonical(self.body)[:-1]},"spent":['


@dataclass(frozen=True)
class Made:
    """The log line of a charge that was made in one step. `states` are those of the
    account, and of the share of the analyst who asked if there is one, right after the
    charge; empty if the store does not return them.
    """

    number: int
    time: str
    hash: str
    states: tuple[State, ...] = ()


class Run(Protocol):
    """Runs one statement of a transaction; returns its rows, or how many rows it
    changed.
    """

    def __call__(self, sql: str, parameters: Sequence[Any] = ()) -> Any: ...


class Noted(Protocol):
    """A place that holds one book, or what another room keeps in the same way; notes
    outside say how far it has come.
    """

    place: str
    """The place of the store, in words for people."""
    extras: tuple[str, ...]
    """Additional tables that a new book needs."""
    key: str
    """Its type for a 64-bit number that is a key."""
    latest: str
    """The latest time that was seen in the book."""

    def writing(self, *, anew: bool = False) -> AbstractContextManager[Run]:
        """A transaction that is alone and durable when left; its head is then in the
        note outside the book.

        Raises `Doubt` if that note does not fit the book, unless the note will be
        rewritten.
        """

    def reading(self) -> AbstractContextManager[Run]:
        """A transaction that sees one state of the book."""

    def version(self) -> int | None:
        """The schema version of the existing book, or None if there is none."""

    def doubt(self, run: Run, version: int | None) -> str:
        """Why the book that is there may not be the latest of its kind (rule R20);
        empty if nothing speaks for it.

        `version` is the schema that it had when it was found.
        """

    def know(self, run: Run, first: str) -> None:
        """Which book this is, by the hash of its first line: called when it begins, and
        when it was doubted.
        """

    def alone(self) -> AbstractContextManager[None]:
        """Nobody else opens, changes or closes the book meanwhile, as far as this store
        can see to that.
        """

    def close(self) -> None: ...


class Store(Noted, Protocol):
    """A place that holds one book."""

    def charge(self, charge: Charge) -> Made | None:
        """Spend and write the log line in one step.

        None if the charge does not fit, or is not of the kind that has this short way;
        the ordinary way then says why.
        """


def connect(place: str) -> Store:
    """The store for a path, or for a postgresql:// address."""
    if place.startswith(("postgresql://", "postgres://")):
        from dither.ledger.postgres import PostgresStore

        return PostgresStore(place)
    from dither.ledger.sqlite import SQLiteStore

    return SQLiteStore(place)


def version_of(rows: Rows, place: str) -> int:
    """The schema version a book says it has."""
    if not rows or not str(rows[0][0]).isdigit():
        raise LedgerError(
            f"{place} is damaged: its schema version is missing; restore it from a backup"
        )
    return int(str(rows[0][0]))
