"""All small trees and tables, and all of their neighbours: what one unit moves, weighted
by the noise, costs what was stated and no more (rules R11, R22).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dither.privacy import Unit
from dither.question import Question
from dither.science import census
from dither.science.census.attributes import attributes_of
from dither.science.census.planning import Plan, plan_of
from dither.science.census.reading import filled, source_of
from dither.science.census.workload import workload_of

RHO = 0.3
TREES = [(1,), (2,), (1, 1), (3,), (2, 1), (1, 2), (1, 1, 1)]
"""How many blocks each state has."""
CROSSES: list[dict[str, list[str]]] = [{}, {"p": ["x", "y"]}]
LARGE = {"p": ["x", "y"], "q": ["s", "t"]}
NOBODY = "?"
Table = tuple[tuple[str, ...], ...]


def blocks_of(tree: tuple[int, ...]) -> list[tuple[str, str]]:
    return [
        (f"s{state}", f"b{state}{block}")
        for state, size in enumerate(tree)
        for block in range(size)
    ]


class World:
    """One geography, and what its tables of up to so many people measure."""

    def __init__(self, tree: tuple[int, ...], cross: Any, relation: str, exact: bool):
        self.places = census.geography(blocks_of(tree), levels=["state", "block"])
        self.cross = attributes_of(cross)
        self.exact = (0,) if exact else ()
        given = ("total of each state",) if exact else ()
        question = Question.of(
            "census", {"rho": RHO}, unit=Unit("person", relation, given=given)
        )
        self.plan: Plan = plan_of(
            question,
            self.places,
            self.cross,
            workload_of(None, self.cross),
            exact=self.exact,
        )
        everywhere = blocks_of(tree)
        self.records = [
            (*block, *cell)
            for block in everywhere
            for cell in itertools.product(*cross.values())
        ]
        blanks = (NOBODY,) * len(cross)
        self.records += [("s0", NOBODY, *blanks), (NOBODY, NOBODY, *blanks)]
        if cross:
            self.records.append((*everywhere[0], *blanks))

    def measured(self, table: Table) -> tuple[Any, Any]:
        """The vector that is noised, with the noise's weights, and the exact totals."""
        names = ["state", "block", *self.cross.names]
        columns = {name: [one[i] for one in table] for i, name in enumerate(names)}
        source = source_of(columns, self.places, self.cross)
        found = source.counted(None, 1, 0 if self.exact else None)  # type: ignore[arg-type]
        leaves = filled(found, self.places, 0) if self.exact else found.leaves
        exact = self.places.tree.counts_up(leaves.sum(axis=1))[0] if self.exact else ()
        parts = _noiseless(self.plan, self.places.tree, leaves, self.cross.sizes)
        return np.concatenate([one.ravel() for one in parts]), tuple(exact)

    @property
    def weights(self) -> list[Fraction]:
        """1 / 2σ² of each entry."""
        found: list[Fraction] = []
        for one in self.plan.measures:
            size = self.places.tree.sizes[one.level]
            for a in one.marginal:
                size *= self.cross.sizes[a]
            found += [1 / (2 * Fraction(one.scale) ** 2)] * size
        return found

    def tables(self, most: int) -> Iterator[Table]:
        for size in range(most + 1):
            yield from itertools.combinations_with_replacement(self.records, size)

    def neighbours(self, table: Table) -> Iterator[Table]:
        for place in range(len(table)):
            rest = (*table[:place], *table[place + 1 :])
            if self.plan.guarantee.unit.relation == "replace":
                yield from ((*rest, one) for one in self.records)
            else:
                yield rest


def _noiseless(plan: Plan, tree: Any, leaves: Any, sizes: Any) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dither.science.census.planning.Measure.release", lambda _, x: x)
        return plan.measure(tree, leaves, sizes)


def worst(world: World, most: int) -> Fraction:
    """The most that any two neighbours cost."""
    known: dict[Table, tuple[Any, Any]] = {}

    def measured(table: Table) -> tuple[Any, Any]:
        key = tuple(sorted(table))
        if key not in known:
            known[key] = world.measured(key)
        return known[key]

    weights = world.weights
    costs: dict[bytes, Fraction] = {}
    for table in world.tables(most):
        vector, exact = measured(table)
        for other in world.neighbours(table):
            theirs, also = measured(other)
            if exact == also:  # neighbours agree on exact totals
                squares = (vector - theirs) ** 2
                costs[squares.tobytes()] = sum(
                    (w * int(s) for w, s in zip(weights, squares, strict=True) if s),
                    Fraction(0),
                )
    return max(costs.values())


