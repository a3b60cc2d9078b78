"""Questions about graphs: without noise they are answered as networkx answers them;
charged before anything is read; refused by public facts alone.
"""

import math

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dither import Budget
from dither.dataset import Dataset
from dither.errors import ArgumentError, BudgetExceeded, UnitMismatch
from dither.mechanisms import Ladder
from dither.privacy import PureDP, Unit, ZeroConcentratedDP
from dither.release import Release
from dither.science import graphs
from tests.chance import chance

KARATE = nx.karate_club_graph()
CLUBS = nx.get_node_attributes(KARATE, "club")
GRAPHS = [KARATE, nx.powerlaw_cluster_graph(200, 3, 0.6, seed=4), nx.empty_graph(6)]
COSTS = [{"epsilon": 1.0}, {"rho": 0.1}]
EDGE_QUESTIONS = [
    graphs.triangles,
    graphs.stars,
    graphs.transitivity,
    graphs.edges,
    graphs.degrees,
]


@pytest.fixture
def silent(monkeypatch):
    """Every mechanism without its noise."""

    def zeros(scale, size=None):  # noqa: ARG001
        return 0 if size is None else np.zeros(size, np.int64)

    for name in ("additive.discrete_laplace", "additive.rounded_gaussian"):
        monkeypatch.setattr(f"dither.mechanisms.{name}", zeros)
    monkeypatch.setattr("dither.mechanisms.smooth.rounded_cauchy", zeros)
    monkeypatch.setattr(Ladder, "_choose", lambda self, center, *_: center)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_without_noise_answers_are_those_of_networkx(graph, cost):
    n = graph.number_of_nodes()
    degrees = [d for _, d in graph.degree()]
    asked = {"vertices": n, **cost}
    triangles = sum(nx.triangles(graph).values()) // 3
    assert graphs.triangles(graph, **asked).value == triangles
    assert graphs.edges(graph, **asked).value == graph.number_of_edges()
    for k in (2, 3, 4):
        stars = sum(math.comb(d, k) for d in degrees)
        assert graphs.stars(graph, k=k, **asked).value == stars
    share = graphs.transitivity(graph, **asked).value
    assert share == pytest.approx(nx.transitivity(graph), abs=1e-15)
    found = graphs.degrees(graph, **asked)
    assert found.value.tolist() == sorted(degrees, reverse=True)
    assert found.histogram().value.tolist() == nx.degree_histogram(graph)
    node = {"unit": "node", "max_degree": max(*degrees, 1), **asked}
    assert graphs.edges(graph, **node).value == graph.number_of_edges()
    histogram = nx.degree_histogram(graph)
    counts = graphs.degrees(graph, **node).value.tolist()
    assert counts[: len(histogram)] == histogram


@pytest.mark.usefixtures("silent")
def test_smooth_sensitivity_answers_too():
    found = graphs.triangles(KARATE, vertices=34, method="smooth", epsilon=2.0)
    assert found.value == 45
    assert graphs.stars(KARATE, vertices=34, method="smooth", epsilon=2.0).value == 528


@pytest.mark.usefixtures("silent")
def test_mixing_is_that_of_networkx():
    found = graphs.mixing(KARATE, groups=CLUBS, vertices=34, epsilon=1.0)
    order = {"Mr. Hi": 0, "Officer": 1}
    assert found.keys == tuple(order)
    plain = nx.attribute_mixing_matrix(KARATE, "club", mapping=order, normalized=False)
    shares = nx.attribute_mixing_matrix(KARATE, "club", mapping=order)
    assert np.array_equal(found.value, plain)
    assert np.array_equal(found.matrix(), plain)
    assert np.allclose(found.matrix(normalized=True), shares)
    frame = found.to_pandas().set_index("key")
    assert frame.loc["Mr. Hi–Officer", "edges"] == plain[0, 1]
    assert frame.loc["Officer–Officer", "edges"] == plain[1, 1] / 2
    inside, across = (
        found.between("Mr. Hi", "Mr. Hi"),
        found.between("Mr. Hi", "Officer"),
    )
    assert inside.value == plain[0, 0] / 2
    assert across.value == plain[0, 1]
    low, high = inside.interval()
    assert low <= inside.value <= high
    assert type(low) is type(high) is int
    assert type(across) is Release
    assert "Mr. Hi–Officer" in str(found)
    assert "2 groups: declared" in str(found)
    assert "Officer" in found.plot().svg()
    listed = [CLUBS[v] for v in range(34)]
    again = graphs.mixing(KARATE, groups=listed, vertices=34, epsilon=1.0)
    assert np.array_equal(again.value, plain)
    turned = pd.Series(CLUBS).iloc[::-1]  # by its index, not by its order
    again = graphs.mixing(KARATE, groups=turned, vertices=34, epsilon=1.0)
    assert np.array_equal(again.value, plain)


