"""The declared vertices: who may have edges at all. They are public, and numbered in
the order in which they are declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import repeat
from numbers import Complex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.ids import EXACT, MANY_DIGITS, identity

__all__ = ["MOST", "Integers", "Vertices"]

Integers = NDArray[np.int64]

MOST = 1 << 26
"""A pair of vertices fits a 64-bit integer, and what is counted for each vertex fits the
memory of one machine (rule R31).
"""
FARTHEST = 1 << 62
DIGITS = re.compile("-?[0-9]{1,18}", re.ASCII)
"""Ids that are compared as 64-bit integers."""
VIEWS = ("_nodes", "_atlas", "_graph")
"""Where a view of networkx keeps what it shows."""
PASS = "pass the public ids of all vertices, or n for the ids 0 to n − 1"
READ_OFF = (
    "are read from the private graph, which reveals who has edges; "
    f"{PASS}, from a list that does not depend on the edges"
)


@dataclass(frozen=True, eq=False)
class Vertices:
    """Public ids and their numbers 0 to n − 1."""

    count: int
    ids: tuple[Any, ...] | None = None
    _numbers: Mapping[Any, int] = field(default_factory=dict, repr=False)
    _keys: Mapping[Any, int] = field(default_factory=dict, repr=False)
    """By what was declared, and by what that is compared as."""

    @classmethod
    def of(cls, vertices: Any, graph: Any = None) -> Vertices:
        """The declared vertices, from a number or a sequence of ids."""
        if vertices is None:
            raise ArgumentError("vertices", f"are missing; {PASS}")
        if _belong_to(vertices, graph):
            raise ArgumentError("vertices", READ_OFF)
        if isinstance(vertices, int | np.integer) and not isinstance(vertices, bool):
            return cls(_count(int(vertices)))
        return _listed(vertices)

    def __len__(self) -> int:
        return self.count

    def label(self, number: int) -> Any:
        """The id of a vertex by its number."""
        return number if self.ids is None else self.ids[number]

    def numbers(self, column: Any) -> Integers:
        """The number of each id of a column; −1 where it is not declared."""
        if isinstance(column, np.ma.MaskedArray):
            found = self.numbers(column.data)
            return np.where(np.ma.getmaskarray(column), -1, found)
        if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
            return self._of_array(column)
        return self._of_labels(column)

    def positions(self, column: Any) -> Integers:
        """The same where a column holds numbers of vertices rather than ids."""
        return _within(np.asarray(column), self.count)

    def check_floats(self) -> None:
        """Refuse ids that a column of floats may have merged; all of this is public."""
        if any(len(one) > MANY_DIGITS for one in self._keys if isinstance(one, str)):
            raise ArgumentError(
                "graph",
                "holds ids as floats, which cannot represent long ids exactly; read the "
                'columns as strings or, in pandas, as "Int64"',
            )

    def _of_array(self, column: NDArray[Any]) -> Integers:
        if self.ids is None:
            return _within(column, self.count)
        known, places = self._table
        if known.size != self.count:
            return np.fromiter(map(self._one, column.tolist()), np.int64)
        whole = _whole(column)
        found = np.searchsorted(known, whole.clip(known[0], known[-1]))
        return np.where(known[found] == whole, places[found], -1)

    @cached_property
    def _table(self) -> tuple[Integers, Integers]:
        """Sorted ids and their numbers, of the ids that are 64-bit integers."""
        assert self.ids is not None
        pairs = [
            (int(one), number)
            for one, number in self._keys.items()
            if isinstance(one, str) and DIGITS.fullmatch(one)
        ]
        ids, places = np.array(pairs, np.int64).reshape(-1, 2).T
        order = np.argsort(ids)
        return ids[order], places[order]

    def _of_labels(self, labels: Iterable[Any]) -> Integers:
        held = labels if isinstance(labels, list) else list(labels)
        try:
            return self._at_once(held)
        except KeyboardInterrupt:
            raise
        except (
            BaseException
        ):  # an odd label is among them: one by one, and it alone is out
            return np.fromiter(map(self._one, held), np.int64)

    def _at_once(self, labels: list[Any]) -> Integers:
        if set(map(type, labels)) == {int}:
            return self._of_array(np.array(labels, np.int64))
        if self.ids is None:
            raise TypeError("not all of them are integers")
        found = np.fromiter(map(self._numbers.get, labels, repeat(-1)), np.int64)
        for at in np.flatnonzero(found < 0).tolist():
            found[at] = self._one(labels[at])
        return found

    def _one(self, label: Any) -> int:
        try:
            key = _key(label)
            if self.ids is None:
                return _place(key, self.count)
            return self._keys.get(key, -1)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a label that has no hash is not declared
            return -1


def _count(number: int) -> int:
    if not 0 < number <= MOST:
        raise ArgumentError("vertices", f"must be from 1 to {MOST:,}; {PASS}")
    return number


def _listed(vertices: Any) -> Vertices:
    many = hasattr(vertices, "columns") or len(getattr(vertices, "shape", (0,))) != 1
    if isinstance(vertices, str | bytes) or not hasattr(vertices, "__iter__") or many:
        kind = type(vertices).__name__
        words = f"must be one sequence of ids or a number, not {kind}"
        raise ArgumentError("vertices", f"{words}; {PASS}")
    ids = tuple(_as_list(vertices))
    _count(len(ids))
    try:
        numbers = {one: number for number, one in enumerate(ids)}
    except TypeError:
        raise ArgumentError(
            "vertices", f"must be hashable ids, such as strings; {PASS}"
        ) from None
    if any(one is None or one != one for one in ids):  # noqa: PLR0124
        raise ArgumentError("vertices", "must not contain a missing id; remove it")
    keys = {_key(one): number for number, one in enumerate(ids)}
    if None in keys:
        words = "must not contain fractions as ids; pass whole numbers or strings"
        raise ArgumentError("vertices", words)
    if len(keys) < len(ids):
        words = (
            'must name each id once (7, 7.0 and "7" are the same); remove the others'
        )
        raise ArgumentError("vertices", words)
    return Vertices(len(ids), ids, numbers, keys)


def _key(label: Any) -> Any:
    """What an id is compared as: its canonical form or, for a tuple or the like, itself."""
    known = isinstance(label, str | bytes | Complex | Decimal | np.number | np.bool_)
    return identity(label) if known else label


def _as_list(ids: Any) -> Iterable[Any]:
    """Ids as Python's own values, of arrays, series and Arrow columns too."""
    for way in ("tolist", "to_pylist", "to_list"):
        if hasattr(ids, way):
            found: Iterable[Any] = getattr(ids, way)()
            return found
    return list(ids)


