"""Columns of frames and datasets as numbers that a model reads.

Numbers with declared bounds go to 0 to 1, by these bounds. Declared keys become one
number each, 1 for the row's key and 0 for the others; of a target, the key's number. All
of it is public, so nothing is learned from the rows about how to read them. Each value is
read by itself: one odd value does not change how others are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dither.dataset import ColumnFacts, Kind, kind_of
from dither.errors import ArgumentError
from dither.ids import identity
from dither.learn.rows import Schema, Tensors
from dither.mechanisms.values import real

__all__ = ["Columns", "column_of"]

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
        values = _floats(column)
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


@dataclass(frozen=True)
class Columns:
    """The columns to learn from, and the one to learn."""

    inputs: tuple[Column, ...]
    target: Column

    @classmethod
    def declared(cls, facts: Sequence[ColumnFacts]) -> Columns:
        *inputs, target = (_declared(one) for one in facts)
        return cls(tuple(inputs), target)

    @property
    def schema(self) -> Schema:
        width = sum(one.width for one in self.inputs)
        if isinstance(self.target, Keyed):
            return Schema((width,), torch.float32, (), torch.int64)
        return Schema((width,), torch.float32, (1,), torch.float32)

    def rows(self, columns: Sequence[Any]) -> Tensors:
        *others, last = columns
        with np.errstate(all="ignore"):  # odd numbers must not warn (rule R1)
            pairs = zip(self.inputs, others, strict=True)
            held = [one.read(column) for one, column in pairs]
            count = min(len(one) for one in held)
            inputs = np.hstack([one[:count] for one in held]).astype(np.float32)
            if isinstance(self.target, Numeric):
                target = self.target.read(last).astype(np.float32)
                return _tensors(inputs, target)
        classes = self.target.numbers(last)
        found = _tensors(inputs, classes)
        known = torch.from_numpy(classes[: len(found)] >= 0)
        return Tensors(found.inputs, found.targets, found.there & known)


def _tensors(inputs: NDArray[Any], targets: NDArray[Any]) -> Tensors:
    return Tensors.of(torch.from_numpy(inputs), torch.from_numpy(targets))


def column_of(
    argument: str, column: Any, classes: Sequence[Any] | None, target: bool = False
) -> Column:
    """How to read a frame's column: by its type, or by declared classes."""
    if classes is not None:
        return _keyed(argument, classes)
    kind = kind_of(column)
    if target and kind is Kind.TRUTHS:
        return Keyed((False, True))
    if kind in (Kind.OTHER, Kind.ANYTHING):
        way_out = (
            "declare its labels with classes=[…]"
            if target
            else "open the frame with dither.open(…, keys=…), which reads labels"
        )
        raise ArgumentError(argument, f"has a column of texts or objects; {way_out}")
    if target and kind is Kind.INTEGERS:
        raise ArgumentError(
            argument,
            "holds whole numbers; declare its labels with classes=range(10), or make "
            "it a column of reals to learn a number",
        )
    return Numeric()


def _declared(facts: ColumnFacts) -> Column:
    if facts.keys is not None:
        return _keyed(facts.column, facts.keys)
    if facts.kind is Kind.TRUTHS:
        return Keyed((False, True))
    if facts.bounds is None or facts.kind is Kind.OTHER:
        raise ArgumentError(
            "inputs",
            f"column {facts.column!r} has no public range; declare its bounds or keys",
        )
    return Numeric(facts.bounds)


def _keyed(argument: str, keys: Sequence[Any]) -> Keyed:
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


def _floats(column: Any) -> Reals:
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