@pytest.mark.usefixtures("silent")
def test_other_kinds_of_graphs_give_the_same():
    ends = np.array(KARATE.edges())
    kinds = [
        igraph.Graph(ends.tolist()),
        sp.csr_array(nx.to_scipy_sparse_array(KARATE)),
        ends,
        pd.DataFrame(ends, columns=["a", "b"]),
    ]
    for graph in kinds:
        assert graphs.triangles(graph, vertices=34, epsilon=1.0).value == 45
    data = Dataset.of({"a": ends[:, 0], "b": ends[:, 1]}, account=Budget(epsilon=2.0))
    found = graphs.triangles(data, vertices=34, ends=("a", "b"), epsilon=1.0)
    assert found.value == 45
    assert found.receipt is not None


@pytest.mark.parametrize("ask", EDGE_QUESTIONS, ids=lambda one: one.__name__)
def test_the_whole_cost_is_charged_once(ask):
    budget = Budget(epsilon=1.0, unit=Unit("edge"))
    found = ask(KARATE, vertices=34, epsilon=0.75, budget=budget, by="ann")
    assert found.guarantee == PureDP(0.75, unit=Unit("edge"))
    assert found.receipt.by == "ann"
    with pytest.raises(BudgetExceeded):
        ask(KARATE, vertices=34, epsilon=0.5, budget=budget)
    assert ask(KARATE, vertices=34, share=0.25, budget=budget).receipt is not None


def test_rho_is_what_was_stated():
    found = graphs.triangles(KARATE, vertices=34, rho=0.5)
    assert found.guarantee == ZeroConcentratedDP(0.5, unit=Unit("edge"))


class Unread(list):
    """A graph that must not be looked at."""

    def __iter__(self):
        raise AssertionError("the edges were read")

    __len__ = __getitem__ = __iter__


def test_nothing_is_read_before_it_is_paid_for():
    empty = Budget(epsilon=0.1, unit=Unit("edge"))
    for ask in EDGE_QUESTIONS:
        with pytest.raises(BudgetExceeded):
            ask(Unread(), vertices=34, epsilon=1.0, budget=empty)
    node = Budget(epsilon=0.1, unit=Unit("node"))
    for ask in (graphs.edges, graphs.degrees):
        with pytest.raises(BudgetExceeded):
            ask(Unread(), vertices=34, unit="node", epsilon=1.0, budget=node)


def test_edges_and_nodes_are_separate_accounts_and_say_so():
    budget = Budget(epsilon=1.0, unit=Unit("edge"))
    with pytest.raises(UnitMismatch, match="separate accounts about the same people"):
        graphs.edges(KARATE, vertices=34, unit="node", epsilon=0.5, budget=budget)
    with pytest.raises(
        UnitMismatch, match=r"pass budget=Budget\(epsilon=1.0, unit=Unit\(\"edge\"\)\)"
    ):
        graphs.triangles(KARATE, vertices=34, epsilon=0.5, budget=Budget(epsilon=1.0))
    said = str(graphs.edges(KARATE, vertices=34, unit="node", epsilon=0.5))
    assert "separate accounts about the same people" in said
    assert "for_replacement" in said
    assert "one node" in said


def test_a_unit_is_named_or_passed():
    for unit in ("node", Unit("node")):
        found = graphs.edges(KARATE, vertices=34, unit=unit, epsilon=0.5)
        assert found.guarantee.unit == Unit("node")
    for ask in (graphs.triangles, graphs.stars, graphs.transitivity):
        assert ask(KARATE, vertices=34, unit="edge", epsilon=1.0).receipt is None
        with pytest.raises(ArgumentError, match="one vertex can make"):
            ask(KARATE, vertices=34, unit="node", epsilon=1.0)
    with pytest.raises(ArgumentError, match="not available under node privacy"):
        graphs.mixing(KARATE, vertices=34, groups=CLUBS, unit="node", epsilon=1.0)


def test_provenance_is_noted():
    said = graphs.edges(KARATE, vertices=34, epsilon=1, provenance="the club's roll")
    assert "34 vertices: declared, from the club's roll" in said.notes
    assert "source not stated" in str(graphs.edges(KARATE, vertices=34, epsilon=1))


def test_without_an_interval_all_of_the_cost_goes_into_the_count():
    found = graphs.triangles(KARATE, vertices=34, epsilon=1.0, interval=False)
    assert "no interval" in str(found)
    with pytest.raises(ArgumentError, match="ask again without interval=False"):
        found.interval()


def test_arithmetic_gives_plain_releases():
    found = graphs.triangles(KARATE, vertices=34, epsilon=1.0)
    share = found / 100
    assert type(share) is Release
    assert share.interval()[0] == pytest.approx(found.interval()[0] / 100)
    degrees = graphs.degrees(KARATE, vertices=34, epsilon=1.0)
    assert type(degrees[0]) is Release
    assert type(degrees.histogram()[3]) is Release


