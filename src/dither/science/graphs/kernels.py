"""Exact counts on graphs: triangles and the most common neighbours of any two vertices.

With numba they are compiled (`compiled`), else scipy multiplies sparse matrices. Both
give the same integers. How long they take depends on the edges, which no guarantee
covers.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import MissingExtra
from dither.science.graphs.vertices import Integers

__all__ = [
    "Adjacency",
    "Edges",
    "check_installed",
    "compiled",
    "most_common_neighbours",
    "scipy",
    "triangle_count",
]

Places = NDArray[np.int32]
WORK = 1 << 23
"""How many products of a sparse matrix are held at once."""
HALF = np.int64(32)
LOWER = np.int64((1 << 32) - 1)


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a simple graph on 0 to count − 1: each once, its lower vertex first,
    in order.
    """

    count: int
    low: Integers
    high: Integers

    @classmethod
    def of(cls, count: int, heads: Integers, tails: Integers) -> Edges:
        """From pairs of vertex numbers. Pairs with −1, loops and repeats are dropped;
        both directions are one edge.
        """
        low, high = np.minimum(heads, tails), np.maximum(heads, tails)
        good = (low >= 0) & (low != high)
        if not good.all():
            low, high = low[good], high[good]
        keys = _distinct(low << HALF | high)
        return cls(count, keys >> HALF, keys & LOWER)

    def __len__(self) -> int:
        return self.low.size

    @cached_property
    def degrees(self) -> Integers:
        """Number of neighbours of each vertex."""
        sides = (self.low, self.high)
        first, second = (np.bincount(side, minlength=self.count) for side in sides)
        return first + second

    @cached_property
    def most_common(self) -> int:
        """The most common neighbours of any two vertices."""
        return most_common_neighbours(self)

    @cached_property
    def ranked(self) -> Adjacency:
        """The same graph with vertices numbered by falling degree."""
        order = np.argsort(-self.degrees, kind="stable")
        rank = np.empty(self.count, np.int64)
        rank[order] = np.arange(self.count)
        starts = np.concatenate([[0], np.cumsum(self.degrees[order])])
        fast = compiled()
        if fast is None:
            return Adjacency(
                starts, *_adjacency(rank[self.low], rank[self.high], rank.size)
            )
        return Adjacency(starts, *fast.adjacency(self.low, self.high, rank, starts))


def _adjacency(low: Integers, high: Integers, count: int) -> tuple[Places, Integers]:
    """Neighbours in order, and where those above the vertex itself begin."""
    keys = np.concatenate([low << HALF | high, high << HALF | low])
    keys.sort()
    own = np.arange(count) << HALF | np.arange(count)
    return (keys & LOWER).astype(np.int32), np.searchsorted(keys, own)


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Each vertex's neighbours in order, from `starts`; those before `middle` have
    lower numbers than the vertex itself. Degrees fall.
    """

    starts: Integers
    others: Places
    middle: Integers

    @cached_property
    def degrees(self) -> Integers:
        return np.diff(self.starts)


def _distinct(keys: Integers) -> Integers:
    keys.sort()
    fresh = np.ones(keys.size, np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return keys if fresh.all() else keys[fresh]


@cache
def compiled() -> ModuleType | None:
    """The compiled kernels, where numba works. They are compiled here, before anything
    is charged: what can go wrong there must not depend on a graph.
    """
    try:
        fast = importlib.import_module("dither.science.graphs.compiled")
        fast.compile_all()
    except Exception:  # numba is missing, or does not fit its numpy
        return None
    return fast


def scipy(part: str) -> Any:
    """A part of scipy, if it is installed."""
    try:
        return importlib.import_module(f"scipy.{part}")
    except ImportError:
        raise MissingExtra("scipy", "science") from None


def check_installed() -> None:
    """Refuse, before anything is charged, where no kernel could count."""
    if compiled() is None:
        scipy("sparse")


def triangle_count(edges: Edges) -> int:
    """Number of triangles."""
    fast, graph = compiled(), edges.ranked
    if fast is not None:
        return int(fast.triangle_count(graph.starts, graph.others, graph.middle))
    return _triangles_by_products(graph)


def most_common_neighbours(edges: Edges) -> int:
    """The most common neighbours of any two vertices, adjacent or not."""
    fast, graph = compiled(), edges.ranked
    if fast is not None:
        found = fast.most_common_neighbours(graph.starts, graph.others, graph.degrees)
        return int(found)
    return _common_by_products(graph)


def _matrix(graph: Adjacency) -> Any:
    ones, size = np.ones(graph.others.size, np.int64), graph.degrees.size
    return scipy("sparse").csr_array(
        (ones, graph.others, graph.starts), shape=(size, size)
    )


def _blocks(work: Integers) -> list[tuple[int, int]]:
    """Rows in runs that make about `WORK` products each."""
    total = np.cumsum(work)
    cuts = np.searchsorted(total, np.arange(WORK, total[-1] + WORK, WORK)) + 1
    ends = np.unique(np.clip(np.concatenate([[0], cuts, [work.size]]), 0, work.size))
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


def _products(matrix: Any) -> Integers:
    """How many products each row of a square takes."""
    lengths = np.diff(matrix.indptr)
    running = np.concatenate([[0], np.cumsum(lengths[matrix.indices])])
    products: Integers = running[matrix.indptr[1:]] - running[matrix.indptr[:-1]]
    return products


def _triangles_by_products(graph: Adjacency) -> int:
    """Each vertex's neighbours of higher degree, of which it has at most √(2m)."""
    up = scipy("sparse").tril(_matrix(graph), -1, format="csr")
    rows = _blocks(_products(up))
    return sum(int((up[a:b] @ up).multiply(up[a:b]).sum()) for a, b in rows)


def _common_by_products(graph: Adjacency) -> int:
    """A pair has at most as many common neighbours as the lower of both degrees, so the
    search ends where degrees reach the best so far.
    """
    whole, best = _matrix(graph), 0
    for a, b in _blocks(_products(whole)):
        if graph.degrees[a] <= best:
            break
        rows = (whole[a:b] @ whole).tocoo()
        pairs = rows.coords[1] > rows.coords[0] + a
        best = max(best, int(rows.data[pairs].max(initial=0)))
    return best
