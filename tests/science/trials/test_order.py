"""Two order statistics by one choice: no neighbour moves a penalty by more than 1, and
ranks are far enough out.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dither import ArgumentError, Unit
from dither.cost import Cost
from dither.mechanisms import PermuteAndFlip
from dither.question import Question
from dither.science.trials.order import Around, Pair, around, outside

PERSON = Unit("person", "replace")
GRID = np.linspace(0.0, 3.0, 4)
VALUES = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 9.0, -9.0, np.inf, -np.inf, np.nan]


def pair(rank: int) -> Pair:
    choice = PermuteAndFlip(sensitivity=1, epsilon=1.0, unit=PERSON)
    return Pair(choice, points=3, rank=rank)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_no_neighbour_moves_a_penalty_by_more_than_one(rank: int) -> None:
    mechanism = pair(rank)
    groups = itertools.combinations_with_replacement([0.5, 1.0, 2.0, np.nan], 3)
    moved = []
    for group in groups:
        found = [
            mechanism.penalties(*outside(np.array([*group, value]), GRID, 4))
            for value in VALUES
        ]
        both = itertools.combinations(found, 2)
        moved += [np.abs(first - second).max() for first, second in both]
    assert max(moved) == mechanism.choice.sensitivity  # and it is reached


@pytest.mark.parametrize("size", [1, 2, 4])
def test_some_pair_is_always_right(size: int) -> None:
    for group in itertools.combinations_with_replacement(VALUES, size):
        for rank in range(size // 2 + 1):
            assert (
                pair(rank).penalties(*outside(np.array(group), GRID, size)).min() == 0
            )


def test_a_point_that_is_right_leaves_no_more_than_rank_beyond_it() -> None:
    outcomes = np.array([0.2, 0.7, 1.0, 1.0, 1.4, 2.0, 2.2, 2.9])
    mechanism = pair(2)
    best = np.flatnonzero(mechanism.penalties(*outside(outcomes, GRID, 8)) == 0)
    low, high = mechanism.pairs
    for one in best:
        assert (outcomes < GRID[low[one]]).sum() <= 2
        assert (outcomes > GRID[high[one]]).sum() <= 2


def test_ranks_hold_for_the_worst_choice_that_the_bound_allows() -> None:
    plan = Around((200,), 0.5, 0.5, 0.95, 64)
    assert plan.failed(plan.rank) <= 0.05 < plan.failed(plan.rank + 1)
    exact = Around((200,), 1e6, 0.5, 0.95, 64)
    assert exact.rank == 85  # the classical interval has the ranks 86 and 115


def test_large_groups_are_planned_too() -> None:
    plan = Around((1 << 31,), 0.5, 1.0, 0.95, 16)
    assert 0.49 < plan.rank / plan.size < 0.5


def test_too_few_people_for_the_cost_are_refused() -> None:
    with pytest.raises(ArgumentError, match="as wide as the bounds"):
        around(Question("m", Cost(epsilon=0.1), PERSON), (50,), 0.95, None)
