"""Graphs: errors of private triangles, stars, degrees and edges against the textbook's
noise, how often intervals hold the truth, and speed against exact libraries.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import Goal, Report, Row, at_least, at_most, versions
from bench.peers import InstallError, Worker
from dither.question import Question
from dither.science import graphs
from dither.science.graphs.asking import EDGE
from dither.science.graphs.counting import BOUND, Bounded, CountPlan, Pattern
from dither.science.graphs.kernels import Edges, triangle_count
from dither.science.graphs.reading import Reader
from dither.science.graphs.stars import Stars
from dither.science.graphs.triangles import Triangles

nx: Any = import_module("networkx")

DRAWS = 2000
INTERVALS = 400
NODE_DRAWS = 400
LEAST = 0.917
CLUSTERED = ("powerlaw_cluster(2000, 5, 0.6)", "relaxed_caveman(300, 10, 0.2)")
GOAL = CLUSTERED[0]
EPSILONS = (0.1, 1.0, 10.0)
SIZES = {"1e6 edges": (10**5, 10**6), "1e7 edges": (10**6, 10**7)}
LARGE = "1e7 edges"
REPEATS = 3
SLOWEST = "1e6 edges"
"""The largest graph that networkx, which is plain Python, is asked to count."""
NOTES = (
    "Errors are medians over draws, relative to the true count; the Laplace noise of the "
    "textbook has sensitivity n − 2 and its median in closed form. 'with interval' pays "
    "a tenth of ε for the interval.",
    "Intervals are at 95 %. They hold more often than they must: a bound on how wide "
    "rungs may be is paid for, and is rarely used up.",
    "Node privacy: the naive way adds noise for n − 1 edges. The private choice of a cap "
    "drops edges besides, which counts as error here.",
    "Speed is on Chung–Lu graphs with weights (i + 10)^(−1/2), from an array of pairs in "
    "memory: reading, counting and, for dither, the most common neighbours of any two "
    "vertices and both noises. Wall seconds, median of three runs; all with as many "
    "threads as they take. igraph counts by transitivity_undirected, its fastest way; "
    "networkit by TriangleEdgeScore.",
)

Whole = NDArray[np.int64]


@cache
def graph(name: str) -> Any:
    makers: dict[str, Callable[[], Any]] = {
        "karate": nx.karate_club_graph,
        "les_miserables": lambda: nx.convert_node_labels_to_integers(
            nx.les_miserables_graph()
        ),
        CLUSTERED[0]: lambda: nx.powerlaw_cluster_graph(2000, 5, 0.6, seed=1),
        CLUSTERED[1]: lambda: nx.relaxed_caveman_graph(300, 10, 0.2, seed=1),
        "barabasi_albert(4000, 3)": lambda: nx.barabasi_albert_graph(4000, 3, seed=1),
        "empty(34)": lambda: nx.empty_graph(34),
        "complete(34)": lambda: nx.complete_graph(34),
    }
    return makers[name]()


GRAPHS = (
    "karate",
    "les_miserables",
    *CLUSTERED,
    "barabasi_albert(4000, 3)",
    "empty(34)",
    "complete(34)",
)


@cache
def edges(name: str) -> Edges:
    return Reader.of(graph(name), graph(name).number_of_nodes(), None).edges()


class Drawn:
    """One pattern of one graph: counted once, drawn many times."""

    def __init__(
        self, name: str, pattern: Pattern, method: str, epsilon: float
    ) -> None:
        question = Question.of("count", {"epsilon": epsilon}, unit=EDGE)
        self.plan = CountPlan.of(question, pattern, method, interval=True)
        found = edges(name)
        self.truth, self.reach = pattern.count(found), pattern.reach(found)
        self.local = pattern.local(found)
        self.width = cache(partial(self.plan.error, missed=0.05 * (1 - BOUND)))

    def error(self, draws: int) -> float:
        """The median error relative to the truth."""
        drawn = (self.plan.main.release(self.truth, self.local) for _ in range(draws))
        return median(abs(one - self.truth) for one in drawn) / max(self.truth, 1)

    def intervals(self, draws: int) -> tuple[float, float]:
        """How often intervals hold the truth, and their median half-width over it."""
        held, widths = 0, []
        for _ in range(draws):
            low, high = self._interval()
            held += low <= self.truth <= high
            widths.append((high - low) / 2)
        return held / draws, median(widths) / max(self.truth, 1)

    def _interval(self) -> tuple[float, float]:
        assert self.plan.side is not None
        value = self.plan.main.release(self.truth, self.local)
        held = int(max(0, min(self.plan.pattern.most, value)))
        spread = Bounded(held, self.plan.side.release(self.reach), self.plan)
        # as `spread.ends` has it, with widths remembered
        width = self.width(spread.bound(0.05 * BOUND))
        return max(0, held - width), min(self.plan.pattern.most, held + width)


def pattern_of(what: str, size: int) -> Pattern:
    return Triangles(size) if what == "triangles" else Stars(size, int(what[0]))


def errors() -> Iterator[Row]:
    """Triangles at ε = 1, the ladder against smooth sensitivity and the textbook."""
    for name in GRAPHS[:-2]:
        size = graph(name).number_of_nodes()
        for method in ("ladder", "smooth"):
            drawn = Drawn(name, Triangles(size), method, 1.0)
            metric = "median relative error of triangles, ε = 1, with interval"
            yield Row(name, f"dither, {method}", metric, drawn.error(DRAWS))
        plain = (size - 2) * math.log(2) / max(drawn.truth, 1)
        metric = "median relative error of triangles, ε = 1"
        yield Row(name, "Laplace, n − 2", metric, plain)


def coverages() -> Iterator[Row]:
    for name in GRAPHS:
        size = graph(name).number_of_nodes()
        for what in (
            ("triangles", "2-stars", "3-stars") if size < 100 else ("triangles",)
        ):
            for epsilon in EPSILONS:
                drawn = Drawn(name, pattern_of(what, size), "ladder", epsilon)
                held, width = drawn.intervals(INTERVALS)
                case = f"{name}, {what}, ε = {epsilon:g}"
                yield Row(case, "dither, ladder", "share of intervals that hold", held)
                if drawn.truth:
                    yield Row(case, "dither, ladder", "relative half-width", width)


def nodes() -> Iterator[Row]:
    """Edges and degrees under node privacy."""
    for name in CLUSTERED:
        found, size = graph(name), graph(name).number_of_nodes()
        truth = found.number_of_edges()
        asked = {"vertices": size, "unit": "node", "epsilon": 1.0}
        drawn = [graphs.edges(found, **asked) for _ in range(NODE_DRAWS)]
        error = median(abs(one.value - truth) for one in drawn) / truth
        metric = "median relative error of edges, node privacy, ε = 1"
        yield Row(name, "dither, private cap", metric, error)
        yield Row(name, "Laplace, n − 1", metric, (size - 1) * math.log(2) / truth)
        held = sum(one.interval()[0] <= truth for one in drawn) / NODE_DRAWS
        yield Row(name, "dither, private cap", "share of lower ends that hold", held)


def degree_errors() -> Iterator[Row]:
    """Sorted and put in order, against the same noise left as it is."""
    for name in CLUSTERED:
        found, size = graph(name), graph(name).number_of_nodes()
        truth = np.sort(edges(name).degrees)[::-1]
        drawn = [graphs.degrees(found, vertices=size, epsilon=1.0) for _ in range(40)]
        error = float(np.mean([np.abs(one.value - truth).mean() for one in drawn]))
        metric = "mean error of a degree, edge privacy, ε = 1"
        yield Row(name, "dither, in order", metric, error)
        yield Row(name, "Laplace, 2", metric, 2.0)
        ends = [one.interval() for one in drawn]
        held = np.mean([(low <= truth) & (truth <= high) for low, high in ends])
        yield Row(name, "dither, in order", "share of intervals that hold", float(held))


def chung_lu(size: int, many: int) -> Whole:
    """Pairs whose ends are drawn by weights (i + 10)^(−1/2)."""
    random = np.random.default_rng(1)
    weights = np.cumsum((np.arange(size) + 10.0) ** -0.5)
    drawn = random.random((many, 2)) * weights[-1]
    pairs: Whole = np.searchsorted(weights, drawn)
    return pairs


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def igraph_count(size: int, pairs: Whole) -> int:
    igraph = import_module("igraph")
    found = igraph.Graph(n=size, edges=pairs)
    found.simplify()
    degrees = np.array(found.degree())
    wedges = int((degrees * (degrees - 1) // 2).sum())
    share: float = found.transitivity_undirected()
    return round(share * wedges / 3)


def networkx_count(pairs: Whole) -> int:
    return int(sum(nx.triangles(nx.Graph(pairs.tolist())).values()) // 3)


def dither_count(size: int, pairs: Whole) -> int:
    return int(graphs.triangles(pairs, vertices=size, epsilon=1.0))


def speed() -> Iterator[Row]:
    metric = "seconds from pairs to triangles"
    for case, (size, many) in SIZES.items():
        pairs = chung_lu(size, many)
        dither_count(size, pairs)  # compiled before it is timed
        truth = triangle_count(Reader.of(pairs, size, None).edges())
        check_same("igraph", igraph_count(size, pairs), truth)
        for name, count in (
            ("dither, private", dither_count),
            ("igraph, exact", igraph_count),
        ):
            took = [seconds(partial(count, size, pairs)) for _ in range(REPEATS)]
            yield Row(case, name, metric, median(took))
        if case == SLOWEST:
            check_same("networkx", networkx_count(pairs), truth)
            once = seconds(partial(networkx_count, pairs))
            yield Row(case, "networkx, exact", metric, once)
        peer = networkit_seconds(size, pairs, truth)
        yield Row(case, "networkit, exact", metric, peer)


def check_same(name: str, found: int, truth: int) -> None:
    """Who is slower must have done the same work."""
    if found != truth:
        raise RuntimeError(f"{name} counts {found} triangles instead of {truth}")


def networkit_seconds(size: int, pairs: Whole, truth: int) -> float | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.npy"
        np.save(path, pairs)
        try:
            with Worker("networkit", "graphs_networkit") as worker:
                took = [worker.ask(path=str(path), size=size) for _ in range(REPEATS)]
        except InstallError:
            return None
    check_same("networkit", took[0][1], truth)
    return float(median(one[0] for one in took))


def value(rows: list[Row], case: str, system: str, metric: str) -> float:
    found = (
        row.value
        for row in rows
        if row.case == case and row.system == system and row.metric.startswith(metric)
    )
    number = next(found)
    return math.nan if number is None else number


def goals(rows: list[Row]) -> Iterator[Goal]:
    words = "median relative error of triangles"
    best = value(rows, GOAL, "dither, ladder", words)
    yield at_most(f"median relative error of triangles on {GOAL}, ε = 1", 0.013, best)
    gains = [
        value(rows, name, "Laplace, n − 2", words)
        / value(rows, name, "dither, ladder", words)
        for name in CLUSTERED
    ]
    yield at_least("times better than global sensitivity, clustered", 15, min(gains))
    width = value(rows, f"{GOAL}, triangles, ε = 1", "dither, ladder", "relative half")
    yield at_most(f"relative half-width of the interval on {GOAL}, ε = 1", 0.12, width)
    held = [row.value or 0 for row in rows if row.metric.startswith("share of")]
    words = "share of intervals that hold, least of all cases (0.95 less 3 SE)"
    yield at_least(words, LEAST, min(held))
    metric = "median relative error of edges"
    naive = [
        value(rows, name, "Laplace, n − 1", metric)
        / value(rows, name, "dither, private cap", metric)
        for name in CLUSTERED
    ]
    yield at_least("times better than n − 1, edges of nodes, least", 1, min(naive))
    mine = value(rows, LARGE, "dither, private", "seconds")
    yield at_most("seconds for private triangles of 1e7 edges", 15, mine)
    others = [
        row.value
        for row in rows
        if row.case == LARGE and row.system.endswith("exact") and row.value
    ]
    yield at_least("times faster than exact peers at 1e7 edges", 1, min(others) / mine)


def run() -> Report:
    rows = [*errors(), *coverages(), *nodes(), *degree_errors(), *speed()]
    missing = [
        f"{row.system} could not be installed: {row.case} is not measured"
        for row in rows
        if row.value is None
    ]
    packages = versions("networkx", "igraph", "scipy", "numba", "numpy")
    return Report(tuple(rows), tuple(goals(rows)), (*NOTES, *missing), packages)
