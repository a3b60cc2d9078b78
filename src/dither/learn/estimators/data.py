"""Rows for estimators: what is public about them, and what is read after the charge.

Values are clipped to their declared bounds and brought to 0 to 1 by them; what is
missing is treated as the middle. A row whose target is missing, or outside the declared
classes, does not count. Each row is read by itself (rule R1).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.ids import codes_of
from dither.learn.encoding import Keyed, floats, keyed
from dither.learn.estimators.columns import Columns
from dither.learn.estimators.owners import WHOLE, kept
from dither.learn.names import EACH_ROW, column_names, ids_of, is_frame
from dither.ledger import Receipt

__all__ = ["Declared", "Rows", "Source", "Target", "pair_of", "pairs_of", "source_of"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
MANY_COLUMNS = 100_000
FARTHEST, LOOSE = 1e60, 1e90
"""How far from 0 a stated bound is at most, and one that follows from an earlier step; and
one over which bounds are apart at least: squares and quotients then stay floats.
"""
FEW = 3
"""Number of columns that a message names."""
NEAREST = 2.0**-36
"""Minimum distance of bounds, relative to their distance from 0."""
WAY_OUT = "pass a matrix with a row for each record, or a frame"
BOUNDS = "pass public limits such as (0, 16); do not take them from the data"


@dataclass(frozen=True)
class Declared:
    """What is public about the rows: limits of each column, and of the target its
    classes or its limits. `units` is how many there are, where that is known.
    """

    low: Reals
    high: Reals
    classes: tuple[Any, ...] | None = None
    target: tuple[float, float] | None = None
    units: int | None = None
    rows: int = 1
    names: tuple[str, ...] | None = None
    reading: Columns | None = None
    order: tuple[int, ...] | None = None
    """The place of each class in the list that was declared: `classes` are sorted."""

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.low)

    @property
    def span(self) -> Reals:
        return self.high - self.low

    @property
    def whole(self) -> int:
        """What the weights of a unit's rows add up to, at most: a unit counts for as
        much as one row of this weight.
        """
        return 1 if self.rows == 1 else WHOLE

    def shares(self, inputs: Reals) -> Reals:
        """Values as shares of their bounds, from 0 to 1; missing ones in the middle."""
        with np.errstate(all="ignore"):
            found = np.maximum(inputs, self.low)
            np.minimum(found, self.high, out=found)
            found -= self.low
            found /= self.span  # rounded alike above and below, so 1 at most
        np.copyto(found, 0.5, where=np.isnan(found))
        return found


@dataclass(frozen=True)
class Rows:
    """Rows that count. `inputs` and a real target are shares of their bounds, from 0 to
    1; a class is its number. Weights are whole numbers; those of a unit's rows add up to
    `Declared.whole` at most.
    """

    inputs: Reals
    targets: NDArray[Any] | None
    weights: Integers
    owners: Integers | None = None
    """The owner of each row; None if each row is a unit of its own."""

    def __len__(self) -> int:
        return len(self.inputs)


class Target:
    """How a target is read: it is 0 to 1 of its bounds, or the number of a class."""

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        self.keys = None if classes is None else keyed("classes", classes)
        self.bounds = bounds

    def read(self, column: Any) -> NDArray[Any]:
        """A number for each row: NaN or -1 where it does not count."""
        if self.keys is not None:
            return codes(self.keys, column)
        assert self.bounds is not None
        low, high = self.bounds
        with np.errstate(all="ignore"):
            found = (np.clip(floats(column), low, high) - low) / (high - low)
            return np.clip(found, 0.0, 1.0)


def codes(keys: Keyed, column: Any) -> Integers:
    """The number of each row's class. Numbers among numbers need no look at each."""
    array = column if isinstance(column, np.ndarray) else None
    plain = array is not None and array.ndim == 1 and array.dtype.kind in "biuf"
    whole = all(
        isinstance(key, bool | int | np.integer | np.bool_) and abs(int(key)) < 1 << 53
        for key in keys.keys
    )
    if not plain or not whole or np.ma.isMaskedArray(column):
        return keys.numbers(column)
    known = np.array([int(key) for key in keys.keys], np.float64)
    order = np.argsort(known)
    values = np.asarray(array).astype(np.float64)
    places = np.minimum(np.searchsorted(known[order], values), len(known) - 1)
    found: Integers = np.where(known[order][places] == values, order[places], -1)
    return found


