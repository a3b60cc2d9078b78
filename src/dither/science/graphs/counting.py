"""Counts of a pattern (triangles, stars) under edge privacy, by the ladder or by smooth
sensitivity, with an interval whose width was paid for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from dither.errors import ArgumentError
from dither.mechanisms import Additive, Ladder, SmoothSensitivity
from dither.mechanisms.ladder import WIDEST
from dither.question import Question
from dither.release import Ends
from dither.science.graphs.asking import ladder_epsilon
from dither.science.graphs.kernels import Edges
from dither.science.graphs.tails import Cells, ladder_error

__all__ = ["METHODS", "CountPlan", "Counted", "Pattern"]

METHODS = ("ladder", "smooth")
INTERVAL = 0.1
"""The part of the cost that an interval takes."""
BOUND = 0.25
"""The part of an interval's misses that its bound on the rungs may use."""


class Pattern(Protocol):
    """What is counted on a number of public vertices, and how far one edge moves it.

    `reach` is a number of the graph that one edge moves by 1 at most, and that bounds
    every LS_t.
    """

    @property
    def most(self) -> int:
        """The largest count on so many vertices."""

    @property
    def global_sensitivity(self) -> int:
        """The most that one edge can move the count on any graph."""

    @property
    def farthest(self) -> int:
        """The largest reach on so many vertices."""

    def count(self, edges: Edges) -> int: ...

    def reach(self, edges: Edges) -> int: ...

    def local(self, edges: Edges) -> Callable[[int], int]:
        """LS_t of this graph."""

    def widest(self, reach: int) -> Callable[[int], int]:
        """The largest LS_t of all graphs with a reach of at most that."""

    def cells(self, reach: int, rungs: int) -> Cells:
        """Where LS_0, LS_1, … of those graphs may lie."""


@dataclass(frozen=True)
class Counted:
    """A private count, and an interval for the true count if that was paid for."""

    value: int
    spread: Bounded | None


@dataclass(frozen=True)
class CountPlan:
    """The mechanisms for a count: `main` for the count itself, `side` for its reach."""

    pattern: Pattern
    main: Ladder | SmoothSensitivity
    side: Additive | None

    @classmethod
    def of(
        cls, question: Question, pattern: Pattern, method: str, *, interval: bool
    ) -> CountPlan:
        if pattern.global_sensitivity > WIDEST:
            raise ArgumentError(
                "vertices",
                "are too many, because one edge could change the count by more than 2**52; "
                "pass a smaller k",
            )
        if not interval:
            return cls(pattern, _mechanism(method, question, pattern), None)
        main, side = question.parts(1 - INTERVAL, INTERVAL)
        return cls(pattern, _mechanism(method, main, pattern), side.additive(1))

    def answer(self, edges: Edges) -> Counted:
        """The private count. Only here are private edges counted."""
        local = self.pattern.local(edges)
        released = self.main.release(self.pattern.count(edges), local)
        value = max(0, min(self.pattern.most, int(released)))
        if self.side is None:
            return Counted(value, None)
        reach = self.side.release(self.pattern.reach(edges))
        return Counted(value, Bounded(value, reach, self))

    def error(self, reach: int, missed: float) -> int:
        """The ± that is exceeded with probability `missed` at most, on any graph with a
        reach of at most that.
        """
        if isinstance(self.main, SmoothSensitivity):
            widest = self.pattern.widest(reach)
            return math.ceil(self.main.error(1 - missed, local=widest))
        cells = self.pattern.cells(reach, self.main.rungs)
        return ladder_error(self.main, cells, missed)


@dataclass(frozen=True)
class Bounded:
    """Interval for the true count, from a noisy reach."""

    value: int
    reach: int
    plan: CountPlan

    def ends(self, confidence: float) -> Ends:
        missed = 1 - confidence
        width = self.plan.error(self.bound(missed * BOUND), missed * (1 - BOUND))
        most = self.plan.pattern.most
        return max(0, self.value - width), min(most, self.value + width)

    def bound(self, missed: float) -> int:
        """What the true reach exceeds with probability `missed` at most."""
        farthest = self.plan.pattern.farthest
        return max(0, min(farthest, self.reach + self.margin(missed)))

    def margin(self, missed: float) -> int:
        """Noise has two equal sides, of which one matters."""
        assert self.plan.side is not None
        return int(self.plan.side.error(1 - 2 * missed, integer=True))


def _mechanism(
    method: str, question: Question, pattern: Pattern
) -> Ladder | SmoothSensitivity:
    if method == "ladder":
        return Ladder(
            epsilon=ladder_epsilon(question),
            bounds=(0, pattern.most),
            global_sensitivity=pattern.global_sensitivity,
            unit=question.unit,
        )
    if question.rho is not None:
        words = 'needs method="ladder", because method="smooth" gives a pure ε only'
        raise ArgumentError("rho", f'{words}; pass epsilon, or method="ladder"')
    return SmoothSensitivity(
        epsilon=question.epsilon or 0.0,
        global_sensitivity=pattern.global_sensitivity,
        integer=True,
        unit=question.unit,
    )
