"""A public list of all blocks, level by level: what nests in what.

A place is known by its labels from the top, so that counties of two states may have the
same one. The list is public, and so are all errors about it: they name an example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.census.labels import Codes, Coding, declared
from dither.science.census.listing import columns_of
from dither.science.census.shape import Tree

__all__ = ["Geography", "geography"]

Places = NDArray[np.intp]

HALF = 2


@dataclass(frozen=True, eq=False)
class Geography:
    """All places of a geography. `labels[l][i]` is the label of node i of level l, as
    it was declared, and `tree` says in which node above it lies.
    """

    levels: tuple[str, ...]
    tree: Tree
    labels: tuple[tuple[Any, ...], ...]
    names: tuple[tuple[str, ...], ...]
    """The different labels of each level, as they are compared."""
    codes: tuple[Codes, ...]
    """For each node of a level, the place of its label in `names`."""

    @property
    def blocks(self) -> int:
        return self.tree.leaves

    def place(self, level: Any, argument: str = "level") -> int:
        """The place of a level by its name."""
        if level in self.levels:
            return self.levels.index(level)
        listed = ", ".join(map(repr, self.levels))
        raise ArgumentError(
            argument, f"the geography has no level {level!r:.40}; use one of {listed}"
        )

    def unique(self, level: int) -> bool:
        """Whether each label of a level names one node."""
        return len(self.names[level]) == self.tree.sizes[level]

    def codings(self) -> tuple[Coding, ...]:
        """For each level, a new reader of labels as places in `names`."""
        return tuple(map(Coding, self.names))

    @cached_property
    def _keys(self) -> tuple[NDArray[np.int64], ...]:
        """A number for each node from its parent and its label, rising with nodes."""
        return tuple(
            parents.astype(np.int64) * len(names) + codes
            for parents, names, codes in zip(
                self.tree.parents, self.names, self.codes, strict=True
            )
        )

    def found(self, codes: Sequence[Codes]) -> Codes:
        """The node of the last level that is given, for each record's labels from the
        top; -1 where there is none.
        """
        node = np.zeros(len(codes[0]), np.int64)
        for level, one in enumerate(codes):
            wanted = node * len(self.names[level]) + one
            keys = self._keys[level]
            place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
            there = (node >= 0) & (one >= 0) & (keys[place] == wanted)
            node = np.where(there, place, -1)
        return node

    def path(self, level: int, node: int) -> tuple[Any, ...]:
        """The labels of a node from the top."""
        found: list[Any] = []
        for above in range(level, -1, -1):
            found.insert(0, self.labels[above][node])
            node = int(self.tree.parents[above][node])
        return tuple(found)

    def columns(self, level: int) -> list[list[Any]]:
        """The labels of all nodes of a level, one column for each level from the top."""
        nodes = np.arange(self.tree.sizes[level])
        found: list[list[Any]] = []
        for above in range(level, -1, -1):
            held = self.labels[above]
            found.insert(0, [held[node] for node in nodes.tolist()])
            nodes = self.tree.parents[above][nodes]
        return found

    def first_leaves(self, level: int) -> Places:
        """The first block of each node of a level."""
        under = np.arange(self.tree.sizes[level], dtype=np.intp)
        for below in range(level + 1, self.tree.levels):
            under = self.tree.scattered(below, under)
        return np.searchsorted(under, np.arange(self.tree.sizes[level]))

    def __str__(self) -> str:
        counted = zip(self.tree.sizes, self.levels, strict=True)
        listed = ", ".join(f"{size:,} × {name}" for size, name in counted)
        return f"geography of {listed}"

    __repr__ = __str__


def geography(
    blocks: Any, *, levels: Sequence[str] | None = None, full: bool | None = None
) -> Geography:
    """A public list of all blocks, one line for each, with its label at each level:
    a frame, a mapping of columns, or a list of tuples in the order of `levels`.

    Every place that is to have a count must be listed, also where nobody lives: blocks
    without people get noise as all others do, and whoever lives in no listed block
    counts for nobody. The list is public; it must not come from the people themselves.

    Labels are strings, booleans or integers below 2^53, and "01", "1" and 1 are the
    same. Those of different parents may be the same (`full=False`: county 1 of every
    state), or each names one place (`full=True`). Left open, a level of which a few
    labels alone lie under two parents is refused: it seems not to nest.
    """
    names, columns = columns_of(blocks, levels)
    codes, known = zip(
        *(_coded(name, column) for name, column in zip(names, columns, strict=True)),
        strict=True,
    )
    tree, own, lines = _nested(names, columns, codes, known)
    found = Geography(
        names,
        tree,
        tuple(
            tuple(column[line] for line in first.tolist())
            for column, first in zip(columns, lines, strict=True)
        ),
        tuple(known),
        own,
    )
    _check_full(found, full)
    return found


def _coded(name: str, column: list[Any]) -> tuple[Codes, tuple[str, ...]]:
    """The labels of one level as numbers in the order in which they come."""
    plain = set(map(type, column)) <= {str, int}
    raw = list(dict.fromkeys(column)) if plain else column
    names = declared("keys", f"the level {name!r}", raw)
    places: dict[str, int] = {}
    for one in names:
        places.setdefault(one, len(places))
    if plain:
        by_item = {one: places[name] for one, name in zip(raw, names, strict=True)}
        found = map(by_item.__getitem__, column)
    else:
        found = map(places.__getitem__, names)
    return np.fromiter(found, np.int64, len(column)), tuple(places)


def _nested(
    names: Sequence[str],
    columns: Sequence[Sequence[Any]],
    codes: Sequence[Codes],
    known: Sequence[Sequence[str]],
) -> tuple[Tree, tuple[Codes, ...], list[Places]]:
    """The tree, the label of each node as a number, and a line that it stands in."""
    node = np.zeros(codes[0].size, np.int64)
    parents: list[Places] = []
    own: list[Codes] = []
    lines: list[Places] = []
    for level, (one, labels) in enumerate(zip(codes, known, strict=True)):
        keys, first, place = np.unique(
            node * len(labels) + one, return_index=True, return_inverse=True
        )
        parents.append((keys // len(labels)).astype(np.intp))
        own.append(keys % len(labels))
        lines.append(first.astype(np.intp))
        node = place.reshape(-1).astype(np.int64)
        if level == len(codes) - 1 and keys.size < one.size:
            _refuse_double(names, columns, node)
    return Tree(tuple(parents)), tuple(own), lines


def _refuse_double(
    names: Sequence[str], columns: Sequence[Sequence[Any]], node: Codes
) -> None:
    line = int(np.argmax(np.bincount(node)[node] > 1))
    shown = ", ".join(
        f"{name} {column[line]!s:.40}"
        for name, column in zip(names, columns, strict=True)
    )
    raise ArgumentError(
        "keys",
        f"must list each block once, and ({shown}) is listed twice; drop one of the "
        'lines. Labels of digits are compared as numbers: "01" is the same as "1"',
    )


def _check_full(found: Geography, full: bool | None) -> None:
    """Refuse labels under two parents where they seem to be full ids."""
    if full not in (None, True, False):
        raise ArgumentError("full", "must be True, False or left out")
    if full is None:
        _check_order(found)
    for level in range(1, len(found.levels)):
        times = np.bincount(found.codes[level])
        several = int((times > 1).sum())
        few = full is None and several * HALF < times.size
        if full is not False and several and (full or few):
            _refuse_nesting(found, level, int(np.argmax(times > 1)), several)


def _check_order(found: Geography) -> None:
    """Refuse levels from the bottom up: each place then holds one, of fewer labels."""
    for level in range(1, len(found.levels)):
        above, below = found.tree.sizes[level - 1 : level + 1]
        labels, over_it = len(found.names[level]), len(found.names[level - 1])
        # One label alone may well be that of the only place there
        if above == below and 1 < labels < over_it:
            name, over = found.levels[level], found.levels[level - 1]
            raise ArgumentError(
                "levels",
                f"must be ordered from the top, but each {over!r} contains only one "
                f"{name!r}, and several contain the same one; reverse the order, or pass "
                f"geography(…, full=False) if labels of {name!r} are unique only within "
                f"one {over!r}",
            )


def _refuse_nesting(found: Geography, level: int, code: int, several: int) -> None:
    nodes = np.flatnonzero(found.codes[level] == code)[:2].tolist()
    name, above = found.levels[level], found.levels[level - 1]
    first, second = (found.path(level, node)[:-1] for node in nodes)
    label = found.labels[level][nodes[0]]
    raise ArgumentError(
        "keys",
        f"must nest, but {name} {label!r:.40} lies in {above} {_shown(first)} and in "
        f"{above} {_shown(second)}{_more(several - 1)}; give each "
        f"{name} one {above}, or pass geography(…, full=False) if labels of {name!r} are "
        f"unique only within one {above}",
    )


def _more(labels: int) -> str:
    if not labels:
        return ""
    return f" (and so {'does 1 more label' if labels == 1 else f'do {labels:,} more labels'})"


def _shown(path: tuple[Any, ...]) -> str:
    return f"({', '.join(f'{one!r:.20}' for one in path)})"
