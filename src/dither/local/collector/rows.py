"""The tables of a collector inside a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.ledger.store import Run
from dither.local.collector.published import LIVE, Relay
from dither.local.parcels import ID

__all__ = ["Rows", "Span", "parted"]

Whole = NDArray[np.int64]

CHUNK = 2048
"""Cells that are kept in one row: of a large tally, few messages change few rows."""
SIZES = (256, 64, 16, 4, 1)
"""Sizes of the lists of ids in a statement: few, so that statements are prepared once.
"""
SLICE = 20_000
"""Ids that are deleted in one transaction, so that nobody waits long for it."""


@dataclass(frozen=True)
class Span:
    """The days of one period of a task, whatever the version: ids are distinguished
    within it, and quotas are counted.
    """

    number: int
    closes: str
    closed: bool


def _sized(things: Sequence[Any]) -> Iterator[Sequence[Any]]:
    start = 0
    for size in SIZES:
        while len(things) - start >= size:
            yield things[start : start + size]
            start += size


@dataclass(frozen=True)
class Rows:
    """Statements that run alone, in a transaction of the store."""

    run: Run

    def _all(self, sql: str, *values: Any) -> list[Any]:
        found: list[Any] = self.run(sql, values)
        return found

    def step(self) -> tuple[int, int]:
        """One change more: its number, and how often tasks and relays have changed."""
        sql = "UPDATE lineage SET seq = seq + 1 RETURNING seq, facts"
        ((number, facts),) = self._all(sql)
        return int(number), int(facts)

    # what is collected

    def settings(self) -> str:
        """As they were written; empty if they were not yet."""
        found = self._all("SELECT value FROM meta WHERE name = 'settings'")
        return str(found[0][0]) if found else ""

    def put_settings(self, text: str) -> None:
        self.run(
            "INSERT INTO meta VALUES ('settings', ?) ON CONFLICT (name) "
            "DO UPDATE SET value = excluded.value",
            (text,),
        )

    def facts(self) -> int:
        return int(self._all("SELECT facts FROM lineage")[0][0])

    def change_facts(self) -> None:
        self.run("UPDATE lineage SET seq = seq + 1, facts = facts + 1")

    def tasks(self) -> list[tuple[str, str]]:
        """Every signed document, and its state."""
        return self._all("SELECT signed, state FROM task ORDER BY name, version")

    def put_task(self, tag: bytes, name: str, version: int, signed: str) -> None:
        row = (tag, name, version, signed, LIVE)
        self.run("INSERT INTO task VALUES (?, ?, ?, ?, ?)", row)

    def set_task_state(self, name: str, state: str) -> None:
        self.run("UPDATE task SET state = ? WHERE name = ?", (state, name))

    def relays(self) -> list[Relay]:
        sql = "SELECT number, name, hash, quota, state FROM relay ORDER BY name"
        return [Relay(*row) for row in self._all(sql)]

    def put_relay(self, name: str, hash: str, quota: int) -> None:
        number = self._next("relay")
        row = (number, name, hash, quota, LIVE)
        self.run("INSERT INTO relay VALUES (?, ?, ?, ?, ?)", row)

    def change_relay(self, relay: Relay) -> None:
        row = (relay.hash, relay.quota, relay.state, relay.number)
        self.run(
            "UPDATE relay SET hash = ?, quota = ?, state = ? WHERE number = ?", row
        )

    def _next(self, table: str) -> int:
        return int(self._all(f"SELECT coalesce(max(number), 0) + 1 FROM {table}")[0][0])

    # periods

    def span(self, task: str, first: date, closes: date) -> Span:
        """The span of a period; it closes with the version that closes last."""
        sql = "SELECT number, closes, closed FROM span WHERE task = ? AND first = ?"
        rows = self._all(sql, task, first.isoformat())
        last = closes.isoformat()
        if not rows:
            number = self._next("span")
            row = (number, task, first.isoformat(), last, 0)
            self.run("INSERT INTO span VALUES (?, ?, ?, ?, ?)", row)
            return Span(number, last, closed=False)
        number, known, closed = rows[0]
        if not closed and known < last:
            self.run("UPDATE span SET closes = ? WHERE number = ?", (last, number))
        return Span(number, max(known, last), bool(closed))

    def spans(self, task: str) -> list[tuple[date, bool]]:
        """The first day of each period of a task, and whether it was closed."""
        sql = "SELECT first, closed FROM span WHERE task = ?"
        rows = self._all(sql, task)
        return [(date.fromisoformat(first), bool(closed)) for first, closed in rows]

    def close_spans(self, today: date) -> int:
        """From now on these take nothing, whatever any clock says later."""
        sql = "UPDATE span SET closed = 1 WHERE closed = 0 AND closes <= ?"
        changed: int = self.run(sql, (today.isoformat(),))
        return changed

    def forget_ids(self) -> int:
        """Delete ids of closed periods, a slice at a time; returns how many."""
        closed = "SELECT number FROM span WHERE closed = 1"
        self.run(f"DELETE FROM fresh WHERE span IN ({closed})")
        sql = (
            "DELETE FROM seen WHERE (span, id) IN (SELECT seen.span, seen.id FROM seen "
            "JOIN span ON seen.span = span.number WHERE span.closed = 1 LIMIT ?)"
        )
        changed: int = self.run(sql, (SLICE,))
        return changed

    def forget_tallies(self, before: date) -> int:
        """Delete what was counted in periods that closed before a day."""
        old = "SELECT number FROM span WHERE closed = 1 AND closes < ?"
        day = (before.isoformat(),)
        tallies = f"SELECT number FROM tally WHERE span IN ({old})"
        self.run(f"DELETE FROM cells WHERE tally IN ({tallies})", day)
        self.run(f"DELETE FROM used WHERE span IN ({old})", day)
        changed: int = self.run(f"DELETE FROM tally WHERE span IN ({old})", day)
        return changed

    # ids

    def known(self, span: int, ids: Sequence[bytes]) -> set[bytes]:
        """Which ids are among the older ones."""
        found: set[bytes] = set()
        for some in _sized(ids):
            marks = ", ".join("?" * len(some))
            sql = f"SELECT id FROM seen WHERE span = ? AND id IN ({marks})"
            found.update(bytes(row[0]) for row in self._all(sql, span, *some))
        return found

    def fresh(self, after: int) -> list[tuple[int, int, bytes]]:
        """The ids of transactions after a number: its own number, span and ids."""
        sql = "SELECT number, span, ids FROM fresh WHERE number > ? ORDER BY number"
        return self._all(sql, after)

    def has_fresh(self, until: int) -> bool:
        """Whether ids of transactions up to a number are not among the older ones."""
        sql = "SELECT number FROM fresh WHERE number <= ? LIMIT 1"
        return bool(self._all(sql, until))

    def keep(self, number: int, span: int, ids: Iterable[bytes]) -> None:
        """Keep the ids that a transaction has counted."""
        row = (number, span, b"".join(sorted(ids)))
        self.run("INSERT INTO fresh VALUES (?, ?, ?)", row)

    def merge(self) -> None:
        """Put fresh ids among the older ones."""
        spans: dict[int, list[bytes]] = {}
        for _, span, ids in self.fresh(-1):
            spans.setdefault(span, []).extend(parted(ids))
        for span, several in spans.items():
            for some in _sized(sorted(several)):
                marks = ", ".join(["(?, ?)"] * len(some))
                values = [value for one in some for value in (span, one)]
                sql = f"INSERT INTO seen VALUES {marks} ON CONFLICT DO NOTHING"
                self.run(sql, values)
        self.run("DELETE FROM fresh")

    # quotas

    def used(self, span: int, relay: int) -> int:
        sql = "SELECT messages FROM used WHERE span = ? AND relay = ?"
        rows = self._all(sql, span, relay)
        return int(rows[0][0]) if rows else 0

    def use(self, span: int, relay: int, messages: int) -> None:
        self.run(
            "INSERT INTO used VALUES (?, ?, ?) ON CONFLICT (span, relay) "
            "DO UPDATE SET messages = used.messages + excluded.messages",
            (span, relay, messages),
        )

    # tallies

    def add(
        self,
        key: tuple[bytes, int, int],
        span: int,
        counts: Whole,
        messages: int,
        invalid: int,
    ) -> None:
        """Add to a tally."""
        sql = (
            "UPDATE tally SET messages = messages + ?, invalid = invalid + ? "
            "WHERE tag = ? AND period = ? AND stratum = ? RETURNING number"
        )
        rows = self._all(sql, messages, invalid, *key)
        number = rows[0][0] if rows else self._next("tally")
        if not rows:
            row = (number, *key, span, messages, invalid)
            self.run("INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._add_cells(number, counts)

    def _add_cells(self, number: int, counts: Whole) -> None:
        for chunk in range(-(-len(counts) // CHUNK)):
            part = counts[chunk * CHUNK : (chunk + 1) * CHUNK]
            if part.any():
                self._add_chunk(number, chunk, part)

    def _add_chunk(self, number: int, chunk: int, part: Whole) -> None:
        sql = "SELECT counts FROM cells WHERE tally = ? AND chunk = ?"
        rows = self._all(sql, number, chunk)
        if not rows:
            row = (number, chunk, _written(part))
            self.run("INSERT INTO cells VALUES (?, ?, ?)", row)
            return
        sums = _written(part + np.frombuffer(rows[0][0], "<i8"))
        sql = "UPDATE cells SET counts = ? WHERE tally = ? AND chunk = ?"
        self.run(sql, (sums, number, chunk))

    def tallies(self, tag: bytes) -> list[tuple[int, int, int, int, int]]:
        """Number, period, stratum, messages and invalid ones of each."""
        sql = (
            "SELECT number, period, stratum, messages, invalid FROM tally WHERE tag = ?"
        )
        return self._all(sql + " ORDER BY period, stratum", tag)

    def cells(self, number: int, size: int) -> Whole:
        counts = np.zeros(size, np.int64)
        for chunk, part in self._all(
            "SELECT chunk, counts FROM cells WHERE tally = ?", number
        ):
            start = chunk * CHUNK
            counts[start : start + CHUNK] = np.frombuffer(part, "<i8")
        return counts

    def uses(self) -> list[tuple[str, str, str, int, int]]:
        """Task, first day, when it closes, relay, and how many messages it brought."""
        return self._all(
            "SELECT task, first, closes, relay, messages FROM used "
            "JOIN span ON span = number WHERE closed = 0 ORDER BY task, first, relay"
        )


def parted(ids: bytes) -> list[bytes]:
    """Ids that were combined."""
    data = bytes(ids)
    return [data[start : start + ID] for start in range(0, len(data), ID)]


def _written(counts: Whole) -> bytes:
    return counts.astype("<i8").tobytes()