def _belong_to(vertices: Any, graph: Any) -> bool:
    """Whether these are the graph itself, or a view of its own vertices."""
    if graph is None:
        return False
    if vertices is graph:
        return True
    kept = [getattr(graph, name, None) for name in ("_node", "_adj")]
    views = [vertices, *(getattr(vertices, name, None) for name in VIEWS)]
    if any(one is not None and one is other for one in views for other in kept):
        return True
    return getattr(vertices, "graph", None) is graph


def _within(column: NDArray[Any], count: int) -> Integers:
    """Whole numbers from 0 to count − 1 as they are, all others as −1."""
    whole = _whole(column)
    return np.where((whole >= 0) & (whole < count), whole, -1)


def _whole(column: NDArray[Any]) -> Integers:
    """As 64-bit integers; what is none becomes one that is never declared."""
    if column.dtype.kind == "f":
        wide = column.astype(np.float64) if column.dtype.itemsize < 8 else column
        with np.errstate(all="ignore"):
            good = (np.floor(wide) == wide) & (np.abs(wide) < EXACT)
            found: Integers = np.where(good, wide, -FARTHEST).astype(np.int64)
        return found
    if column.dtype == np.uint64:
        held: Integers = np.minimum(column, np.uint64(FARTHEST)).astype(np.int64)
        return held
    return column.astype(np.int64, copy=False)


def _place(key: Any, count: int) -> int:
    """The number that a key is, if it is one of a vertex."""
    if not isinstance(key, str) or not DIGITS.fullmatch(key):
        return -1
    number = int(key)
    return number if 0 <= number < count else -1


def group_numbers(vertices: Vertices, groups: Any) -> tuple[tuple[Any, ...], Integers]:
    """The public groups, in the order in which vertices name them, and the group of
    each vertex.
    """
    named = _named_groups(vertices, groups)
    try:
        names = dict.fromkeys(named)
    except TypeError:
        raise ArgumentError(
            "groups", "must be hashable names, such as strings"
        ) from None
    order = {name: number for number, name in enumerate(names)}
    return tuple(order), np.array([order[name] for name in named], np.int64)


def _named_groups(vertices: Vertices, groups: Any) -> Sequence[Any]:
    give = "pass a mapping from each declared vertex to its public group"
    if hasattr(groups, "index") and hasattr(groups, "items"):  # a series of pandas
        groups = dict(groups.items())
    if isinstance(groups, Mapping):
        if len(groups) < len(vertices):
            raise ArgumentError("groups", f"must have an entry for each vertex; {give}")
        ids = [vertices.label(number) for number in range(len(vertices))]
        if any(one not in groups for one in ids):
            raise ArgumentError("groups", f"must have an entry for each vertex; {give}")
        return [groups[one] for one in ids]
    if isinstance(groups, str | bytes) or not hasattr(groups, "__len__"):
        raise ArgumentError("groups", f"must be a mapping or a list; {give}")
    if len(groups) != len(vertices):
        raise ArgumentError("groups", f"must have an entry for each vertex; {give}")
    return list(groups.tolist() if hasattr(groups, "tolist") else groups)
