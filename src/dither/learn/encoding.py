"""One column as numbers: by declared bounds, or by declared keys.

Each value is read by itself: one odd value does not change how others are read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.dataset import ColumnFacts, Kind
from dither.errors import ArgumentError
from dither.ids import identity
from dither.items import items_of
from dither.learn.failures import attempted
from dither.mechanisms.values import real

__all__ = ["Column", "Keyed", "Numeric", "catalogued", "floats", "keyed", "saved_key"]

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

    def __str__(self) -> str:
        return f"{len(self.keys):,} key{'s' if len(self.keys) > 1 else ''}"

    @property
    def width(self) -> int:
        return len(self.keys)

    def numbers(self, column: Any) -> NDArray[np.int64]:
        """The number of each row's key; -1 for any other value."""
        known = {_label(key): place for place, key in enumerate(self.keys)}
        found = [known.get(_label(one), -1) for one in items_of(column)]
        return np.array(found, np.int64)

    def read(self, column: Any) -> Reals:
        places = self.numbers(column)
        found: Reals = np.equal.outer(places, np.arange(self.width)).astype(np.float64)
        return found


Column = Numeric | Keyed


def catalogued(
    facts: ColumnFacts,
    argument: str = "inputs",
    way_out: str = "declare its bounds or keys",
) -> Column:
    """How to read a dataset's column, by what is declared of it."""
    if facts.keys is not None:
        return keyed(facts.column, facts.keys)
    if facts.kind is Kind.TRUTHS:
        return Keyed((False, True))
    if facts.kind is Kind.OTHER:
        raise ArgumentError(
            argument,
            f"the column {facts.column!r} has no public range, because it does not "
            f"hold numbers; {way_out} (convert dates to a number of days first)",
        )
    if facts.bounds is None:
        raise ArgumentError(
            argument, f"the column {facts.column!r} has no public range; {way_out}"
        )
    return Numeric(facts.bounds)


def keyed(argument: str, keys: Sequence[Any]) -> Keyed:
    """A column of these labels."""
    listed = tuple(keys)
    labels = {_label(key) for key in listed}
    if not listed or len(listed) > MANY or len(labels) < len(listed):
        raise ArgumentError(
            argument,
            f"must have 1 to {MANY:,} different labels; list each label once",
        )
    return Keyed(listed)


def _label(value: Any) -> str | None:
    """A label as text: a number by its digits and a boolean as 0 or 1, whatever type
    holds it. One odd value of a column may have made texts of all the others.
    """
    return attempted(partial(_text, value))[0]  # it may be of a class of somebody's own


def _text(value: Any) -> str | None:
    value = _real_part(value)
    found = identity(value)
    if found is None and (value is None or isinstance(value, float)):
        return _fraction(value)
    text = str(value) if found is None else found
    return TRUTHS.get(text.strip().lower()) or _fraction(text) or text


def saved_key(key: Any) -> str | int | float | bool | None:
    """A key as a file holds it: a string or a number as it is, anything else (a date)
    as the string that it is compared as.
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


def floats(column: Any) -> Reals:
    """One float for each item; NaN for what is not a number."""
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
    """One number. A string that is a number is read as that number: one odd string
    among numbers makes strings of them all.
    """
    if item is None:
        return np.nan
    found, _ = attempted(partial(_read, item))
    return np.nan if found is None else found


def _read(item: Any) -> float:
    if isinstance(item, bytes):
        item = item.decode("utf-8", "replace")
    if isinstance(item, str):
        text = item.strip().lower() if len(item) <= LONGEST else "too long"
        return float(TRUTHS.get(text, text))
    return float(real(_real_part(item)))


def _real_part(item: Any) -> Any:
    """A complex number without an imaginary part as the number that it is: one odd
    number makes complex ones of a whole column.
    """
    if isinstance(item, complex | np.complexfloating) and not item.imag:
        return float(item.real)
    return item
