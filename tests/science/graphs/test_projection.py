"""Node privacy on all graphs of five vertices and all their node neighbours: edges kept,
the degree histogram, the score of a cap.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.privacy import ZeroConcentratedDP
from dither.question import Question
from dither.science import graphs
from dither.science.graphs import node, projection
from dither.science.graphs.asking import NODE, Asked
from dither.science.graphs.node import CapPlan
from dither.science.graphs.projection import (
    CapChoice,
    declared_cap,
    histogram_l2,
    projected_degrees,
    shuffled,
)
from tests.chance import chance
from tests.science.graphs.small import NUMBERS, SIZE, edges, node_neighbours

CAPS = [1, 2, 3, 4]


def kept(number, cap):
    return int(projected_degrees(edges(number), cap).sum()) // 2


def bins(number, cap):
    return np.bincount(projected_degrees(edges(number), cap), minlength=cap + 1)[1:]


@pytest.mark.parametrize("cap", CAPS)
def test_a_vertex_adds_between_0_and_cap_edges(cap):
    counts = [kept(number, cap) for number in NUMBERS]
    moved = [counts[a] - counts[b] for a, b, _ in node_neighbours()]
    assert min(moved) >= 0  # all caps move in one direction
    assert max(moved) == cap


@pytest.mark.parametrize("cap", CAPS)
def test_a_vertex_moves_the_histogram_by_its_sensitivities(cap):
    counts = [bins(number, cap) for number in NUMBERS]
    moved = [counts[a] - counts[b] for a, b, _ in node_neighbours()]
    assert max(np.abs(one).sum() for one in moved) <= 2 * cap + 1
    assert max(math.hypot(*one) for one in moved) <= histogram_l2(cap)


def test_the_histogram_reaches_its_sensitivities():
    # θ vertices of degree θ − 1 gain an edge to one that had none, which then has θ too
    cap, pairs = 3, [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)]
    star = [(6, 0), (6, 1), (6, 2)]
    without, whole = (graph(7, one) for one in (pairs, pairs + star))
    before, after = (
        np.bincount(projected_degrees(one, cap), minlength=cap + 1)[1:]
        for one in (without, whole)
    )
    assert np.abs(after - before).sum() == 2 * cap + 1
    assert math.hypot(*(after - before)) == pytest.approx(histogram_l2(cap))


def graph(size, pairs):
    ends = np.array(pairs).reshape(-1, 2)
    return projection.Edges.of(size, ends[:, 0], ends[:, 1])


def test_bin_0_would_cost_one_more():
    """The number of vertices is public, so what leaves bin 0 need not be counted there."""
    cap = 2
    counts = [
        np.bincount(projected_degrees(edges(number), cap), minlength=cap + 1)
        for number in NUMBERS
    ]
    moved = max(np.abs(counts[a] - counts[b]).sum() for a, b, _ in node_neighbours())
    assert moved == 2 * cap + 2


@pytest.mark.parametrize("cap", CAPS)
def test_degrees_of_others_move_by_no_more_than_the_vertex_has(cap):
    """The lemma that all of it rests on."""
    for whole, without, vertex in node_neighbours():
        after, before = (projected_degrees(edges(one), cap) for one in (whole, without))
        others = np.delete(after - before, vertex)
        assert np.abs(others).sum() <= after[vertex]


def test_the_lemma_on_larger_graphs():
    random = np.random.default_rng(5)
    for _ in range(400):
        size = int(random.integers(6, 30))
        pairs = random.integers(0, size, (int(random.integers(1, 150)), 2))
        vertex, cap = int(random.integers(size)), int(random.integers(1, 8))
        others = pairs[(pairs != vertex).all(axis=1)]
        after, before = (
            projected_degrees(graph(size, one), cap) for one in (pairs, others)
        )
        moved = np.delete(after - before, vertex)
        assert np.abs(moved).sum() <= after[vertex] <= cap


@pytest.mark.parametrize("cost", [{"epsilon": 0.7}, {"rho": 0.2}], ids=str)
def test_choosing_and_counting_cost_no_more_than_the_whole(cost):
    asked = Asked.of(
        "edges", [], cost, vertices=9, ends=None, provenance=None, unit=NODE
    )
    plan = CapPlan.of(asked, None)
    if "epsilon" in cost:
        spent = Fraction(plan.choice.mechanism.epsilon) + Fraction(
            plan.question.epsilon
        )
        assert 0.999 * 0.7 < spent <= Fraction(0.7)
    else:
        chosen = plan.choice.mechanism.guarantee.to(ZeroConcentratedDP).rho
        assert 0.999 * 0.2 < chosen + plan.question.rho <= 0.2 * (1 + 1e-12)


def by_degrees(size, pairs):
    """As a caller would declare vertices: those of low degree first."""
    degrees = np.bincount(pairs.ravel(), minlength=size)
    number = np.argsort(np.argsort(degrees, kind="stable"))
    return graph(size, number[pairs])


def test_the_order_in_which_vertices_are_declared_may_come_from_the_graph(monkeypatch):
    """Sorted by degree, one vertex moves more edges than the cap; numbered anew by the
    same random bytes, it does not.
    """
    random, size, cap = np.random.default_rng(0), 9, 1
    trusted, anew = 0, 0
    for _ in range(600):
        pairs = random.integers(0, size, (int(random.integers(4, 26)), 2))
        others = pairs[(pairs != random.integers(size)).all(axis=1)]
        if not others.size:
            continue
        kept = [
            projected_degrees(by_degrees(size, p), cap).sum() for p in (pairs, others)
        ]
        trusted = max(trusted, abs(int(kept[0] - kept[1])) // 2)
        drawn = random.bytes(8 * size)
        monkeypatch.setattr(projection, "secret_bytes", lambda _, drawn=drawn: drawn)
        kept = [
            projected_degrees(shuffled(graph(size, p)), cap).sum()
            for p in (pairs, others)
        ]
        anew = max(anew, abs(int(kept[0] - kept[1])) // 2)
    assert trusted > cap
    assert anew == cap


@chance(1e-20)
def test_vertices_are_numbered_at_random_for_each_question(monkeypatch):
    ring = graph(60, [(i, (i + 1) % 60) for i in range(60)])
    first, second = shuffled(ring), shuffled(ring)
    assert first.low.tolist() != second.low.tolist()
    assert len(first) == len(ring)
    assert sorted(first.degrees) == sorted(ring.degrees)
    asked = []
    monkeypatch.setattr(node, "shuffled", lambda found: asked.append(1) or found)
    for ask in (graphs.edges, graphs.degrees):
        ask([(0, 1)], vertices=4, unit="node", epsilon=1.0)
    assert len(asked) == 2


@pytest.mark.parametrize("squared", [0.0, 0.5])
def test_the_score_of_a_cap_moves_by_1_at_most(squared):
    choice = CapChoice.of(
        Question.of("edges", {"epsilon": 1.0}, unit=NODE), SIZE, 0.5, squared
    )
    assert choice.caps == (1, 2, 4)
    scores = [choice.scores(edges(number)) for number in NUMBERS]
    moved = [
        abs(x - y)
        for a, b, _ in node_neighbours()
        for x, y in zip(scores[a], scores[b], strict=True)
    ]
    assert 0.4 < max(moved) <= 1
    assert all(max(one) == 0 for one in scores)


def test_compiled_and_plain_projections_agree():
    random = np.random.default_rng(1)
    ends = random.integers(0, 60, (900, 2))
    found = projection.Edges.of(60, ends[:, 0], ends[:, 1])
    for cap in (1, 3, 10, 59):
        low, high = found.low.tolist(), found.high.tolist()
        plain = projection._kept_degrees(low, high, 60, cap)
        assert np.array_equal(projected_degrees(found, cap), plain)
        assert plain.max() <= cap


def test_a_true_cap_drops_nothing():
    for number in NUMBERS:
        found = edges(number)
        cap = int(found.degrees.max()) or 1
        assert np.array_equal(projected_degrees(found, cap), found.degrees)


def test_dropping_vertices_of_large_degree_would_not_do():
    """Why edges are added and vertices never dropped: two graphs that differ in one
    vertex, and differ in nearly all edges once large degrees are dropped (rule R29).
    """
    cap, size = 2, 12
    ring = [(i, (i + 1) % (size - 1)) for i in range(size - 1)]
    hub = [(size - 1, i) for i in range(size - 1)]
    whole, without = graph(size, ring + hub), graph(size, ring)

    def naive(found):
        good = found.degrees <= cap
        return int((good[found.low] & good[found.high]).sum())

    assert abs(naive(whole) - naive(without)) > cap
    moved = projected_degrees(whole, cap).sum() - projected_degrees(without, cap).sum()
    assert 0 <= moved // 2 <= cap


def test_an_order_that_depends_on_the_graph_would_not_do():
    """Why the order is drawn at random: one vertex turns an order by degrees round."""

    def by_degree(found, cap):
        order = np.lexsort((found.high, found.low, -found.degrees[found.low]))
        low, high = found.low[order].tolist(), found.high[order].tolist()
        return projection._kept_degrees(low, high, SIZE, cap)

    def beyond(whole, without, vertex, cap=2):
        after, before = (by_degree(edges(one), cap) for one in (whole, without))
        return np.abs(np.delete(after - before, vertex)).sum() - after[vertex]

    assert max(beyond(*three) for three in node_neighbours()) > 0


@pytest.mark.parametrize("cap", [0, -1, 1.5, True, "many"])
def test_a_cap_is_a_whole_number(cap):
    with pytest.raises(ArgumentError, match="max_degree"):
        declared_cap(cap, 10)


def test_a_cap_beyond_all_degrees_is_n_minus_1():
    assert declared_cap(100, 10) == 9
    assert declared_cap(None, 10) is None
