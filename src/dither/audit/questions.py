"""`audit.query`: tries to refute the guarantee of a question in SQL, asked with and without one unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from dither.audit.criteria import criterion_of
from dither.audit.drawing import Progress
from dither.audit.finding import Finding
from dither.audit.redraw import Redrawn
from dither.audit.trial import mechanism
from dither.errors import ArgumentError
from dither.noise import token
from dither.privacy import Guarantee, Relation
from dither.privacy.numbers import confidence_level, float_down
from dither.query.answer.collect import Collector
from dither.query.answer.plan import Plan
from dither.query.database import Database, _asked
from dither.query.sql.parse import parse

__all__ = ["query"]

DRAWS = 20_000
SALT_BYTES = 16


def query(
    open: Callable[[Any], Database],
    data: Any,
    sql: str,
    *,
    unit: Any = None,
    other: Any = None,
    claimed: Guarantee | None = None,
    draws: int = DRAWS,
    confidence: float = 0.999,
    progress: Progress | None = None,
    **cost: Any,
) -> Finding:
    """Tries to refute the guarantee of a question about `data` and about the same data without one unit.

    `open` makes a database of data, such as `lambda frame: dither.open(frame, unit="id", …, budget=3.0)`. `unit` is the
    id of the unit that is left out of a pandas, Polars or Arrow frame (the number of the row where each row is a unit);
    pass neighbouring data as `other` instead where data is something else, or where neighbours replace a unit. What the
    question may cost is stated as for `Database.sql`, and nothing is charged: this is for data that is made up.

    The engine computes exact integers of both neighbours; what is released of them (keys, radii, sums) is drawn again
    in every draw. If the two are not even planned alike, the guarantee is refuted without a draw.

    Guarantee: a claim that holds is called refuted with probability at most 1 − confidence.
    Why: as for `audit.mechanism`.
    Assumes: the two databases are neighbours. A guarantee that is not refuted is not proved.
    """
    if not callable(open):
        raise ArgumentError("open", "must be a function that opens data; pass lambda frame: dither.open(frame, …)")
    with ExitStack() as opened:
        first = opened.enter_context(_database(open, data))
        there = other if other is not None else without(first, data, unit)
        second = opened.enter_context(_database(open, there))
        plans = [one._plan(parse(sql), _asked(dict(cost))) for one in (first, second)]
        promise = plans[0].guarantee if claimed is None else claimed
        if plans[0].identity != plans[1].identity:
            return _planned_apart(promise, confidence)
        salt = token(SALT_BYTES)
        sides = [
            opened.enter_context(_redrawn(one, plan, salt)) for one, plan in zip((first, second), plans, strict=True)
        ]
        if plans[0].keys is not None:
            universe = sorted({key for side in sides for key in side.collector.found})
            for side in sides:
                side.universe = universe
        return mechanism(
            lambda side, size: sides[side].draw(size),
            0,
            1,
            claimed=promise,
            unit=plans[0].guarantee.unit,
            draws=draws,
            confidence=confidence,
            vectorized=True,
            progress=progress,
        )


@contextmanager
def _database(open: Callable[[Any], Database], data: Any) -> Iterator[Database]:
    database = open(data)
    if not isinstance(database, Database):
        raise ArgumentError(
            "open", f"must return a database, not {type(database).__name__}; pass what dither.open makes"
        )
    with database:
        yield database


@contextmanager
def _redrawn(database: Database, plan: Plan, salt: str) -> Iterator[Redrawn]:
    engine = database._engine
    with engine.session() as session:
        yield Redrawn(plan, Collector(plan, session, engine.dialect, database.catalogue.table, lambda: salt))


def _planned_apart(claimed: Guarantee, confidence: float) -> Finding:
    criterion = criterion_of(claimed)
    return Finding(
        refuted=True,
        claimed=claimed,
        measure=criterion.name,
        lower=math.inf,
        epsilon_lower=math.inf,
        event="the question is planned differently, so something that is declared was read off the data",
        right=0,
        guesses=0,
        draws=0,
        false_alarm=float_down(1 - confidence_level("confidence", confidence)),
    )


def without(database: Database, frame: Any, unit: Any) -> Any:
    """The frame without the rows of one unit."""
    catalogue = database.catalogue
    if unit is None:
        raise ArgumentError("unit", "is missing; pass the id of the unit to leave out, or neighbouring data as other")
    if catalogue.unit.relation is Relation.REPLACE or len(catalogue.tables) != 1:
        raise ArgumentError("other", "is missing: leaving a unit out is no neighbour here; pass neighbouring data")
    owner = catalogue.tables[0].owner
    column = range(len(frame)) if owner is None else _listed(frame, owner)
    kept = [place for place, value in enumerate(column) if value != unit]
    if len(kept) == len(column):
        raise ArgumentError("unit", "has no row in the data; pass the id of one that has")
    return _rows(frame, kept)


def _listed(frame: Any, name: str) -> list[Any]:
    try:
        column = frame[name]
        return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())
    except (AttributeError, TypeError, KeyError):
        raise ArgumentError("other", "is missing: data is no frame; pass neighbouring data as well") from None


def _rows(frame: Any, kept: list[int]) -> Any:
    if hasattr(frame, "iloc"):
        return frame.iloc[kept]
    return frame.take(kept) if hasattr(frame, "to_pylist") else frame[kept]
