"""What is counted about people: declared categories, or numbers in bins with public
edges. The cross of all attributes is one table of cells for each place.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.mechanisms.values import real
from dither.science.arrays import booleans, items_of, numeric
from dither.science.census.labels import LONGEST, Codes, Coding, declared

__all__ = ["Attribute", "Attributes", "Categories", "Edges", "attributes_of", "edges"]

Reals = NDArray[np.float64]

NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
MOST = 8
MOST_CATEGORIES = 10_000
EXAMPLE = '{"sex": ["f", "m"], "age": census.edges([0, 18, 65, 110])}'
LARGEST = 2.0**53


class Attribute(Protocol):
    """One declared attribute."""

    @property
    def labels(self) -> tuple[Any, ...]:
        """What its categories are called, in order."""

    def codes(self, column: Any) -> Codes:
        """The category of each item of a column; -1 for none."""


@dataclass(frozen=True, eq=False)
class Categories:
    """An attribute with declared categories."""

    labels: tuple[Any, ...]
    names: tuple[str, ...]

    def codes(self, column: Any) -> Codes:
        return Coding(self.names).codes(column)


@dataclass(frozen=True)
class Edges:
    """A number in bins: from each edge up to the next, which belongs to the next bin;
    the last one belongs to the last bin. Numbers outside are in none.
    """

    edges: tuple[float, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        pairs = [*pairwise(map(_written, self.edges))]
        *others, (low, high) = pairs
        return (*(f"[{one}, {two})" for one, two in others), f"[{low}, {high}]")

    def codes(self, column: Any) -> Codes:
        numbers = _numbers(column)
        place = np.searchsorted(self.edges, numbers, side="right") - 1
        place = np.where(numbers == self.edges[-1], len(self.edges) - 2, place)
        inside = (numbers >= self.edges[0]) & (numbers <= self.edges[-1])
        return np.where(inside, place, -1).astype(np.int64)


def edges(cuts: Sequence[float]) -> Edges:
    """Public edges of a number's bins, rising: `edges([0, 18, 65, 110])` has three."""
    listed = () if isinstance(cuts, str | bytes | Mapping) else cuts
    wrong = not isinstance(listed, Iterable)
    found = () if wrong else tuple(_number(one) for one in listed)
    rising = all(low < high for low, high in pairwise(found))
    fine = all(math.isfinite(one) and abs(one) <= LARGEST for one in found)
    if len(found) < 2 or not rising or not fine or len(found) > MOST_CATEGORIES:
        raise ArgumentError(
            "edges", "must be two or more increasing numbers, such as [0, 18, 65, 110]"
        )
    return Edges(found)


def _numbers(column: Any) -> Reals:
    """Each item as a float, NaN for what is not a number."""
    found = None if booleans(column) else numeric(column)
    if found is not None:
        return found
    items = items_of(column)
    return np.fromiter(map(_number, items), np.float64, len(items))


def _number(item: Any) -> float:
    """One item as a float, by itself; NaN for what is not a number. A string that is a
    number is read as that number: one odd string among numbers makes strings of them
    all.
    """
    if type(item) is float:
        return item
    try:
        if isinstance(item, bool | np.bool_):
            return math.nan
        if isinstance(item, str | bytes):
            text = item.decode("utf-8", "replace") if isinstance(item, bytes) else item
            return (
                float(text)
                if len(text) <= LONGEST and NUMBER.fullmatch(text)
                else math.nan
            )
        if isinstance(item, complex | np.complexfloating):
            # what one complex number makes of all reals beside it
            return float(item.real) if item.imag == 0 else math.nan
        return float(real(item))
    except KeyboardInterrupt:
        raise
    except BaseException:  # a class of its own may raise anything
        return math.nan


def _written(edge: float) -> str:
    return str(int(edge)) if float(edge).is_integer() else repr(float(edge))


