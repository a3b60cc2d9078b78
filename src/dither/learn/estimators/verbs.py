"""`dataset.fit`: an estimator fitted to columns of an opened dataset, whose bounds, keys,
unit and account it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dither.dataset import ColumnFacts, Dataset
from dither.errors import ArgumentError
from dither.learn.encoding import Column, Keyed, declared, floats
from dither.learn.estimators.base import PrivateEstimator
from dither.learn.estimators.data import Integers, Reals, Source
from dither.learn.estimators.pipeline import PrivatePipeline
from dither.learn.sources import facts_of, listed, named, owner_numbers, table_of
from dither.ledger import Receipt

__all__ = ["fit"]


def fit(
    data: Dataset, estimator: Any, inputs: Any, target: str | None, table: str | None
) -> Any:
    """The estimator, fitted."""
    if not isinstance(estimator, PrivateEstimator | PrivatePipeline):
        raise ArgumentError(
            "estimator",
            f"{type(estimator).__name__} is not fitted with privacy; pass one of "
            "dither.learn, such as dither.learn.LogisticRegression(epsilon=1)",
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
    columns = [declared(one) for one in facts]
    wanted = _target(data, target, table, kind)
    fetched = [one.column for one in (*facts, *([wanted] if wanted else []))]

    def read(receipt: Receipt | None) -> tuple[Reals, Any, Integers | None]:
        found = data.fetch(list(dict.fromkeys(fetched)), table=table, receipt=receipt)
        pairs = zip(facts, columns, strict=True)
        held = [_read(column, found.columns[one.column]) for one, column in pairs]
        goal = None if wanted is None else found.columns[wanted.column]
        return np.hstack(held), goal, owner_numbers(found.owners)

    return Source(
        sum(column.width for column in columns),
        _names(facts, columns),
        read,
        not data.single,
        dataset=data,
        table=table,
        bounds=_bounds(facts, columns),
        classes=_classes(wanted) if kind == "classes" else None,
        target=wanted.bounds if wanted and kind == "y_bounds" else None,
    )


def _target(
    data: Dataset, target: str | None, table: str | None, kind: str | None
) -> ColumnFacts | None:
    if kind is None:
        if target is not None:
            raise ArgumentError("target", "is not needed here; leave it out")
        return None
    found: ColumnFacts = facts_of(data, named(target), table)
    if kind == "y_bounds" and found.bounds is None:
        raise ArgumentError(
            "target", f"column {found.column!r} has no public range; declare its bounds"
        )
    return found


def _classes(facts: ColumnFacts | None) -> tuple[Any, ...]:
    assert facts is not None
    column = declared(facts)
    if not isinstance(column, Keyed):
        raise ArgumentError(
            "target", f"column {facts.column!r} has no public classes; declare its keys"
        )
    return tuple(column.keys)


def _read(column: Column, values: Any) -> Reals:
    return column.read(values) if isinstance(column, Keyed) else floats(values)[:, None]


def _names(facts: Sequence[ColumnFacts], columns: Sequence[Column]) -> tuple[str, ...]:
    found: list[str] = []
    for one, column in zip(facts, columns, strict=True):
        keys = column.keys if isinstance(column, Keyed) else None
        name = one.column
        found += [name] if keys is None else [f"{name}={key}" for key in keys]
    return tuple(found)


def _bounds(facts: Sequence[ColumnFacts], columns: Sequence[Column]) -> list[Any]:
    found: list[Any] = []
    for one, column in zip(facts, columns, strict=True):
        keyed = isinstance(column, Keyed)
        found += [(0.0, 1.0)] * column.width if keyed else [one.bounds]
    return found
