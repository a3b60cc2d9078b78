"""networkit: exact triangles of pairs in a file, and how long that takes."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

from bench.scripts.loop import serve

nk: Any = import_module("networkit")
np: Any = import_module("numpy")


def answer(path: str, size: int) -> tuple[float, int]:
    pairs = np.load(path)
    began = time.perf_counter()
    graph = nk.Graph(size)
    graph.addEdges((pairs[:, 0].copy(), pairs[:, 1].copy()))
    graph.removeSelfLoops()
    graph.removeMultiEdges()
    graph.indexEdges()
    scores = nk.sparsification.TriangleEdgeScore(graph).run().scores()
    triangles = round(sum(scores)) // 3
    return time.perf_counter() - began, triangles


if __name__ == "__main__":
    serve(answer)