@dataclass(frozen=True)
class Source:
    """Source of the rows; `read` is called after the charge, with its receipt."""

    width: int
    names: tuple[str, ...] | None
    columns: Callable[[Receipt | None], tuple[Reals, Any, Integers | None]]
    owned: bool
    owner: str | None = None
    dataset: Dataset | None = None
    table: str | None = None
    bounds: Any = None
    classes: tuple[Any, ...] | None = None
    target: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()
    derived: bool = False
    """Whether bounds follow from a step before."""
    reading: Columns | None = None
    """How columns of a dataset are read."""

    def read(self, receipt: Receipt | None, declared: Declared) -> Rows:
        """The rows that count."""
        inputs, column, owners = self.columns(receipt)
        targets, there = None, np.ones(len(inputs), np.bool_)
        if column is not None:
            targets = Target(declared.classes, declared.target).read(column)
            there = targets >= 0  # of NaN too: nothing is at least a NaN
        weights = kept(there, owners, declared.rows)
        keep = weights > 0
        if not keep.all():
            inputs, weights = inputs[keep], weights[keep]
            targets = None if targets is None else targets[keep]
            owners = None if owners is None else owners[keep]
        return Rows(declared.shares(inputs), targets, weights, owners)


def source_of(X: Any, y: Any, owner: Any) -> Source:
    """Rows in memory. What they are is looked at, not what is in them."""
    if isinstance(X, Dataset):
        raise ArgumentError(
            "X",
            "is an opened dataset; call dataset.fit(estimator, inputs=…, target=…)",
        )
    if hasattr(X, "toarray"):
        raise ArgumentError("X", "must be dense, not a sparse matrix; pass X.toarray()")
    X = X if is_frame(X) else _array(X)
    width, names, matrix = _matrix(X)
    count, target = _length(X), None if y is None else _flat(y)
    if target is not None and _length(target) != count:
        raise ArgumentError(
            "y", "must have one value for each row of X; pass a column of that length"
        )
    by_row = owner is None or (isinstance(owner, str) and owner == EACH_ROW)
    if isinstance(owner, str) and not by_row:
        raise ArgumentError(
            "owner",
            "must be a column of ids here, not the name of a column; pass "
            f"frame[{owner!r}]",
        )
    owners = ids_of(None, EACH_ROW if by_row else owner)
    if not by_row and len(owner) != count:
        raise ArgumentError(
            "owner", "must have one id for each row of X; pass a column of that length"
        )

    def columns(_: Receipt | None) -> tuple[Reals, Any, Integers | None]:
        return matrix(), target, None if by_row else codes_of(owners())

    return Source(width, names, columns, not by_row)


def _matrix(X: Any) -> tuple[int, tuple[str, ...] | None, Callable[[], Reals]]:
    """Number of columns, what they are called, and how to read them."""
    if is_frame(X):
        known = column_names(X)
        fine = all(isinstance(one, str) for one in known)
        names = tuple(known) if known and fine else None
        if len(set(known)) < len(known):
            raise ArgumentError(
                "X", "has several columns of the same name; rename all but one of them"
            )
        return _width(len(known)), names, lambda: _stacked([X[one] for one in known])
    array = _array(X)
    if array.dtype.kind in "cmMV":
        raise ArgumentError(
            "X",
            f"must hold real numbers, not {array.dtype} (Complex data not supported); "
            f"{WAY_OUT}",
        )
    if array.ndim != 2:
        raise ArgumentError(
            "X", f"must have two dimensions. Reshape your data; {WAY_OUT}"
        )
    return _width(array.shape[1]), None, lambda: _reals(array)


def _width(count: int) -> int:
    if count > MANY_COLUMNS:
        raise ArgumentError(
            "X", f"has more than {MANY_COLUMNS:,} columns; pass fewer columns"
        )
    if count < 1:
        raise ArgumentError(
            "X",
            f"has 0 feature(s) (shape=(…, {count})) while a minimum of 1 is required; "
            f"pass 1 to {MANY_COLUMNS:,} columns",
        )
    return count


def _array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ndarray):
        return X
    if isinstance(X, list | tuple):
        return _of_lists(X)
    try:
        if not hasattr(X, "__len__") and not hasattr(X, "__array__"):
            raise TypeError
        found = np.asarray(X)
    except (TypeError, ValueError):
        kind = type(X).__name__
        raise ArgumentError("X", f"cannot be of type {kind}; {WAY_OUT}") from None
    return found


def _of_lists(X: Sequence[Any]) -> NDArray[Any]:
    """Rows in a list, item by item: one odd item must not change how others are read, as
    it does where numpy chooses one type for all.
    """
    widths = {len(one) if hasattr(one, "__len__") else -1 for one in X}
    if len(widths) != 1 or min(widths) < 0 or any(isinstance(one, str) for one in X):
        raise ArgumentError(
            "X", f"must have rows of equal length. Reshape your data; {WAY_OUT}"
        )
    found = np.empty((len(X), widths.pop()), object)
    for place, one in enumerate(X):
        for column, item in enumerate(one):
            found[place, column] = item
    return found


