"""A study's columns: outcomes as numbers, arms as places in a declared list.

Each record is read by itself, so that one odd record never changes what another counts
for (rule R1). Nothing is read before the question was paid for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.ids import EXACT, MANY_DIGITS, identity
from dither.mechanisms.values import real, unmasked
from dither.question import Paid

__all__ = [
    "Codes",
    "Given",
    "Integers",
    "Labels",
    "Reals",
    "Seen",
    "given",
    "label",
    "labels",
    "listed",
    "names",
    "numbers",
    "together",
]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
TRUTHS = {"true": True, "false": False}
INFINITE = ("inf", "infinity")
NO_LABEL = (*INFINITE, "nan")
MOST_LEVELS = 1 << 16
WAY_OUT = "pass a list, a one-dimensional array, or a pandas or Polars series"


@runtime_checkable
class Given(Protocol):
    """One private column, not yet read."""

    @property
    def dataset(self) -> Dataset | None:
        """The dataset whose account pays, if the column is in one."""

    @property
    def length(self) -> int | None:
        """Number of records in a raw column; None if that is not known."""

    def read(self, paid: Paid) -> Reals:
        """One number for each person; NaN where the outcome is missing."""

    def items(self, paid: Paid) -> Sequence[Any]:
        """What the column holds, one item for each person."""


@dataclass(frozen=True)
class Raw:
    """A column in memory, one record for each person."""

    column: Any
    dataset: Dataset | None = None

    @property
    def length(self) -> int | None:
        return len(self.column)

    def read(self, paid: Paid) -> Reals:  # noqa: ARG002
        return numbers(self.column)

    def items(self, paid: Paid) -> Sequence[Any]:  # noqa: ARG002
        return listed(self.column)


class Codes(Protocol):
    """Declared labels of private records, not yet read."""

    @property
    def dataset(self) -> Dataset | None: ...

    @property
    def length(self) -> int | None: ...

    def read(self, paid: Paid) -> Integers:
        """The place of each person's label in the declared list; -1 for none."""


@dataclass(frozen=True)
class Seen:
    """What is looked at of another column, whose records these are."""

    column: Any

    @property
    def dataset(self) -> Dataset | None:
        found: Dataset | None = self.column.dataset
        return found

    @property
    def length(self) -> int | None:
        found: int | None = self.column.length
        return found


@dataclass(frozen=True)
class Labels(Seen):
    """A column whose declared labels are all that counts."""

    column: Given
    among: Sequence[Any]

    def read(self, paid: Paid) -> Integers:
        places: dict[str | None, int] = {
            name: place for place, name in enumerate(names("arms", self.among))
        }
        found = [places.get(label(one), -1) for one in self.column.items(paid)]
        return np.array(found, np.int64)


def given(argument: str, data: Any) -> Given:
    """A column as it comes: one in memory, or one of a dataset."""
    if isinstance(data, Given):
        return data
    if not _is_column(data):
        kind = type(data).__name__
        raise ArgumentError(argument, f"must be a column, not {kind}; {WAY_OUT}")
    dtype = getattr(data, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "mMV":
        raise ArgumentError(
            argument, f"must hold numbers or labels, not {dtype}; convert the column"
        )
    return Raw(data)


def _is_column(data: Any) -> bool:
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Sized):
        return False
    flat = len(getattr(data, "shape", (0,))) == 1
    return flat and (hasattr(data, "__getitem__") or hasattr(data, "__array__"))


def labels(argument: str, data: Any, among: Sequence[Any]) -> Labels:
    """A column of declared labels, such as arms."""
    names(argument, among)
    return Labels(given(argument, data), tuple(among))


def names(argument: str, among: Any) -> tuple[str, ...]:
    """Declared labels in the form in which they are compared (rule R10)."""
    wrong = isinstance(among, str | bytes | Mapping) or not isinstance(among, Sized)
    found = () if wrong else tuple(label(one) for one in among)
    if not found or len(found) > MOST_LEVELS or None in found:
        raise ArgumentError(
            argument, 'must be a list of labels, such as ("treatment", "control")'
        )
    if len(set(found)) < len(found):
        raise ArgumentError(
            argument,
            'must name each label once (1, 1.0 and "1" are the same); remove the repeated '
            "one",
        )
    return tuple(str(one) for one in found)


