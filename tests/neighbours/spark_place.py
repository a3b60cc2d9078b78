"""Neighbouring databases in Spark, whose rows can be changed between questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random  # allowed: it only shuffles rows
from typing import Any

from dither.query.catalogue.model import Catalogue
from dither.query.engines.spark.engine import SparkEngine
from tests.conformance.spark_asking import session
from tests.neighbours.neighbour_place import PUBLIC, STORED, WARDS

__all__ = ["PLACES", "SparkPlace"]

Rows = list[list[Any]]


@dataclass
class SparkPlace:
    """Views that show one neighbour after the other; the engine is opened anew for
    each.
    """

    catalogue: Catalogue
    _engine: SparkEngine | None = field(default=None, init=False)
    _others: dict[str, Rows] = field(default_factory=dict, init=False)
    _mine: dict[str, Rows] = field(default_factory=dict, init=False)

    @property
    def engine(self) -> SparkEngine:
        if self._engine is None:
            frames = {one.name: self._frame(one.name) for one in self.catalogue.tables}
            self._engine = SparkEngine(self.catalogue, frames)
        return self._engine

    def hold(self, others: Mapping[str, Rows]) -> None:
        """All other units' rows, and none of the one unit."""
        self._others, self._mine = dict(others), {}
        self.close()

    def version(self, rows: Mapping[str, Rows]) -> None:
        """The one unit's rows in place of those it had."""
        self._mine = dict(rows)
        self.close()

    def shuffle(self, seed: int) -> None:
        """All rows in another order."""
        for rows in (*self._others.values(), *self._mine.values()):
            Random(seed).shuffle(rows)
        self.close()

    def _frame(self, name: str) -> Any:
        fields = self.catalogue.table(name).fields
        schema = ", ".join(
            f"`{one.name}` {'double' if one.name in STORED else 'string'}"
            for one in fields
        )
        rows: Sequence[Any] = (
            PUBLIC
            if name == WARDS.name
            else [*self._others.get(name, []), *self._mine.get(name, [])]
        )
        return session().createDataFrame([tuple(row) for row in rows], schema)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        self._engine = None


PLACES = {"spark": SparkPlace}
