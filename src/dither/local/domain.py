"""The items a task counts: declared values, and "none" for everything else."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.words import Words, below

__all__ = ["Counted", "Domain", "canonical", "canonical_text", "filled"]

Whole = NDArray[np.int64]

MOST = 1 << 30  # values


def canonical(value: object) -> bytes | None:
    """The bytes a value is known by in every language; None if it has none.

    Text is in Unicode's form NFC and UTF-8, so that an emoji or an accent counts once
    however it was typed. 1, True and "1" are three values.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    match plain:
        case bool():
            return b"b:1" if plain else b"b:0"
        case int() if plain.bit_length() <= 1 << 10:  # no text for longer ones
            return b"i:%d" % plain
        case str():
            return canonical_text(plain)
    return None


def canonical_text(text: str) -> bytes | None:
    """The bytes of a string; None for the empty one and for one that is not valid
    Unicode.
    """
    try:
        encoded = unicodedata.normalize("NFC", text).encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    return b"s:" + encoded if encoded else None


class Counted(Protocol):
    """The values that a task counts: it gives each value an item, or an item of each
    part if a device samples one of several questions.
    """

    @property
    def sizes(self) -> tuple[int, ...]:
        """The items of each part; 0 where they are digests of strings."""

    @property
    def different(self) -> int:
        """Number of answers, besides "none", that a device can have to one part."""

    def places(self, values: Any, words: Words) -> NDArray[Any]:
        """The items of many values."""

    def answer(self, value: object, part: int) -> tuple[bytes | None, int]:
        """The canonical bytes of a value's answer to a part, and its item; None and −1
        for a value outside the part.
        """

    def nothing(self, part: int) -> int | None:
        """The item of "none"; None if it is a random one."""

    def name(self, part: int, item: int) -> str:
        """The name of an item."""

    def written(self) -> dict[str, Any]:
        """The domain as a task's document has it."""


def filled(places: Whole, nothing: int | None, items: int, words: Words) -> Whole:
    """Put "none", or a random item, if there is no place."""
    outside = np.flatnonzero(places < 0)
    if outside.size:
        places[outside] = (
            below(words, items, outside.size) if nothing is None else nothing
        )
    return places


@dataclass(frozen=True)
class Domain:
    """Declared values, numbered in their order; with `none`, one more item for all
    other values. Without it, another value is sent as a uniformly random item, which
    pulls all estimates together a little.

    A range stands for the whole numbers in it.
    """

    values: tuple[Any, ...] | range
    none: bool = True
    _places: dict[bytes, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if type(self.none) is not bool:
            raise ArgumentError("none", "must be True or False")
        if isinstance(self.values, range):
            size = (self.values.stop - self.values.start) // self.values.step
            if size > MOST:
                raise ArgumentError(
                    "domain",
                    f"must have at most {MOST:,} values; pass a coarser domain",
                )
        else:
            object.__setattr__(self, "values", tuple(self.values))
        places = {} if isinstance(self.values, range) else _numbered(self.values)
        object.__setattr__(self, "_places", places)
        if not self.values:
            raise ArgumentError("domain", "is empty; list the values to count")

    @property
    def items(self) -> int:
        return len(self.values) + self.none

    @cached_property
    def keys(self) -> tuple[Any, ...]:
        """What the items are called; "none" is None."""
        return (*self.values, None) if self.none else tuple(self.values)

    def place(self, value: object) -> int:
        """The number of a value's item; −1 for a value outside."""
        if isinstance(self.values, range):
            plain = value.item() if isinstance(value, np.generic) else value
            if not isinstance(plain, int) or isinstance(plain, bool):
                return -1
            number = int(plain)  # an enumeration would be looked for one by one
            return self.values.index(number) if number in self.values else -1
        return self._places.get(canonical(value) or b"", -1)

    def places(self, values: Any, words: Words) -> Whole:
        """The items of many values; values outside become "none"."""
        if isinstance(values, str | bytes):
            raise ArgumentError("values", "must be a list of values, not one string")
        return filled(self._found(values), self.nothing(), self.items, words)

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.items,)

    @property
    def different(self) -> int:
        return len(self.values)

    def answer(self, value: object, part: int = 0) -> tuple[bytes | None, int]:  # noqa: ARG002
        known, place = canonical(value), self.place(value)
        return (known, place) if known and place >= 0 else (None, -1)

    def nothing(self, part: int = 0) -> int | None:  # noqa: ARG002
        return len(self.values) if self.none else None

    def name(self, part: int, item: int) -> str:  # noqa: ARG002
        return str(self.values[item]) if item < len(self.values) else "none"

    def written(self) -> dict[str, Any]:
        values = self.values
        if isinstance(values, range):
            return {"from": values.start, "below": values.stop, "none": self.none}
        return {"values": list(values), "none": self.none}

    def _found(self, values: Any) -> Whole:
        integers = isinstance(values, np.ndarray) and values.dtype.kind in "ui"
        if integers and isinstance(self.values, range) and self.values.step == 1:
            start, stop = self.values.start, self.values.stop
            if values.size and start <= values.min() and values.max() < stop:
                places: Whole = values.astype(np.int64) - start
                return places
            inside = (values >= start) & (values < stop)
            return np.where(inside, values.astype(np.int64) - start, -1)
        return np.fromiter(self._each(values), np.int64)

    def _each(self, values: Iterable[Any]) -> Iterator[int]:
        known: dict[tuple[type, Any], int] = {}
        for value in values.tolist() if isinstance(values, np.ndarray) else values:
            try:
                key = (type(value), value)
                place = known.get(key)
            except TypeError:  # not hashable, so not a value either
                yield -1
                continue
            if place is None:
                place = known[key] = self.place(value)
            yield place


def _numbered(values: Sequence[Any]) -> dict[bytes, int]:
    places: dict[bytes, int] = {}
    for number, value in enumerate(values):
        known = canonical(value)
        if known is None:
            raise ArgumentError(
                "domain",
                f"contains {value!r:.40}, which is not a valid value; use strings that "
                "are not empty, whole numbers, True and False",
            )
        if known in places:
            raise ArgumentError(
                "domain",
                f"contains {value!r:.40} twice (in Unicode form NFC); remove one of "
                "them",
            )
        places[known] = number
    return places
