"""What a map will measure, and with which noise: made from public facts alone, before
anything is charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.mechanisms.sums import root_up
from dither.privacy.numbers import at_most, float_down, float_up, whole
from dither.question import Question
from dither.science.maps import rules
from dither.science.maps.counting import Held
from dither.science.maps.fitting import Noises, fitted
from dither.science.maps.grids import MOST, Cells, Grid, Partition
from dither.science.maps.places import Place
from dither.science.maps.privtree import PrivTree

__all__ = ["METHODS", "Plan", "TreePlan", "moved_by", "plan_of"]

Integers = NDArray[np.int64]

METHODS = ("adaptive", "uniform", "privtree")
MANY = 10**18


@dataclass(frozen=True)
class Plan:
    """The mechanisms of a map. `total` is for the number of points, `look` for the
    counts by which the cells of the first grid are divided, `first` and `parts` for those
    that are estimated from; `whole` has the whole cost, that of `question`.
    """

    question: Question
    place: Place
    whole: Additive
    total: Additive | None
    look: Additive | None
    first: Additive | None
    parts: Additive
    expect: int | None = None
    grid: Grid | None = None

    @property
    def noises(self) -> Noises:
        first = None if self.first is None else self.first.law
        return Noises(first, self.parts.law)

    def measure(self, points: Held) -> tuple[Partition, Any]:
        """The cells, and their counts with noise."""
        grid = self._grid(points)
        if self.first is None or self.look is None:
            partition = Partition(self.place, grid, np.ones(grid.size, np.int64))
            return partition, self.parts.release(partition.counts(*points))
        counts = np.bincount(grid.cells(*points), minlength=grid.size)
        divided = rules.part_sides(self.look.release(counts), self.parts, grid)
        partition = Partition(self.place, grid, divided)
        return partition, self._fitted(partition, counts, points)

    def _fitted(self, partition: Partition, counts: Integers, points: Held) -> Any:
        assert self.first is not None
        above = self.first.release(counts)
        below = self.parts.release(partition.counts(*points))
        return fitted(above, below, partition.parent, self.noises)

    def _grid(self, points: Held) -> Grid:
        """The declared grid, or one for as many points as there seem to be."""
        if self.grid is not None:
            return self.grid
        number = self.expect
        if number is None:
            assert self.total is not None
            number = self.total.release(int(points.x.size))
        rule = rules.uniform if self.first is None else rules.first
        return rule(float(number), self.whole, self.place)


@dataclass(frozen=True)
class TreePlan:
    """The mechanisms of a map of quadtrees over a public grid: `tree` divides, and
    `parts` counts the leaves.
    """

    question: Question
    place: Place
    tree: PrivTree
    parts: Additive
    grid: Grid

    @property
    def noises(self) -> Noises:
        return Noises(None, self.parts.law)

    def measure(self, points: Held) -> tuple[Cells, Any]:
        """The leaves, and their counts with noise."""
        trees = self.tree.grow(self.place, self.grid, points)
        return trees, self.parts.release(trees.counts(*points))


def plan_of(
    question: Question,
    place: Place,
    most: int,
    method: str,
    cells: Any,
    expect: int | None,
) -> Plan | TreePlan:
    """The parts of the cost, and the noise of each."""
    if method not in METHODS:
        names = " or ".join(map(repr, METHODS))
        raise ArgumentError("method", f"must be {names}, not {method!r:.40}")
    if method == "privtree":
        return _tree_plan(question, place, most, cells, expect)
    return _grid_plan(question, place, most, method == "uniform", cells, expect)


def _tree_plan(
    question: Question, place: Place, most: int, cells: Any, expect: int | None
) -> TreePlan:
    if expect is not None:
        raise ArgumentError(
            "expect",
            "cannot be used with method='privtree', which chooses the depth by itself; "
            "leave expect out",
        )
    roots = rules.ROOTS if cells is None else cells
    grid = rules.declared_grid(roots, place, rules.FIRST)
    divides, counts = question.parts(*rules.TREE)
    (parts,) = _additive((counts,), most)
    # Who is replaced takes points away and adds as many.
    points = 2 * most if question.replacing else most
    tree = PrivTree(_pure(divides), points)
    return TreePlan(question, place, tree, parts, grid)


def _pure(question: Question) -> float:
    """The ε that costs no more than what was stated: ε²/2 of ρ."""
    if question.rho is None:
        return question.epsilon or 0.0
    square = math.floor(2 * at_most(question.rho) * (1 << 256))
    return float_down(Fraction(math.isqrt(square), 1 << 128))


def _grid_plan(
    question: Question,
    place: Place,
    most: int,
    uniform: bool,
    cells: Any,
    expect: int | None,
) -> Plan:
    limit = MOST if uniform else rules.FIRST
    grid = None if cells is None else rules.declared_grid(cells, place, limit)
    expected = _expected(expect, cells)
    known = grid is not None or expected is not None
    if uniform and known:
        # The only noise is that of the cells, so its size can be asked for.
        question = question.for_error(moved_by(question, most)[0])
    counted, *others = _shares(uniform, known)
    asked = question.parts(*others)
    look, first = (None, None) if uniform else _additive(asked[:2], most)
    (parts,) = _additive(asked[-1:], most)
    total = None if known else question.parts(counted)[0].additive(most, most)
    (whole_cost,) = _additive((question,), most)
    return Plan(question, place, whole_cost, total, look, first, parts, expected, grid)


def _additive(asked: Sequence[Question], most: int) -> list[Additive]:
    return [one.additive(*moved_by(one, most)) for one in asked]


def _shares(uniform: bool, known: bool) -> tuple[float, ...]:
    """Where the grid is public, what its size would have cost goes to the counts."""
    counted, *others, last = rules.UNIFORM if uniform else rules.ADAPTIVE
    if known:
        counted, last = 0.0, round(last + counted, 10)
    return (counted, *others, last)


def moved_by(question: Question, most: int) -> tuple[float, float]:
    """How far one unit moves all counts together, in L1 and in L2. Of an owner that is
    replaced, the points that go and those that come lie in different cells at worst.
    """
    if not question.replacing:
        return most, most
    return 2 * most, float_up(root_up(2) * Fraction(most))


def _expected(expect: Any, cells: Any) -> int | None:
    if expect is None:
        return None
    if cells is not None:
        raise ArgumentError(
            "expect", "pass cells or expect, not both, because each sets the cell size"
        )
    way_out = "pass a public number of points, such as 10_000"
    number = whole("expect", expect, way_out)
    if number > MANY:
        raise ArgumentError("expect", f"must be at most {MANY:,}; {way_out}")
    return number
