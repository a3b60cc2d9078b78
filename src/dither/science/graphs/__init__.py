"""Private numbers about graphs whose vertices are public and whose edges are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from dither.by_name import by_name
from dither.question import Asking
from dither.science.graphs.asking import Asked, chosen
from dither.science.graphs.counting import METHODS, CountPlan
from dither.science.graphs.kernels import check_installed
from dither.science.graphs.releases import CountRelease
from dither.science.graphs.triangles import Triangles

__all__ = ["triangles"]

Ends = Sequence[str] | None


@by_name("triangles(graph, vertices=ids, epsilon=1.0)", Asking)
def triangles(
    graph: Any,
    *,
    vertices: Any,
    ends: Ends = None,
    method: str = "ladder",
    interval: bool = True,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> CountRelease:
    """How many triangles a graph has."""
    asked = Asked.of(
        "triangles", graph, cost, vertices=vertices, ends=ends, provenance=provenance
    )
    chosen("method", method, METHODS)
    check_installed()
    plan = CountPlan.of(
        asked.question, Triangles(asked.size), method, interval=interval
    )
    with asked.paying() as paid:
        counted = plan.answer(asked.reader.edges(paid.receipt))
    return CountRelease(
        "triangles", counted.value, (paid.source,), counted.spread, notes=asked.notes()
    )
