"""Edges and degrees under node privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.question import Question
from dither.release import Around, Ends
from dither.science.graphs.asking import Asked
from dither.science.graphs.bins import DegreeBins
from dither.science.graphs.degrees import usable
from dither.science.graphs.kernels import Edges
from dither.science.graphs.projection import (
    CHOICE,
    CapChoice,
    declared_cap,
    histogram_l2,
    projected_degrees,
    shuffled,
)
from dither.science.graphs.releases import CountRelease, DegreesRelease

__all__ = ["degrees", "edges"]

OPEN = (
    "the cap on a vertex's edges is {cap:,}, chosen privately; edges beyond it are not "
    "in the answer, so the true value may be larger: declare max_degree for an interval "
    "with both ends"
)
CLOSED = (
    "the cap on a vertex's edges is {cap:,}, declared as a fact; if one has more, the "
    "interval may miss the true value, and the guarantee still holds"
)


@dataclass(frozen=True)
class AtLeast:
    """Interval for the true value, if what was dropped can only add to it."""

    inner: Around

    def ends(self, confidence: float) -> Ends:
        # only this end can be missed, so it may be missed as often as both together
        both = 2 * confidence - 1
        low, _ = self.inner.ends(both if both > 0 else confidence)
        return low, math.inf


@dataclass(frozen=True)
class CapPlan:
    """A declared cap, or the private choice of one, and what is left to pay with."""

    declared: int | None
    choice: CapChoice | None
    question: Question

    @classmethod
    def of(
        cls, asked: Asked, max_degree: int | None, *, squared: bool = False
    ) -> CapPlan:
        cap = declared_cap(max_degree, asked.size)
        if cap is not None:
            return cls(cap, None, asked.question)
        rest, chooses = asked.question.parts(1 - CHOICE, CHOICE)
        noise = rest.additive(1).scale
        squares = noise / 2 if squared else 0.0
        choice = CapChoice.of(chooses, asked.size, noise, squares)
        return cls(None, choice, rest)

    def cap(self, edges: Edges) -> int:
        if self.declared is not None:
            return self.declared
        assert self.choice is not None
        return self.choice.release(edges)

    def note(self, cap: int) -> str:
        return (OPEN if self.declared is None else CLOSED).format(cap=cap)


def edges(asked: Asked, max_degree: int | None) -> CountRelease:
    cap = declared_cap(max_degree, asked.size)
    asked = asked if cap is None else asked.for_error(cap)
    plan = CapPlan.of(asked, max_degree)
    # the widest noise must fit before anything is paid
    plan.question.additive(asked.size)
    with asked.paying() as paid:
        found = shuffled(asked.reader.edges(paid.receipt))
        cap = plan.cap(found)
        noise = plan.question.additive(cap)
        value = noise.release(int(projected_degrees(found, cap).sum()) // 2)
    around = Around(value, noise, integer=True, step=1)
    most = math.comb(asked.size, 2)
    closed = plan.declared is not None
    return CountRelease(
        "edges",
        min(value, most),
        (paid.source,),
        around if closed else AtLeast(around),
        notes=asked.notes(plan.note(cap)),
        limits=(0, most if closed else math.inf),
    )


def _vector(question: Question, cap: int) -> Additive:
    return question.additive(2 * cap + 1, histogram_l2(cap))


def degrees(asked: Asked, max_degree: int | None) -> DegreesRelease:
    if asked.question.cost.error is not None:
        raise ArgumentError(
            "error",
            "cannot be met for all degrees at once under node privacy, because the "
            "number of vertices without edges follows from the other numbers; pass "
            "epsilon, rho or share instead",
        )
    plan = CapPlan.of(asked, max_degree, squared=True)
    usable(_vector(plan.question, asked.size))
    with asked.paying() as paid:
        found = shuffled(asked.reader.edges(paid.receipt))
        cap = plan.cap(found)
        noise = _vector(plan.question, cap)
        bins = DegreeBins.of(found, cap, noise, capped=plan.declared is not None)
    return DegreesRelease(
        "vertices",
        bins.histogram(),
        (paid.source,),
        _OfBins(bins),
        keys=tuple(range(cap + 1)),
        notes=asked.notes(plan.note(cap)),
        counts=bins,
    )


@dataclass(frozen=True)
class _OfBins:
    bins: DegreeBins

    def ends(self, confidence: float) -> Ends:
        return self.bins.histogram_ends(confidence)
