"""Tables of blocks as they are published: marginals over declared attributes, some of
them in coarser categories.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.census.attributes import Edges

__all__ = ["MOST_CELLS", "Domain", "Table", "domain"]

Counts = NDArray[np.int64]
Places = NDArray[np.intp]

MOST_CELLS = 512
TABLE = 'name a table by its attributes, such as ("sex", "age")'


@dataclass(frozen=True)
class Domain:
    """Which records there are: a cell for each, in the order of the attributes, the
    last one fastest; and coarser categories of some attributes.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    recodes: Mapping[str, tuple[int, tuple[Any, ...]]]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(one) for one in self.labels)

    @property
    def cells(self) -> int:
        return math.prod(self.sizes)

    def record(self, cell: int) -> tuple[Any, ...]:
        """The labels of a cell."""
        places = np.unravel_index(cell, self.sizes)
        return tuple(
            one[int(place)] for one, place in zip(self.labels, places, strict=True)
        )

    def table(self, names: Any) -> Table:
        """The marginal over some attributes or coarser ones."""
        listed = _listed(names)
        codes = np.zeros(self.cells, np.intp)
        shown: list[tuple[Any, ...]] = []
        for name in listed:
            code, labels = self._coded(name)
            codes = codes * len(labels) + code
            shown.append(labels)
        return Table(listed, codes, tuple(product(*shown)))

    def _coded(self, name: Any) -> tuple[Places, tuple[Any, ...]]:
        """For each cell the place of its category, and the categories."""
        at, coarse = self._found(name)
        places = np.unravel_index(np.arange(self.cells), self.sizes)[at]
        labels = tuple(dict.fromkeys(coarse))
        order = np.array([labels.index(label) for label in coarse], np.intp)
        return order[places], labels

    def _found(self, name: Any) -> tuple[int, tuple[Any, ...]]:
        if isinstance(name, str) and name in self.recodes:
            return self.recodes[name]
        if isinstance(name, str) and name in self.names:
            at = self.names.index(name)
            return at, self.labels[at]
        known = ", ".join([*self.names, *self.recodes])
        raise ArgumentError(
            "published", f"{name!r} is not an attribute; name some of {known}"
        )


@dataclass(frozen=True)
class Table:
    """One marginal: for each cell of the domain the entry that counts it."""

    names: tuple[str, ...]
    entries: Places
    labels: tuple[tuple[Any, ...], ...]

    @property
    def size(self) -> int:
        return len(self.labels)

    def of(self, counts: Counts) -> Counts:
        """The table of each block."""
        counted = np.eye(self.size, dtype=np.int64)[self.entries]
        return np.asarray(counts @ counted)


def domain(attributes: Any, recodes: Any) -> Domain:
    """The declared attributes, checked."""
    if not isinstance(attributes, Mapping) or not attributes:
        raise ArgumentError(
            "attributes",
            'must map names to categories; pass one such as {"sex": ["f", "m"]}',
        )
    labels = tuple(_categories(*one) for one in attributes.items())
    cells = math.prod(len(one) for one in labels)
    if cells > MOST_CELLS:
        raise ArgumentError(
            "attributes",
            f"have {cells:,} cells together, but the attack takes at most "
            f"{MOST_CELLS:,}; merge categories or leave attributes out",
        )
    names = tuple(attributes)
    if not all(isinstance(name, str) for name in names):
        raise ArgumentError("attributes", "must have strings as names; rename them")
    return Domain(names, labels, _recoded(recodes or {}, names, labels))


def _listed(names: Any) -> tuple[Any, ...]:
    """The names of a table, each once."""
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise ArgumentError("published", f"{names!r:.40} is not a table; {TABLE}")
    listed = tuple(names)
    if any(listed.count(one) > 1 for one in listed):
        raise ArgumentError(
            "published", f"the table {listed!r:.60} repeats an attribute; {TABLE}"
        )
    return listed


def _categories(name: Any, labels: Any) -> tuple[Any, ...]:
    if isinstance(labels, Edges):
        return labels.labels
    plain = isinstance(labels, Iterable) and not isinstance(labels, str | bytes)
    listed = tuple(labels) if plain else ()
    few = listed[: MOST_CELLS + 1]  # more are refused in any case
    if not listed or any(few.count(one) > 1 for one in few):
        raise ArgumentError(
            "attributes",
            f"the attribute {name!r:.40} must have distinct categories or edges; pass "
            'for example ["f", "m"] or census.edges([0, 18, 65, 110])',
        )
    return listed


def _recoded(
    recodes: Any, names: tuple[str, ...], labels: tuple[tuple[Any, ...], ...]
) -> dict[str, tuple[int, tuple[Any, ...]]]:
    """For each coarser attribute, which one it is of and the category of each label."""
    found = {}
    if not isinstance(recodes, Mapping) or not all(map(_pair, recodes.values())):
        raise ArgumentError(
            "recodes",
            "must map new names to an attribute and the coarser category of each of "
            'its categories; pass one such as {"adult": ("age", [False, True, True])}',
        )
    for name, (source, coarse) in recodes.items():
        if source not in names or name in names:
            raise ArgumentError(
                "recodes",
                f"{name!r} must be a new name, and {source!r} an attribute; rename it",
            )
        at = names.index(source)
        if len(coarse) != len(labels[at]):
            raise ArgumentError(
                "recodes",
                f"{name!r} must have a coarser category for each of the "
                f"{len(labels[at])} categories of {source!r}; pass a list of this length",
            )
        found[name] = (at, tuple(coarse))
    return found


def _pair(given: Any) -> bool:
    listed = isinstance(given, list | tuple) and len(given) == 2
    return listed and isinstance(given[1], list | tuple)
