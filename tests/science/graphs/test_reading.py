"""Graphs as people hold them, and what is odd in them."""

import sys
from decimal import Decimal

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import dither
from dither import Budget
from dither.dataset import Dataset
from dither.errors import ArgumentError
from dither.science import graphs
from dither.science.graphs.reading import Reader

PAIRS = [(0, 1), (1, 2), (2, 0), (2, 3)]
NAMES = ["ann", "bob", "cem", "dora", "eve"]
NAMED = [(NAMES[a], NAMES[b]) for a, b in PAIRS]


def read(graph, vertices=5, ends=None):
    found = Reader.of(graph, vertices, ends).edges()
    return list(zip(found.low.tolist(), found.high.tolist(), strict=True))


EXPECTED = [(0, 1), (0, 2), (1, 2), (2, 3)]
ARRAY = np.array(PAIRS)
MATRIX = sp.coo_array((np.ones(4), ARRAY.T), shape=(5, 5))
FRAME = {"source": ARRAY[:, 0], "weight": [9.0] * 4, "target": ARRAY[:, 1]}
TWO = {"source": ARRAY[:, 0], "target": ARRAY[:, 1]}


@pytest.mark.parametrize(
    "graph",
    [
        nx.Graph(PAIRS),
        nx.DiGraph([(b, a) for a, b in PAIRS]),
        nx.MultiGraph(PAIRS + PAIRS),
        nx.MultiDiGraph(PAIRS),
        igraph.Graph(PAIRS),
        igraph.Graph(PAIRS, directed=True),
        MATRIX,
        MATRIX.tocsr(),
        sp.csr_matrix(MATRIX + MATRIX.T),
        PAIRS,
        tuple(PAIRS),
        set(PAIRS),
        [list(pair) for pair in PAIRS],
        [(a, b, 0.5) for a, b in PAIRS],
        ARRAY,
        ARRAY.astype(np.float64),
        ARRAY.astype(np.uint8),
        ARRAY.astype(object),
        np.asfortranarray(ARRAY),
        pd.DataFrame(TWO),
        pl.DataFrame(TWO),
        pa.table(TWO),
    ],
    ids=lambda graph: f"{type(graph).__module__}.{type(graph).__name__}",
)
def test_all_kinds_of_graphs_are_read_alike(graph):
    assert read(graph) == EXPECTED


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_ends_name_the_columns(frame):
    assert read(frame(FRAME), ends=("source", "target")) == EXPECTED
    assert read(frame(FRAME)) == EXPECTED  # as networkx names them
    with pytest.raises(ArgumentError, match="ends is missing"):
        read(frame({"day": [1], "from": [0], "to": [1]}))
    with pytest.raises(
        ArgumentError, match=r"'from' in ends must be the name of exactly one column"
    ):
        read(frame(FRAME), ends=("from", "target"))


@pytest.mark.parametrize(
    "graph",
    [
        nx.Graph(NAMED),
        NAMED,
        np.array(NAMED),
        pd.DataFrame(NAMED),
        pl.DataFrame(NAMED, orient="row"),
        pa.table({"a": [a for a, _ in NAMED], "b": [b for _, b in NAMED]}),
        igraph.Graph.TupleList(NAMED),
    ],
    ids=lambda graph: f"{type(graph).__module__}.{type(graph).__name__}",
)
def test_names_are_looked_up(graph):
    assert read(graph, NAMES) == EXPECTED


def test_long_ids_stay_what_they_are():
    ids = [2**60 + 1, 2**60 + 2, 2**60 + 3]
    array = np.array([[ids[0], ids[1]], [ids[1], ids[2]]])
    assert read(array, ids) == [(0, 1), (1, 2)]
    first = pd.array([ids[0], pd.NA], dtype="Int64")
    frame = pd.DataFrame({"a": first, "b": [ids[2], ids[1]]})
    assert read(frame, ids) == [(0, 2)]
    table = pl.DataFrame({"a": [ids[0], None], "b": [ids[2], ids[1]]})
    assert read(table, ids) == [(0, 2)]
    assert read(table.to_arrow(), ids) == [(0, 2)]
    assert read(np.array([[2**64 - 1, 0]], np.uint64), 5) == []
    assert read(np.array([[ids[0], ids[1]]], np.uint64), ids) == [(0, 1)]