@dataclass(frozen=True, eq=False)
class Attributes:
    """All attributes by name; cells are their cross, the last running fastest."""

    named: Mapping[str, Attribute]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.named)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(one.labels) for one in self.named.values())

    @property
    def cells(self) -> int:
        return math.prod(self.sizes)

    def place(self, name: Any, argument: str) -> int:
        if name in self.named:
            return self.names.index(name)
        listed = ", ".join(map(repr, self.names))
        way_out = f"use one of {listed}" if listed else "declare it in attributes="
        raise ArgumentError(
            argument, f"the census has no attribute {name!r:.40}; {way_out}"
        )

    def labels(self, marginal: Sequence[int]) -> list[tuple[Any, ...]]:
        """The labels of each cell of a marginal."""
        held = list(self.named.values())
        return list(product(*(held[place].labels for place in marginal)))

    def weights(self, where: Mapping[str, Any] | None) -> Reals:
        """A weight for each cell: 1 where all named categories fit."""
        found = np.ones(self.sizes)
        if where is not None and not isinstance(where, Mapping):
            raise ArgumentError(
                "where", 'must be categories by attribute, such as {"sex": "f"}'
            )
        for name, wanted in (where or {}).items():
            axis = self.place(name, "where")
            several = isinstance(wanted, list | tuple | set | frozenset | np.ndarray)
            chosen = np.zeros(self.sizes[axis])
            for one in wanted if several else [wanted]:
                chosen[self.code(name, one, "where")] = 1
            shape = [-1 if a == axis else 1 for a in range(found.ndim)]
            found = found * chosen.reshape(shape)
        return found.reshape(-1)

    def code(self, name: str, label: Any, argument: str) -> int:
        """The category of a declared label."""
        held = self.named[name]
        found = held.labels.index(label) if label in held.labels else None
        if found is None and isinstance(held, Categories):
            found = int(held.codes([label])[0])
        if found is None or found < 0:
            listed = ", ".join(map(repr, held.labels[:12]))
            raise ArgumentError(
                argument,
                f"the attribute {name!r} has no category {label!r:.40}; use one of "
                f"{listed}",
            )
        return found


def attributes_of(declared_: Any, dataset: Dataset | None = None) -> Attributes:
    """Attributes from categories or edges by name; a name in a list takes the keys that
    a dataset has for it.
    """
    if declared_ is None:
        return Attributes({})
    named = _by_name(declared_, dataset)
    if len(named) > MOST:
        raise ArgumentError(
            "attributes", f"must be at most {MOST}, not {len(named)}; drop some"
        )
    return Attributes({name: _one(name, one) for name, one in named.items()})


def _by_name(given: Any, dataset: Dataset | None) -> dict[str, Any]:
    if isinstance(given, Mapping):
        named = dict(given)
    elif dataset is not None and isinstance(given, list | tuple):
        keys = dataset.keys
        named = {name: keys.get(name) for name in given}
        missing = next((name for name, one in named.items() if one is None), None)
        if missing is not None:
            raise ArgumentError(
                "attributes",
                f"the column {missing!r:.40} has no declared keys in the dataset; "
                f"declare its categories here: attributes={EXAMPLE}",
            )
    else:
        raise ArgumentError(
            "attributes", f"must be categories by name, such as {EXAMPLE}"
        )
    if not all(isinstance(name, str) and name.strip() for name in named):
        raise ArgumentError(
            "attributes",
            f"must have non-empty strings as names; pass one such as {EXAMPLE}",
        )
    return named


def _one(name: str, given: Any) -> Attribute:
    if isinstance(given, Edges):
        return given
    wrong = isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable)
    listed = () if wrong else tuple(given)
    if not listed or len(listed) > MOST_CATEGORIES:
        raise ArgumentError(
            "attributes",
            f"the attribute {name!r} must have 1 to {MOST_CATEGORIES:,} categories; "
            f"pass a list or edges, such as attributes={EXAMPLE}",
        )
    names = declared("attributes", f"the attribute {name!r}", listed)
    ((double, times),) = Counter(names).most_common(1)
    if times > 1:
        raise ArgumentError(
            "attributes",
            f"the attribute {name!r} has the category {double!r} twice; list each "
            "category once",
        )
    return Categories(listed, tuple(names))
