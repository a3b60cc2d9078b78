"""What a device's file holds, and how it is read and written in a transaction.

Days and moments are ISO strings, which sort like the time. Amounts of ε are integers,
in units of 1e-9. No value of the device is in here: a used value leaves a mark, an
HMAC.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from dither.local.client.memo import message_id
from dither.local.client.sent import Sent

__all__ = ["TABLES", "Device", "JoinedTask", "KeptMemo", "Rows"]

TABLES = """
CREATE TABLE device (secret BLOB NOT NULL, trust TEXT NOT NULL, budget INTEGER NOT NULL);
CREATE TABLE tasks (
    name TEXT PRIMARY KEY, version INTEGER NOT NULL, document BLOB NOT NULL,
    state TEXT NOT NULL, memo BLOB NOT NULL, until TEXT NOT NULL
);
CREATE TABLE memos (
    id BLOB PRIMARY KEY, salt BLOB NOT NULL, told_apart INTEGER NOT NULL,
    cost INTEGER NOT NULL
);
CREATE TABLE marks (
    number INTEGER PRIMARY KEY, memo BLOB NOT NULL, task TEXT NOT NULL,
    mark BLOB NOT NULL, UNIQUE (memo, task, mark)
);
CREATE TABLE reservations (
    number INTEGER PRIMARY KEY, day TEXT NOT NULL, task TEXT NOT NULL,
    cost INTEGER NOT NULL
);
CREATE TABLE messages (
    at TEXT NOT NULL, task TEXT NOT NULL, version INTEGER NOT NULL,
    first TEXT NOT NULL, until TEXT NOT NULL, slot INTEGER NOT NULL,
    said TEXT NOT NULL, epsilon REAL NOT NULL, message BLOB NOT NULL,
    PRIMARY KEY (task, slot, first)
);
CREATE TABLE moments (
    task TEXT NOT NULL, slot INTEGER NOT NULL, first TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (task, slot, first)
);
"""


@dataclass(frozen=True)
class Device:
    """The content that is fixed when the file is made."""

    secret: bytes = field(repr=False)
    trust: str
    budget: int


@dataclass(frozen=True)
class JoinedTask:
    """What a device knows of a task: the version that it agreed to, and until which day
    it had answered when it left. `state` is "joined", "left" or "stopped".
    """

    name: str
    version: int
    document: bytes
    state: str
    memo: bytes
    until: str = ""


@dataclass(frozen=True)
class KeptMemo:
    """A memo: its salt, how many values it tells apart, and what is reserved for it."""

    id: bytes
    salt: bytes = field(repr=False)
    told_apart: int
    cost: int


@dataclass(frozen=True)
class Rows:
    """The file inside a transaction."""

    file: sqlite3.Connection
    device: Device

    def _one(self, question: str, *values: Any) -> Any:
        return self.file.execute(question, values).fetchone()

    def _all(self, question: str, *values: Any) -> list[Any]:
        return self.file.execute(question, values).fetchall()

    # tasks and memos

    def task(self, name: str) -> JoinedTask | None:
        row = self._one("SELECT * FROM tasks WHERE name = ?", name)
        return None if row is None else JoinedTask(*row)

    def put_task(self, task: JoinedTask) -> None:
        row = (task.name, task.version, task.document, task.state)
        more = (task.memo, task.until)
        self._all("REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?)", *row, *more)

    def memo(self, known: bytes) -> KeptMemo | None:
        row = self._one("SELECT * FROM memos WHERE id = ?", known)
        return None if row is None else KeptMemo(*row)

    def put_memo(self, memo: KeptMemo) -> None:
        row = (memo.id, memo.salt, memo.told_apart, memo.cost)
        self._all("REPLACE INTO memos VALUES (?, ?, ?, ?)", *row)

    def forget_unused_memos(self) -> None:
        """Delete the salts, and with them the noise, that no joined task needs."""
        used = "(SELECT memo FROM tasks WHERE state = 'joined')"
        self._all(f"DELETE FROM marks WHERE memo NOT IN {used}")
        self._all(f"DELETE FROM memos WHERE id NOT IN {used}")

    # the lifetime budget

    @property
    def reserved(self) -> int:
        total: int = self._one("SELECT coalesce(sum(cost), 0) FROM reservations")[0]
        return total

    def reserve(self, day: date, task: str, cost: int) -> None:
        row = (day.isoformat(), task, cost)
        self._all("INSERT INTO reservations (day, task, cost) VALUES (?, ?, ?)", *row)

    # used values

    def marks(self, memo: bytes, task: str) -> list[bytes]:
        """The values that a task has used, oldest first."""
        question = "SELECT mark FROM marks WHERE memo = ? AND task = ? ORDER BY number"
        return [mark for (mark,) in self._all(question, memo, task)]

    def all_marks(self, memo: bytes) -> set[bytes]:
        """The values that any task has used under a memo."""
        found = self._all("SELECT DISTINCT mark FROM marks WHERE memo = ?", memo)
        return {mark for (mark,) in found}

    def put_mark(self, memo: bytes, task: str, mark: bytes) -> None:
        row = (memo, task, mark)
        self._all("INSERT INTO marks (memo, task, mark) VALUES (?, ?, ?)", *row)

    # messages

    def message(self, task: str, slot: int, day: date) -> tuple[date, bytes] | None:
        """The message that was made for the period around a day, and its first day."""
        row = self._one(
            "SELECT first, message FROM messages WHERE task = ? AND slot = ? "
            "AND first <= ? AND ? < until",
            *(task, slot, day.isoformat(), day.isoformat()),
        )
        return None if row is None else (date.fromisoformat(row[0]), row[1])

    def answered(self, task: str, first: date, until: date) -> str:
        """Until which day other periods than this one have been answered."""
        found = self._one(
            "SELECT max(until) FROM messages WHERE task = ? "
            "AND NOT (first = ? AND until = ?)",
            *(task, first.isoformat(), until.isoformat()),
        )
        return found[0] or ""

    def last_answered(self, task: str) -> str:
        """Until which day anything has been answered."""
        found = self._one("SELECT max(until) FROM messages WHERE task = ?", task)
        return found[0] or ""

    def put_message(self, sent: Sent) -> None:
        self._all(
            "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(sent.at.isoformat(), sent.task, sent.version, sent.first.isoformat()),
            *(sent.until.isoformat(), sent.slot, sent.said, sent.epsilon, sent.message),
        )

    def message_id(self, task: str, first: date, slot: int) -> bytes:
        return message_id(self.device.secret, task, first, slot)

    def messages(self) -> list[Sent]:
        found = self._all("SELECT * FROM messages ORDER BY at, task, slot")
        return [self._sent(*row) for row in found]

    def _sent(
        self, at: str, task: str, version: int, first: str, until: str, *more: Any
    ) -> Sent:
        slot, said, epsilon, message = more
        begins, ends = date.fromisoformat(first), date.fromisoformat(until)
        about = (datetime.fromisoformat(at), task, version, begins, ends, slot)
        known = self.message_id(task, begins, slot)
        return Sent(*about, said, epsilon, message, known)

    def moment(self, task: str, slot: int, first: date) -> datetime | None:
        """When the message of a period is sent."""
        row = self._one(
            "SELECT at FROM moments WHERE task = ? AND slot = ? AND first = ?",
            *(task, slot, first.isoformat()),
        )
        return None if row is None else datetime.fromisoformat(row[0])

    def put_moment(self, task: str, slot: int, first: date, at: datetime) -> None:
        row = (task, slot, first.isoformat(), at.isoformat())
        self._all("INSERT INTO moments VALUES (?, ?, ?, ?)", *row)

    def forget_messages(self, task: str) -> None:
        self._all("DELETE FROM messages WHERE task = ?", task)
        self._all("DELETE FROM moments WHERE task = ?", task)
