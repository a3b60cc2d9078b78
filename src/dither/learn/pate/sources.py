"""Private records and public queries, by what is declared of them. Records are read after
the charge; queries are public, and read before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.ids import StoredIds
from dither.learn.encoding import Column, Keyed, catalogued, floats, keyed
from dither.learn.estimators.base import classes_of
from dither.learn.estimators.data import Source as Matrix
from dither.learn.estimators.data import codes, source_of
from dither.learn.names import (
    EACH_ROW,
    column_in,
    facts_of,
    ids_of,
    is_frame,
    listed,
    named,
    table_of,
)
from dither.ledger import Receipt

__all__ = ["Records", "Source", "queries_of", "records_of"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Read = tuple[NDArray[Any], Any, Any]
"""Inputs, labels, and ids of owners (None if each row is a unit of its own)."""
PAIR = "pass (X, y), a frame with inputs= and target=, or an opened dataset"


@dataclass(frozen=True)
class Records:
    """Rows that count: those with finite inputs and a declared class."""

    inputs: NDArray[Any]
    targets: Integers
    owners: Any

    @classmethod
    def of(cls, read: Read, classes: Keyed) -> Records:
        """Each row by itself (rule R1): odd ones do not count."""
        inputs, labels, owners = read
        targets = codes(classes, labels)
        finite = np.isfinite(inputs).all(axis=tuple(range(1, inputs.ndim)))
        return cls(inputs, np.where(finite, targets, -1), owners)


@dataclass(frozen=True)
class Source:
    """Source of records; `read` is called after the charge, with its receipt."""

    shape: tuple[int, ...]
    """Of one row."""
    classes: Keyed
    read: Callable[[Receipt | None], Read]
    owned: bool
    owner: str | None = None
    dataset: Dataset | None = None
    table: str | None = None
    columns: tuple[tuple[str, Column | None], ...] | None = None
    """Names of columns, and how they are read, if there are names."""

    @property
    def draws(self) -> bool:
        """Whether each row is a unit and draws its teacher by itself. Rows of a dataset
        may come in another order where one is replaced, which is not looked into.
        """
        return not self.owned and self.dataset is None

    def records(self, receipt: Receipt | None) -> Records:
        return Records.of(self.read(receipt), self.classes)


def records_of(
    data: Any,
    *,
    classes: Any,
    owner: Any,
    inputs: Any = None,
    target: Any = None,
    table: str | None = None,
) -> Source:
    """Records that were passed, by their types and names alone."""
    if isinstance(data, Dataset):
        return _of_dataset(data, classes, owner, inputs, target, table)
    if table is not None:
        raise ArgumentError(
            "table", "can only be passed with an opened dataset; leave it out"
        )
    found = keyed("classes", classes_of(classes))
    if is_frame(data):
        names = listed(inputs)
        parts = {one: column_in(data, "inputs", one) for one in names}
        labels = column_in(data, "target", named(target))
        whose = _owners(data, owner)
        plain = _matrix(parts, labels, whose)
        about = tuple((one, None) for one in names)
        spoken = owner if isinstance(owner, str) and owner != EACH_ROW else None
        return _source(plain, (plain.width,), found, whose, spoken, about)
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise ArgumentError("data", f"cannot be of type {type(data).__name__}; {PAIR}")
    if inputs is not None or target is not None:
        raise ArgumentError(
            "inputs", f"can only be passed with a frame or an opened dataset; {PAIR}"
        )
    X, shape = _flat(data[0])
    whose = _owners(None, owner)
    plain = _matrix(X, _plain(data[1]), whose)
    known = None if plain.names is None else tuple((one, None) for one in plain.names)
    return _source(plain, shape or (plain.width,), found, whose, columns=known)


def _source(
    plain: Matrix,
    shape: tuple[int, ...],
    classes: Keyed,
    whose: Any,
    owner: str | None = None,
    columns: tuple[tuple[str, Column | None], ...] | None = None,
) -> Source:
    owned = not isinstance(whose, str)

    def read(receipt: Receipt | None) -> Read:
        inputs, labels, _ = plain.columns(receipt)
        return inputs.reshape(len(inputs), *shape), labels, whose if owned else None

    return Source(shape, classes, read, owned, owner, columns=columns)


def _matrix(X: Any, y: Any, whose: Any) -> Matrix:
    if y is None:
        raise ArgumentError(
            "y", "is missing, but teachers learn from labels; pass (X, y)"
        )
    return source_of(X, y, whose)


def _owners(frame: Any, owner: Any) -> Any:
    """The ids of owners as they are, or "row"."""
    ids_of(frame, owner)  # refuses what is none
    if isinstance(owner, str):
        return owner if owner == EACH_ROW else column_in(frame, "owner", owner)
    return _plain(owner)


def _plain(values: Any) -> Any:
    return values.detach().cpu().numpy() if hasattr(values, "detach") else values


def _flat(X: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Rows of any shape as rows of numbers, and that shape; None if it is not known
    yet.
    """
    X = _plain(X)
    if isinstance(X, np.ndarray) and X.ndim > 2:
        return X.reshape(len(X), math.prod(X.shape[1:])), X.shape[1:]
    return X, None


