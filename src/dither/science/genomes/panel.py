"""The panel: which variants a question is about, declared and never read off the data
(rule R6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dither.errors import ArgumentError
from dither.text import clean

__all__ = ["Panel", "Place", "known_at", "repeated", "text"]

Place = tuple[str, int, str, str]
"""Chromosome, position, reference allele, alternative allele."""

MOST = 100_000_000
WAY_OUT = 'pass the ids in a list, such as ["rs123", "1:2345:A:G"]'


@dataclass(frozen=True)
class Panel:
    """Variants in their declared order, each once.

    An entry is an id ("rs123") or a place with its alleles: "1:2345:A:G", or the same
    as a tuple of four. Only the latter picks an allele of a record that has several.
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, panel: Any, argument: str = "panel") -> Panel:
        names = tuple(_name(one, argument) for one in _listed(panel, argument))
        if not 0 < len(names) <= MOST:
            words = f"must name between 1 and {MOST:,} variants; {WAY_OUT}"
            raise ArgumentError(argument, words)
        twice = repeated(names)
        if twice is not None:
            raise ArgumentError(
                argument,
                f"names {clean(twice)!r:.60} more than once; name each variant once",
            )
        return cls(names)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def by_name(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def by_place(self) -> dict[Place, int]:
        places = ((_place(name), number) for number, name in enumerate(self.names))
        return {place: number for place, number in places if place is not None}

    def found(
        self, name: str, chromosome: str, position: int, alleles: Sequence[str]
    ) -> Iterator[tuple[int, int]]:
        """(number in the panel, number of the counted allele) for each entry that a
        record of a file is about.

        An id alone does not say which of several alternatives is meant, so such a
        record is passed over.
        """
        if len(alleles) == 2:
            for one in name.split(";"):
                if one in self.by_name:
                    yield self.by_name[one], 1
        if not self.by_place:
            return
        reference, *others = alleles or ("",)
        for number, other in enumerate(others, 1):
            place = (chromosome, position, reference, other)
            if place in self.by_place:
                yield self.by_place[place], number


def text(value: Any) -> str:
    """An id or an allele as text; some files and tables hold bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def repeated(names: Sequence[str]) -> str | None:
    """The first name that was there before, if any was."""
    before: set[str] = set()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return None


def known_at(panel: Panel, names: Iterable[Any] | None, count: int) -> list[int]:
    """Where each entry of the panel is among the columns of a matrix: at the first
    column with its name, or -1. Columns without names are the panel in its order.
    """
    if names is None:
        return [at if at < count else -1 for at in range(len(panel))]
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        first.setdefault(str(name), at)
    return [first.get(name, -1) for name in panel.names]


def _listed(panel: Any, argument: str) -> list[Any]:
    wrong = isinstance(panel, str | bytes | Mapping | Set) or panel is None
    if wrong or not hasattr(panel, "__iter__") or not hasattr(panel, "__len__"):
        raise ArgumentError(
            argument,
            f"must be the declared list of variants, not {type(panel).__name__}; "
            f"{WAY_OUT}",
        )
    return list(panel)


def _name(entry: Any, argument: str) -> str:
    if isinstance(entry, tuple) and len(entry) == 4:
        return ":".join(str(part) for part in entry)
    name = str(entry).strip() if isinstance(entry, str | int) else ""
    if not name or isinstance(entry, bool):
        raise ArgumentError(argument, f"holds what is no id of a variant; {WAY_OUT}")
    return name


def _place(name: str) -> Place | None:
    parts = name.split(":")
    if len(parts) != 4 or not parts[1].isdecimal():
        return None
    return parts[0], int(parts[1]), parts[2], parts[3]
