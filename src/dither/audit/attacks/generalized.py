"""Quasi-identifiers and how they are made coarser: numbers to ranges, categories up a
declared hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dither.audit.attacks.columns import coded, numeric, reals
from dither.errors import ArgumentError

__all__ = ["Categories", "Numbers", "Quasi", "quasi_identifier"]

Rows = NDArray[np.intp]
Reals = NDArray[np.float64]
ANY = "*"
EXAMPLE = '{"region": {"Fennick": ("Estmark",), "Lowen": ("Sudria",)}}'


class Quasi(Protocol):
    """A column that an attacker may know. `rows` are places of people."""

    @property
    def name(self) -> str: ...

    def width(self, rows: Rows) -> float:
        """The difference between these people, from 0 (identical) to 1 (as different as
        any).
        """

    def splits(self, rows: Rows) -> list[list[Rows]]:
        """Ways to part these people; the first one that is allowed is taken."""

    def label(self, rows: Rows) -> str:
        """What is published of them all."""

    def holds(self, label: str, value: Any) -> bool:
        """Whether somebody with this value may be among those with the label."""


@dataclass(frozen=True)
class Numbers:
    """Numbers become ranges, parted at the median."""

    name: str
    values: Reals

    def width(self, rows: Rows) -> float:
        whole = float(np.ptp(self.values))
        return float(np.ptp(self.values[rows])) / whole if whole else 0.0

    def splits(self, rows: Rows) -> list[list[Rows]]:
        values = self.values[rows]
        middle = np.median(values)
        # Of many equal numbers all go to one side: try both.
        lower = (values <= middle, values < middle)
        return [[rows[one], rows[~one]] for one in lower if one.any() and not one.all()]

    def label(self, rows: Rows) -> str:
        low, high = self.values[rows].min(), self.values[rows].max()
        return _text(low) if low == high else f"{_text(low)} to {_text(high)}"

    def holds(self, label: str, value: Any) -> bool:
        low, _, high = label.partition(" to ")
        return float(low) <= float(value) <= float(high or low)


def _text(value: float) -> str:
    """A number with all its digits, so that a range holds everybody in it."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


@dataclass(frozen=True)
class Categories:
    """Categories with coarser ones above them. `levels` has a line of codes for each
    level from the coarsest, where all are one, down to the categories themselves.
    """

    name: str
    levels: NDArray[np.intp]
    labels: tuple[tuple[Any, ...], ...]

    def width(self, rows: Rows) -> float:
        most = len(self.labels[-1]) - 1
        return (np.unique(self.levels[-1][rows]).size - 1) / most if most else 0.0

    def _common(self, rows: Rows) -> int:
        """The finest level at which these people are identical."""
        alike = (self.levels[:, rows] == self.levels[:, rows[:1]]).all(axis=1)
        return int(np.flatnonzero(alike)[-1])

    def splits(self, rows: Rows) -> list[list[Rows]]:
        below = self._common(rows) + 1
        if below == len(self.levels):
            return []
        codes = self.levels[below][rows]
        return [[rows[codes == one] for one in np.unique(codes)]]

    def label(self, rows: Rows) -> str:
        level = self._common(rows)
        return str(self.labels[level][self.levels[level][rows[0]]])

    def holds(self, label: str, value: Any) -> bool:
        places = np.flatnonzero([str(one) == str(value) for one in self.labels[-1]])
        rows = np.flatnonzero(np.isin(self.levels[-1], places))
        if not rows.size:
            return label == ANY
        path = (
            self.labels[at][code] for at, code in enumerate(self.levels[:, rows[0]])
        )
        return label in map(str, path)


def quasi_identifier(name: str, column: Sequence[Any], hierarchy: Any) -> Quasi:
    """A column as what it holds: numbers, or categories under a hierarchy if one is
    declared.
    """
    if hierarchy is None and numeric(column):
        values = reals(column)
        if values is None:
            raise ArgumentError(
                "table",
                f"the column {name!r} has numbers that are not finite; leave those people "
                "out",
            )
        return Numbers(name, values)
    return _categories(name, column, hierarchy)


def _categories(name: str, column: Sequence[Any], hierarchy: Any) -> Categories:
    codes, values = coded(column)
    paths = _paths(name, values, hierarchy)
    levels, labels = [np.zeros(codes.size, np.intp)], [(ANY,)]
    for depth in range(len(paths[0])):
        ancestors = [path[: depth + 1] for path in paths]
        # A parent has its own code for each way to it, so that children share one.
        own, ways = coded(ancestors)
        levels.append(own[codes])
        labels.append(tuple(way[-1] for way in ways))
    return Categories(name, np.array(levels), tuple(labels))


def _paths(name: str, values: Sequence[Any], hierarchy: Any) -> list[tuple[Any, ...]]:
    """For each value the way to it from the coarsest category down."""
    if hierarchy is None:
        return [(one,) for one in values]
    if not isinstance(hierarchy, Mapping):
        raise _wrong(
            name, "must map each value to its coarser categories, the finest first"
        )
    missing = next((one for one in values if one not in hierarchy), None)
    if missing is not None or any(one is None for one in values):
        raise _wrong(name, "must have an entry for every value of the column")
    above = [_coarser(name, hierarchy[one]) for one in values]
    if len({len(one) for one in above}) > 1:
        raise _wrong(
            name, "must have the same number of coarser categories for every value"
        )
    paths = [(*one[::-1], value) for one, value in zip(above, values, strict=True)]
    for depth in range(1, len(paths[0])):
        parents = {path[depth]: path[:depth] for path in paths}
        if any(parents[path[depth]] != path[:depth] for path in paths):
            raise _wrong(name, "must have one parent for each category")
    return paths


def _coarser(name: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, list | tuple):
        raise _wrong(name, "must map each value to a tuple of coarser categories")
    return tuple(given)


def _wrong(name: str, problem: str) -> ArgumentError:
    return ArgumentError(
        "hierarchies",
        f"the hierarchy of {name!r:.40} {problem}; pass hierarchies like {EXAMPLE}",
    )
