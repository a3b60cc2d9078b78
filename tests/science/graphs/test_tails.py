"""Intervals of triangles and stars hold the truth: coverage computed from the exact law
of the ladder and of the noisy bound, on small, empty and complete graphs.
"""

import math

import networkx as nx
import numpy as np
import pytest

from dither.mechanisms import Ladder
from dither.science.graphs.counting import BOUND, Bounded
from dither.science.graphs.stars import Stars
from dither.science.graphs.tails import Cells, grid, ladder_error
from dither.science.graphs.triangles import Triangles
from tests.science.graphs.small import NUMBERS, SIZE, edges
from tests.science.graphs.test_counting import plan_of
from tests.science.graphs.test_kernels import edges_of


def within(plan, truth, local, width):
    """The exact chance that the ladder's answer lies within a distance of the truth."""
    weights, most = plan.main.weights, plan.pattern.most
    ends = np.cumsum([0.0, *(local(t) for t in range(plan.main.rungs - 1)), most])
    ends[-1] = max(ends[-1], most)

    def mass(reach):
        sides = (np.minimum(ends, min(reach, room)) for room in (truth, most - truth))
        sizes = sum(np.diff(side) for side in sides)
        relative = np.exp(-plan.main.epsilon / 2 * np.arange(1, len(weights)))
        return 1 + float(sizes @ relative)

    return mass(width) / mass(most)


def bounds(plan, reach, missed):
    """Each bound on the reach that noise may give, and its chance."""
    far = int(plan.side.error(1 - 1e-13, integer=True))
    noise = np.arange(-far, far + 1)
    rate = 1 / plan.side.scale
    chances = math.tanh(rate / 2) * np.exp(-rate * np.abs(noise))
    start = reach + Bounded(0, 0, plan).margin(missed)
    held = np.clip(start + noise, 0, plan.pattern.farthest)
    return enumerate(np.bincount(held, chances).tolist())


def coverage(plan, found, confidence):
    pattern, missed = plan.pattern, 1 - confidence
    truth, reach, local = (
        pattern.count(found),
        pattern.reach(found),
        pattern.local(found),
    )
    return sum(
        chance * within(plan, truth, local, plan.error(bound, missed * (1 - BOUND)))
        for bound, chance in bounds(plan, reach, missed * BOUND)
        if chance > 1e-9
    )


KARATE = edges_of(nx.karate_club_graph())
GRAPHS = {
    "karate": KARATE,
    "empty": edges_of(nx.empty_graph(20)),
    "complete": edges_of(nx.complete_graph(20)),
    "star": edges_of(nx.star_graph(19)),
    "three": edges_of(nx.complete_graph(3)),
    "five": edges_of(nx.path_graph(5)),
}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", GRAPHS)
def test_intervals_of_triangles_hold_the_truth(name, epsilon):
    found = GRAPHS[name]
    plan = plan_of(Triangles(found.count), epsilon=epsilon)
    for confidence in (0.5, 0.95):
        assert coverage(plan, found, confidence) >= confidence


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
@pytest.mark.parametrize("name", ["karate", "empty", "complete", "star"])
@pytest.mark.parametrize("rays", [2, 3])
def test_intervals_of_stars_hold_the_truth(name, rays, epsilon):
    found = GRAPHS[name]
    plan = plan_of(Stars(found.count, rays), epsilon=epsilon)
    for confidence in (0.5, 0.95):
        assert coverage(plan, found, confidence) >= confidence


@pytest.mark.parametrize("pattern", [Triangles(SIZE), Stars(SIZE, 2)], ids=repr)
def test_intervals_hold_the_truth_on_all_small_graphs(pattern):
    plan = plan_of(pattern, epsilon=2.0)
    seen = {}
    for number in NUMBERS:
        found = edges(number)
        local = tuple(pattern.local(found)(t) for t in range(4))
        seen[pattern.count(found), pattern.reach(found), local] = found
    assert min(coverage(plan, found, 0.9) for found in seen.values()) >= 0.9


def test_the_width_is_enough_for_every_bound_below():
    """Narrower rungs are not always better: each LS_0 is tried by itself."""
    plan = plan_of(Triangles(60), interval=False, epsilon=1.3)
    for bound in (0, 1, 2, 5, 17, 40, 58):
        for missed in (0.5, 0.1, 0.01):
            width = plan.error(bound, missed)
            for reach in range(bound + 1):
                local = plan.pattern.widest(reach)
                truth = plan.pattern.most // 2
                assert within(plan, truth, local, width) >= 1 - missed
                assert within(plan, 0, local, width) >= 1 - missed


def test_the_width_is_not_much_more_than_is_needed():
    plan = plan_of(Triangles(1000), interval=False, epsilon=1.0)
    width = plan.error(50, 0.05)
    local = plan.pattern.widest(50)
    truth = plan.pattern.most // 2
    assert within(plan, truth, local, 0.97 * width) < 0.95


@pytest.mark.parametrize("most", [0, 1, 31, 32, 33, 1000])
@pytest.mark.parametrize("fine", [8, 32])
def test_cells_hold_every_number_once(most, fine):
    low, high = grid(most, fine)
    held = [n for a, b in zip(low, high, strict=True) for n in range(a, b + 1)]
    assert held == list(range(most + 1))


def test_runs_of_cells_change_nothing(monkeypatch):
    ladder = Ladder(epsilon=1.0, bounds=(0, 10_000), global_sensitivity=98)
    pattern = Triangles(100)
    cells = pattern.cells(60, ladder.rungs)
    whole = ladder_error(ladder, cells, 0.05)
    monkeypatch.setattr("dither.science.graphs.tails.HELD", 1)
    assert ladder_error(ladder, cells, 0.05) == whole
    assert isinstance(cells, Cells)


def test_all_numbers_are_held_where_none_may_be_missed():
    plan = plan_of(Triangles(30), epsilon=0.01)
    assert plan.error(28, 1e-12) == plan.pattern.most
