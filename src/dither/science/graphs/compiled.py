"""The exact kernels, compiled by numba. This module is imported where numba is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

import numba
import numpy as np

from dither.science.graphs.vertices import Integers

__all__ = [
    "adjacency",
    "compile_all",
    "kept_degrees",
    "most_common_neighbours",
    "triangle_count",
]

BLOCKS = 64
MANY = 1 << 14
"""From so many vertices on, which is public, several threads count."""


Function = TypeVar("Function", bound=Callable[..., Any])


def _jit(function: Function) -> Function:
    """Compile on first use, and keep the result where that can be written."""
    try:
        fast = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder to keep it in, as in a read-only install
        fast = numba.njit(nogil=True)(function)
    return cast("Function", fast)


@_jit
def adjacency(low: Any, high: Any, rank: Any, starts: Any) -> Any:
    """Neighbours by rank, in order, and where those above the vertex itself begin.

    Two passes instead of a sort: the second visits vertices in order, and each appends
    itself to the lists of its neighbours.
    """
    rough, others = np.empty((2, starts[-1]), np.int32)
    place = starts[:-1].copy()
    for i in range(low.size):
        u, v = rank[low[i]], rank[high[i]]
        rough[place[u]], rough[place[v]] = v, u
        place[u] += 1
        place[v] += 1
    middle = np.empty(rank.size, np.int64)
    place = starts[:-1].copy()
    for u in range(rank.size):
        middle[u] = place[u]
        for i in range(starts[u], starts[u + 1]):
            w = rough[i]
            others[place[w]] = u
            place[w] += 1
    return others, middle


@_jit
def _triangles(starts: Any, others: Any, middle: Any, first: int, last: int) -> Any:
    """Marks a vertex's neighbours of higher degree, then looks theirs up."""
    mark = np.zeros(middle.size, np.uint8)
    total = 0
    for u in range(first, last):
        if middle[u] - starts[u] < 2:
            continue
        for i in range(starts[u], middle[u]):
            mark[others[i]] = 1
        for i in range(starts[u], middle[u]):
            v = others[i]
            for j in range(starts[v], middle[v]):
                total += mark[others[j]]
        for i in range(starts[u], middle[u]):
            mark[others[i]] = 0
    return total


def triangle_count(starts: Integers, others: Any, middle: Integers) -> int:
    """Number of triangles in a graph whose vertices are numbered by falling degree."""
    if middle.size < MANY:
        return int(_triangles(starts, others, middle, 0, middle.size))
    # blocks of about equal work; what is counted does not depend on where they end
    steps = np.cumsum((middle - starts[:-1]) ** 2 + 1)
    cuts = np.searchsorted(steps, np.linspace(0, steps[-1], BLOCKS + 1))
    cuts[0], cuts[-1] = 0, middle.size

    def block(number: int) -> int:
        first, last = cuts[number], cuts[number + 1]
        return int(_triangles(starts, others, middle, first, last))

    # threads of Python's own: those of numba end the process after a fork
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return sum(threads.map(block, range(BLOCKS)))


@_jit
def most_common_neighbours(starts: Any, others: Any, degrees: Any) -> Any:
    """Vertices come by falling degree. A pair has at most as many common neighbours as
    the lower of both degrees, so those that cannot beat the best are never looked at.
    """
    best = 0
    seen = np.zeros(degrees.size, np.int32)
    touched = np.empty(degrees.size, np.int32)
    after = starts[:-1].copy()
    for u in range(degrees.size):
        if degrees[u] <= best:
            break
        size = 0
        for i in range(starts[u], starts[u + 1]):
            w = others[i]
            after[w] += 1  # beyond u: pairs with lower numbers were looked at before
            for j in range(after[w], starts[w + 1]):
                x = others[j]
                if degrees[x] <= best:
                    break
                if seen[x] == 0:
                    touched[size] = x
                    size += 1
                seen[x] += 1
                best = max(best, seen[x])
        for i in range(size):
            seen[touched[i]] = 0
    return best


@_jit
def kept_degrees(low: Any, high: Any, degrees: Any, most: int) -> Any:
    """Degrees after adding edges in order, each where both ends have fewer than
    `most`.
    """
    for i in range(low.size):
        u, v = low[i], high[i]
        if degrees[u] < most and degrees[v] < most:
            degrees[u] += 1
            degrees[v] += 1
    return degrees


def compile_all() -> None:
    """Compile every kernel on a graph of one edge."""
    low, high = np.array([0]), np.array([1])
    rank, starts = np.array([0, 1]), np.array([0, 1, 2])
    others, middle = adjacency(low, high, rank, starts)
    _triangles(starts, others, middle, 0, 2)
    most_common_neighbours(starts, others, np.diff(starts))
    kept_degrees(low, high, np.zeros(2, np.int64), 1)
