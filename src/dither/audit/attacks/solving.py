"""All tables of a block that agree with exact marginals: how many there are, and the
likeliest one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.published import Table

__all__ = ["Solution", "Solver"]

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]
State = tuple[int, ...]

MOST_STEPS = 100_000


@dataclass(frozen=True)
class Solution:
    """How many tables agree with what was published, None where there are too many
    to look through, and the likeliest of them.
    """

    count: int | None
    table: Counts | None


@dataclass(frozen=True)
class _Kept:
    """What reaches one state: how many ways, and the likeliest of them."""

    ways: int
    score: float
    last: int
    before: State


@dataclass(frozen=True)
class Solver:
    """Goes through the cells in their order. A state is what is left in each entry of
    the tables that later cells may still fill; an entry is closed by its last cell.
    """

    tables: Sequence[Table]
    chances: Reals
    cells: int

    @cached_property
    def _members(self) -> list[list[int]]:
        """For each cell its entries, over all tables."""
        starts = np.cumsum([0, *(one.size for one in self.tables)])
        found = [
            one.entries + start for one, start in zip(self.tables, starts, strict=False)
        ]
        return [[int(one[cell]) for one in found] for cell in range(self.cells)]

    @cached_property
    def _closing(self) -> list[list[int]]:
        """For each cell the entries that it is the last one of."""
        last = {
            entry: cell for cell, all_ in enumerate(self._members) for entry in all_
        }
        return [
            [entry for entry in all_ if last[entry] == cell]
            for cell, all_ in enumerate(self._members)
        ]

    @cached_property
    def _logs(self) -> list[float]:
        return [math.log(max(float(one), 1e-300)) for one in self.chances]

    def solve(self, published: Sequence[Counts]) -> Solution:
        """The tables of one block that have these marginals."""
        start = tuple(int(one) for table in published for one in table)
        layers: list[dict[State, _Kept]] = [{start: _Kept(1, 0.0, 0, ())}]
        steps = 0
        for cell in range(self.cells):
            reached: dict[State, _Kept] = {}
            for state, kept in layers[-1].items():
                for count in self._choices(cell, state):
                    self._add(reached, cell, state, kept, count)
                    steps += 1
                    if steps > MOST_STEPS:
                        return Solution(None, None)
            layers.append(reached)
        return self._read(layers)

    def _choices(self, cell: int, state: State) -> Iterator[int]:
        """How many people this cell may hold."""
        high = min((state[entry] for entry in self._members[cell]), default=0)
        forced = {state[entry] for entry in self._closing[cell]}
        if not forced:
            yield from range(high + 1)
        elif len(forced) == 1 and (only := forced.pop()) <= high:
            yield only

    def _add(
        self,
        reached: dict[State, _Kept],
        cell: int,
        state: State,
        kept: _Kept,
        count: int,
    ) -> None:
        left = list(state)
        for entry in self._members[cell]:
            left[entry] -= count
        after = tuple(left)
        score = kept.score + count * self._logs[cell] - math.lgamma(count + 1)
        found = reached.get(after)
        if found is None:
            reached[after] = _Kept(kept.ways, score, count, state)
            return
        ways = found.ways + kept.ways
        if score > found.score:
            reached[after] = _Kept(ways, score, count, state)
        else:
            reached[after] = _Kept(ways, found.score, found.last, found.before)

    def _read(self, layers: list[dict[State, _Kept]]) -> Solution:
        """All entries with cells are closed in the end, so one state is left at most.
        An entry without cells, such as children who are adults, has nobody.
        """
        ended = [one for one in layers[-1].items() if not any(one[0])]
        if not ended:
            return Solution(0, None)
        state, kept = ended[0]
        ways = kept.ways
        counts = np.zeros(self.cells, np.int64)
        for cell in range(self.cells - 1, -1, -1):
            kept = layers[cell + 1][state]
            counts[cell] = kept.last
            state = kept.before
        return Solution(ways, counts)
