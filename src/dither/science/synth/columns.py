"""Columns of a synthetic table as they are declared: categories, booleans, numbers in
public bins, dates. Each turns private records into codes, and codes into new values.

A record is read by itself (`values`). A number or date beyond the declared ends counts
at the nearest end. A category that is not declared is `other`, and what is missing or
cannot be read is `missing`, where the column declares them; otherwise it has no place,
its code is -1, and its row is ignored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.synth.arrays import label_codes
from dither.science.synth.limits import MOST_SIZE, check_size, length_of
from dither.science.synth.values import EXACT, Codes, label_of, number_of, text_of

__all__ = ["NOWHERE", "Categories", "Column", "booleans", "categories"]

NOWHERE = -1
"""The code of a record that has no place in its column."""
INFERRED = (
    "public values are never read off the data, because they would reveal one person's "
    "rare value; write the values down from a public source, such as"
)


@runtime_checkable
class Column(Protocol):
    """A declared column. Codes are 0 … size − 1; the last is `missing`, if declared."""

    @property
    def missing(self) -> bool: ...

    @property
    def kind(self) -> str:
        """What its values are: "text", "whole", "truth", "real" or "date"."""

    @property
    def size(self) -> int:
        """Number of codes."""

    @property
    def labels(self) -> tuple[Any, ...]:
        """What to call each code: a category, the text of a bin, None for missing."""

    def place(self, item: Any) -> int:
        """The code of one record, -1 for none."""

    def code(self, values: Any) -> Codes:
        """The code of each record of a column: as `place` says, but fast."""

    def decode(self, codes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """A value for each code. What is missing is masked, or None, NaN or NaT."""


@dataclass(frozen=True)
class Categories:
    """Values of a public list. All are strings, all whole numbers, or all booleans.
    With `exact`, all are strings that are compared as they are written.
    """

    values: tuple[Any, ...]
    other: Any = None
    missing: bool = False
    exact: bool = False
    places: dict[str | None, int] = field(init=False, repr=False, compare=False)
    """The code of each label, in the form in which labels are compared."""

    def __post_init__(self) -> None:
        check_flag("missing", self.missing)
        check_flag("exact", self.exact)
        listed = _listed(self.values)
        labels = [self.label(value) for value in listed]
        if self.other is not None and self.label(self.other) not in labels:
            listed, labels = (*listed, self.other), [*labels, self.label(self.other)]
        _set(self, "values", listed)
        _set(self, "values", tuple(TYPES[self.kind](value) for value in listed))
        _set(self, "places", {label: code for code, label in enumerate(labels)})
        if len(self.places) < len(self.values):
            raise ArgumentError(
                "categories",
                "must list each value once (1, 1.0, True and '1' are the same value); drop "
                "duplicates",
            )
        check_size("categories", self.size)

    def label(self, item: Any) -> str | None:
        """One record in the form in which labels are compared; None for missing."""
        return text_of(item) if self.exact else label_of(item)

    def _kind(self, value: Any) -> str | None:
        if isinstance(value, bool | np.bool_):
            return "truth"
        if isinstance(value, int | np.integer):
            return "whole" if -EXACT < value < EXACT else None
        plain = isinstance(value, str) and self.label(value) is not None
        return "text" if plain else None

    @cached_property
    def kind(self) -> str:
        """ "text", "whole" or "truth"."""
        kinds = {self._kind(value) for value in self.values}
        if self.exact and kinds != {"text"}:
            words = (
                "must be strings with exact=True, because numbers are compared by value"
            )
            raise ArgumentError("categories", words)
        if len(kinds) > 1 or None in kinds:
            raise ArgumentError(
                "categories",
                "must be all strings, all whole numbers below 2**53, or all booleans; "
                "write mixed values as strings, and other numbers as numbers(edges=[…])",
            )
        return str(kinds.pop())

    @property
    def size(self) -> int:
        return len(self.values) + self.missing

    @property
    def labels(self) -> tuple[Any, ...]:
        return (*self.values, *([None] if self.missing else []))

    @cached_property
    def _places(self) -> dict[str | None, int]:
        nothing = len(self.values) if self.missing else NOWHERE
        return {**self.places, None: nothing}

    @cached_property
    def _unknown(self) -> int:
        if self.other is None:
            return NOWHERE
        return self.places[self.label(self.other)]

    def place(self, item: Any) -> int:
        """The code of one record, -1 for none."""
        return self._places.get(self.label(item), self._unknown)

    def code(self, values: Any) -> Codes:
        """The code of each record of a column."""
        return label_codes(values, self.place, *self._numbers, self._unknown)

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.float64], Codes]:
        """The labels that are numbers, in order, with their codes."""
        # a text such as "007" is no number's own label
        own = (one for one in self.places.items() if label_of(one[0]) == one[0])
        read = ((number_of(label), code) for label, code in own)
        listed = sorted(one for one in read if math.isfinite(one[0]))
        return (
            np.array([number for number, _ in listed], np.float64),
            np.array([code for _, code in listed], np.int32),
        )

    DTYPES: ClassVar[dict[str, Any]] = {
        "text": object,
        "whole": np.int64,
        "truth": np.bool_,
    }

    def decode(self, codes: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """The category of each code; None or masked where it is missing."""
        text = self.kind == "text"
        nothing = [None if text else self.values[0]] if self.missing else []
        held = np.empty(self.size, self.DTYPES[self.kind])
        held[:] = [*self.values, *nothing]
        found = held[codes]
        return found if text else masked(found, self, codes)


def masked(
    found: NDArray[Any], column: Column, codes: NDArray[np.integer[Any]]
) -> NDArray[Any]:
    """Values of a type without a sign for what is missing."""
    if not column.missing:
        return found
    return np.ma.MaskedArray(found, codes == column.size - 1)


def categories(
    values: Sequence[Any],
    *,
    other: Any = None,
    missing: bool = False,
    exact: bool = False,
) -> Categories:
    """A column of public values: `categories(["a", "b"], other="other")`.

    Values are all strings, all integers or all booleans. A record whose value is not
    among them counts as `other`, which may be one of them; without it, its row counts
    for nobody. With `missing=True`, what is missing is a category too, and comes out as
    None.

    How a reader holds numbers can depend on one odd record, so 7, 7.0, "7" and "007" are
    one value. With `exact=True`, texts are compared as they are written.
    """
    return Categories(values, other, missing, exact)  # type: ignore[arg-type]


def booleans(*, missing: bool = False) -> Categories:
    """A column of True and False. 1, 0, "true" and "false" are read as these; of other
    words, such as "yes" and "no", make `categories`.
    """
    return Categories((False, True), None, missing)


def _listed(values: Any) -> tuple[Any, ...]:
    """A list that somebody wrote down; columns and types of a frame are refused."""
    if not isinstance(values, list | tuple | range):
        kind = type(values).__name__
        raise ArgumentError(
            "categories", f'cannot be of type {kind}: {INFERRED} ["f", "m"]'
        )
    if not 0 < length_of(values) <= MOST_SIZE:
        raise ArgumentError(
            "categories",
            f"must list 1 to {MOST_SIZE:,} values; pass ['f', 'm'] for example",
        )
    return tuple(values)


TYPES = {"truth": bool, "whole": int, "text": str}


def check_flag(argument: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ArgumentError(argument, "must be True or False")


def _set(value: Any, name: str, to: Any) -> None:
    """Put a value of a frozen dataclass in its one form, while it is made."""
    object.__setattr__(value, name, to)