def test_arithmetic_on_a_matrix_is_told_pair_by_pair():
    found = graphs.mixing(KARATE, groups=CLUBS, vertices=34, epsilon=1.0)
    double = found + found
    assert type(double) is Release
    assert double.keys == ("Mr. Hi–Mr. Hi", "Mr. Hi–Officer", "Officer–Officer")
    assert double.value.tolist() == (2 * found.value)[np.triu_indices(2)].tolist()
    low, high = (found * 0.5).interval()
    assert (low <= high).all()
    for one in (double, found * 0.5, found.round(), found.map(np.abs), found / found):
        assert "Mr. Hi–Officer" in str(one)
    assert found["Mr. Hi", "Officer"].value == found.value[0, 1]
    with pytest.raises(ArgumentError, match="two groups"):
        found[0]
    assert found.to_csv().count("\n") == 4


def test_a_wanted_error_is_reached():
    found = graphs.edges(KARATE, vertices=34, error="±10 at 95%")
    low, high = found.interval()
    assert high - low <= 20
    assert type(low) is type(high) is int
    assert found.guarantee.epsilon < 1
    node = graphs.edges(KARATE, vertices=34, unit="node", max_degree=20, error=50)
    assert node.interval()[1] - node.interval()[0] <= 100
    cells = graphs.mixing(KARATE, groups=CLUBS, vertices=34, error=5)
    low, high = cells.between("Mr. Hi", "Officer").interval()
    assert high - low <= 10
    assert graphs.degrees(KARATE, vertices=34, error=8).guarantee.epsilon < 2
    with pytest.raises(ArgumentError, match="error"):
        graphs.edges(KARATE, vertices=34, unit="node", error=50)
    with pytest.raises(ArgumentError, match="cannot be met for all degrees at once"):
        graphs.degrees(KARATE, vertices=34, unit="node", max_degree=17, error=50)
    with pytest.raises(ArgumentError, match="error"):
        graphs.triangles(KARATE, vertices=34, error=50)


def test_node_privacy_without_a_cap_is_open_above():
    found = graphs.edges(KARATE, vertices=34, unit="node", epsilon=1.0)
    low, high = found.interval()
    assert high == math.inf
    assert low <= max(0, found.value)
    assert "at least" in str(found)
    degrees = graphs.degrees(KARATE, vertices=34, unit="node", epsilon=1.0)
    assert degrees.ccdf().interval()[1].tolist() == [1.0] * len(degrees.value)
    most = np.maximum(degrees.value, 34)  # counts that add up to 34 may be more
    assert degrees.histogram().interval()[1].tolist() == most.tolist()
    assert "chosen privately" in str(degrees)


def test_node_privacy_with_a_cap_is_closed():
    found = graphs.edges(KARATE, vertices=34, unit="node", max_degree=17, epsilon=1.0)
    assert found.interval()[1] < math.inf
    assert "declared as a fact" in str(found)
    degrees = graphs.degrees(KARATE, vertices=34, unit="node", max_degree=17, rho=1.0)
    assert degrees.keys == tuple(range(18))
    assert degrees.value.sum() == 34


def test_pictures_are_drawn():
    for unit in ("edge", "node"):
        found = graphs.degrees(KARATE, vertices=34, unit=unit, epsilon=2.0)
        assert found.plot().svg().startswith("<svg")
        assert found.plot().png().startswith(b"\x89PNG")
        assert found.histogram().plot().svg().startswith("<svg")
    assert "triangles" in graphs.triangles(KARATE, vertices=34, epsilon=1).plot().svg()
    empty = graphs.degrees([], vertices=1, epsilon=1.0)
    assert empty.plot().svg().startswith("<svg")


def test_tables_of_degrees():
    found = graphs.degrees(KARATE, vertices=34, epsilon=2.0)
    assert len(found.to_pandas()) == 34
    shares = found.ccdf()
    frame = shares.to_pandas()
    assert frame.iloc[0, 1] == 1.0
    assert repr(found) == "<DegreesRelease: 34 numbers>"
    assert found._repr_html_().startswith("<svg")
    assert "or more" in str(found)


def test_average_clustering_is_refused_with_the_way_out():
    for ask in (graphs.average_clustering, graphs.clustering):
        with pytest.raises(ArgumentError, match="transitivity"):
            ask(KARATE, vertices=34, epsilon=1.0)


