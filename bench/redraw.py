"""One exact aggregate, and noise drawn over it again and again: the data is read once
for each radius.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np

from dither.dataset import Dataset
from dither.noise import token
from dither.query.answer.assemble import Answer
from dither.query.answer.noisy import Noisy, NoisyVector, noisy_hidden, noisy_values
from dither.query.collect.runner import Runner, running
from dither.query.operations.expressions import AggregateLeaf
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.radius import radius_of
from dither.query.plan.vectors import Kind

__all__ = ["Drawn", "Redrawn", "redrawn"]

AT_ONCE = 500
MOST_VALUES = 400_000


@dataclass(frozen=True)
class Answers(Answer):
    """Many answers to one question in one: for each group as many rows as there are
    draws, one below the other.
    """

    draws: int = 1

    def _keys(self) -> list[Any]:
        return super()._keys() * self.draws


@dataclass(frozen=True)
class Drawn:
    """For each group and number of the answer, over all draws: how often its interval
    held the truth, how often it is open to a side, the mean width of those that are
    not, and the root of the mean squared error."""

    covered: Any
    open: Any
    width: Any
    rmse: Any


@dataclass(frozen=True)
class Redrawn:
    """A plan and the exact integers it is about; `plain` are the rows that the engine
    itself answers, by their keys, if intervals are to hold those.
    """

    plan: Plan
    runner: Runner
    known: dict[Any, Any] = field(default_factory=dict)
    plain: Mapping[tuple[Any, ...], tuple[Any, ...]] | None = None

    def covered(self, draws: int, confidence: float = 0.95) -> Any:
        """For each group and number of the answer, how often its interval held the
        truth.
        """
        return self.drawn(draws, confidence).covered

    def drawn(self, draws: int, confidence: float = 0.95) -> Drawn:
        """Intervals and values of so many answers, beside the truth."""
        truth = self.truth()
        found = [
            self._compared(radii, many, truth, confidence)
            for radii, many in self._chunks(draws)
        ]
        held, open_, width, off = (
            np.concatenate(parts, axis=1) for parts in zip(*found, strict=True)
        )
        closed = np.where(open_ > 0, np.nan, width)
        with np.errstate(all="ignore"):
            mean = np.nansum(closed, axis=1) / np.maximum((open_ == 0).sum(axis=1), 1)
        return Drawn(
            held.mean(axis=1),
            open_.mean(axis=1),
            mean,
            np.sqrt(np.mean(off**2, axis=1)),
        )

    def _chunks(self, draws: int) -> Iterator[tuple[tuple[int, ...], int]]:
        for radii, times in self.radii(draws).items():
            for many in filter(
                None, [*[AT_ONCE] * (times // AT_ONCE), times % AT_ONCE]
            ):
                yield radii, many

    def _compared(
        self, radii: tuple[int, ...], many: int, truth: Any, confidence: float
    ) -> tuple[Any, ...]:
        answers = self.answers(radii, many)
        cells = [
            [
                _cell(true, value, ends)
                for true, value, ends in zip(truth[i // many], row, spread, strict=True)
            ]
            for i, (row, spread) in enumerate(
                zip(answers.rows, answers.spread(confidence), strict=True)
            )
        ]
        found = np.array(cells, float).reshape(len(truth), many, -1, 4)
        return tuple(found[..., place] for place in range(4))

    def truth(self) -> tuple[tuple[Any, ...], ...]:
        """The rows of the answer without noise and without clipping; extremes are those
        of all rows.
        """
        radii = tuple(_unclipped(measurement) for measurement in self.plan.measurements)
        answer = self.answers(radii, 1, noise=False)
        if self.plain is not None:
            keys = len(self.plan.question.keys)
            return tuple(self.plain.get(row[:keys], row) for row in answer.rows)
        rows = [list(row) for row in answer.rows]
        for place, output in enumerate(self.plan.question.outputs):
            if isinstance(output.expr, AggregateLeaf):
                self._extremes(output.expr.index, place, rows, radii)
        return tuple(map(tuple, rows))

    def _extremes(
        self, index: int, place: int, rows: list[list[Any]], radii: tuple[int, ...]
    ) -> None:
        function = self.plan.question.aggregates[index].function
        if function not in ("min", "max"):
            return
        m = next(
            m
            for m, measurement in enumerate(self.plan.measurements)
            if index in measurement.vector.aggregates
        )
        for row, counts in zip(rows, self._totals(m, radii[m]), strict=True):
            there = np.flatnonzero(counts)
            leaf = int(there[-1 if function == "max" else 0]) if there.size else 0
            row[place] = self.plan.measurements[m].vector.leaves.value(leaf)

    def radii(self, draws: int) -> dict[tuple[int, ...], int]:
        """Which radii the items have, and in how many of the draws: always the same, if
        none is chosen privately.
        """
        if all(
            measurement.radius is not None for measurement in self.plan.measurements
        ):
            return {
                tuple(
                    measurement.radius or 0 for measurement in self.plan.measurements
                ): draws
            }
        found: dict[tuple[int, ...], int] = {}
        for _ in range(draws):
            radii = tuple(
                self._chosen(m, measurement)
                for m, measurement in enumerate(self.plan.measurements)
            )
            found[radii] = found.get(radii, 0) + 1
        return found

    def _chosen(self, m: int, measurement: Measurement) -> int:
        if measurement.radius is not None:
            return measurement.radius
        if ("units", m) not in self.known:
            exact = self.runner.units(m)
            self.known["units", m] = exact, self.plan.choosing(measurement)
        exact, mechanism = self.known["units", m]
        return radius_of(
            self.plan, measurement, mechanism.release(exact), self.runner.groups
        ).value

    def answers(
        self, radii: tuple[int, ...], draws: int, *, noise: bool = True
    ) -> Answer:
        """Answers with noise of their own each, every unit clipped to the same radii."""
        items = [
            self._measured(m, measurement, radii[m], draws, noise)
            for m, measurement in enumerate(self.plan.measurements)
        ]
        return Answers(self.plan, Noisy((), tuple(items)), draws)

    def _measured(
        self, m: int, measurement: Measurement, radius: int, draws: int, noise: bool
    ) -> NoisyVector:
        totals = np.tile(self._totals(m, radius), (draws, 1))
        hidden = None
        if noise and measurement.hides(radius):
            exact = np.tile(self._hidden(m, radius), (draws, 1))
            hidden = noisy_hidden(self.plan, measurement, radius, exact)
        if noise:
            totals = noisy_values(self.plan, measurement, radius, totals)
        elif measurement.vector.kind is Kind.TREE:
            totals = self.plan.tree(measurement, radius).tree.sums(totals)
        return NoisyVector(radius, totals, hidden=hidden)

    def _totals(self, m: int, radius: int) -> Any:
        if (m, radius) not in self.known:
            self.known[m, radius] = self.runner.totals(m, radius)
        return self.known[m, radius]

    def _hidden(self, m: int, radius: int) -> Any:
        if ("hidden", m, radius) not in self.known:
            self.known["hidden", m, radius] = self.runner.hidden(m, radius)
        return self.known["hidden", m, radius]


def _unclipped(measurement: Measurement) -> int:
    if measurement.vector.sure:
        return measurement.vector.row
    return (
        MOST_VALUES
        if measurement.vector.kind is Kind.DISTINCT
        else measurement.vector.limit
    )


def _cell(
    truth: Any, value: Any, ends: tuple[Any, Any] | None
) -> tuple[float, float, float, float]:
    """Whether the interval holds the truth, whether it is open, its width, and how far
    off the value is, if there is one: an extreme that noise hides has only an interval.
    """
    if ends is None or truth is None:
        return np.nan, 0.0, np.nan, np.nan
    low, high = float(ends[0]), float(ends[1])
    return (
        float(low <= truth <= high),
        float(np.isinf(low) or np.isinf(high)),
        high - low,
        np.nan if value is None else float(value) - truth,
    )


@contextmanager
def redrawn(
    database: Dataset,
    sql: str,
    plain: duckdb.DuckDBPyConnection | None = None,
    **cost: Any,
) -> Iterator[Redrawn]:
    """The plan of a question with public keys, while its exact integers are at hand.

    With the engine's own tables as `plain`, the truth is what the same SQL answers
    there. Without them it is the answer of the exact integers, values rounded to steps.
    """
    plan, engine = database.plan(sql, **cost), database.engine
    with running(plan, engine, database.catalogue.table, token(16)) as runner:
        answers = None if plain is None else _plain(plain, plan, sql)
        yield Redrawn(plan, runner, plain=answers)


def _plain(
    tables: duckdb.DuckDBPyConnection, plan: Plan, sql: str
) -> Mapping[tuple[Any, ...], tuple[Any, ...]]:
    """The rows that the engine answers, by their keys."""
    keys = len(plan.question.keys)
    return {row[:keys]: row for row in tables.execute(sql).fetchall()}
