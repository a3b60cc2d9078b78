"""The questions about a graph, as one calls them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.question import Asking, AskingError
from dither.release import Around
from dither.science.declared import note
from dither.science.graphs import node
from dither.science.graphs.asking import NODE, Asked, chosen, edges_only, unit_of
from dither.science.graphs.counting import METHODS, CountPlan
from dither.science.graphs.degrees import (
    L1,
    L2,
    DegreeSequence,
    for_degree_error,
    usable,
)
from dither.science.graphs.groups import MatrixSpread, as_matrix, cell_counts
from dither.science.graphs.kernels import check_installed, scipy
from dither.science.graphs.ratio import Ratio, ratio
from dither.science.graphs.releases import CountRelease, DegreesRelease, MixingRelease
from dither.science.graphs.stars import Stars, check_rays
from dither.science.graphs.triangles import Triangles
from dither.science.graphs.vertices import group_numbers

__all__ = [
    "average_clustering",
    "clustering",
    "degrees",
    "edges",
    "mixing",
    "stars",
    "transitivity",
    "triangles",
]

Ends = Sequence[str] | None
TRIANGLES = 0.625
"""Of the cost of transitivity: wedges are many, and need less."""
CELLS = 1 << 20


@by_name("triangles(graph, vertices=ids, epsilon=1.0)", Asking)
def triangles(
    graph: Any,
    *,
    vertices: Any,
    ends: Ends = None,
    method: str = "ladder",
    interval: bool = True,
    unit: str | Unit = "edge",
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> CountRelease:
    """How many triangles a graph has.

    A tenth of the cost pays for the interval, by a noisy bound on how many triangles
    one edge can close; `interval=False` gives all of it to the count. `method` is
    "ladder" or "smooth".

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one edge that comes or
    goes.
    Why: the ladder over LS_t = min(n − 2, LS_0 + t), with LS_0 the most common
    neighbours of any two vertices (Zhang et al. 2015); LS_0 itself has sensitivity 1
    (docs/proofs/science.md).
    Assumes: vertices are public. One person with many edges is protected for one of
    them; time is not protected.
    """
    edges_only(unit, "triangles", ", because one vertex can make n² / 2 of them")
    asked = Asked.of(
        "triangles", graph, cost, vertices=vertices, ends=ends, provenance=provenance
    )
    chosen("method", method, METHODS)
    check_installed()
    pattern = Triangles(asked.size)
    plan = CountPlan.of(asked.question, pattern, method, interval=interval)
    return _counted(asked, plan)


@by_name("stars(graph, k=2, vertices=ids, epsilon=1.0)", Asking)
def stars(
    graph: Any,
    *,
    vertices: Any,
    k: int = 2,
    ends: Ends = None,
    method: str = "ladder",
    interval: bool = True,
    unit: str | Unit = "edge",
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> CountRelease:
    """How many stars of k rays a graph has: a vertex with k of its neighbours. Wedges
    are stars of two.

    A tenth of the cost pays for the interval, by the noisy largest degree;
    `interval=False` gives all of it to the count. `method` is "ladder" or "smooth".

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one edge that comes or
    goes.
    Why: the ladder over LS_t = C(d₁ + t, k − 1) + C(d₂ + t, k − 1) for the two largest
    degrees, each held at n − 2; the largest has sensitivity 1
    (docs/proofs/science.md).
    Assumes: vertices are public. One person with many edges is protected for one of
    them; time is not protected.
    """
    edges_only(unit, "stars", ", because one vertex can make C(n − 1, k) of them")
    name = "wedges" if check_rays(k) == 2 else f"{k}-stars"
    asked = Asked.of(
        name, graph, cost, vertices=vertices, ends=ends, provenance=provenance
    )
    chosen("method", method, METHODS)
    pattern = Stars(asked.size, k)
    plan = CountPlan.of(asked.question, pattern, method, interval=interval)
    return _counted(asked, plan)


def _counted(asked: Asked, plan: CountPlan) -> CountRelease:
    with asked.paying() as paid:
        found = plan.answer(asked.reader.edges(paid.receipt))
    said = "" if plan.side else "no interval: all of the cost went into the count"
    notes = asked.notes(*([said] if said else []))
    what = asked.question.what
    return CountRelease(what, found.value, (paid.source,), found.spread, notes=notes)


@by_name("transitivity(graph, vertices=ids, epsilon=1.0)", Asking)
def transitivity(
    graph: Any,
    *,
    vertices: Any,
    ends: Ends = None,
    unit: str | Unit = "edge",
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> CountRelease:
    """The share of wedges that are closed: 3·triangles / wedges.

    Five eighths of the cost go into the triangles, the rest into the wedges, each
    with its interval.

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one edge that comes or
    goes.
    Why: a quotient of two private counts, whose costs add up.
    Assumes: vertices are public. One person with many edges is protected for one of
    them; time is not protected.
    """
    edges_only(
        unit, "triangles and wedges", ", because one vertex can make n² / 2 of them"
    )
    asked = Asked.of(
        "transitivity", graph, cost, vertices=vertices, ends=ends, provenance=provenance
    )
    check_installed()
    first, second = asked.question.parts(TRIANGLES, 1 - TRIANGLES)
    closed = CountPlan.of(first, Triangles(asked.size), "ladder", interval=True)
    wedges = CountPlan.of(second, Stars(asked.size, 2), "ladder", interval=True)
    with asked.paying() as paid:
        found = asked.reader.edges(paid.receipt)
        above, below = closed.answer(found), wedges.answer(found)
    assert above.spread is not None
    assert below.spread is not None
    return CountRelease(
        "transitivity",
        ratio(3 * above.value, below.value),
        (paid.source,),
        Ratio(3, above.spread, below.spread),
        notes=asked.notes(),
    )


def clustering(*_: Any, **__: Any) -> NoReturn:
    """Refused: one edge can move local clustering coefficients, and their average, as
    far as they go.
    """
    raise ArgumentError(
        "clustering",
        "is not available, because one edge can move the local clustering of many "
        "vertices from 1 to almost 0, and noise for that hides every graph; call "
        "transitivity(graph, vertices=…), which is 3·triangles / wedges",
    )


average_clustering = clustering


@by_name("edges(graph, vertices=ids, epsilon=1.0)", AskingError)
def edges(
    graph: Any,
    *,
    vertices: Any,
    ends: Ends = None,
    unit: str | Unit = "edge",
    max_degree: int | None = None,
    provenance: str | None = None,
    **cost: Unpack[AskingError],
) -> CountRelease:
    """How many edges a graph has.

    With `unit="node"` a vertex counts for `max_degree` edges at most: a public fact,
    nobody has more. Without it a cap is chosen privately, for a fifth of the cost, and the
    interval is open above: edges beyond the cap do not count.

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one edge that comes or
    goes, or for all edges of one vertex.
    Why: sensitivity 1; under node privacy θ, by adding edges up to a cap θ in an order
    of all pairs that is drawn at random (Day, Li & Lyu 2016; docs/proofs/science.md).
    Assumes: vertices are public; time is not protected. A `max_degree` that is exceeded
    breaks the interval, never the guarantee.
    """
    whom = unit_of(unit)
    asked = Asked.of(
        "edges",
        graph,
        cost,
        vertices=vertices,
        ends=ends,
        provenance=provenance,
        unit=whom,
    )
    if whom == NODE:
        return node.edges(asked, max_degree)
    _without_cap(max_degree)
    asked = asked.for_error(1)
    noise = asked.question.additive(1)
    with asked.paying(noise.guarantee) as paid:
        value = noise.release(len(asked.reader.edges(paid.receipt)))
    return CountRelease(
        "edges",
        value,
        (paid.source,),
        Around(value, noise, integer=True, step=1),
        notes=asked.notes(),
        limits=(0, math.comb(asked.size, 2)),
    )


def _without_cap(max_degree: int | None) -> None:
    if max_degree is not None:
        raise ArgumentError("max_degree", 'needs unit="node"; leave it out')


@by_name("degrees(graph, vertices=ids, epsilon=1.0)", AskingError)
def degrees(
    graph: Any,
    *,
    vertices: Any,
    ends: Ends = None,
    unit: str | Unit = "edge",
    max_degree: int | None = None,
    provenance: str | None = None,
    **cost: Unpack[AskingError],
) -> DegreesRelease:
    """The degrees of a graph, without saying whose they are.

    `value` is the sorted sequence, the largest first; with `unit="node"` it is the
    histogram of 0, 1, …, θ neighbours. `.histogram()`, `.ccdf()` and `.plot()` are
    free. `max_degree` is as for `edges`.

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one edge that comes or
    goes, or for all edges of one vertex.
    Why: an edge moves the sorted sequence by 2 in L1 and √2 in L2 (Hay et al. 2009); a
    vertex moves the histogram over 1 to θ by 2θ + 1 and √(θ² + (θ + 1)²), once edges
    were added up to a cap θ (Day, Li & Lyu 2016; docs/proofs/science.md).
    Assumes: vertices are public; time is not protected. A `max_degree` that is exceeded
    breaks intervals, never the guarantee.
    """
    whom = unit_of(unit)
    asked = Asked.of(
        "degrees",
        graph,
        cost,
        vertices=vertices,
        ends=ends,
        provenance=provenance,
        unit=whom,
    )
    scipy("optimize")  # refused before anything is charged
    if whom == NODE:
        return node.degrees(asked, max_degree)
    _without_cap(max_degree)
    question = for_degree_error(asked.question)
    noise = usable(question.vector(L1, L2))
    with asked.asking(question).paying(noise.guarantee) as paid:
        found = DegreeSequence.of(asked.reader.edges(paid.receipt), noise)
    return DegreesRelease(
        "degrees",
        found.value,
        (paid.source,),
        found,
        notes=asked.notes(),
        counts=found,
    )


@by_name("mixing(graph, groups=group_of, vertices=ids, epsilon=1.0)", AskingError)
def mixing(
    graph: Any,
    *,
    groups: Mapping[Any, Any] | Sequence[Any],
    vertices: Any,
    ends: Ends = None,
    unit: str | Unit = "edge",
    provenance: str | None = None,
    **cost: Unpack[AskingError],
) -> MixingRelease:
    """How many edges lie within and between public groups.

    `groups` is the public group of each vertex: a mapping, or a sequence in the order
    of the vertices. `value` is the symmetric matrix of
    networkx.attribute_mixing_matrix, not normalized: both ends of an edge count, so
    edges within a group count twice.

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one edge that comes or
    goes.
    Why: each edge lies in one cell, so one edge moves one count by 1.
    Assumes: vertices and groups are public; time is not protected.
    """
    edges_only(unit, "edges between groups")
    asked = Asked.of(
        "mixing", graph, cost, vertices=vertices, ends=ends, provenance=provenance
    )
    names, numbers = group_numbers(asked.reader.vertices, groups)
    if len(names) ** 2 > CELLS:
        raise ArgumentError(
            "groups", f"groups form more than {CELLS:,} pairs; merge some of them"
        )
    declared = note(f"{len(names):,} groups", provenance)
    asked = asked.for_error(1)
    noise = asked.question.additive(1)
    with asked.paying(noise.guarantee) as paid:
        found = cell_counts(asked.reader.edges(paid.receipt), numbers, len(names))
        cells = noise.release(found)
    most = np.full(cells.shape, math.comb(asked.size, 2))
    return MixingRelease(
        "edges",
        as_matrix(cells, len(names)),
        (paid.source,),
        MatrixSpread(Around(cells, noise, integer=True, step=1), len(names)),
        keys=names,
        notes=asked.notes(declared),
        limits=(0, as_matrix(most, len(names))),
    )
