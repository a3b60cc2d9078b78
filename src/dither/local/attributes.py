"""Several attributes of one device, of which it answers one, or one pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.domain import Domain, canonical
from dither.local.numbers import MEAN, Numbers
from dither.local.oracles.sampled import MOST_PARTS
from dither.local.words import Words

__all__ = ["Attributes"]

LARGEST = 1 << 24  # cells of a two-way table


@dataclass(frozen=True)
class Attributes:
    """Named attributes, each with the values it may have; or numbers, of which the mean
    is asked. A device answers one of them; with `pairs`, two at once, for two-way
    tables.
    """

    fields: tuple[tuple[str, Domain | Numbers], ...]
    pairs: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(tuple(one) for one in self.fields))
        names = [name for name, _ in self.fields]
        if not all(isinstance(name, str) and canonical(name) for name in names):
            raise ArgumentError(
                "domain",
                "must name each attribute by a string that is not empty; pass names "
                'such as "age"',
            )
        if len(set(names)) != len(names) or len(names) < 2:
            raise ArgumentError(
                "domain",
                "must have at least two attributes with different names; add one, or "
                "ask about its values alone",
            )
        if len(names) > MOST_PARTS:  # before any pairs are made of them
            raise ArgumentError(
                "domain",
                f"has more than {MOST_PARTS} attributes; split them over two tasks",
            )
        if type(self.pairs) is not bool:
            raise ArgumentError("pairs", "must be True or False")
        for name, domain in self.fields:
            self._check(name, domain)
        if len(self.parts) > MOST_PARTS:
            raise ArgumentError(
                "domain",
                f"has more than {MOST_PARTS} pairs of attributes; pass fewer "
                "attributes",
            )
        if self.pairs and max(self.sizes) > LARGEST:
            raise ArgumentError(
                "domain",
                f"has two attributes with more than {LARGEST:,} pairs of values; pass "
                "fewer values",
            )

    def _check(self, name: str, domain: Domain | Numbers) -> None:
        if isinstance(domain, Numbers):
            if self.pairs or domain.ask != MEAN:
                raise ArgumentError(
                    "domain",
                    f"the numbers of the attribute {name!r} can only be asked for "
                    "their mean, and without pairs; pass a list of values instead, "
                    "such as range(101)",
                )
        elif not isinstance(domain, Domain):
            raise ArgumentError(
                "domain",
                f"the attribute {name!r} must be a local.Domain or local.Numbers; pass "
                "for example local.Domain([True, False])",
            )

    def __str__(self) -> str:
        what = "pairs of attributes" if self.pairs else "attributes"
        return f"one of {len(self.parts)} {what}"

    @cached_property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The names that each part of the question asks for."""
        names = [name for name, _ in self.fields]
        return tuple(combinations(names, 2 if self.pairs else 1))

    @cached_property
    def domains(self) -> dict[str, Domain | Numbers]:
        return dict(self.fields)

    def part(self, wanted: str | Sequence[str]) -> tuple[int, bool]:
        """The number of the part that asks for these, and whether the other way round."""
        several = isinstance(wanted, Sequence) and not isinstance(wanted, str)
        names = tuple(wanted) if several else (wanted,)
        for turned in (False, True):
            if (names[::-1] if turned else names) in self.parts:
                return self.parts.index(names[::-1] if turned else names), turned
        what = "a pair of attributes" if self.pairs else "an attribute"
        known = ", ".join(name for name, _ in self.fields)
        single = not self.pairs and len(names) > 1
        hint = "; make a task with pairs=True for tables of two" if single else ""
        raise ArgumentError("candidates", f"must be {what} of the task: {known}{hint}")

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(
            int(np.prod([self._items(name) for name in names])) for names in self.parts
        )

    def _items(self, name: str) -> int:
        return self.domains[name].sizes[0]

    @property
    def different(self) -> int:
        return max(self.sizes)

    def places(self, values: Any, words: Words) -> NDArray[Any]:
        """Rows are mappings, or one mapping of columns (such as a data frame)."""
        columns = {
            name: domain.places(_column(values, name, domain), words)
            for name, domain in self.fields
        }
        if len({len(column) for column in columns.values()}) > 1:
            raise ArgumentError("values", "must be columns of equal length")
        found = [self._joined(names, columns) for names in self.parts]
        return found[0] if len(found) == 1 else np.stack(found, axis=1)

    def _joined(self, names: tuple[str, ...], places: Mapping[str, Any]) -> Any:
        """One number for the items of all names: the first is the highest digit."""
        joined = places[names[0]]
        for name in names[1:]:
            joined = joined * self._items(name) + places[name]
        return joined

    def answer(self, value: object, part: int) -> tuple[bytes | None, int]:
        names = self.parts[part]
        given = value if isinstance(value, Mapping) else {}
        if not self.pairs:
            return self.domains[names[0]].answer(given.get(names[0]), 0)
        places = {name: self._place(name, given.get(name)) for name in names}
        if min(places.values()) < 0:
            return None, -1
        joined = int(self._joined(names, places))
        return b"i:%d" % joined, joined

    def _place(self, name: str, value: object) -> int:
        """The item of one of two values; "none" where it has none."""
        domain = self.domains[name]
        _, place = domain.answer(value, 0)
        nothing = domain.nothing(0)
        return place if place >= 0 or nothing is None else nothing

    def nothing(self, part: int) -> int | None:
        """Of a pair, each value has its own "none"."""
        return None if self.pairs else self.domains[self.parts[part][0]].nothing(0)

    def name(self, part: int, item: int) -> str:
        said = []
        for name in self.parts[part][::-1]:
            item, own = divmod(item, self._items(name))
            said.append(f"{name} {self.domains[name].name(0, own)}")
        return ", ".join(said[::-1])

    def written(self) -> dict[str, Any]:
        named = [[name, domain.written()] for name, domain in self.fields]
        return {"attributes": named, "pairs": self.pairs}


def _column(values: Any, name: str, domain: Domain | Numbers) -> Any:
    """One attribute of all rows."""
    if isinstance(values, Mapping) or hasattr(values, "columns"):
        return _plain(_named(values, name), domain)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ArgumentError("values", "must be a list of mappings, or a data frame")
    return [row.get(name) if isinstance(row, Mapping) else None for row in values]


def _named(values: Any, name: str) -> Any:
    """A column of a mapping or a frame (whose names Arrow keeps elsewhere)."""
    names = values
    if not isinstance(values, Mapping):
        names = getattr(values, "column_names", None)
        # a column of pandas can have that name
        names = names if isinstance(names, list) else values.columns
    if name not in names:
        raise ArgumentError(
            "values",
            f"have no column {name!r}, which the task asks for; add it, with None if a "
            "device has no answer",
        )
    return values[name]


def _plain(column: Any, domain: Domain | Numbers) -> Any:
    """A column as an array; as a list where whole numbers would become others because
    some are missing.
    """
    if not hasattr(column, "to_numpy"):
        return column
    found = column.to_numpy()
    if found.dtype.kind == "f" and isinstance(domain, Domain):
        return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return found
