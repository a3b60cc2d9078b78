"""One column as numbers: by declared bounds, or by declared keys.

Each value is read by itself: one odd value does not change how others are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import ColumnFacts, Kind
from dither.errors import ArgumentError
from dither.ids import identity
from dither.mechanisms.values import real

__all__ = ["Column", "Keyed", "Numeric", "column_of", "declared", "floats", "keyed"]

Reals = NDArray[np.float64]
MANY = 10_000
"""More keys than this do not become one number each."""
LONGEST = 64
"""Characters of a number that is written out."""


@dataclass(frozen=True)
class Numeric:
    """Numbers, brought to 0 to 1 where bounds are declared."""

    bounds: tuple[float, float] | None = None

    @property
    def width(self) -> int:
        return 1

    def read(self, column: Any) -> Reals:
        values = floats(column)
        if self.bounds is None:
            return values[:, None]
        low, high = self.bounds
        scale = 1 / (high - low) if high > low else 0.0
        return ((np.clip(values, low, high) - low) * scale)[:, None]


@dataclass(frozen=True)
class Keyed:
    """Declared keys: one number each; all are 0 where a row has another value."""

    keys: tuple[Any, ...]

    @property
    def width(self) -> int:
        return len(self.keys)

    def numbers(self, column: Any) -> NDArray[np.int64]:
        """The number of each row's key; -1 where it has none of them."""
        known = {_label(key): place for place, key in enumerate(self.keys)}
        found = [known.get(_label(one), -1) for one in _items(column)]
        return np.array(found, np.int64)

    def read(self, column: Any) -> Reals:
        places = self.numbers(column)
        found: Reals = np.equal.outer(places, np.arange(self.width)).astype(np.float64)
        return found


Column = Numeric | Keyed


def column_of(argument: str, classes: Sequence[Any] | None = None) -> Column:
    """How to read a frame's column: by declared classes, or as numbers. The type of a
    column says nothing, because one odd value may change it.
    """
    return Numeric() if classes is None else keyed(argument, classes)


def declared(facts: ColumnFacts) -> Column:
    """How to read a dataset's column, by what is declared of it."""
    if facts.keys is not None:
        return keyed(facts.column, facts.keys)
    if facts.kind is Kind.TRUTHS:
        return Keyed((False, True))
    if facts.bounds is None or facts.kind is Kind.OTHER:
        raise ArgumentError(
            "inputs",
            f"column {facts.column!r} has no public range; declare its bounds or keys",
        )
    return Numeric(facts.bounds)


def keyed(argument: str, keys: Sequence[Any]) -> Keyed:
    """A column of these labels."""
    listed = tuple(keys)
    labels = {_label(key) for key in listed}
    if not listed or len(listed) > MANY or len(labels) < len(listed):
        raise ArgumentError(
            argument, f"needs 1 to {MANY:,} different labels; declare each once"
        )
    return Keyed(listed)


def _label(value: Any) -> str | None:
    """A label as text: a whole number by its digits, whatever type holds it."""
    try:
        found = identity(value)
        missing = value is None or (found is None and isinstance(value, float))
        return found if missing or found is not None else str(value)
    except Exception:  # a class of somebody's own
        return None


def floats(column: Any) -> Reals:
    """One float for each item; NaN for what is no number."""
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        plain = np.asarray(
            getattr(column, "data", column) if _masks(column) else column
        )
        values = plain.astype(np.float64).reshape(-1)
        mask = np.ma.getmaskarray(column).reshape(-1) if _masks(column) else False
        return np.where(mask, np.nan, values)
    return np.array([_number(one) for one in _items(column)], np.float64)


def _masks(column: Any) -> bool:
    return isinstance(column, np.ma.MaskedArray)


def _items(column: Any) -> Any:
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return getattr(column, name)()
    return column


def _number(item: Any) -> float:
    """One number. A text that is a number counts as that: one odd text among numbers
    makes texts of them all.
    """
    if item is None:
        return np.nan
    try:
        if isinstance(item, str | bytes):
            return float(item) if len(item) <= LONGEST else np.nan
        return float(real(item))
    except Exception:
        return np.nan
