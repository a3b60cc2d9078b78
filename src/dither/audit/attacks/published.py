"""Tables of blocks as they are published: marginals over declared attributes, some of
them in coarser categories.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError

__all__ = [
    "MOST_CELLS",
    "MOST_PEOPLE",
    "Domain",
    "Table",
    "domain",
    "histograms",
    "tables",
]

Reals = NDArray[np.float64]
Counts = NDArray[np.int64]
Places = NDArray[np.intp]

MOST_CELLS, MOST_NUMBERS, MOST_PEOPLE = 512, 1 << 24, 10_000


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
        listed = (names,) if isinstance(names, str) else tuple(names)
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
        if name in self.recodes:
            return self.recodes[name]
        if name in self.names:
            at = self.names.index(name)
            return at, self.labels[at]
        known = ", ".join([*self.names, *self.recodes])
        raise ArgumentError("published", f"{name!r} is no attribute; there are {known}")


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
            "attributes", 'must map names to categories, such as {"sex": ["f", "m"]}'
        )
    labels = tuple(_categories(one) for one in attributes.values())
    cells = math.prod(len(one) for one in labels)
    if cells > MOST_CELLS:
        raise ArgumentError(
            "attributes",
            f"have {cells:,} cells, and blocks are rebuilt over {MOST_CELLS:,} at "
            "most; merge categories or leave attributes out",
        )
    names = tuple(attributes)
    return Domain(names, labels, _recoded(recodes or {}, names, labels))


def _categories(labels: Any) -> tuple[Any, ...]:
    listed = () if isinstance(labels, str) else tuple(labels)
    if not listed or len(set(listed)) < len(listed):
        raise ArgumentError(
            "attributes", "must have some categories each, all distinct"
        )
    return listed


def _recoded(
    recodes: Any, names: tuple[str, ...], labels: tuple[tuple[Any, ...], ...]
) -> dict[str, tuple[int, tuple[Any, ...]]]:
    """For each coarser attribute, which one it is of and the category of each label."""
    found = {}
    for name, (source, coarse) in dict(recodes).items():
        if source not in names or name in names:
            raise ArgumentError(
                "recodes", f"{name!r} must be a new name for one of them"
            )
        at = names.index(source)
        if len(coarse) != len(labels[at]):
            raise ArgumentError(
                "recodes",
                f"{name!r} must give a category for each of the {len(labels[at])} of "
                f"{source!r}",
            )
        found[name] = (at, tuple(coarse))
    return found


def histograms(truth: Any, over: Domain, name: str = "truth") -> Counts:
    """Counts of blocks by cells, as whole numbers."""
    found = np.asarray(truth)
    wanted = (over.cells,), over.sizes
    if found.ndim < 2 or found.shape[1:] not in wanted or found.size > MOST_NUMBERS:
        raise ArgumentError(
            name,
            f"must be an array of blocks by {' × '.join(map(str, over.sizes))} counts, "
            f"up to {MOST_NUMBERS:,} numbers",
        )
    if (
        found.dtype.kind not in "iuf"
        or not ((found >= 0) & (found <= MOST_PEOPLE)).all()
    ):
        raise ArgumentError(name, f"must hold whole numbers from 0 to {MOST_PEOPLE:,}")
    whole = found.astype(np.int64)
    if (whole != found).any():
        raise ArgumentError(name, "must hold whole numbers")
    return whole.reshape(len(found), over.cells)


def tables(
    truth: Any,
    wanted: Sequence[Any],
    *,
    attributes: Any,
    recodes: Any = None,
) -> dict[tuple[str, ...], Counts]:
    """The exact tables of each block, as they used to be published.

    `truth` counts the people of each block in each cell of the attributes; a table is
    a tuple of names, of attributes or of `recodes`: {"adult": ("age", [False, True])}
    names the coarser category of each category of age.
    """
    over = domain(attributes, recodes)
    counts = histograms(truth, over)
    found = [over.table(names) for names in wanted]
    return {one.names: one.of(counts) for one in found}