def test_a_matrix_counts_rows_in_the_order_of_the_vertices():
    assert read(MATRIX, NAMES) == EXPECTED
    assert read(sp.eye_array(5), NAMES) == []  # loops
    stored = sp.coo_array(([0.0, 1.0], ([0, 1], [1, 2])), shape=(9, 9))
    assert read(stored, 5) == [(1, 2)]  # a stored zero is no edge


ODD = [
    (0, 0),
    (0, 99),
    (-1, 2),
    (None, 1),
    (float("nan"), 1),
    (1.5, 2),
    ("ann", 2),
    ([1], 2),
    (1e300, 1),
    (float("inf"), 0),
    (pd.NA, 1),
    (np.ones(3), 1),
    (Decimal("1e999999"), 1),
    (Decimal("nan"), 1),
    7,
    (),
    (1,),
    "",
]


@pytest.mark.parametrize("vertices", [5, [0, 1, 2, 3, 4]])
def test_what_is_odd_does_not_count_and_never_raises(vertices):
    assert read(PAIRS + ODD, vertices) == EXPECTED
    reals = np.array([[0, 1], [np.nan, 1], [np.inf, 0], [0.5, 2], [1e300, 3], [2, 3]])
    assert read(reals, vertices) == [(0, 1), (2, 3)]
    assert read(np.array([(0, 1), (None, 2)], object), vertices) == [(0, 1)]
    with np.errstate(all="raise"):
        for kind in (np.float16, np.float32, np.longdouble):
            small = np.array([[0, 1], [np.nan, 1], [0.5, 2], [np.inf, 3]], kind)
            assert read(small, vertices) == [(0, 1)]


@pytest.mark.parametrize(
    "graph",
    [[], nx.Graph(), np.zeros((0, 2)), igraph.Graph(), sp.csr_array((3, 3)), set()],
    ids=lambda graph: type(graph).__name__,
)
def test_no_edges_are_an_answer_too(graph):
    assert read(graph) == []


def test_columns_of_unequal_length_do_not_raise():
    columns = {"a": np.array([0, 1, 2]), "b": np.array([1, 2])}
    assert read(Dataset.of(columns), 5, ("a", "b")) == [(0, 1), (1, 2)]


def test_masked_ends_are_missing():
    masked = np.ma.array([[0, 1], [1, 2], [9, 3]], mask=[[0, 0], [0, 0], [1, 0]])
    for vertices in (5, [0, 1, 2, 3, 4]):
        assert read(masked, vertices) == [(0, 1), (1, 2)]
        assert read(masked.astype(object), vertices) == [(0, 1), (1, 2)]


def test_missing_ends_in_a_table_are_missing():
    frame = pd.DataFrame({"a": [1, None, 3, 9], "b": [2, 0, None, 4]}, dtype="Int64")
    with dither.open(frame, unit="row", budget=5.0) as data:
        found = graphs.edges(data, vertices=10, ends=("a", "b"), epsilon=4.0)
        assert found.receipt is not None
        reader = Reader.of(data, 10, ("a", "b"))
        assert len(reader.edges(found.receipt)) == 2


def test_both_ends_of_a_table_are_read_at_once(monkeypatch):
    """Rows may come, go or change places between two reads: one row would then move
    every edge.
    """
    reads = []
    plain = Dataset.fetch

    def fetch(self, columns, **more):
        reads.append(tuple(columns))
        return plain(self, columns, **more)

    monkeypatch.setattr(Dataset, "fetch", fetch)
    with dither.open(pd.DataFrame(TWO), unit="row", budget=5.0) as data:
        found = graphs.edges(data, vertices=5, ends=("target", "source"), epsilon=4.0)
    assert reads == [("target", "source")]
    assert found.receipt is not None


def test_bounds_on_ids_are_refused():
    data = Dataset.of(TWO, bounds={"source": (0, 3)})
    with pytest.raises(ArgumentError, match="columns without bounds"):
        Reader.of(data, 5, ("source", "target"))


