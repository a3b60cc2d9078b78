"""`dataset.fit`: an estimator fitted to columns of an opened dataset, whose bounds, keys,
unit and account it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dither.dataset import ColumnFacts, Dataset
from dither.errors import ArgumentError
from dither.ids import StoredIds, codes_of
from dither.learn.encoding import Column, Keyed, catalogued
from dither.learn.estimators.base import PrivateEstimator
from dither.learn.estimators.columns import Columns
from dither.learn.estimators.data import Integers, Reals, Source
from dither.learn.estimators.pipeline import PrivatePipeline
from dither.learn.names import check_apart, facts_of, listed, named, table_of
from dither.ledger import Receipt

__all__ = ["fit"]


def fit(
    data: Dataset, estimator: Any, inputs: Any, target: str | None, table: str | None
) -> Any:
    """The estimator, fitted."""
    if isinstance(estimator, type):
        raise ArgumentError(
            "estimator",
            f"must be an instance, not the class {estimator.__name__}; pass "
            f"{estimator.__name__}(epsilon=1)",
        )
    if not isinstance(estimator, PrivateEstimator | PrivatePipeline):
        raise ArgumentError(
            "estimator",
            f"{type(estimator).__name__} does not fit with privacy; pass an estimator "
            "such as dither.learn.LogisticRegression(epsilon=1)",
        )
    return estimator._learn(source_of(data, inputs, target, table, estimator._target))


def source_of(
    data: Dataset, inputs: Any, target: str | None, table: str | None, kind: str | None
) -> Source:
    """Columns of a dataset as an estimator reads them: numbers as they are, declared
    keys as one column each, of 0 and 1.
    """
    table = table_of(data, None, table)
    facts = [facts_of(data, name, table) for name in listed(inputs)]
    columns = [catalogued(one) for one in facts]
    reading = Columns(tuple(one.column for one in facts), tuple(columns))
    wanted = _target(data, target, table, kind)
    if wanted is not None:
        check_apart(reading.names, wanted.column)
    fetched = [one.column for one in (*facts, *([wanted] if wanted else []))]

    def read(receipt: Receipt | None) -> tuple[Reals, Any, Integers | None]:
        found = data.fetch(list(dict.fromkeys(fetched)), table=table, receipt=receipt)
        held = reading.stacked([found.columns[name] for name in reading.names])
        goal = None if wanted is None else found.columns[wanted.column]
        return held, goal, _owners(found.owners)

    return Source(
        reading.width,
        reading.read_as,
        read,
        not data.single,
        dataset=data,
        table=table,
        bounds=_bounds(facts, columns),
        classes=_classes(wanted) if kind == "classes" else None,
        target=wanted.bounds if wanted and kind == "y_bounds" else None,
        reading=reading,
    )


def _owners(owners: Any) -> Integers | None:
    """The number of each row's unit, distinguished as the dataset does."""
    return None if owners is None else codes_of(StoredIds(owners))


def _target(
    data: Dataset, target: str | None, table: str | None, kind: str | None
) -> ColumnFacts | None:
    if kind is None:
        if target is not None:
            raise ArgumentError("target", "is not used by this estimator; leave it out")
        return None
    found = facts_of(data, named(target), table)
    if kind == "y_bounds" and found.bounds is None:
        raise ArgumentError(
            "target",
            f"the column {found.column!r} has no public range; declare its bounds",
        )
    return found


def _classes(facts: ColumnFacts | None) -> tuple[Any, ...]:
    assert facts is not None
    column = catalogued(facts)
    if not isinstance(column, Keyed):
        raise ArgumentError(
            "target",
            f"the column {facts.column!r} has no public classes; declare its keys",
        )
    return tuple(column.keys)


def _bounds(facts: Sequence[ColumnFacts], columns: Sequence[Column]) -> list[Any]:
    found: list[Any] = []
    for one, column in zip(facts, columns, strict=True):
        keyed = isinstance(column, Keyed)
        found += [(0.0, 1.0)] * column.width if keyed else [one.bounds]
    return found
