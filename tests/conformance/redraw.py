"""One exact aggregate, and noise drawn over it again and again: the data is read once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dither.noise import token
from dither.query.answer.assemble import Answer
from dither.query.answer.collect import Collector
from dither.query.answer.measures import Kind
from dither.query.answer.noisy import Measured, Noisy, radius_of
from dither.query.answer.plan import Item, Plan
from dither.query.database import Database
from dither.query.sql.parse import parse
from dither.query.stated import asked_of

__all__ = ["Redrawn", "redrawn"]

AT_ONCE = 500


@dataclass(frozen=True)
class Answers(Answer):
    """Many answers to one question in one: for each group as many rows as there are draws, one below the other."""

    draws: int = 1

    def _keys(self) -> list[Any]:
        return super()._keys() * self.draws


@dataclass(frozen=True)
class Redrawn:
    """A plan and the exact integers it is about."""

    plan: Plan
    collector: Collector
    known: dict[Any, Any] = field(default_factory=dict)

    def covered(self, draws: int, confidence: float = 0.95) -> Any:
        """For each group and number of the answer, how often its interval held the truth."""
        held = []
        for radii, times in self.radii(draws).items():
            truth, chunks = self.answers(radii, 1, noise=False).rows, [AT_ONCE] * (times // AT_ONCE)
            for many in filter(None, [*chunks, times % AT_ONCE]):
                spread = self.answers(radii, many).spread(confidence)
                rows = [
                    [_holds(*cell) for cell in zip(truth[i // many], row, strict=True)] for i, row in enumerate(spread)
                ]
                held.append(np.array(rows, float).reshape(len(truth), many, -1))
        return np.concatenate(held, axis=1).mean(axis=1)

    def radii(self, draws: int) -> dict[tuple[int, ...], int]:
        """Which radii the items have, and in how many of the draws: always the same, if none is chosen privately."""
        if all(item.radius is not None for item in self.plan.items):
            return {tuple(item.radius or 0 for item in self.plan.items): draws}
        found: dict[tuple[int, ...], int] = {}
        for _ in range(draws):
            radii = tuple(self._chosen(m, item) for m, item in enumerate(self.plan.items))
            found[radii] = found.get(radii, 0) + 1
        return found

    def _chosen(self, m: int, item: Item) -> int:
        if item.radius is not None:
            return item.radius
        if ("units", m) not in self.known:
            exact = np.array(self.collector.units(m), np.int64)
            self.known["units", m] = exact, self.plan.choosing(item)
        exact, mechanism = self.known["units", m]
        return radius_of(self.plan, item, mechanism.release(exact), self.collector.groups).value

    def answers(self, radii: tuple[int, ...], draws: int, *, noise: bool = True) -> Answer:
        """Answers with noise of their own each, every unit clipped to the same radii."""
        items = [self._measured(m, item, radii[m], draws, noise) for m, item in enumerate(self.plan.items)]
        return Answers(self.plan, Noisy((), tuple(items)), draws)

    def _measured(self, m: int, item: Item, radius: int, draws: int, noise: bool) -> Measured:
        totals = np.tile(self._totals(m, radius), (draws, 1))
        if item.measure.kind is Kind.TREE:
            tree = self.plan.tree(item, radius)
            return Measured(radius, tree.noisy(totals) if noise else tree.tree.sums(totals))
        return Measured(radius, self.plan.additive(item, radius).release(totals) if noise else totals)

    def _totals(self, m: int, radius: int) -> Any:
        if (m, radius) not in self.known:
            self.known[m, radius] = self.collector.totals(m, radius)
        return self.known[m, radius]


def _holds(truth: Any, ends: tuple[Any, Any] | None) -> float:
    return np.nan if ends is None else float(ends[0] <= truth <= ends[1])


@contextmanager
def redrawn(database: Database, sql: str, **cost: Any) -> Iterator[Redrawn]:
    """The plan of a question with public keys, while its exact integers are at hand."""
    plan, engine = database._plan(parse(sql), asked_of(cost)), database._engine
    with engine.session() as session:
        collector = Collector(plan, session, engine.dialect, database.catalogue.table, lambda: token(16))
        yield Redrawn(plan, collector)
