"""Graphs as people hold them: networkx, igraph, sparse matrices, edge lists, frames,
datasets. What a graph is, is settled by its type, before anything is charged; its edges
are read afterwards, and nothing in them can raise.

Loops, ends that are missing or not declared, weights, directions and repeats do not
count: what is left is a simple graph on the declared vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dither.dataset import Dataset, Kind, kind_of
from dither.errors import ArgumentError
from dither.ledger import Receipt
from dither.mechanisms.values import unmasked
from dither.science.graphs.kernels import Edges
from dither.science.graphs.vertices import Integers, Vertices

__all__ = ["Reader"]

Columns = tuple[Any, Any]
TIMES = ("timedelta", "datetime", "duration", "timestamp", "date", "time")
USUAL = ("source", "target")
GIVE = (
    "pass a networkx or igraph graph, a scipy.sparse matrix, pairs of ids, an array of "
    "two columns, a frame, or a dataset"
)


@dataclass(frozen=True, eq=False)
class Reader:
    """A graph that can be read once it was paid for."""

    vertices: Vertices
    graph: Any
    read_ends: Callable[[Receipt | None], Columns]
    positional: bool = False

    @classmethod
    def of(cls, graph: Any, vertices: Any, ends: Sequence[str] | None) -> Reader:
        """How this graph is read, by its type alone."""
        declared = Vertices.of(vertices, graph)
        for known, columns, positional in KINDS:
            if known(graph):
                _check_ends(graph, ends)
                read = columns(graph, ends, declared)
                numbered = positional or (_is_igraph(graph) and declared.ids is None)
                return cls(declared, graph, read, numbered)
        kind = type(graph).__name__
        raise ArgumentError("graph", f"a graph cannot be read from {kind}; {GIVE}")

    @property
    def dataset(self) -> Dataset | None:
        return self.graph if isinstance(self.graph, Dataset) else None

    def edges(self, receipt: Receipt | None = None) -> Edges:
        """The simple graph on the declared vertices."""
        heads, tails = map(self._number, self.read_ends(receipt))
        size = min(heads.size, tails.size)
        return Edges.of(len(self.vertices), heads[:size], tails[:size])

    def _number(self, column: Any) -> Integers:
        if self.positional:
            return self.vertices.positions(column)
        return self.vertices.numbers(column)


Read = Callable[[Receipt | None], Columns]


def _is_a(thing: Any, package: str, name: str) -> bool:
    """Whether a class of that name is among its bases, without importing its package."""
    return any(
        base.__name__ == name and base.__module__.partition(".")[0] == package
        for base in type(thing).__mro__
    )


def _is_networkx(graph: Any) -> bool:
    return _is_a(graph, "networkx", "Graph")


def _is_igraph(graph: Any) -> bool:
    return _is_a(graph, "igraph", "Graph") or _is_a(graph, "igraph", "GraphBase")


def _is_sparse(graph: Any) -> bool:
    names = ("_spbase", "spmatrix", "sparray", "SparseABC")
    return any(_is_a(graph, "scipy", name) for name in names)


def _is_pandas(graph: Any) -> bool:
    return _is_a(graph, "pandas", "DataFrame")


def _is_polars(graph: Any) -> bool:
    return _is_a(graph, "polars", "DataFrame")


def _is_arrow(graph: Any) -> bool:
    return _is_a(graph, "pyarrow", "Table")


def _is_frame(graph: Any) -> bool:
    return _is_pandas(graph) or _is_polars(graph) or _is_arrow(graph)


def _is_dataset(graph: Any) -> bool:
    return isinstance(graph, Dataset)


def _is_array(graph: Any) -> bool:
    return isinstance(graph, np.ndarray)


def _is_pairs(graph: Any) -> bool:
    return isinstance(graph, list | tuple | set | frozenset)


def _check_ends(graph: Any, ends: Sequence[str] | None) -> None:
    if ends is None:
        return
    if not (_is_frame(graph) or _is_dataset(graph)):
        raise ArgumentError(
            "ends",
            "is only for a frame or a dataset, whose columns it names; leave it out",
        )
    named = ends if isinstance(ends, list | tuple) else ()
    if len(named) != 2 or named[0] == named[1]:
        raise ArgumentError(
            "ends", 'must name two columns; pass for example ("source", "target")'
        )


def _of_networkx(graph: Any, ends: Any, declared: Vertices) -> Read:  # noqa: ARG001
    def read(receipt: Receipt | None) -> Columns:  # noqa: ARG001
        return _two_columns(graph.edges())

    return read


def _of_igraph(graph: Any, ends: Any, declared: Vertices) -> Read:  # noqa: ARG001
    def read(receipt: Receipt | None) -> Columns:  # noqa: ARG001
        pairs = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
        named = declared.ids is not None and "name" in graph.vs.attributes()
        if not named:
            return pairs[:, 0], pairs[:, 1]
        names = graph.vs["name"]
        return [names[i] for i in pairs[:, 0]], [names[i] for i in pairs[:, 1]]

    return read


def _of_sparse(graph: Any, ends: Any, declared: Vertices) -> Read:  # noqa: ARG001
    if len(graph.shape) != 2:
        raise ArgumentError(
            "graph", f"must have two dimensions if it is a matrix; {GIVE}"
        )

    def read(receipt: Receipt | None) -> Columns:  # noqa: ARG001
        entries = graph.tocoo()
        there = np.asarray(entries.data != 0, np.bool_)
        row, column = (np.asarray(one) for one in (entries.row, entries.col))
        return row[there], column[there]

    return read


def _of_array(graph: Any, ends: Any, declared: Vertices) -> Read:  # noqa: ARG001
    if graph.ndim != 2 or graph.shape[1] != 2:
        raise ArgumentError(
            "graph",
            "must be an array of two columns with one edge per row; convert an adjacency "
            "matrix with scipy.sparse.csr_array(matrix)",
        )
    _check_kind(graph, declared)
    return lambda receipt: (_plain(graph[:, 0]), _plain(graph[:, 1]))  # noqa: ARG005


def _of_pairs(graph: Any, ends: Any, declared: Vertices) -> Read:  # noqa: ARG001
    return lambda receipt: _two_columns(graph)  # noqa: ARG005


def _of_frame(graph: Any, ends: Any, declared: Vertices) -> Read:
    names = list(graph.column_names if _is_arrow(graph) else graph.columns)
    chosen = _usual_ends(names) if ends is None else list(ends)
    _check_columns(chosen, names)
    for name in chosen:
        _check_kind(graph.column(name) if _is_arrow(graph) else graph[name], declared)
    return lambda receipt: (_column(graph, chosen[0]), _column(graph, chosen[1]))  # noqa: ARG005


def _usual_ends(names: Sequence[Any]) -> list[Any]:
    """Two columns are the ends; of more, those that networkx would call so."""
    if len(names) == 2:
        return list(names)
    if all(name in names for name in USUAL):
        return list(USUAL)
    raise ArgumentError(
        "ends", f"is missing; pass the two columns of ids, such as ends={USUAL}"
    )


def _of_dataset(graph: Any, ends: Any, declared: Vertices) -> Read:
    if ends is None:
        raise ArgumentError("ends", 'is missing; pass ends=("source", "target")')
    if not graph.single:
        raise ArgumentError(
            "graph",
            f"the unit of the dataset is one {graph.unit.name}, which may have many "
            "edges; pass a dataset whose unit is a row, or the graph itself with budget=",
        )
    _check_columns(ends, list(graph.facts))
    facts = [graph.facts[name] for name in ends]
    if any(one.bounds is not None for one in facts):
        raise ArgumentError(
            "ends",
            "must be columns without bounds, because clamping merges ids; remove the "
            "bounds of columns of ids from the declaration",
        )
    if any(one.kind is Kind.REALS for one in facts):
        declared.check_floats()
    if facts[0].table != facts[1].table:
        raise ArgumentError(
            "ends", "must be columns of one table, because an edge is one row"
        )

    def read(receipt: Receipt | None) -> Columns:
        if facts[0].table is None:
            first, second = (graph[name].fetch(receipt) for name in ends)
            return _plain(first), _plain(second)
        # both at once: rows may change between two reads, and then all would shift
        names = [one.column for one in facts]
        rows = graph.fetch(names, table=facts[0].table, receipt=receipt).columns
        return _plain(rows[names[0]]), _plain(rows[names[1]])

    return read


def _check_columns(chosen: Iterable[Any], names: Sequence[Any]) -> None:
    for name in chosen:
        if list(names).count(name) != 1:
            listed = ", ".join(map(repr, names[:8]))
            raise ArgumentError(
                "ends",
                f"{name!r:.40} in ends must be the name of exactly one column; pass two of "
                f"{listed}",
            )


KINDS: tuple[
    tuple[Callable[[Any], bool], Callable[[Any, Any, Vertices], Read], bool], ...
]
KINDS = (
    (_is_dataset, _of_dataset, False),
    (_is_networkx, _of_networkx, False),
    (_is_igraph, _of_igraph, False),
    (_is_sparse, _of_sparse, True),
    (_is_frame, _of_frame, False),
    (_is_array, _of_array, False),
    (_is_pairs, _of_pairs, False),
)


def _two_columns(pairs: Iterable[Any]) -> Columns:
    """Both ends of each pair; anything that is not a pair has no ends."""
    ends = [_pair(one) for one in pairs]
    return [one[0] for one in ends], [one[1] for one in ends]


def _pair(one: Any) -> tuple[Any, Any]:
    if type(one) is tuple and len(one) == 2:
        return one
    try:
        found: Iterator[Any] = iter(one)
        return next(found), next(found)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None, None


def _column(frame: Any, name: Any) -> Any:
    """One column as an array of numbers, or as labels. Integers are never turned into
    reals where some are missing: a long id would become another one.
    """
    if _is_pandas(frame):
        held = frame[name]
        return _plain(held.to_numpy() if isinstance(held.dtype, np.dtype) else held)
    column = frame[name] if _is_polars(frame) else frame.column(name)
    kind = str(column.type if _is_arrow(frame) else column.dtype).casefold()
    if column.null_count == 0 and kind.startswith(("int", "uint")):
        return column.to_numpy()
    return column.to_list() if _is_polars(frame) else column.to_pylist()


def _check_kind(column: Any, declared: Vertices) -> None:
    """The type of a column is part of its schema: what cannot hold ids is refused."""
    if kind_of(column) is Kind.REALS:
        declared.check_floats()
    held = str(getattr(column, "dtype", getattr(column, "type", ""))).casefold()
    if held.startswith(TIMES):
        raise ArgumentError(
            "graph",
            "must hold ids as whole numbers or strings; convert times to strings",
        )


def _plain(column: Any) -> Any:
    """An array of numbers as it is, everything else as labels."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf":
        return column
    if isinstance(column, np.ma.MaskedArray):
        return unmasked(column).tolist()
    if hasattr(column, "to_pylist"):
        return column.to_pylist()
    return column.tolist() if hasattr(column, "tolist") else list(column)
