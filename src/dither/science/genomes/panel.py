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

__all__ = [
    "ABSENT",
    "ANY",
    "Found",
    "Panel",
    "known_at",
    "position",
    "repeated",
    "text",
    "variants_of",
]

Place = tuple[str, int, str, str]
"""Chromosome, position, reference allele, alternative allele."""
Found = tuple[int, int, bool]
"""An entry of the panel, the number of the allele that it counts in a record, and
whether the record names that allele.
"""
ANY, ABSENT = -1, -2
"""Every allele but the reference; an allele that the record does not have."""

MOST = 100_000_000
DIGITS = 18
WAY_OUT = 'pass the ids in a list, such as ["rs123", "1:2345:A:G"]'


@dataclass(frozen=True)
class Panel:
    """Variants in their declared order, each once.

    An entry is an id ("rs123"), which counts every allele but the reference, or a
    place with its alleles, "1:2345:A:G" or the same as a tuple of four, which counts
    the alternative that it names.
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
                f"must name each variant once, but {clean(twice)!r:.60} is repeated; "
                "remove the repeated entry",
            )
        return cls(names)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def by_name(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def by_site(self) -> dict[tuple[str, int], list[tuple[int, str, str]]]:
        """Entry, reference and alternative of all that name a place, by site."""
        found: dict[tuple[str, int], list[tuple[int, str, str]]] = {}
        for number, name in enumerate(self.names):
            place = _place(name)
            if place is not None:
                site = (chromosome_of(place[0]), place[1])
                found.setdefault(site, []).append((number, *place[2:]))
        return found

    @cached_property
    def places(self) -> set[int]:
        """The entries that name a place; an id may be spelled like one."""
        return {entry for entries in self.by_site.values() for entry, *_ in entries}

    def at(self, chromosome: str, position: int) -> list[tuple[int, str, str]]:
        """The entries that name this place."""
        return self.by_site.get((chromosome_of(chromosome), position), [])

    def named(self, name: str) -> Iterator[int]:
        """The entries that an id of a file is about."""
        for one in name.split(";"):
            if one in self.by_name:
                yield self.by_name[one]

    def found(
        self, name: str, chromosome: str, position: int, alleles: Sequence[str]
    ) -> Iterator[Found]:
        """What a record of a file is counted for.

        Which alleles a record lists may depend on a single person, so a third allele,
        or the lack of the one that is named, leaves the others' copies as they are.
        """
        placed = set()
        for entry, reference, other in self.at(chromosome, position):
            if alleles and alleles[0] == reference:
                known = other in alleles[1:]
                placed.add(entry)
                yield entry, alleles.index(other, 1) if known else ABSENT, known
        for entry in self.named(name):
            if entry not in placed:
                yield entry, ANY, entry not in self.places


def variants_of(panel: Panel) -> str:
    """How large a panel is, in words."""
    return f"panel of {len(panel):,} variant{'s' if len(panel) > 1 else ''}"


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
            f"must be a list of variants, not {type(panel).__name__}; {WAY_OUT}",
        )
    return list(panel)


def _name(entry: Any, argument: str) -> str:
    if isinstance(entry, tuple) and len(entry) == 4:
        entry = ":".join(str(part) for part in entry)
    name = str(entry).strip() if isinstance(entry, str | int) else ""
    if not name or isinstance(entry, bool):
        raise ArgumentError(argument, f"must hold only ids of variants; {WAY_OUT}")
    place = _place(name)
    return name if place is None else ":".join(map(str, place))


def _place(name: str) -> Place | None:
    parts = name.split(":")
    at = position(parts[1]) if len(parts) == 4 else None
    return None if at is None else (parts[0], at, parts[2], parts[3])


def chromosome_of(name: str) -> str:
    """Files spell it 1 or chr1."""
    return name[3:] if name[:3].casefold() == "chr" else name


def position(word: str) -> int | None:
    """A position in a text, if it is one."""
    plain = word.isascii() and word.isdecimal() and len(word) <= DIGITS
    return int(word) if plain else None
