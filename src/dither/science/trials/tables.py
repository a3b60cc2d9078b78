"""Tables of counts over declared levels: who is in which cell, and the noisy counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.question import Question
from dither.release import Around, Ends, Inside, Source, clamped
from dither.science.trials.arms import Arm, Known, Private
from dither.science.trials.asking import PUBLIC_ARMS
from dither.science.trials.columns import Integers, Reals, names
from dither.science.trials.null import Law
from dither.science.trials.sizes import at_most
from dither.science.trials.squares import sized
from dither.table import TableRelease

__all__ = ["MOST_LEVELS", "Counted", "Design"]

MOST_LEVELS = 20
"""A null is simulated, in a time that grows with their cube."""
ROOT = math.nextafter(math.sqrt(2), 2)
"""√2 or a little more."""


@dataclass(frozen=True)
class Design:
    """The declared rows and columns of a table. With public `sizes` of rows, everybody
    in a row is in one of its columns: a missing outcome counts in the last one.
    Without, who has no declared row or column is in no cell.
    """

    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    sizes: tuple[int, ...] | None = None

    @classmethod
    def of(cls, rows: Any, columns: Any, sizes: tuple[int, ...] | None) -> Design:
        for one in (rows, columns):
            if len(names("levels", one)) < 2:
                raise ArgumentError(
                    "levels", "must be two or more for the rows and for the columns"
                )
        found = cls(tuple(rows), tuple(columns), sizes)
        if max(found.shape) > MOST_LEVELS:
            raise ArgumentError(
                "levels",
                f"must be at most {MOST_LEVELS} for the rows and for the columns; pass "
                "fewer",
            )
        return found

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def single(self) -> bool:
        """Whether one count tells all about a row: two columns of a known sum."""
        return self.sizes is not None and len(self.columns) == 2

    def mechanism(self, question: Question) -> Additive:
        """Noise for the counts. A person who is replaced leaves one cell and enters
        another; one who comes or goes is in one cell; and where a row is told by one
        count, a person moves it by 1. With sizes, a person whose row is a column of a
        dataset may leave it for another, where someone else makes room.
        """
        moving = self.sizes is not None and question.dataset is not None
        if not question.replacing or (self.single and not moving):
            return question.additive(1, 1)
        return (
            question.vector(4, 2)
            if moving and not self.single
            else question.vector(2, ROOT)
        )

    def assumed(self, question: Question) -> tuple[str, ...]:
        """What the noise for public sizes stands on."""
        fixed = self.sizes is not None and question.dataset is None
        return (PUBLIC_ARMS,) if fixed else ()

    def counts(self, rows: Integers, columns: Integers) -> Integers:
        """The exact counts that get noise, one record for each person."""
        if self.sizes is not None:
            return self._sized(rows, columns)
        good = (rows >= 0) & (columns >= 0)
        places = rows[good] * len(self.columns) + columns[good]
        return np.bincount(places, minlength=math.prod(self.shape)).astype(np.int64)

    def _sized(self, rows: Integers, columns: Integers) -> Integers:
        last = len(self.columns) - 1
        outcomes = np.where(columns < 0, last, columns).astype(np.float64)
        found = []
        for row, size in enumerate(self.sizes or ()):
            kept = at_most(outcomes[rows == row], size).astype(np.int64)
            counts = np.bincount(kept, minlength=last + 1)
            counts[last] += size - kept.size  # who is missing counts as the last
            found.append(counts)
        table = np.array(found, np.int64)
        return table[:, 0] if self.single else table.ravel()

    def table(self, noisy: Integers) -> Integers:
        """Noisy counts in rows and columns."""
        if not self.single:
            return noisy.reshape(self.shape)
        rest = np.array(self.sizes, np.int64) - noisy
        return np.stack([noisy, rest], axis=1)


@dataclass(frozen=True)
class Counted:
    """Noisy counts of a table, and the noise they have."""

    design: Design
    noisy: Integers
    mechanism: Additive

    @cached_property
    def law(self) -> Law:
        return Law.of(self.mechanism)

    @property
    def variance(self) -> float:
        """The variance of the noise in each cell of `fitted`, as `squares` counts it:
        where one count tells a row, both of its cells have all of that count's noise.
        """
        return self.law.variance * (2 if self.design.single else 1)

    @cached_property
    def fitted(self) -> Reals:
        """The counts as reals, brought to the sizes of rows where these are public."""
        sizes = self.design.sizes
        table = self.noisy.astype(np.float64)
        return table if sizes is None else sized(table, sizes)

    def arm(self, row: int) -> Arm:
        """One row of a table of two columns."""
        yes, no = (int(one) for one in self.noisy[row])
        if self.design.sizes is None:
            return Private(yes, no, self.law)
        return Known(yes, self.design.sizes[row], self.law)

    def ends(self, confidence: float) -> tuple[Reals, Reals]:
        """Where each true count lies."""
        return self._inside.ends(confidence)

    @property
    def _inside(self) -> Inside:
        around = Around(self.noisy, self.mechanism, integer=True)
        return Inside(around, self.shown, self._limits)

    @property
    def shown(self) -> Integers:
        """The counts as they are printed: none below 0 or above the size of its row."""
        found: Integers = clamped(self.noisy, self._limits)
        return found

    @property
    def _limits(self) -> Ends:
        sizes = self.design.sizes
        if sizes is None:
            return 0, np.inf
        return 0, np.broadcast_to(np.array(sizes)[:, None], self.noisy.shape)

    def release(
        self, source: Source, named: Sequence[str], notes: tuple[str, ...]
    ) -> TableRelease:
        """The counts as a table with intervals."""
        rows = tuple(
            (row, column, int(self.shown[i, j]))
            for i, row in enumerate(self.design.rows)
            for j, column in enumerate(self.design.columns)
        )

        def cells(confidence: float) -> list[list[Any]]:
            low, high = (end.ravel().tolist() for end in self.ends(confidence))
            return [[None, None, pair] for pair in zip(low, high, strict=True)]

        columns = (*named, "count")
        keys = tuple(named)
        return TableRelease(
            columns, rows, (source,), cells, notes, keys=keys, clipped=False
        )
