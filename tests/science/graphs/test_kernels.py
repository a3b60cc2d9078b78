"""Exact counts: compiled, by sparse products and networkx agree."""

import builtins
import os
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from dither import Budget
from dither.errors import MissingExtra
from dither.privacy import Unit
from dither.science import graphs
from dither.science.graphs import kernels
from dither.science.graphs.kernels import (
    Edges,
    most_common_neighbours,
    triangle_count,
)

GRAPHS = {
    "karate": nx.karate_club_graph(),
    "random": nx.gnp_random_graph(80, 0.2, seed=1),
    "clustered": nx.powerlaw_cluster_graph(300, 4, 0.7, seed=2),
    "complete": nx.complete_graph(12),
    "star": nx.star_graph(30),
    "two sides": nx.complete_bipartite_graph(5, 9),
    "empty": nx.empty_graph(7),
    "one edge": nx.path_graph(2),
    "alone": nx.empty_graph(1),
}


def edges_of(graph):
    ends = np.array(graph.edges(), np.int64).reshape(-1, 2)
    return Edges.of(graph.number_of_nodes(), ends[:, 0], ends[:, 1])


def common(graph):
    matrix = nx.to_numpy_array(graph, weight=None, dtype=np.int64)
    shared = matrix @ matrix
    np.fill_diagonal(shared, 0)
    return int(shared.max(initial=0))


@pytest.fixture(params=["compiled", "products"])
def kernel(request, monkeypatch):
    if request.param == "products":
        monkeypatch.setattr(kernels, "compiled", lambda: None)
        monkeypatch.setattr(kernels, "WORK", 64)  # many blocks of rows


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("name", GRAPHS)
def test_counts_are_those_of_networkx(name):
    graph = GRAPHS[name]
    found = edges_of(graph)
    assert triangle_count(found) == sum(nx.triangles(graph).values()) // 3
    assert most_common_neighbours(found) == common(graph)
    assert found.degrees.tolist() == [d for _, d in sorted(graph.degree())]
    assert len(found) == graph.number_of_edges()


@pytest.mark.usefixtures("kernel")
def test_counts_of_many_random_graphs():
    for seed in range(30):
        graph = nx.gnp_random_graph(3 + seed, 0.35, seed=seed)
        found = edges_of(graph)
        assert triangle_count(found) == sum(nx.triangles(graph).values()) // 3
        assert most_common_neighbours(found) == common(graph)


def test_many_threads_count_the_same(monkeypatch):
    fast = kernels.compiled()
    for name, graph in GRAPHS.items():
        found = edges_of(graph)
        alone = triangle_count(found)
        with monkeypatch.context() as patch:
            patch.setattr(fast, "MANY", 0)
            assert triangle_count(found) == alone, name


FORKED = """
import os, numpy as np
from dither.science.graphs import compiled, kernels
compiled.MANY = 0
pairs = np.array([(a, b) for a in range(60) for b in range(a)])
found = kernels.Edges.of(60, pairs[:, 0], pairs[:, 1])
assert kernels.triangle_count(found) == 34220
child = os.fork()
if child == 0:
    os._exit(0 if kernels.triangle_count(found) == 34220 else 1)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_can_count():
    """Threads of numba's parallel loops end a forked process, by how much there is to
    count: which is private (rule R1).
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() == "0"


def test_loops_repeats_directions_and_missing_ends_do_not_count():
    heads = np.array([0, 1, 1, 2, -1, 3, 0, 2])
    tails = np.array([1, 0, 0, 2, 1, -1, 1, 0])
    found = Edges.of(4, heads, tails)
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == [
        (0, 1),
        (0, 2),
    ]
    assert found.degrees.tolist() == [2, 1, 1, 0]


def test_the_largest_numbers_of_vertices_fit():
    last = (1 << 31) - 1
    found = Edges.of(1 << 31, np.array([last, 0]), np.array([last - 1, last]))
    assert found.low.tolist() == [0, last - 1]
    assert found.high.tolist() == [last, last]


def test_without_numba_and_scipy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    kernels.check_installed()
    monkeypatch.setattr(kernels, "compiled", lambda: None)
    budget = Budget(epsilon=1.0, unit=Unit("edge"))
    asked = {"vertices": 9, "epsilon": 1.0, "budget": budget}
    for ask in (graphs.triangles, graphs.transitivity, graphs.degrees):
        with pytest.raises(MissingExtra, match="science"):
            ask([(0, 1)], **asked)
    assert graphs.edges([(0, 1)], **asked).receipt is not None  # nothing was spent


@pytest.mark.parametrize("problem", [ImportError, AttributeError, SystemError])
def test_a_numba_that_does_not_work_is_left_alone(monkeypatch, problem):
    def broken():
        raise problem

    fast = kernels.compiled()
    monkeypatch.setattr(fast, "compile_all", broken)
    assert kernels.compiled.__wrapped__() is None


def test_a_folder_that_cannot_be_written_is_no_obstacle(monkeypatch):
    compiled = kernels.compiled()

    def njit(cache=False, **_):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(compiled.numba, "njit", njit)
    assert compiled._jit(builtins.len) is builtins.len
