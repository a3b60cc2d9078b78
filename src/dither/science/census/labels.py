"""Labels of places and categories, in the one form in which they are compared.

A label is a whole number, a boolean, or a string that is not a number. How a reader
holds a column can depend on one odd record (numbers become strings, or floats), so
strings of digits are read as numbers, and strings of booleans as booleans.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.ids import EXACT, identity
from dither.science.arrays import items_of, named, numeric

__all__ = ["Codes", "Coding", "canonical", "declared"]

Codes = NDArray[np.int64]
Reals = NDArray[np.float64]

NUMBER = re.compile(r"\s*([+-]?)(\d*)\.?(\d*)\s*", re.ASCII)
"""Without an exponent: 12E3 is the name of a place."""
TRUTHS = {"true": "1", "false": "0"}
NOT_NUMBERS = ("nan", "inf", "infinity")
DIGITS = 15
LONGEST = 200
"""Characters of a label: a longer text in the data is none."""
ROOM = 8
"""A table with so many places for each label is small enough."""
PLAIN = frozenset({str, int, float, bool, type(None)})
"""Types that compare as one expects, so that what was read once need not be read again."""


def canonical(item: Any) -> str | None:
    """A label as it is compared; None for what is none: missing, a fraction, a number
    of 2^53 or more, a text that is too long, or anything else.
    """
    try:
        return _canonical(item)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything
        return None


def _canonical(item: Any) -> str | None:
    if isinstance(item, str):
        return _of_text(str.__str__(item))
    if isinstance(item, bytes):
        return _of_text(item.decode("utf-8", "replace"))
    if isinstance(item, bool | np.bool_):
        return "1" if item else "0"
    found = identity(item)
    return found if found is not None and _short(found) else None


def _short(digits: str) -> bool:
    return abs(int(digits)) < EXACT


def _of_text(text: str) -> str | None:
    if len(text) > LONGEST:
        return None
    if text.isdigit() and text.isascii() and len(text) <= DIGITS:
        return text.lstrip("0") or "0"  # the usual case
    number = NUMBER.fullmatch(text)
    if number is not None and (number[2] or number[3]):
        return _of_number(*number.groups())
    return _of_words(text)


def _of_number(sign: str, digits: str, fraction: str) -> str | None:
    value = int(sign + (digits or "0"))
    whole = not fraction.strip("0") and abs(value) < EXACT
    return str(value) if whole else None


def _of_words(text: str) -> str | None:
    word = text.strip().lower()
    if not word or word.lstrip("+-") in NOT_NUMBERS:
        return None
    return TRUTHS.get(text.strip(" ").lower(), text)  # as TRIM does in databases


def declared(argument: str, whose: str, items: Iterable[Any]) -> list[str]:
    """Declared labels as they are compared. They are public, so a wrong one is named."""
    found = [canonical(one) for one in items]
    if None in found:
        wrong = list(items)[found.index(None)]
        raise ArgumentError(
            argument,
            f"{whose} has {wrong!r:.40}, which is not a label: labels are strings, "
            "booleans and whole numbers below 2^53; leave the line out, or write a "
            'string such as "unknown"',
        )
    sure = [one for one in found if one is not None]
    _check_written(argument, whose, sure)
    _check_apart(argument, whose, items, sure)
    return sure


def _check_apart(
    argument: str, whose: str, items: Iterable[Any], names: Sequence[str]
) -> None:
    """Refuse two strings that are one label: two places would become one."""
    first: dict[str, str] = {}
    for item, name in zip(items, names, strict=True):
        text = str.__str__(item) if isinstance(item, str) else None
        if text is not None and first.setdefault(name, text) != text:
            raise ArgumentError(
                argument,
                f"{whose} has {first[name]!r:.40} and {text!r:.40}, which are the same "
                "label, because strings of numbers and booleans are compared by value; "
                'write each label the same everywhere, or add a letter, such as "n01"',
            )


def _check_written(argument: str, whose: str, names: Sequence[str]) -> None:
    """Refuse what not every engine can hold."""
    for name in names:
        if not name.isascii() or "\0" in name:
            try:
                fine = "\0" not in name and bool(name.encode())
            except UnicodeEncodeError:
                fine = False
            if not fine:
                raise ArgumentError(
                    argument,
                    f"{whose} has a string that not every database can store; remove "
                    "null characters and unpaired surrogates from it",
                )


class Coding:
    """The place of each declared label, by whatever it is written as in the data; -1
    for what is not declared.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[str | None, int] = {
            name: place for place, name in enumerate(names)
        }

    def codes(self, column: Any) -> Codes:
        """One place for each item of a column. Each is read by itself (rule R1)."""
        numbers = numeric(column)
        if numbers is not None:
            return self._numbers.places(numbers)
        known = named(column)
        if known is None:
            return self.one_by_one(items_of(column))
        places, names = known
        codes = np.append(self.one_by_one(names), -1)
        found: Codes = codes[places]
        return found

    @cached_property
    def _numbers(self) -> Numbers:
        """The labels that are numbers."""
        whole = {
            int(name): place
            for name, place in self._places.items()
            if name is not None and _is_whole(name)
        }
        return Numbers.of(whole)

    def one_by_one(self, items: Sequence[Any]) -> Codes:
        """The same, for the items of any column."""
        plain = set(map(type, items)) <= PLAIN
        if not plain:
            return self._odd(items)
        # What is written alike is read once.
        known = {item: self._place(item) for item in set(items)}
        return np.fromiter(map(known.__getitem__, items), np.int64, len(items))

    def _odd(self, items: Sequence[Any]) -> Codes:
        """What compares in a way of its own must not stand for anything else."""
        known: dict[Any, int] = {}
        found = np.empty(len(items), np.int64)
        for place, item in enumerate(items):
            if type(item) not in PLAIN:
                found[place] = self._place(item)
            elif item in known:
                found[place] = known[item]
            else:
                found[place] = known[item] = self._place(item)
        return found

    def _place(self, item: Any) -> int:
        return self._places.get(canonical(item), -1)


def _is_whole(name: str) -> bool:
    return name.removeprefix("-").isdigit() and name.isascii()


@dataclass(frozen=True, eq=False)
class Numbers:
    """Whole numbers below 2^53 in order, and the place of each."""

    values: Reals
    codes: Codes

    @classmethod
    def of(cls, places: Mapping[int, int]) -> Numbers:
        ordered = sorted(places.items())
        return cls(
            np.array([value for value, _ in ordered], np.float64),
            np.array([place for _, place in ordered], np.int64),
        )

    @cached_property
    def _dense(self) -> Codes | None:
        """The place of each number from the least to the largest, if they are close."""
        if not self.values.size:
            return None
        low, high = self.values[[0, -1]].tolist()
        if high - low > ROOM * self.values.size:
            return None
        found = np.full(int(high - low) + 1, -1, np.int64)
        found[(self.values - low).astype(np.int64)] = self.codes
        return found

    def places(self, numbers: Reals) -> Codes:
        """The place of each number, -1 where it is not declared. Rounding to floats
        merges numbers of 2^53 and more only, which are none of these.
        """
        if not self.values.size:
            return np.full(numbers.size, -1, np.int64)
        dense = self._dense
        if dense is None:
            near = np.searchsorted(self.values, numbers)
            near[near == self.values.size] = 0
            return np.where(self.values[near] == numbers, self.codes[near], -1)
        low, high = self.values[[0, -1]]
        inside = (numbers >= low) & (numbers <= high)
        near = np.where(inside, numbers, low).astype(np.int64) - int(low)
        same = inside & (near + low == numbers)
        return np.where(same, dense[near], -1)
