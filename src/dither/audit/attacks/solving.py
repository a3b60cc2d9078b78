"""All tables of a block that agree with exact marginals: how many there are, and the
most likely one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.published import Table

__all__ = ["MOST_STEPS", "Solution", "Solver"]

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]
Places = NDArray[np.intp]

MOST_STEPS = 20_000


@dataclass(frozen=True)
class Solution:
    """The number of tables that agree with what was published (None if there are too
    many to look through), and the most likely table.
    """

    count: int | None
    table: Counts | None


class _Kept(NamedTuple):
    """A state of the search: the number of ways to reach it, and the most likely way."""

    ways: int
    score: float
    last: int
    before: int


class _Entry(NamedTuple):
    """One entry that a cell counts in: where a state holds what is left of it, and how
    many people the later cells may take at most.
    """

    shift: int
    later: int


class _Step(NamedTuple):
    """One cell: what one person there takes off a state, and the entries."""

    cell: int
    taken: int
    entries: tuple[_Entry, ...]


@dataclass(frozen=True)
class Solver:
    """Goes through the cells that may hold people, one by one. A state is what is left
    in each entry of the tables; the last cell of an entry takes what is left there.
    """

    tables: Sequence[Table]
    chances: Reals
    cells: int
    most: int = MOST_STEPS

    @cached_property
    def _members(self) -> Places:
        """For each cell its entries, over all tables."""
        starts = accumulate((one.size for one in self.tables[:-1]), initial=0)
        found = [
            one.entries + start for one, start in zip(self.tables, starts, strict=True)
        ]
        return np.array(found, np.intp).T

    @cached_property
    def _logs(self) -> list[float]:
        return [math.log(max(float(one), 1e-300)) for one in self.chances]

    def solve(self, published: Sequence[Counts]) -> Solution:
        """The tables of one block that have these marginals."""
        left = np.concatenate(published)
        caps = left[self._members].min(axis=1)
        within = np.zeros(left.size)
        for column in self._members.T:
            np.add.at(within, column, caps)
        if (left > within).any():
            return Solution(0, None)
        plain = np.flatnonzero(caps)
        orders = plain.tolist(), self._order(plain, left)
        order = min(orders, key=lambda one: self._open(one, left))
        bits = int(left.max(initial=0)).bit_length() + 1
        return self._walk(left, self._steps(order, caps, bits), bits)

    def _order(self, cells: Places, left: Counts) -> list[int]:
        """Next comes the cell that leaves the least open: an entry is open from its
        first cell to its last one, and states differ in what is left there.
        """
        members = self._members[cells]
        weights = np.log1p(left)
        after = np.bincount(members.ravel(), minlength=left.size)
        opened = np.zeros(left.size, np.bool_)
        waiting = np.ones(cells.size, np.bool_)
        found: list[int] = []
        for _ in range(cells.size):
            gained = np.where(opened, 0.0, weights) - np.where(after == 1, weights, 0.0)
            open_ = np.where(waiting, gained[members].sum(axis=1), np.inf)
            place = int(open_.argmin())
            waiting[place] = False
            opened[members[place]] = True
            after[members[place]] -= 1
            found.append(int(cells[place]))
        return found

    def _open(self, order: list[int], left: Counts) -> float:
        """The logarithm of about how many states there are where most is open."""
        members = self._members[order]
        weights = np.log1p(left)
        change = np.zeros(len(order) + 1)
        for column in members.T:
            entries, first = np.unique(column, return_index=True)
            last = column.size - 1 - np.unique(column[::-1], return_index=True)[1]
            np.add.at(change, first, weights[entries])
            np.add.at(change, last, -weights[entries])
        return float(change.cumsum().max())

    def _steps(self, order: list[int], caps: Counts, bits: int) -> list[_Step]:
        later: dict[int, int] = {}
        found = []
        for cell in reversed(order):
            members = [int(one) for one in self._members[cell]]
            entries = [_Entry(bits * one, later.get(one, 0)) for one in members]
            found.append(
                _Step(cell, sum(1 << one.shift for one in entries), (*entries,))
            )
            for one in members:
                later[one] = later.get(one, 0) + int(caps[cell])
        return found[::-1]

    def _walk(self, left: Counts, steps: list[_Step], bits: int) -> Solution:
        start = sum(int(one) << bits * entry for entry, one in enumerate(left))
        layers = [{start: _Kept(1, 0.0, 0, 0)}]
        taken = 0
        for step in steps:
            reached: dict[int, _Kept] = {}
            for state, kept in layers[-1].items():
                low, high = _range(step, state, (1 << bits) - 1)
                taken += max(high - low + 1, 0)
                if taken > self.most:
                    return Solution(None, None)
                for count in range(low, high + 1):
                    self._add(reached, step, state, kept, count)
            layers.append(reached)
        return self._read(layers, steps)

    def _add(
        self,
        reached: dict[int, _Kept],
        step: _Step,
        state: int,
        kept: _Kept,
        count: int,
    ) -> None:
        after = state - count * step.taken
        score = kept.score + count * self._logs[step.cell] - math.lgamma(count + 1)
        found = reached.get(after)
        if found is None:
            reached[after] = _Kept(kept.ways, score, count, state)
        elif score > found.score:
            reached[after] = _Kept(found.ways + kept.ways, score, count, state)
        else:
            ways = found.ways + kept.ways
            reached[after] = _Kept(ways, found.score, found.last, found.before)

    def _read(self, layers: list[dict[int, _Kept]], steps: list[_Step]) -> Solution:
        """Every entry is closed in the end, so one state is left at most: nothing."""
        if not layers[-1]:
            return Solution(0, None)
        ways = layers[-1][0].ways
        counts = np.zeros(self.cells, np.int64)
        state = 0
        for step, layer in zip(reversed(steps), reversed(layers), strict=False):
            kept = layer[state]
            counts[step.cell] = kept.last
            state = kept.before
        return Solution(ways, counts)


def _range(step: _Step, state: int, mask: int) -> tuple[int, int]:
    """How many people a cell may hold: what is left in its entries at most, and at
    least what the later cells of an entry cannot take.
    """
    low, high = 0, mask
    for shift, later in step.entries:
        left = (state >> shift) & mask
        high = min(high, left)
        low = max(low, left - later)
    return low, high
