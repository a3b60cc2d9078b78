"""Labels of places and categories, in the one form in which they are compared.

A label is a whole number, a truth, or a text that is no number. How a reader holds a
column can depend on one odd record (numbers become texts, or floats), so a text that is
a whole number is that number, and a text that is a truth is that truth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms.values import unmasked
from dither.science.ids import EXACT, identity

__all__ = ["Codes", "Coding", "canonical", "declared", "items_of"]

Codes = NDArray[np.int64]

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
TRUTHS = {"true": "1", "false": "0"}
NOT_NUMBERS = ("nan", "inf", "infinity")
DIGITS = 15
LONGEST = 200
"""Characters of a label: a longer text in the data is none."""
PLAIN = frozenset({str, int, float, bool, type(None)})
"""Types that compare as one expects, so that what was read once need not be read again."""


def canonical(item: Any) -> str | None:
    """A label as it is compared; None for what is none: missing, a fraction, a number
    of 2^53 or more, a text that is too long, or anything else.
    """
    try:
        return _canonical(item)
    except Exception:  # a class of its own may raise anything
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
    if NUMBER.fullmatch(text) is not None:
        value = float(text)
        whole = math.isfinite(value) and value.is_integer() and abs(value) < EXACT
        return str(int(value)) if whole else None
    return _of_words(text)


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
            f"{whose} holds {wrong!r:.40}, which is no label; a label is a text, a "
            "truth, or a whole number below 2^53; leave the line out, or name the "
            'unknown, such as "unknown"',
        )
    sure = [one for one in found if one is not None]
    _check_written(argument, whose, sure)
    return sure


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
                    f"{whose} holds a text that not every database can hold; leave "
                    "out zeros and halves of characters",
                )


class Coding:
    """The place of each declared label, by whatever it is written as in the data; -1
    for what is not declared.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._places: dict[str | None, int] = {
            name: place for place, name in enumerate(names)
        }

    def codes(self, items: Sequence[Any]) -> Codes:
        """One place for each item. Each is read by itself (rule R1)."""
        plain = set(map(type, items)) <= PLAIN
        if not plain:
            return self._one_by_one(items)
        # What is written alike is read once.
        known = {item: self._place(item) for item in set(items)}
        return np.fromiter(map(known.__getitem__, items), np.int64, len(items))

    def _one_by_one(self, items: Sequence[Any]) -> Codes:
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


def items_of(column: Any) -> list[Any]:
    """The items of a column as plain values; those that are masked are None."""
    if isinstance(column, np.ma.MaskedArray):
        column = unmasked(column)
    ways = ("to_pylist", "to_list", "tolist")
    found = next((getattr(column, way) for way in ways if hasattr(column, way)), None)
    return list(column) if found is None else list(found())