def label(item: Any) -> str | None:
    """A label as it is compared. One odd string among numbers or booleans can make a
    reader hold them all as strings, so a string of a number or a boolean is read as
    that.
    """
    try:
        return _label(item)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything
        return None


def _label(item: Any) -> str | None:
    if isinstance(item, bool | np.bool_):
        return str(int(item))
    if isinstance(item, str | bytes):
        return _of_words(_text(item))
    if isinstance(item, complex | np.complexfloating):
        return _of_real(float(item.real)) if item.imag == 0 else None
    if isinstance(item, float | np.floating):
        return _of_real(_real(item))
    return _short(identity(item))


def _of_words(text: str) -> str | None:
    plain = text.strip()
    word = plain.casefold()
    if word in TRUTHS:
        return str(int(TRUTHS[word]))
    if word.lstrip("+-") in NO_LABEL:
        return None
    if NUMBER.fullmatch(plain) is None:
        return identity(text)
    whole = plain.lstrip("+-").isdigit()
    return _short(identity(plain)) if whole else _of_real(float(plain))


def _short(name: str | None) -> str | None:
    """A whole number beyond the floats that are exact goes by its float: one missing
    record can make a reader hold them all as floats.
    """
    if name is None or len(name) <= MANY_DIGITS or not name.lstrip("-").isdigit():
        return name
    return _of_real(float(name))


def _text(item: str | bytes) -> str:
    if isinstance(item, bytes):
        return bytes.decode(item, "utf-8", "replace")
    return str.__str__(item)  # whatever a class of its own says


def _of_real(value: float) -> str | None:
    """A whole number by its digits, another real by the fewest that tell it."""
    if not math.isfinite(value):
        return None
    whole = value.is_integer() and abs(value) < EXACT
    return identity(value) if whole else repr(value)


def together(*columns: Given | Codes) -> None:
    """Refuse columns in memory that do not go together, person by person."""
    lengths = {one.length for one in columns if one.length is not None}
    if len(lengths) > 1:
        raise ArgumentError(
            "columns",
            "must have the same length; pass one record for each person, in the same "
            "order",
        )


def listed(column: Any) -> list[Any]:
    """The items of a column; those that are masked are None."""
    if isinstance(column, np.ma.MaskedArray):
        column = unmasked(column)
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return list(np.asarray(column))  # short floats stay short
    ways = ("to_pylist", "to_list", "tolist")
    found = next((getattr(column, way) for way in ways if hasattr(column, way)), None)
    return list(column) if found is None else list(found())


def numbers(column: Any) -> Reals:
    """One float for each item, NaN for what is not a number."""
    dtype = getattr(column, "dtype", None)
    if not isinstance(dtype, np.dtype) or isinstance(column, np.ma.MaskedArray):
        return _one_by_one(listed(column))
    array = np.asarray(column)
    if dtype.kind in "biu" or dtype == np.float64:
        return array.astype(np.float64)
    if dtype.kind == "c":  # what numpy makes of reals beside one complex number
        return np.where(array.imag == 0, array.real, np.nan).astype(np.float64)
    return _one_by_one(array.tolist() if dtype.kind == "O" else list(array))


def _one_by_one(items: Sequence[Any]) -> Reals:
    return np.array([number(one) for one in items], np.float64)


def number(item: Any) -> float:
    """One item as the nearest float. A string of a number or a boolean is read as that,
    because one odd string among them can make a reader hold them all as strings.
    """
    try:
        return _number(item)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything
        return math.nan


def _number(item: Any) -> float:
    if isinstance(item, str | bytes):
        return _of_text(_text(item).strip())
    return _real(item) if isinstance(item, np.floating) else real(item)


def _real(item: Any) -> float:
    """A short float as the number that is written for it, as in a text."""
    short = isinstance(item, np.floating) and item.itemsize < 8
    return float(str(item)) if short else float(item)


def _of_text(text: str) -> float:
    word = text.casefold()
    if word in TRUTHS:
        return float(TRUTHS[word])
    plain = word.removeprefix("+")
    if plain.removeprefix("-") in INFINITE:
        return -math.inf if plain.startswith("-") else math.inf
    return float(text) if NUMBER.fullmatch(text) else math.nan
