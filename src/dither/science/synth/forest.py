"""Forests over the columns of a table: which pairs are joined, and the ways between
columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Edge", "Forest"]

Edge = tuple[int, int]


@dataclass(frozen=True)
class Forest:
    """Edges between columns 0 … columns − 1, none of which closes a circle. Each edge
    has its smaller column first.
    """

    columns: int
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        label = list(range(self.columns))
        for first, second in self.edges:
            if not 0 <= first < second < self.columns:
                raise ValueError("an edge joins two columns, the smaller one first")
            if label[first] == label[second]:
                raise ValueError("the edge closes a cycle")
            label = _merged(label, first, second)

    def joined(self, edge: Edge) -> Forest:
        """The forest with one edge more."""
        return Forest(self.columns, (*self.edges, edge))

    def components(self) -> list[int]:
        """For each column, the smallest one that it is connected with."""
        label = list(range(self.columns))
        for first, second in self.edges:
            label = _merged(label, first, second)
        return label

    def candidates(self, among: tuple[int, ...]) -> list[Edge]:
        """The pairs of some columns that are not connected yet."""
        label = self.components()
        pairs = combinations(sorted(among), 2)
        return [(i, j) for i, j in pairs if label[i] != label[j]]

    def neighbours(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in range(self.columns)]
        for first, second in self.edges:
            found[first].append(second)
            found[second].append(first)
        return found

    def walk(self) -> Iterator[tuple[int, int | None]]:
        """Every column once, with the one before it on its way from the root of its
        tree: parents come before their children, and a root has none.
        """
        near = self.neighbours()
        seen = [False] * self.columns
        for root in range(self.columns):
            waiting: list[tuple[int, int | None]] = [] if seen[root] else [(root, None)]
            while waiting:
                column, parent = waiting.pop(0)
                seen[column] = True
                yield column, parent
                waiting += [(one, column) for one in near[column] if not seen[one]]

    def path(self, first: int, second: int) -> list[int] | None:
        """The columns on the way from one to another, both included; None if they are
        not connected.
        """
        near = self.neighbours()
        before: dict[int, int | None] = {first: None}
        waiting = [first]
        while waiting and second not in before:
            column = waiting.pop(0)
            fresh = [one for one in near[column] if one not in before]
            before |= dict.fromkeys(fresh, column)
            waiting += fresh
        if second not in before:
            return None
        way: list[int] = []
        step: int | None = second
        while step is not None:
            way.append(step)
            step = before[step]
        return way[::-1]


def _merged(label: list[int], first: int, second: int) -> list[int]:
    low, high = sorted((label[first], label[second]))
    return [low if one == high else one for one in label]