def test_one_edge_moves_average_clustering_nearly_as_far_as_it_goes():
    """Why it is refused: n − 2 vertices that each see only two others, which an edge
    joins.
    """
    graph = nx.complete_bipartite_graph(2, 100)
    before = nx.average_clustering(graph)
    graph.add_edge(0, 1)
    assert nx.average_clustering(graph) - before > 0.97


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: graphs.triangles(KARATE, vertices=2, epsilon=1), "3 or more"),
        (
            lambda: graphs.triangles(KARATE, vertices=34),
            "pass exactly one of epsilon, rho, share or error",
        ),
        (lambda: graphs.triangles(KARATE, epsilon=1), "called without vertices"),
        (
            lambda: graphs.triangles(KARATE, vertices=34, epsilon=1, method="x"),
            "method",
        ),
        (lambda: graphs.triangles(KARATE, vertices=34, epsilon=0), "epsilon"),
        (lambda: graphs.triangles(KARATE, vertices=34, epsilon=1e-9), "epsilon"),
        (
            lambda: graphs.triangles(KARATE, vertices=34, rho=1, method="smooth"),
            "pure ε",
        ),
        (lambda: graphs.stars(KARATE, vertices=34, k=1, epsilon=1), "k must be"),
        (lambda: graphs.stars(KARATE, vertices=34, k=2.0, epsilon=1), "k must be"),
        (lambda: graphs.stars(KARATE, vertices=34, k=np.ones(2), epsilon=1), "k must"),
        (lambda: graphs.stars(KARATE, vertices=3, k=3, epsilon=1), "more than k"),
        (lambda: graphs.degrees(KARATE, vertices=34, epsilon=1e-12), "too small"),
        (
            lambda: graphs.mixing(KARATE, groups=[[1], [2]], vertices=2, epsilon=1),
            "hashable",
        ),
        (lambda: graphs.stars(KARATE, vertices=10**6, k=5, epsilon=1), "2\\*\\*52"),
        (lambda: graphs.edges(KARATE, vertices=34, unit="row", epsilon=1), "unit"),
        (lambda: graphs.edges(KARATE, vertices=34, max_degree=3, epsilon=1), "node"),
        (
            lambda: graphs.edges(
                KARATE, vertices=34, unit="node", max_degree=0, epsilon=1
            ),
            "max_degree",
        ),
        (
            lambda: graphs.edges([], vertices=1, unit="node", max_degree=3, epsilon=1),
            "2 or more",
        ),
        (lambda: graphs.degrees([], vertices=1, unit="node", epsilon=1), "2 or more"),
        (
            lambda: graphs.mixing(KARATE, groups={0: "a"}, vertices=34, epsilon=1),
            "an entry for each vertex",
        ),
        (
            lambda: graphs.mixing(KARATE, groups=["a"], vertices=34, epsilon=1),
            "an entry for each vertex",
        ),
        (
            lambda: graphs.mixing(KARATE, groups="abc", vertices=3, epsilon=1),
            "must be a mapping or a list",
        ),
        (
            lambda: graphs.mixing(KARATE, groups=range(2000), vertices=2000, epsilon=1),
            "merge some",
        ),
        (
            lambda: graphs.edges(KARATE, vertices=34, epsilon=1, provenance=" "),
            "provenance",
        ),
    ],
)
def test_bad_questions_are_refused(ask, words):
    with pytest.raises(ArgumentError, match=words):
        ask()


def test_a_dataset_of_another_unit_or_relation_is_refused():
    ends = {"a": [0], "b": [1]}
    replace = Dataset.of(ends, unit=Unit("edge", "replace"))
    with pytest.raises(ArgumentError, match="protects one row, which is one edge"):
        graphs.edges(replace, vertices=3, ends=("a", "b"), epsilon=1)
    with pytest.raises(ArgumentError, match="protects one row, which is one edge"):
        graphs.edges(
            Dataset.of(ends), vertices=3, ends=("a", "b"), unit="node", epsilon=1
        )


@pytest.mark.parametrize("graph", [[], [(0, 0), (None, 7)], nx.complete_graph(9)])
@pytest.mark.parametrize("epsilon", [0.1, 10.0])
def test_odd_graphs_get_normal_answers(graph, epsilon):
    asked = {"vertices": 9, "epsilon": epsilon}
    for ask in EDGE_QUESTIONS:
        found = ask(graph, **asked)
        low, high = found.interval()
        assert np.all(np.asarray(low) <= high)
        assert str(found)
    for ask in (graphs.edges, graphs.degrees):
        assert str(ask(graph, unit="node", **asked))
    assert str(graphs.mixing(graph, groups=[1, 2, 3] * 3, **asked))


@chance(5e-9)
def test_intervals_of_transitivity_hold_the_truth():
    """60 trials of 0.05, with 16 misses at most."""
    truth = nx.transitivity(GRAPHS[1])
    missed = 0
    for _ in range(60):
        low, high = graphs.transitivity(GRAPHS[1], vertices=200, epsilon=5.0).interval()
        missed += not low <= truth <= high
        assert 0 <= low <= high <= 1
    assert missed <= 16
