"""Triangles and stars on all graphs of five vertices and all their edge neighbours:
sensitivities, the ladder's odds, and how often intervals hold the truth.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dither.privacy import ZeroConcentratedDP
from dither.question import Question
from dither.science.graphs.asking import EDGE
from dither.science.graphs.counting import CountPlan
from dither.science.graphs.stars import Stars
from dither.science.graphs.triangles import Triangles
from tests.science.graphs.small import NUMBERS, PAIRS, SIZE, edge_neighbours, edges

PATTERNS = [Triangles(SIZE), Stars(SIZE, 2), Stars(SIZE, 3), Stars(SIZE, 4)]
STEPS = range(8)


def plan_of(pattern, method="ladder", interval=True, **cost):
    question = Question.of("count", cost, unit=EDGE)
    return CountPlan.of(question, pattern, method, interval=interval)


def plain_count(pattern, number):
    """The count by its definition."""
    chosen = {pair for bit, pair in enumerate(PAIRS) if number >> bit & 1}
    if isinstance(pattern, Triangles):
        corners = itertools.combinations(range(SIZE), 3)
        return sum(set(itertools.combinations(c, 2)) <= chosen for c in corners)
    degrees = [sum(v in pair for pair in chosen) for v in range(SIZE)]
    return sum(math.comb(d, pattern.rays) for d in degrees)


@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_counts_and_sensitivities_on_all_small_graphs(pattern):
    counts = [pattern.count(edges(number)) for number in NUMBERS]
    assert counts == [plain_count(pattern, number) for number in NUMBERS]
    assert max(counts) <= pattern.most
    reaches = [pattern.reach(edges(number)) for number in NUMBERS]
    widths = [[pattern.local(edges(number))(t) for t in STEPS] for number in NUMBERS]
    assert max(reaches) <= pattern.farthest
    assert max(map(max, widths)) <= pattern.global_sensitivity
    for reach, own in zip(reaches, widths, strict=True):
        assert all(own[t] <= pattern.widest(reach)(t) for t in STEPS)
    for one, other in edge_neighbours():
        assert abs(reaches[one] - reaches[other]) <= 1
        assert abs(counts[one] - counts[other]) <= min(widths[one][0], widths[other][0])
        for a, b in ((one, other), (other, one)):
            assert all(widths[a][t] <= widths[b][t + 1] for t in STEPS[:-1])


def log_law(plan, number):
    """The log of each answer's probability."""
    pattern, weights = plan.pattern, plan.main.weights
    truth, local = pattern.count(edges(number)), pattern.local(edges(number))
    ends = np.cumsum([0, *(local(t) for t in range(plan.main.rungs - 1))])
    far = np.abs(np.arange(pattern.most + 1) - truth)
    rungs = np.minimum(np.searchsorted(ends, far), plan.main.rungs)
    chosen = [weights[rung] for rung in rungs]
    total = sum(chosen)
    return np.array([math.log(one) - math.log(total) for one in chosen])


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_no_answer_is_likelier_by_more_than_epsilon(pattern, epsilon):
    plan = plan_of(pattern, interval=False, epsilon=epsilon)
    laws = [log_law(plan, number) for number in NUMBERS]
    worst = max(np.abs(laws[a] - laws[b]).max() for a, b in edge_neighbours())
    assert 0.3 * epsilon < worst <= epsilon + 1e-9
    spread = max(np.ptp(laws[a] - laws[b]) for a, b in edge_neighbours())
    assert spread <= epsilon + 1e-9  # bounded range, which is what rho rests on


@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_both_parts_cost_no_more_than_the_whole(pattern):
    for epsilon in (0.1, 1.0, 3.3):
        plan = plan_of(pattern, epsilon=epsilon)
        parts = Fraction(plan.main.epsilon) + Fraction(plan.side.epsilon)
        assert 0.999 * epsilon < parts <= Fraction(epsilon)
    for rho in (0.01, 0.3):
        plan = plan_of(pattern, rho=rho)
        main = plan.main.guarantee.to(ZeroConcentratedDP).rho
        side = plan.side.guarantee.to(ZeroConcentratedDP).rho
        assert 0.999 * rho < main + side <= rho * (1 + 1e-12)