def _of_dataset(
    data: Dataset, classes: Any, owner: Any, inputs: Any, target: Any, table: Any
) -> Source:
    table = table_of(data, owner, table)
    facts = [facts_of(data, name, table) for name in listed(inputs)]
    ways = [catalogued(one) for one in facts]
    wanted = facts_of(data, named(target), table)
    goal = catalogued(wanted)
    if not isinstance(goal, Keyed):
        raise ArgumentError(
            "target",
            f"the column {wanted.column!r} has no public classes; declare its keys",
        )
    if classes is not None:
        raise ArgumentError("classes", "are declared by the dataset; leave them out")
    fetched = [one.column for one in (*facts, wanted)]

    def read(receipt: Receipt | None) -> Read:
        found = data.fetch(list(dict.fromkeys(fetched)), table=table, receipt=receipt)
        held = [found.columns[one.column] for one in facts]
        whose = None if data.single else StoredIds(found.owners)
        return _encoded(ways, held), found.columns[wanted.column], whose

    about = tuple((one.column, way) for one, way in zip(facts, ways, strict=True))
    return Source(
        (sum(way.width for way in ways),),
        goal,
        read,
        not data.single,
        dataset=data,
        table=table,
        columns=about,
    )


def _encoded(ways: Sequence[Column | None], held: Sequence[Any]) -> Reals:
    with np.errstate(all="ignore"):
        parts = [
            floats(one)[:, None] if way is None else way.read(one)
            for way, one in zip(ways, held, strict=True)
        ]
    return np.hstack(parts)


def queries_of(queries: Any, source: Source) -> NDArray[Any]:
    """Public inputs in the form in which teachers read rows."""
    queries = _plain(queries)
    if is_frame(queries) and source.columns is not None:
        return _checked(_columns(queries, source.columns), source)
    plain, shape = _flat(queries)
    found = source_of(plain, None, None).columns(None)[0]
    return _checked(found.reshape(len(found), *(shape or found.shape[1:])), source)


def _columns(
    queries: Any, columns: tuple[tuple[str, Column | None], ...]
) -> NDArray[Any]:
    held = [column_in(queries, "queries", name) for name, _ in columns]
    if isinstance(queries, Mapping) and len({len(one) for one in held}) > 1:
        raise ArgumentError(
            "queries",
            "must have columns of equal length; pass one value for each query",
        )
    return _encoded([way for _, way in columns], held)


def _checked(found: NDArray[Any], source: Source) -> NDArray[Any]:
    if found.shape[1:] != source.shape:
        raise ArgumentError(
            "queries",
            f"have rows of shape {found.shape[1:]}, but records have {source.shape}; "
            "pass public inputs of the same shape",
        )
    if not len(found):
        raise ArgumentError("queries", "are empty; pass public inputs to label")
    if not np.isfinite(found).all():
        raise ArgumentError(
            "queries",
            "have missing or infinite numbers, or strings, which are read as missing; "
            "leave such rows or columns out",
        )
    return found