def test_a_dataset_is_read_against_a_receipt():
    budget = Budget(epsilon=1.0)
    data = Dataset.of(TWO, account=budget)
    with pytest.raises(ArgumentError, match="receipt"):
        read(data, 5, ("source", "target"))
    with pytest.raises(ArgumentError, match="ends is missing"):
        Reader.of(data, 5, None)
    owned = Dataset.of(TWO, owner="source")
    with pytest.raises(ArgumentError, match="may have many edges"):
        Reader.of(owned, 5, ("source", "target"))


@pytest.mark.parametrize(
    "graph",
    [
        *(None, 7, "graph", {"a": 1}, np.zeros(4), np.zeros((4, 1)), iter([])),
        np.zeros((5, 5)),  # a matrix of adjacency is no list of pairs
    ],
    ids=lambda graph: type(graph).__name__,
)
def test_what_is_no_graph_is_refused(graph):
    with pytest.raises(ArgumentError, match="graph"):
        Reader.of(graph, 5, None)


@pytest.mark.parametrize(
    "ends", ["ab", 5, ("a",), ("a", "a"), ("a", "b", "c"), ("a", ["b"])]
)
def test_ends_are_two_columns(ends):
    with pytest.raises(ArgumentError, match="ends"):
        Reader.of(pd.DataFrame({"a": [1], "b": [2], "c": [3]}), 5, ends)
    with pytest.raises(ArgumentError, match="ends"):
        Reader.of(PAIRS, 5, ("a", "b"))


GRAPH = nx.Graph(PAIRS)
OTHER = igraph.Graph(PAIRS)


@pytest.mark.parametrize(
    ("graph", "vertices"),
    [
        (GRAPH, GRAPH),
        (GRAPH, GRAPH.nodes),
        (GRAPH, GRAPH.nodes()),
        (GRAPH, GRAPH.nodes.data()),
        (GRAPH, GRAPH.degree),
        (GRAPH, GRAPH.adj),
        (OTHER, OTHER),
        (OTHER, OTHER.vs),
    ],
)
def test_vertices_read_off_the_graph_are_refused(graph, vertices):
    with pytest.raises(ArgumentError, match="read from the private graph"):
        Reader.of(graph, vertices, None)


def test_vertices_of_another_graph_are_public_ids():
    roster = nx.empty_graph(5)
    assert read(GRAPH, roster.nodes) == EXPECTED


@pytest.mark.parametrize(
    "vertices",
    [
        *(None, 0, -3, True, 2**31 + 1, "abc", 1.5, [], [1, 1], [1, None]),
        [float("nan")],
        pd.DataFrame({"id": [0, 1]}),
        pl.DataFrame({"id": [0, 1]}),
        pa.table({"id": [0, 1]}),
        np.zeros((2, 2)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_bad_vertices_are_refused(vertices):
    with pytest.raises(ArgumentError, match="vertices"):
        Reader.of(PAIRS, vertices, None)
    with pytest.raises(ArgumentError, match="vertices"):
        Reader.of(PAIRS, [[1], [2]], None)


@pytest.mark.parametrize(
    "vertices",
    [
        range(5),
        np.arange(5),
        pd.Index(range(5)),
        pd.Series(range(5)),
        pl.Series(range(5)),
        pa.array(range(5)),
        pa.chunked_array([[0, 1, 2], [3, 4]]),
        dict.fromkeys(range(5)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_ids_come_in_any_sequence(vertices):
    assert read(ARRAY, vertices) == EXPECTED


def test_importing_graphs_imports_no_field_package():
    import subprocess

    code = (
        "import sys\n"
        "from dither.science import graphs\n"
        "heavy = 'scipy numba networkx igraph pandas polars pyarrow PIL'.split()\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("fill", [None, "b"])
def test_masked_ends_are_no_vertices(fill):
    first = np.ma.MaskedArray(["a", "a"], [False, True], fill_value=fill)
    frame = {"source": first, "target": np.array(["b", "c"])}
    found = Reader.of(pd.DataFrame(frame), ["a", "b", "c", "?"], None)
    assert found.edges().low.size == 1
    ends = np.ma.MaskedArray(
        [["a", "b"], ["a", "c"]], [[False, False], [True, False]], fill_value=fill
    )
    assert read(ends, ["a", "b", "c", "?"]) == [(0, 1)]
