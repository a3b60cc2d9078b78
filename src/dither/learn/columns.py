"""Columns of frames and datasets as numbers that a model reads.

Numbers with declared bounds go to 0 to 1, by these bounds. Declared keys become one
number each, 1 for the row's key and 0 for the others; of a target, the key's number.
Words of a declared vocabulary become their numbers, in a tensor of their own. All of it is
public, so nothing is learned from the rows about how to read them. Each value is read by
itself: one odd value does not change how others are read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dither.dataset import ColumnFacts, Kind
from dither.errors import ArgumentError
from dither.learn.encoding import Keyed, Numeric, catalogued, keyed, saved_key
from dither.learn.rows import Tensors
from dither.learn.schema import Field, Schema
from dither.learn.words import Words

__all__ = [
    "Column",
    "Columns",
    "Keyed",
    "Numeric",
    "declared",
    "declared_target",
    "saved_key",
    "stated",
    "target_of",
]

Column = Numeric | Keyed | Words


@dataclass(frozen=True)
class Columns:
    """The columns to learn from, and the one to learn. Numbers and keys are one tensor,
    and each column of words is another one after it.
    """

    inputs: tuple[Column, ...]
    target: Numeric | Keyed

    @property
    def schema(self) -> Schema:
        width = sum(one.width for one in self._numbers)
        numbers = [Field((width,), torch.float32)] if self._numbers else []
        words = [Field((one.length,), torch.int64) for one in self._words]
        if isinstance(self.target, Keyed):
            return Schema(_alone(numbers + words), Field((), torch.int64))
        return Schema(_alone(numbers + words), Field((1,), torch.float32))

    @property
    def _numbers(self) -> list[Numeric | Keyed]:
        return [one for one in self.inputs if not isinstance(one, Words)]

    @property
    def _words(self) -> list[Words]:
        return [one for one in self.inputs if isinstance(one, Words)]

    def rows(self, columns: Sequence[Any]) -> Tensors:
        *others, last = columns
        inputs = self.read(others)
        if isinstance(self.target, Numeric):
            with np.errstate(all="ignore"):
                target = self.target.read(last).astype(np.float32)
            return Tensors.of(inputs, torch.from_numpy(target))
        classes = torch.from_numpy(self.target.numbers(last))
        found = Tensors.of(inputs, classes)
        known = classes[: len(found)] >= 0
        return Tensors(found.inputs, found.targets, found.there & known)

    def read(self, columns: Sequence[Any]) -> Any:
        """The inputs alone: a tensor, or several as a model's arguments."""
        with np.errstate(all="ignore"):  # odd numbers must not warn (rule R1)
            return _alone(self._read(columns))

    def _read(self, columns: Sequence[Any]) -> list[Tensor]:
        numbers, words = [], []
        for one, column in zip(self.inputs, columns, strict=True):
            if isinstance(one, Words):
                words.append(one(column))
            else:
                numbers.append(one.read(column))
        if not numbers:
            return words
        count = min(len(one) for one in numbers)
        joined = np.hstack([one[:count] for one in numbers]).astype(np.float32)
        return [torch.from_numpy(joined), *words]


def _alone(tensors: list[Any]) -> Any:
    """One tensor as it is, several as a model's arguments."""
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def target_of(classes: Sequence[Any] | None) -> Numeric | Keyed:
    """How to read a frame's target: by declared classes, or as numbers. The type of a
    column says nothing, because one odd value may change it.
    """
    return Numeric() if classes is None else keyed("classes", classes)


def stated(name: str, how: Any) -> Column:
    """How to read an input column as the caller states it: by bounds, by keys, as
    words, or (None) as numbers.
    """
    if how is None:
        return Numeric()
    if isinstance(how, Words):
        return how
    if isinstance(how, tuple) and len(how) == 2 and all(map(_is_number, how)):
        return Numeric(_bounds(name, how))
    if isinstance(how, Sequence) and not isinstance(how, str | bytes):
        return keyed("inputs", how)
    raise ArgumentError(
        "inputs",
        f"the column {name!r} is not declared in a known way; pass bounds such as "
        '(0, 110), keys such as ["F", "M"], or Words(vocabulary, length)',
    )


def declared(facts: ColumnFacts, how: Any = None) -> Column:
    """How to read a column of an opened dataset: as whoever asks says, or by what is
    declared about it. What it is declared to hold is public, so a way that does not
    fit is refused.
    """
    if how is None:
        return catalogued(facts, way_out=OTHERWISE)
    found = stated(facts.column, how)
    texts = facts.kind is Kind.OTHER
    if (isinstance(found, Numeric) and texts) or (
        isinstance(found, Words) and facts.kind in NUMBERS
    ):
        kind = "values that are not numbers" if texts else f"{facts.kind.value}"
        raise ArgumentError(
            "inputs",
            f"the column {facts.column!r} is declared to hold {kind}, which cannot be "
            f"read like this; {OTHERWISE}",
        )
    return found


def declared_target(facts: ColumnFacts) -> Numeric | Keyed:
    return catalogued(facts, "target")


NUMBERS = (Kind.INTEGERS, Kind.REALS, Kind.TRUTHS)
OTHERWISE = (
    "declare its bounds or keys, or pass them in inputs, such as "
    '{"age": (0, 110), "sex": ["F", "M"], "note": Words(vocabulary, length)}'
)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _bounds(name: str, bounds: tuple[Any, Any]) -> tuple[float, float]:
    low, high = (float(one) for one in bounds)
    if not (low < high and math.isfinite(high - low)):
        raise ArgumentError(
            "inputs",
            f"the bounds of column {name!r} must be two finite numbers, low before "
            "high; pass a pair such as (0, 110)",
        )
    return low, high
