"""The shape of a nesting geography: which node of a level lies in which node above."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError

__all__ = ["Tree"]

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes level by level, from the top to the leaves.

    `parents[l][i]` is the place in level l − 1 of node i of level l; those of the first
    level are zeros, and nothing is known of what lies above them. The children of a
    node lie side by side, in the order of their parents, and every node that is not a
    leaf has at least one.
    """

    parents: tuple[Places, ...]

    def __post_init__(self) -> None:
        if not len(self.parents):
            raise ArgumentError(
                "parents", "is empty; pass at least one level, such as [[0]]"
            )
        kept = tuple(_frozen(level) for level in self.parents)
        if not kept[0].size or kept[0].any():
            raise ArgumentError(
                "parents",
                "must start with a level of zeros, because it has no level above; pass "
                "for example [[0], [0, 0]]",
            )
        for above, level in pairwise(kept):
            _check(above.size, level)
        object.__setattr__(self, "parents", kept)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of nodes in each level."""
        return tuple(level.size for level in self.parents)

    @property
    def levels(self) -> int:
        return len(self.parents)

    @property
    def leaves(self) -> int:
        return self.sizes[-1]

    @cached_property
    def _starts(self) -> tuple[Places, ...]:
        """The first child of each node, for all levels but the last."""
        return tuple(
            np.searchsorted(level, np.arange(size)).astype(np.intp)
            for size, level in zip(self.sizes, self.parents[1:], strict=False)
        )

    def gathered(self, level: int, values: Any) -> Any:
        """Sums over the children of each node of `level`, from values of the level
        below, whose nodes lie along the first axis.
        """
        starts = self._starts[level]
        if starts.size == len(values):
            return np.asarray(values)
        if values.ndim == 2 and values.shape[1] > 1:
            # numpy adds up along long rows fast, and along short ones slowly
            columns = np.ascontiguousarray(values.T)
            sums = [np.add.reduceat(one, starts) for one in columns]
            return np.stack(sums, axis=1)
        return np.add.reduceat(values, starts, axis=0)

    def scattered(self, level: int, values: Any) -> Any:
        """Each node's value for each of its children, which lie at `level`."""
        return np.take(values, self.parents[level], axis=0)

    def counts_up(self, leaves: Any) -> tuple[Any, ...]:
        """The counts of every level, from those of the leaves along the first axis."""
        found = [np.asarray(leaves)]
        for level in range(self.levels - 2, -1, -1):
            found.insert(0, self.gathered(level, found[0]))
        return tuple(found)

    def leaves_under(self, level: int, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which leaves lie in the chosen nodes of a level."""
        for below in range(level + 1, self.levels):
            chosen = self.scattered(below, chosen)
        return chosen


def _frozen(level: Any) -> Places:
    found = np.array(level)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ArgumentError(
            "parents",
            "must have a list of whole numbers for each level; pass for example "
            "[[0], [0, 0]]",
        )
    found = found.astype(np.intp)
    found.setflags(write=False)
    return found


def _check(above: int, level: Places) -> None:
    steps = np.diff(level, prepend=0)
    fits = level.size and level[0] == 0 and level[-1] == above - 1
    if not fits or steps.min() < 0 or steps.max() > 1:
        raise ArgumentError(
            "parents",
            "must increase from 0 to the last node of the level above without gaps, so "
            "that siblings are adjacent and every node above has a child; sort each "
            "level by its parents",
        )
