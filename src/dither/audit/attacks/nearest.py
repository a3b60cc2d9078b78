"""The most likely table of each block where what is published is noisy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.published import Table

__all__ = ["Nearest"]

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]

AT_ONCE = 1 << 21
MOST_PEOPLE = 10_000_000
MOST_MOVES = 2_000
EXACT = 0.1
"""An exact table among noisy ones is treated as one with this much noise: a person too
many costs e^-50.
"""


@dataclass(frozen=True)
class Nearest:
    """Maximizes Gaussian likelihood times a Poisson prior with these means: people are
    added, taken away or moved to another cell one by one, whatever gains most, until
    nothing gains.
    """

    tables: Sequence[Table]
    noise: Sequence[float]
    means: Reals

    @cached_property
    def _weights(self) -> list[float]:
        return [1 / max(one, EXACT) ** 2 for one in self.noise]

    @cached_property
    def _together(self) -> Reals:
        """What a move does not lose where both cells count in the same entry."""
        cells = self.means.size
        found = np.zeros((cells, cells))
        for table, weight in zip(self.tables, self._weights, strict=True):
            found += weight * (table.entries[:, None] == table.entries[None])
        return found

    def solve(self, published: Sequence[Reals], start: Counts | None = None) -> Counts:
        """The most likely table of each block, looked for from `start` on."""
        blocks, cells = len(published[0]), self.means.size
        found = np.zeros((blocks, cells), np.int64)
        step = max(1, AT_ONCE // cells**2)
        for block in range(0, blocks, step):
            part = slice(block, block + step)
            values = [one[part] for one in published]
            first = self._start(values) if start is None else start[part]
            found[part] = self._climb(values, first.copy())
        return found

    def one_more(self, others: Counts, published: Sequence[Reals]) -> Counts:
        """The most likely cell of the one person of each block who is not known."""
        more, _ = self._gains(others, published)
        # The prior of one person does not depend on who else is there.
        return np.asarray((more + np.log(others + 1.0)).argmax(axis=1), np.int64)

    def _start(self, published: Sequence[Reals]) -> Counts:
        """Counts shrunk towards their means where a table has every cell, and else
        nobody.
        """
        cells = self.means.size
        for table, values, weight in zip(
            self.tables, published, self._weights, strict=True
        ):
            if np.unique(table.entries).size == cells:
                kept = self.means / (self.means + 1 / weight)
                near = self.means + kept * (values[:, table.entries] - self.means)
                return np.clip(np.rint(near), 0, MOST_PEOPLE).astype(np.int64)
        return np.zeros((len(published[0]), cells), np.int64)

    def _climb(self, published: Sequence[Reals], counts: Counts) -> Counts:
        active = np.arange(len(counts))
        for _ in range(MOST_MOVES):
            moving = [one[active] for one in published]
            step, gained = self._best(counts[active], moving)
            active = active[gained]
            if not active.size:
                break
            counts[active] += step[gained]
        return counts

    def _best(
        self, counts: Counts, published: Sequence[Reals]
    ) -> tuple[Counts, NDArray[np.bool_]]:
        """The best change of each block, and whether it gains."""
        more, less = self._gains(counts, published)
        moved = less[:, :, None] + more[:, None, :] + self._together
        cells = counts.shape[1]
        rows = np.arange(len(counts))
        added, taken = more.argmax(axis=1), less.argmax(axis=1)
        pair = moved.reshape(len(counts), -1).argmax(axis=1)
        gains = np.stack(
            [
                more[rows, added],
                less[rows, taken],
                moved.reshape(len(counts), -1)[rows, pair],
            ]
        )
        which = gains.argmax(axis=0)
        step = np.zeros_like(counts)
        plus = np.where(which == 2, pair % cells, added)
        minus = np.where(which == 2, pair // cells, taken)
        step[rows, plus] += which != 1
        step[rows, minus] -= which != 0
        return step, gains.max(axis=0) > 1e-9

    def _gains(self, counts: Counts, published: Sequence[Reals]) -> tuple[Reals, Reals]:
        """What one person more, and one less, in each cell gains."""
        logs = np.log(np.maximum(self.means, 1e-300))
        more = logs - np.log(counts + 1.0)
        less = np.where(counts > 0, np.log(np.maximum(counts, 1)) - logs, -np.inf)
        for table, values, weight in zip(
            self.tables, published, self._weights, strict=True
        ):
            left = (values - table.of(counts))[:, table.entries]
            more = more + weight * (left - 0.5)
            less = less + weight * (-left - 0.5)
        return more, less
