"""Medians and their difference, by order statistics that are chosen privately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.privacy import Guarantee
from dither.privacy.numbers import whole
from dither.question import Asking, Paid, Question
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import (
    need_replace,
    people_may_change_arms,
    question_of,
)
from dither.science.trials.columns import Given, Reals, given
from dither.science.trials.means import ARMS
from dither.science.trials.moments import Scale
from dither.science.trials.order import Around, Pair, around, outside
from dither.science.trials.result import TrialRelease
from dither.science.trials.sizes import at_most

__all__ = [
    "MISSING",
    "WAY_OUT",
    "Middles",
    "median",
    "median_difference",
    "points_of",
    "public",
]

WAY_OUT = "ask for mean_difference or mean, which count people with noise"
MOST_POINTS = 1024
MISSING = (
    "missing outcomes are treated as low values for the lower end and as high values "
    "for the upper end, so the interval is valid whatever they are"
)


@by_name("median(x, bounds=(0, 10), size=200, epsilon=1)", Asking)
def median(
    x: Any,
    *,
    bounds: tuple[float, float],
    size: int | None = None,
    confidence: float = 0.95,
    points: int | None = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> TrialRelease:
    """The median outcome of one group: an interval whose middle is the value.

    See `median_difference` for what is public, and why it is private.

    Guarantee: the stated cost, for one person's outcome.
    Why: as in median_difference.
    Assumes: as in median_difference.
    """
    sizes = (checks.size(public(size, "size")),)
    asked = Asked.of(
        "median", (given("x", x),), sizes, bounds, confidence, points, cost
    )
    return asked.released(provenance, "median outcome")


@by_name("median_difference(x, y, bounds=(0, 10), sizes=(200, 200), epsilon=1)", Asking)
def median_difference(
    x: Any,
    y: Any,
    *,
    bounds: tuple[float, float],
    sizes: Sequence[int] | None = None,
    confidence: float = 0.95,
    points: int | None = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> TrialRelease:
    """The median outcome of the first arm less that of the second.

    For each arm one private choice names two public points between which the
    population's median lies, at the rate `confidence`, which is fixed here: at a higher
    rate nothing is known but the bounds. The value is the middle between both. Heavy
    tails, ties and outliers are no matter; `points` says into how many parts the bounds
    are cut (by default what is best for the sizes and the cost). A missing outcome
    counts as below the low end and above the high end.

    Guarantee: the stated cost, for one person's outcome.
    Why: a person is in one arm, and moves the number of outcomes beyond any point by at
    most 1 (docs/proofs/trials.md).
    Assumes: bounds and sizes are public, not read off the data; one record for each
    person; arm membership is public where x and y are columns in memory. In a dataset it
    is private, and each arm has half of the cost.
    """
    columns = given("x", x), given("y", y)
    found = checks.sizes(public(sizes, "sizes"), 2)
    what = "difference of medians"
    asked = Asked.of(what, columns, found, bounds, confidence, points, cost)
    return asked.released(provenance, "difference of median outcomes")


@dataclass(frozen=True)
class Asked:
    """A question about medians, settled by what is public."""

    question: Question
    columns: tuple[Given, ...]
    sizes: tuple[int, ...]
    scale: Scale
    confidence: float
    plans: tuple[tuple[Pair, Around], ...]

    @classmethod
    def of(
        cls,
        what: str,
        columns: tuple[Given, ...],
        sizes: tuple[int, ...],
        bounds: Any,
        confidence: Any,
        points: Any,
        cost: Any,
    ) -> Asked:
        scale = Scale(*checks.bounds(bounds))
        rate, count = checks.confidence(confidence, "confidence"), points_of(points)
        question = question_of(what, cost, *columns)
        need_replace(question, "sizes", WAY_OUT)
        each = rate ** (1 / len(sizes))  # arms are independent
        asking = question
        if people_may_change_arms(*columns):  # both choices see a person who does
            asking, _ = question.parts(0.5, 0.5)
        plans = tuple(around(asking, (size,), each, count) for size in sizes)
        return cls(question, columns, sizes, scale, rate, plans)

    def released(self, provenance: str | None, estimand: str) -> TrialRelease:
        """Charge, choose, and say what was found."""
        declared = self._notes(provenance)
        with self.question.paying(self._guarantee) as paid:
            ends = tuple(self._chosen(paid))
        here = Middles(ends, self.scale, math.prod(plan.here for _, plan in self.plans))
        return TrialRelease(
            self.question.what,
            here.value,
            (paid.source,),
            here,
            notes=declared,
            population=Middles(ends, self.scale, self.confidence),
            estimand=estimand,
        )

    @property
    def _guarantee(self) -> Guarantee | None:
        """What both choices promise: all of the cost, if a person may change arms; else
        each person is in one arm, and both together cost what one does.
        """
        if people_may_change_arms(*self.columns):
            return None
        return self.plans[0][0].choice.guarantee

    def _chosen(self, paid: Paid) -> Any:
        outcomes = [column.read(paid) for column in self.columns]
        for values, size, (pair, _) in zip(
            outcomes, self.sizes, self.plans, strict=True
        ):
            grid = self._grid(pair.points)
            yield pair.release(outside(at_most(values, size), grid, size), grid)

    def _grid(self, points: int) -> Reals:
        """The public points, bounds included."""
        return np.linspace(self.scale.low, self.scale.high, points + 1)

    def _notes(self, provenance: str | None) -> tuple[str, ...]:
        listed = " and ".join(f"{size:,}" for size in self.sizes)
        bounds = f"bounds {self.scale.low:g} to {self.scale.high:g}"
        parts = " and ".join(str(pair.points) for pair, _ in self.plans)
        words = f"intervals end on a grid of {parts} equal parts of the bounds"
        fixed = len(self.sizes) > 1 and not people_may_change_arms(*self.columns)
        more = (ARMS,) if fixed else ()
        return note(f"{bounds}, sizes {listed}", provenance), words, MISSING, *more


@dataclass(frozen=True)
class Middles:
    """The middles of one or two intervals, the second taken away from the first, up to
    the rate that the ranks were chosen for.

    Widths add: the middle of an interval of ranks is not an estimate of a median where
    outcomes are skewed, so errors of both arms do not cancel as those of means do.
    """

    intervals: tuple[tuple[float, float], ...]
    scale: Scale
    confidence: float

    @property
    def value(self) -> float:
        first, *second = ((low + high) / 2 for low, high in self.intervals)
        return first - sum(second)

    def ends(self, confidence: float) -> tuple[float, float]:
        if confidence > self.confidence:
            return self._known
        (low, high), *other = self.intervals
        return low - sum(b for _, b in other), high - sum(a for a, _ in other)

    @property
    def _known(self) -> tuple[float, float]:
        """Where the difference lies in any case."""
        whole_width = 2 * self.scale.half
        if len(self.intervals) == 1:
            return self.scale.low, self.scale.high
        return -whole_width, whole_width


def public(size: Any, argument: str) -> Any:
    if size is None:
        raise ArgumentError(
            argument,
            "must be passed, because ranks need a public number of people; if the number "
            f"is private, {WAY_OUT}",
        )
    return size


def points_of(points: Any) -> int | None:
    if points is None:
        return None
    way_out = "pass a number such as 50"
    count = whole("points", points, way_out)
    if not 2 <= count <= MOST_POINTS:
        raise ArgumentError("points", f"must be from 2 to {MOST_POINTS:,}; {way_out}")
    return count
