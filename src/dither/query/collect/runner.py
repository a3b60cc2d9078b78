"""Runs a question's statements in one session of an engine, and turns the rows that
they find into exact integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.query.catalogue.model import Table
from dither.query.collect.statements import Statement, Statements
from dither.query.engines.protocol import Engine, Session
from dither.query.plan.plan import Plan
from dither.query.plan.vectors import Kind, Vector

__all__ = ["Runner", "running"]

BLOCK = 100_000
"""Number of private keys that are fetched at a time."""
LARGEST = (1 << 62) - 1
Integers = NDArray[np.int64]
Row = tuple[Any, ...]


@contextmanager
def running(
    plan: Plan, engine: Engine, table: Callable[[str], Table], salt: str
) -> Iterator[Runner]:
    """A session in which the first tables of a plan are made."""
    with engine.session() as session:
        runner = Runner(Statements(plan, engine.dialect, table, salt), session)
        runner.begin()
        yield runner


class Runner:
    """One question's statements in one session, stage by stage."""

    def __init__(self, statements: Statements, session: Session) -> None:
        self.statements, self._session = statements, session

    @property
    def groups(self) -> int:
        """Number of groups; with private keys, of the named ones."""
        return self.statements.groups

    def begin(self) -> None:
        """Make the tables that the other stages read."""
        self._run(self.statements.first())

    def _run(self, statements: Sequence[Statement]) -> list[Row]:
        """Make the tables, and fetch the rows of all other statements together."""
        found: list[Row] = []
        for one in statements:
            if one.name is None:
                found += self._session.fetch(one.sql, one.parameters)
            else:
                self._session.create(one.name, one.sql, one.parameters)
        return found

    # Private keys

    def candidates(self) -> Integers:
        """Number of units that keep each candidate, by the candidate's number."""
        blocks: list[Integers] = []
        while not blocks or len(blocks[-1]) == BLOCK:
            first = BLOCK * len(blocks)
            rows = self._run([self.statements.candidates(first, first + BLOCK)])
            block = np.zeros(len(rows), np.int64)
            for i, n in rows:
                block[int(i) - first] = int(n)
            blocks.append(block)
        return np.concatenate(blocks)

    def every_key(self) -> list[Row]:
        """The values of all candidates, by their numbers: for audits, since they are
        private.
        """
        return _by_number(self._run([self.statements.every_key()]))

    def keys_of(self, numbers: Sequence[int]) -> list[Row]:
        """The values of the candidates with these numbers."""
        return _by_number(self._run(self.statements.keys_of(numbers)))

    def name(self, numbers: Sequence[int]) -> None:
        """From now on only the candidates with these numbers count, in this order."""
        self.statements, tables = self.statements.naming(list(numbers))
        self._run(tables)

    # What is measured

    def units(self, m: int) -> Integers:
        """Number of units with their norm in each bin."""
        counts = np.zeros(self.statements.plan.measurements[m].bins.count, np.int64)
        for b, count in self._run([self.statements.histogram(m)]):
            counts[int(b)] = int(count)
        return counts

    def totals(self, m: int, radius: int) -> Integers:
        """The exact sums of a measurement, each unit's part clipped to the radius: one
        row for each group.
        """
        return self._numbers(m, self._run(self.statements.totals(m, radius)))

    def hidden(self, m: int, radius: int) -> Integers:
        """The numbers that clipping to the radius takes off each group: one row for each."""
        return self._numbers(m, self._run(self.statements.hidden(m, radius)))

    def _numbers(self, m: int, rows: Sequence[Row]) -> Integers:
        vector = self.statements.plan.measurements[m].vector
        if vector.kind is Kind.TREE:
            return self._leaf_counts(vector, rows)
        return self._sums(vector.size, rows)

    def _sums(self, size: int, rows: Sequence[Row]) -> Integers:
        """The sums of each group, exactly: Python's integers where they are beyond 64
        bits.
        """
        result = [[0] * size for _ in range(self.groups)]
        for g, *totals in rows:
            result[int(g)] = [
                before + int(total or 0)
                for before, total in zip(result[int(g)], totals, strict=True)
            ]
        narrow = all(abs(total) <= LARGEST for row in result for total in row)
        found = np.array(result, np.int64 if narrow else object)
        return found.reshape(self.groups, size)

    def _leaf_counts(self, vector: Vector, rows: Sequence[Row]) -> Integers:
        """The counts of each leaf, held within 64 bits at last: what clipping takes off
        is added before. A leaf that an engine computes lies between the first and the
        last one, whatever its arithmetic is like.
        """
        totals = np.zeros((self.groups, vector.size), object)
        limit, last = LARGEST // vector.size, vector.size - 1
        for g, t, count in rows:
            totals[g, min(max(int(t), 0), last)] += int(count)
        held_counts: Integers = np.clip(totals, -limit, limit).astype(np.int64)
        return held_counts


def _by_number(rows: Sequence[Row]) -> list[Row]:
    found: list[Row] = [()] * len(rows)
    for *values, i in rows:
        found[int(i)] = tuple(values)
    return found
