"""The ladder: triangles in every graph of four or five nodes against all neighbours, in
exact fractions.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

import dither
from dither.mechanisms import Ladder
from tests.chance import at_least, chance
from tests.noise.support import LEVEL, p_value


def graphs(nodes):
    """All graphs as sets of edges, with all that differ in one edge."""
    edges = list(itertools.combinations(range(nodes), 2))
    for size in range(len(edges) + 1):
        for chosen in itertools.combinations(edges, size):
            yield frozenset(chosen)


def triangles(graph, nodes):
    return sum(
        {(a, b), (b, c), (a, c)} <= graph
        for a, b, c in itertools.combinations(range(nodes), 3)
    )


def common(graph, nodes):
    """LS_0: the most common neighbours of any two nodes."""

    def linked(a, b):
        return (min(a, b), max(a, b)) in graph

    pairs = itertools.combinations(range(nodes), 2)
    return max(
        sum(linked(a, c) and linked(b, c) for c in range(nodes) if c not in (a, b))
        for a, b in pairs
    )


def rung(output, center, widths):
    """The least t whose rungs up to t reach the output."""
    far, t = 0, 0
    while abs(output - center) > far:
        far += widths[t] if t < len(widths) else math.inf
        t += 1
    return t


def law(mechanism, center, widths):
    weights = [
        mechanism.weights[rung(o, center, widths)]
        for o in range(mechanism.bounds[0], mechanism.bounds[1] + 1)
    ]
    return [Fraction(weight, sum(weights)) for weight in weights]


def widths_of(mechanism, first):
    return [
        min(first + t, mechanism.global_sensitivity) for t in range(mechanism.rungs - 1)
    ]


@pytest.mark.parametrize(("nodes", "epsilon"), [(4, 0.5), (4, 3.0), (5, 1.0)])
def test_triangles_of_every_graph_keep_the_promise(nodes, epsilon):
    """LS_t = min(LS_0 + t, n − 2): one edge changes common neighbours by at most one."""
    mechanism = Ladder(
        epsilon=epsilon,
        bounds=(0, math.comb(nodes, 3)),
        global_sensitivity=nodes - 2,
        growth=1,
    )
    facts = {
        graph: (triangles(graph, nodes), common(graph, nodes))
        for graph in graphs(nodes)
    }
    laws = {
        fact: law(mechanism, fact[0], widths_of(mechanism, fact[1]))
        for fact in set(facts.values())
    }
    pairs = set()
    for graph, here in facts.items():
        for edge in itertools.combinations(range(nodes), 2):
            there = facts[graph ^ {edge}]
            assert abs(here[0] - there[0]) <= here[1]
            assert here[1] <= there[1] + 1
            pairs.add((here, there))
    most = 0.0
    with mp.workdps(60):
        limit = mp.e ** mpf(repr(epsilon))
        for here, there in pairs:
            ratios = [a / b for a, b in zip(laws[here], laws[there], strict=True)]
            widest = max(ratios) / min(ratios)
            # bounded range
            assert mpf(widest.numerator) / widest.denominator <= limit
            most = max(most, math.log(max(ratios)))
    assert 0.3 * epsilon < most <= epsilon


def test_a_ladder_of_local_sensitivity_alone_breaks_the_promise():
    """The enumeration above can fail: rungs that do not grow."""
    mechanism = Ladder(epsilon=3.0, bounds=(0, 4), global_sensitivity=2)
    facts = {graph: (triangles(graph, 4), common(graph, 4)) for graph in graphs(4)}
    worst = Fraction(0)
    for graph, here in facts.items():
        for edge in itertools.combinations(range(4), 2):
            there = facts[graph ^ {edge}]
            a, b = (
                law(mechanism, fact[0], [fact[1]] * (mechanism.rungs - 1))
                for fact in (here, there)
            )
            worst = max(worst, *(x / y for x, y in zip(a, b, strict=True)))
    assert math.log(worst) > 3


@chance(1e-8)
@pytest.mark.parametrize(("center", "first"), [(0, 0), (2, 1), (9, 3), (10, 0), (5, 2)])
def test_releases_follow_the_law(center, first):
    mechanism, draws = (
        Ladder(epsilon=1.0, bounds=(0, 10), global_sensitivity=3, growth=1),
        8_000,
    )
    expected = law(mechanism, center, widths_of(mechanism, first))
    seen = Counter(mechanism.release(center, first) for _ in range(draws))
    assert set(seen) <= set(range(11))
    counts = np.array([seen[o] for o in range(11)])
    assert p_value(counts, np.array(expected, float)) > LEVEL


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 7.0, 300.0])
def test_weights_fall_by_no_more_than_allowed(epsilon):
    mechanism = Ladder(
        epsilon=epsilon, bounds=(-(10**9), 10**9), global_sensitivity=100
    )
    with mp.workdps(80):
        limit = mp.e ** (mpf(repr(epsilon)) / 2)
        for near, far in itertools.pairwise(mechanism.weights):
            assert limit * (1 - mpf("1e-15")) <= mpf(near) / far <= limit
    assert len(mechanism.weights) == mechanism.rungs + 1
    rest = mechanism.weights[-1] * (2 * 10**9 + 1)
    assert rest / mechanism.weights[0] < 1e-11


def test_what_is_public_does_not_depend_on_the_data(monkeypatch):
    from dither.mechanisms import ladder as module

    sizes, calls = [], []
    plain = module.secret_bytes
    monkeypatch.setattr(
        module, "secret_bytes", lambda size: sizes.append(size) or plain(size)
    )

    def counted(width):
        def at(_):
            calls[-1] += 1
            return width

        return at

    mechanism = Ladder(epsilon=1.0, bounds=(0, 10**6), global_sensitivity=500)
    for width in (0, 1, 3.5, 1e300, math.nan, math.inf, -5, "many", None):
        for value in (0, 10**30, -(10**30), 77, None, math.nan):
            calls.append(0)
            assert 0 <= mechanism.release(value, counted(width)) <= 10**6
    assert set(calls) == {mechanism.rungs - 1}
    assert len(set(sizes)) == 1
    assert (
        mechanism.error()
        == Ladder(epsilon=1.0, bounds=(0, 10**6), global_sensitivity=500).error()
    )


@chance(3e-9)
def test_the_worst_case_error_covers():
    mechanism = Ladder(epsilon=0.5, bounds=(0, 10**6), global_sensitivity=7, growth=0)
    bound = mechanism.error(0.9)
    for width in (7, 1, lambda t: 7 if t > 5 else 0):
        near = [
            abs(mechanism.release(5 * 10**5, width) - 5 * 10**5) <= bound
            for _ in range(1500)
        ]
        assert sum(near) >= at_least(1500, 0.9, 1e-9)
    assert mechanism.error(1 - 1e-13) == 10**6
    assert mechanism.guarantee == dither.BoundedRange(0.5)


@chance(1e-15)
def test_narrow_rungs_are_sharp():
    mechanism = Ladder(
        epsilon=1.0, bounds=(0, 10**9), global_sensitivity=10**4, growth=1
    )
    off = [abs(mechanism.release(10**6, 5) - 10**6) for _ in range(500)]
    assert np.median(off) < 60


def test_bad_questions():
    good = {"epsilon": 1.0, "bounds": (0, 10), "global_sensitivity": 2}
    bad = [
        ("epsilon", 0),
        ("epsilon", 5e-324),
        ("epsilon", 1e-6),
        ("epsilon", 1e4),
        ("bounds", (0, 0)),
        ("bounds", (0, 1.5)),
        ("bounds", 10),
        ("global_sensitivity", 0),
    ]
    for name, value in [*bad, ("growth", -1), ("global_sensitivity", 1.5)]:
        with pytest.raises(dither.ArgumentError, match=name):
            Ladder(**good | {name: value})
    mechanism = Ladder(**good)
    for value in (1.5, [1]):
        with pytest.raises(dither.ArgumentError, match="value"):
            mechanism.release(value, [1])
    with pytest.raises(dither.ArgumentError, match="LS_t"):
        mechanism.release(1, 1)
