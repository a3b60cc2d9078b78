"""Everything that is noised moves by at most k, and the parts of the cost add up."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dither.privacy import Unit
from dither.question import Question
from dither.science.maps.counting import held
from dither.science.maps.grids import Grid, Partition
from dither.science.maps.places import place_of
from dither.science.maps.planning import moved_by, plan_of
from dither.science.maps.reading import Points
from tests.science.maps.support import UNIT

PLACE = place_of(UNIT, None)
GRIDS = ("adaptive", "uniform")


@pytest.mark.parametrize("most", [1, 2])
def test_all_placements_of_three_points(monkeypatch, most):
    """The total, the first grid, and the parts of a division: L1 and L2 are at most k
    when an owner of three points comes, and k is reached.
    """
    spots = list(itertools.product((0.1, 0.6), repeat=2))
    grid = Grid(2, 2)
    partition = Partition(PLACE, grid, np.array([1, 2, 3, 1]))
    words = np.arange(1, 13, dtype=np.uint32)
    monkeypatch.setattr(
        "dither.science.owners.random_words", lambda count: words[:count]
    )

    def measured(rows):
        x, y = np.array([spots[spot] for _, spot in rows]).reshape(-1, 2).T
        owners = np.array([owner for owner, _ in rows], np.int64)
        points = held(Points(x, y, owners), PLACE, most)
        first = np.bincount(grid.cells(*points), minlength=4)
        return np.array([points.x.size]), first, partition.counts(*points)

    worst = 0.0
    for mine in itertools.combinations_with_replacement(range(4), 3):
        for others in itertools.combinations_with_replacement(range(4), 2):
            rows = [(7, spot) for spot in others]
            after = measured(rows + [(3, spot) for spot in mine])
            for low, high in zip(measured(rows), after, strict=True):
                assert np.abs(high - low).sum() <= most
                worst = max(worst, math.sqrt(((high - low) ** 2).sum()))
    assert worst == most


@pytest.mark.parametrize("cost", [{"epsilon": 0.7}, {"rho": 0.3}])
def test_the_parts_of_the_cost_add_up(cost):
    """The noise of each part is for its share, and the shares are the whole."""
    question = Question.of("heat map", cost, unit=Unit("site"))
    seen = []
    for method, cells in itertools.product(GRIDS, (None, 9)):
        plan = plan_of(question, PLACE, 3, method, cells, None)
        mechanisms = (plan.total, plan.look, plan.first, plan.parts)
        used = [one for one in mechanisms if one is not None]
        assert all(one.sensitivity == 3 for one in used)
        spent = sum(
            one.guarantee.epsilon if "epsilon" in cost else one.mu**2 / 2
            for one in used
        )
        whole = next(iter(cost.values()))
        assert whole - 1e-4 < spent <= whole + 1e-12
        seen.append(len(used))
    assert seen == [4, 3, 2, 1]


def test_how_far_a_unit_moves_counts():
    plain = Question.of("map", {"rho": 1}, unit=Unit("herder"))
    assert moved_by(plain, 3) == (3, 3)
    replaced = Question.of("map", {"rho": 1}, unit=Unit("herder", "replace"))
    l1, l2 = moved_by(replaced, 3)
    assert l1 == 6
    assert 3 * math.sqrt(2) <= l2 <= 3 * math.sqrt(2) + 1e-8