def reachable(tree: tuple[int, ...], relation: str, exact: bool) -> bool:
    """Whether one unit can move all histograms at once."""
    if relation == "add/remove":
        return True
    if exact:
        return max(tree) > 1
    return len(tree) > 1


def check(
    tree: tuple[int, ...], cross: Any, relation: str, exact: bool, most: int
) -> None:
    world = World(tree, cross, relation, exact)
    found, rho = worst(world, most), Fraction(repr(RHO))
    assert found <= rho
    if reachable(tree, relation, exact):
        assert found >= rho * (1 - Fraction(1, 10**8))


CASES = [("add/remove", False), ("replace", False), ("replace", True)]


@pytest.mark.parametrize("tree", TREES, ids=str)
@pytest.mark.parametrize(("relation", "exact"), CASES)
@pytest.mark.parametrize("cross", CROSSES, ids=len)
def test_neighbours_cost_what_is_stated(
    tree: tuple[int, ...], cross: Any, relation: str, exact: bool
) -> None:
    check(tree, cross, relation, exact, 2)


@pytest.mark.full
@pytest.mark.parametrize("tree", TREES, ids=str)
@pytest.mark.parametrize(("relation", "exact"), CASES)
@pytest.mark.parametrize("cross", [*CROSSES, LARGE], ids=len)
def test_neighbours_among_three_cost_what_is_stated(
    tree: tuple[int, ...], cross: Any, relation: str, exact: bool
) -> None:
    check(tree, cross, relation, exact, 3)


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("rows", [1, 2])
def test_all_rows_of_one_unit_cost_what_is_stated(
    relation: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tables of up to three rows of one owner, beside another's."""
    monkeypatch.setattr(
        "dither.science.owners.random_words",
        lambda count: np.arange(3, 3 + count, dtype=np.uint64),
    )
    places = census.geography(blocks_of((2, 1)), levels=["state", "block"])
    cross = attributes_of({})
    question = Question.of("census", {"rho": RHO}, unit=Unit("person", relation))
    plan = plan_of(question, places, cross, workload_of(None, cross), rows=rows)
    records = [*blocks_of((2, 1)), (NOBODY, NOBODY)]

    def vector(mine: tuple[tuple[str, str], ...]) -> Any:
        lines = [*(("me", *one) for one in mine), ("you", "s0", "b00")]
        columns = dict(
            zip(
                ["id", "state", "block"],
                map(list, zip(*lines, strict=True)),
                strict=True,
            )
        )
        source = source_of(columns, places, cross, owner="id")
        leaves = source.counted(None, rows, None).leaves  # type: ignore[arg-type]
        assert leaves.sum() <= rows + 1
        return np.concatenate(
            [x.ravel() for x in _noiseless(plan, places.tree, leaves, ())]
        )

    found = [
        vector(mine)
        for size in range(4)
        for mine in itertools.combinations_with_replacement(records, size)
    ]
    nothing = [vector(())]
    weights = [
        1 / (2 * Fraction(one.scale) ** 2)
        for one in plan.measures
        for _ in range(places.tree.sizes[one.level])
    ]
    others = found if relation == "replace" else nothing
    costs = [
        sum(w * int(d) ** 2 for w, d in zip(weights, one - other, strict=True))
        for one in found
        for other in others
    ]
    rho = Fraction(repr(RHO))
    assert rho * (1 - Fraction(1, 10**8)) <= max(costs) <= rho


def test_a_census_that_forgot_to_replace_would_be_found() -> None:
    """The search can fail: noise for add/remove does not hide a replacement."""
    world = World((1, 1), {}, "replace", False)
    wrong = World((1, 1), {}, "add/remove", False)
    world.plan = Plan(
        world.plan.guarantee,
        wrong.plan.measures,
        world.plan.workload,
        (),
        1,
    )
    assert worst(world, 2) > Fraction(repr(RHO))
