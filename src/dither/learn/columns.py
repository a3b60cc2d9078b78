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
from numpy.typing import NDArray
from torch import Tensor

from dither.dataset import ColumnFacts, Kind
from dither.errors import ArgumentError
from dither.ids import identity
from dither.items import items_of
from dither.learn.rows import Tensors
from dither.learn.schema import Field, Schema
from dither.learn.words import Words
from dither.mechanisms.values import real

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

Reals = NDArray[np.float64]
MANY = 10_000
"""More keys than this do not become one number each."""
LONGEST = 64
"""Characters of a number that is written out."""


@dataclass(frozen=True)
class Numeric:
    """Numbers, brought to 0 to 1 where bounds are declared."""

    bounds: tuple[float, float] | None = None

    def __str__(self) -> str:
        if self.bounds is None:
            return "numbers"
        return "numbers from {:g}–{:g} to 0–1".format(*self.bounds)

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

    def __str__(self) -> str:
        return f"{len(self.keys):,} key{'s' if len(self.keys) > 1 else ''}"

    @property
    def width(self) -> int:
        return len(self.keys)

    def numbers(self, column: Any) -> NDArray[np.int64]:
        """The number of each row's key; -1 where it has none of them."""
        known = {_label(key): place for place, key in enumerate(self.keys)}
        found = [known.get(_label(one), -1) for one in items_of(column)]
        return np.array(found, np.int64)

    def read(self, column: Any) -> Reals:
        places = self.numbers(column)
        found: Reals = np.equal.outer(places, np.arange(self.width)).astype(np.float64)
        return found


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
    return Numeric() if classes is None else _keyed("classes", classes)


def stated(name: str, how: Any) -> Column:
    """How to read an input column as whoever asks says: by bounds, by keys, as words, or
    (None) as numbers.
    """
    if how is None:
        return Numeric()
    if isinstance(how, Words):
        return how
    if isinstance(how, tuple) and len(how) == 2 and all(map(_is_number, how)):
        return Numeric(_bounds(name, how))
    if isinstance(how, Sequence) and not isinstance(how, str | bytes):
        return _keyed("inputs", how)
    raise ArgumentError(
        "inputs",
        f"column {name!r}: say how it is read, by bounds (0, 110), by keys "
        '["F", "M"], or as Words(vocabulary, length)',
    )


def declared(facts: ColumnFacts, how: Any = None) -> Column:
    """How to read a column of an opened dataset: as whoever asks says, or by what is
    declared about it. What it is declared to hold is public, so a way that does not
    fit is refused.
    """
    if how is None:
        return _by_catalogue(facts)
    found = stated(facts.column, how)
    texts = facts.kind is Kind.OTHER
    if (isinstance(found, Numeric) and texts) or (
        isinstance(found, Words) and facts.kind in NUMBERS
    ):
        kind = "no numbers" if texts else f"{facts.kind.value}"
        raise ArgumentError(
            "inputs",
            f"column {facts.column!r} is declared to hold {kind}; {OTHERWISE}",
        )
    return found


def declared_target(facts: ColumnFacts) -> Numeric | Keyed:
    found = _by_catalogue(facts, "target")
    assert not isinstance(found, Words)
    return found


NUMBERS = (Kind.INTEGERS, Kind.REALS, Kind.TRUTHS)
OTHERWISE = (
    "declare its bounds or keys, or say how it is read: "
    'inputs={"age": (0, 110), "sex": ["F", "M"], "note": Words(vocabulary, length)}'
)


def _by_catalogue(facts: ColumnFacts, argument: str = "inputs") -> Column:
    if facts.keys is not None:
        return _keyed(facts.column, facts.keys)
    if facts.kind is Kind.TRUTHS:
        return Keyed((False, True))
    if facts.bounds is None or facts.kind is Kind.OTHER:
        way_out = OTHERWISE if argument == "inputs" else "declare its bounds or keys"
        raise ArgumentError(
            argument, f"column {facts.column!r} has no public range; {way_out}"
        )
    return Numeric(facts.bounds)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _bounds(name: str, bounds: tuple[Any, Any]) -> tuple[float, float]:
    low, high = (float(one) for one in bounds)
    if not (low < high and math.isfinite(high - low)):
        raise ArgumentError(
            "inputs",
            f"column {name!r}: bounds are two finite numbers, low before high, such as "
            "(0, 110)",
        )
    return low, high


def _keyed(argument: str, keys: Sequence[Any]) -> Keyed:
    listed = tuple(keys)
    labels = {_label(key) for key in listed}
    if not listed or len(listed) > MANY or len(labels) < len(listed):
        raise ArgumentError(
            argument, f"needs 1 to {MANY:,} different labels; declare each once"
        )
    return Keyed(listed)


def _label(value: Any) -> str | None:
    """A label as text: a number by its digits and a truth as 0 or 1, whatever type holds
    it. One odd value of a column may have made texts of all the others.
    """
    try:
        value = _real_part(value)
        found = identity(value)
        if found is None and (value is None or isinstance(value, float)):
            return _fraction(value)
        text = str(value) if found is None else found
        return TRUTHS.get(text.strip().lower()) or _fraction(text) or text
    except Exception:  # a class of somebody's own
        return None


def saved_key(key: Any) -> str | int | float | bool | None:
    """A key as a file holds it: a text or a number as it is, anything else (a date) as
    the text that it is compared as.
    """
    if isinstance(key, np.generic):
        key = key.item()
    if key is None or type(key) in (str, int, float, bool):
        plain: str | int | float | bool | None = key
        return plain
    return _label(key)


TRUTHS = {"true": "1", "false": "0"}


def _fraction(value: Any) -> str | None:
    """The digits of a number that is not whole; None for anything else."""
    if value is None or (isinstance(value, str) and len(value) > LONGEST):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return repr(number) if math.isfinite(number) and number % 1 else None


def _floats(column: Any) -> Reals:
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        plain = np.asarray(
            getattr(column, "data", column) if _masks(column) else column
        )
        if plain.ndim != 1:  # a row of several numbers has none
            return np.full(len(plain) if plain.ndim else 0, np.nan)
        values = plain.astype(np.float64)
        mask = np.ma.getmaskarray(column) if _masks(column) else False
        return np.where(mask, np.nan, values)
    return np.array([_number(one) for one in items_of(column)], np.float64)


def _masks(column: Any) -> bool:
    return isinstance(column, np.ma.MaskedArray)


def _number(item: Any) -> float:
    """One number. A text that is a number counts as that: one odd text among numbers
    makes texts of them all.
    """
    if item is None:
        return np.nan
    try:
        if isinstance(item, bytes):
            item = item.decode("utf-8", "replace")
        if isinstance(item, str):
            text = item.strip().lower() if len(item) <= LONGEST else "too long"
            return float(TRUTHS.get(text, text))
        return float(real(_real_part(item)))
    except Exception:
        return np.nan


def _real_part(item: Any) -> Any:
    """A complex number without an imaginary part as the number that it is: one odd
    number makes complex ones of a whole column.
    """
    if isinstance(item, complex | np.complexfloating) and not item.imag:
        return float(item.real)
    return item
