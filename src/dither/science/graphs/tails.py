"""Distance of the ladder's answer from the true value, if its rungs are private and
only a bound on them was paid for.

Rungs of every width up to the bound are possible, and wider ones are not always worse:
a wide rung holds more of the numbers near the true value too. So the error is the
largest over all of them. That is computed over cells: within a cell, no number far from
the true value weighs more than at the cell's high corner, and none near it less than at
its low one (docs/proofs/science.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dither.mechanisms import Ladder

__all__ = ["Cells", "grid", "ladder_error"]

Reals = NDArray[np.float64]

FINE = 32
"""Beyond 32, the ends of a cell differ by at most a thirty-second."""
HELD = 1 << 22
ROUNDING = 1 + 1e-9


def grid(most: int, fine: int = FINE) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The low and high ends of cells that together hold all integers from 0 to most.
    Up to `fine` each has a cell of its own; then cells grow in proportion.
    """
    ends = [-1, 0]
    while ends[-1] < most:
        ends.append(min(most, ends[-1] + 1 + ends[-1] // fine))
    return np.array(ends[:-1]) + 1, np.array(ends[1:])


@dataclass(frozen=True)
class Cells:
    """Where LS_0, LS_1, … may lie: for each cell its lowest and its highest values, in
    rows. `low` and `high` give those of a run of cells.
    """

    count: int
    low: Callable[[slice], Reals]
    high: Callable[[slice], Reals]

    def runs(self, rungs: int) -> Iterator[slice]:
        step = max(1, HELD // rungs)
        for start in range(0, self.count, step):
            yield slice(start, min(start + step, self.count))


def ladder_error(ladder: Ladder, cells: Cells, missed: float) -> int:
    """The least distance from the true value that the answer exceeds with probability
    `missed` at most, whichever cell the true value lies in.
    """
    found = 0
    for run in cells.runs(ladder.rungs):
        tail = _Tail.of(ladder, cells.low(run), cells.high(run))
        found = _reached(tail, found, missed, ladder.width)
    return found


def _reached(tail: _Tail, start: int, missed: float, most: int) -> int:
    """Widen until no cell misses more: each time as far as the worst cell needs."""
    distance = start
    while distance < most:
        chances = tail.beyond(distance)
        worst = int(np.argmax(chances))
        if chances[worst] <= missed:
            break
        distance = _needed(tail.one(worst), distance, missed, most)
    return distance


def _needed(tail: _Tail, low: int, missed: float, high: int) -> int:
    while high - low > 1:
        middle = (low + high) // 2
        enough = tail.beyond(middle)[0] <= missed
        low, high = (low, middle) if enough else (middle, high)
    return high


@dataclass(frozen=True)
class _Tail:
    """Weights of rungs, relative to that of the true value, and their widths in each
    cell.
    """

    weights: Reals
    low: Reals
    high: Reals
    low_ends: Reals
    high_ends: Reals
    rest: float

    @classmethod
    def of(cls, ladder: Ladder, low: Reals, high: Reals) -> _Tail:
        rungs = np.arange(1, low.shape[1] + 1)
        weights = np.exp(-ladder.epsilon / 2 * rungs)
        last = math.log(ladder.width) - ladder.epsilon / 2 * ladder.rungs
        low_ends, high_ends = (np.cumsum(one, 1) - one for one in (low, high))
        return cls(weights, low, high, low_ends, high_ends, math.exp(last))

    def one(self, cell: int) -> _Tail:
        row = slice(cell, cell + 1)
        return _Tail(
            self.weights,
            self.low[row],
            self.high[row],
            self.low_ends[row],
            self.high_ends[row],
            self.rest,
        )

    def beyond(self, distance: int) -> Reals:
        """The chance of an answer farther from the true value, at most, in each cell."""
        near = np.clip(distance - self.low_ends, 0, self.low) @ self.weights
        inside = np.clip(distance - self.high_ends, 0, self.high)
        far = 2 * ((self.high - inside) @ self.weights) + self.rest
        chances: Reals = far / (1 + 2 * near + far) * ROUNDING
        return chances