def _of_list(y: Sequence[Any]) -> NDArray[Any]:
    found = np.empty(len(y), object)
    for place, item in enumerate(y):
        found[place] = item
    return found


def _reals(array: NDArray[Any]) -> Reals:
    if array.dtype.kind in "biuf" and not np.ma.isMaskedArray(array):
        with np.errstate(all="ignore"):
            return array.astype(np.float64)
    return _stacked([array[:, place] for place in range(array.shape[1])])


def _stacked(columns: Sequence[Any]) -> Reals:
    return np.stack([floats(one) for one in columns], axis=1)


def _length(values: Any) -> int:
    shape = getattr(values, "shape", None)
    if isinstance(values, Mapping):
        found = {len(one) for one in values.values()}
        if len(found) > 1:
            raise ArgumentError("X", "must have columns of equal length; pass a frame")
        return found.pop()
    return int(shape[0]) if shape else len(values)


def _flat(y: Any) -> Any:
    """One column of targets, also where it comes as a matrix of one."""
    y = np.asarray(y) if hasattr(y, "__array__") and not hasattr(y, "__len__") else y
    shape = getattr(y, "shape", None)
    if isinstance(y, str | bytes | Mapping) or not hasattr(y, "__len__"):
        raise ArgumentError(
            "y", "must be a column of targets; pass one value for each row"
        )
    if shape is None or len(shape) == 1:
        return _of_list(y) if isinstance(y, list | tuple) else y
    found = np.asarray(y)
    if found.ndim != 2 or found.shape[1] != 1:
        raise ArgumentError(
            "y", "must be a single column of targets; pass one value for each row"
        )
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; pass y.ravel()",
        DataConversionWarning,
        stacklevel=4,
    )
    return found[:, 0]


def pair_of(argument: str, bounds: Any) -> tuple[float, float]:
    """Two finite limits, low before high."""
    if bounds is None:
        raise ArgumentError(argument, f"are missing; {BOUNDS}")
    found = pairs_of(argument, bounds, 1, None)
    return float(found[0, 0]), float(found[0, 1])


def pairs_of(
    argument: str,
    bounds: Any,
    width: int,
    names: tuple[str, ...] | None,
    *,
    farthest: float = FARTHEST,
) -> Reals:
    """Limits of each column, from one pair for all of them, one for each, or by name."""
    if bounds is None:
        raise ArgumentError(argument, f"are missing; {BOUNDS}")
    if isinstance(bounds, Mapping):
        if names is None or set(bounds) != set(names):
            raise ArgumentError(argument, _unlike(list(bounds), names))
        bounds = [bounds[name] for name in names]
    try:
        found = np.asarray(bounds, np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape == (2,):
        found = np.broadcast_to(found, (width, 2))
    if found.shape != (width, 2):
        raise ArgumentError(
            argument,
            f"must have one pair for each of {width} columns; pass a list of them, or "
            "a pair for all columns, such as (0, 16)",
        )
    low, high = found.T
    good = np.isfinite(found).all(axis=1) & (low < high)
    if not good.all():
        place = int(np.argmin(good))
        column = f"column {place + 1}" if names is None else repr(names[place])
        raise ArgumentError(
            argument,
            f"must be finite numbers, low before high, but those of {column} are not; "
            "pass a pair such as (0, 16)",
        )
    _check_extremes(argument, found, farthest)
    return np.array(found)


def _unlike(named: list[Any], names: tuple[str, ...] | None) -> str:
    """How the names of bounds differ from those of the columns."""
    if names is None:
        return "cannot be a dict, because X has no names of columns; pass a list"
    words = "must have one pair for each column of X"
    unknown = [one for one in named if one not in names]
    if unknown:
        return (
            f"{words}, and X does not have {_few(unknown)}; remove what X does not have"
        )
    missing = [one for one in names if one not in named]
    return (
        f"{words}, and the pair of {_few(missing)} is missing; add one such as (0, 16)"
    )


def _few(names: list[Any]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(f"{one!r:.40}" for one in names[:FEW]) + more


def _check_extremes(argument: str, pairs: Reals, farthest: float) -> None:
    """Refuse what squares and quotients of floats cannot hold, or not exactly enough."""
    far = np.abs(pairs).max(axis=1)
    if (far > farthest).any():
        raise ArgumentError(
            argument,
            f"must lie between -{farthest:g} and {farthest:g}; pass the column in a "
            "larger unit",
        )
    span = pairs[:, 1] - pairs[:, 0]
    if (span < 1 / farthest).any():
        raise ArgumentError(
            argument,
            f"must be {1 / farthest:g} or more apart; pass the column in a smaller unit",
        )
    if (span < NEAREST * far).any():
        raise ArgumentError(
            argument,
            "are too close together, compared with their distance from 0; subtract the "
            "lower bound from the column and from both bounds",
        )
