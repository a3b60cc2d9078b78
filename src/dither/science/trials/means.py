"""Means of clamped outcomes and their difference, with intervals about the population
that allow for sampling and for noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.question import Asking, Paid, Question
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import people_may_change_arms, question_of
from dither.science.trials.columns import Given, Reals, given
from dither.science.trials.differences import Difference
from dither.science.trials.moments import Moments, Noisy, Scale
from dither.science.trials.result import TrialRelease
from dither.science.trials.sizes import at_most

__all__ = ["ARMS", "MIDDLE", "OMIT", "mean", "mean_difference"]

OMIT, MIDDLE = "omit", "middle"
ARMS = "the assignment of people to arms is public"


@by_name("mean(x, bounds=(0, 10), size=200, epsilon=1)", Asking)
def mean(
    x: Any,
    *,
    bounds: tuple[float, float],
    size: int | None = None,
    missing: str = OMIT,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> TrialRelease:
    """The mean outcome of one group, clamped to public bounds.

    `interval()` is where the mean of these people lies; `confidence_interval()` is
    where that of the population lies. See `mean_difference` for what is public, what
    missing outcomes count as, and why it is private.

    Guarantee: the stated cost, for one person's outcome.
    Why: as in mean_difference.
    Assumes: as in mean_difference.
    """
    sizes = None if size is None else (checks.size(size),)
    asked = Asked.of("mean", (given("x", x),), sizes, bounds, missing, cost)
    declared = asked.notes(provenance)
    with asked.question.paying(asked.plan.mechanism.guarantee) as paid:
        (arm,) = asked.arms(paid)
        found = Difference((arm,), asked.scale)
    return TrialRelease(
        "mean",
        found.value,
        (paid.source,),
        found.here,
        notes=declared,
        population=found,
        estimand=f"mean outcome, {asked.words}",
        limits=found.within,
    )


@by_name("mean_difference(x, y, bounds=(0, 10), sizes=(200, 200), epsilon=1)", Asking)
def mean_difference(
    x: Any,
    y: Any,
    *,
    bounds: tuple[float, float],
    sizes: Sequence[int] | None = None,
    alternative: str = checks.TWO_SIDED,
    missing: str = OMIT,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> TrialRelease:
    """The mean outcome of the first arm less that of the second, each outcome clamped
    to public bounds.

    `confidence_interval()` is about the population that the people come from, with
    means over samples taken as normal, as in Welch's interval: where a few rare and
    large outcomes carry the mean, it is too short. `interval()` is about these people,
    and holds for any outcomes. The p-value is that of no difference, and fits
    the confidence interval. For power use `mannwhitneyu`, which needs no bounds.

    `sizes` are the public numbers of people in each arm. Where they are private (in a
    subgroup, or where neighbours add or remove a person), leave them out, and people are
    counted as part of the same cost. A missing outcome
    is left out, and how many are missing is counted, as part of the same cost
    (`missing="omit"`): what is estimated is the mean among people who have an outcome.
    With `missing="middle"` it counts as the middle of the bounds, which is what is
    estimated then; say so where none is missing, since nothing need be counted.

    Guarantee: the stated cost, for one person's outcome.
    Why: one person moves (sum, half the sum of squares, half the count), in units of
    half the bounds' width, by at most 2 in L1, as the sum alone (docs/proofs/trials.md).
    Assumes: bounds and sizes are public, not read off the data; one record for each
    person; arm membership is public where x and y are columns in memory and sizes are
    stated. In a dataset it is private, and the noise is for a person who changes arms.
    """
    side = checks.alternative(alternative)
    arms = given("x", x), given("y", y)
    found = None if sizes is None else checks.sizes(sizes, 2)
    asked = Asked.of("difference of means", arms, found, bounds, missing, cost)
    declared = asked.notes(provenance)
    with asked.question.paying(asked.plan.mechanism.guarantee) as paid:
        spread = Difference(asked.arms(paid), asked.scale, side)
    return TrialRelease(
        "difference of means",
        spread.value,
        (paid.source,),
        spread.here,
        notes=declared,
        pvalue=spread.pvalue,
        alternative=side,
        population=spread,
        estimand=f"difference of mean outcomes, {asked.words}",
        limits=spread.within,
    )


@dataclass(frozen=True)
class Asked:
    """A question about means, settled by what is public."""

    question: Question
    columns: tuple[Given, ...]
    sizes: tuple[int, ...] | None
    scale: Scale
    missing: str

    @classmethod
    def of(
        cls,
        what: str,
        columns: tuple[Given, ...],
        sizes: tuple[int, ...] | None,
        bounds: Any,
        missing: Any,
        cost: Any,
    ) -> Asked:
        scale = Scale(*checks.bounds(bounds))
        how = checks.chosen("missing", missing, (OMIT, MIDDLE))
        question = question_of(what, cost, *columns)
        if not question.replacing and sizes is not None:
            raise ArgumentError(
                "sizes",
                "are private if neighbours add or remove a person; leave them out, and "
                "a part of the cost counts the people",
            )
        asked = cls(question, columns, sizes, scale, how)
        _ = asked.plan.mechanism
        return asked

    @cached_property
    def plan(self) -> Moments:
        return Moments(
            self.question,
            self.sizes is not None,
            len(self.columns),
            people_may_change_arms(*self.columns),
        )

    def arms(self, paid: Paid) -> tuple[Noisy, ...]:
        """The noisy moments of each arm."""
        vectors = [
            self.plan.vector(*self._codes(values)) for values in self._outcomes(paid)
        ]
        noisy = self.plan.mechanism.release(np.stack(vectors))
        return tuple(
            self._arm(one, size)
            for one, size in zip(noisy, self._public_sizes, strict=True)
        )

    @property
    def _public_sizes(self) -> tuple[int | None, ...]:
        return (None,) * len(self.columns) if self.sizes is None else self.sizes

    def _outcomes(self, paid: Paid) -> list[Reals]:
        found = [column.read(paid) for column in self.columns]
        if self.sizes is None:
            return found
        # those that are not there at all need not be held: they add nothing
        sized = zip(found, self.sizes, strict=True)
        return [at_most(one, size) for one, size in sized]

    def _codes(self, values: Reals) -> Any:
        codes, there = self.scale.codes(values)
        return codes, there | (self.missing == MIDDLE)

    def _arm(self, noisy: Any, size: int | None) -> Noisy:
        known = size if self.missing == MIDDLE else None
        found = self.plan.read(noisy, known)
        return found if size is None else replace(found, most=float(size))

    @property
    def words(self) -> str:
        """What is estimated."""
        who = (
            "among people with an outcome"
            if self.missing == OMIT
            else "missing outcomes set to the middle of the bounds"
        )
        return f"clamped to {self.scale.low:g} and {self.scale.high:g}, {who}"

    def notes(self, provenance: str | None) -> tuple[str, ...]:
        listed = "" if self.sizes is None else ", sizes " + _listed(self.sizes)
        bounds = f"bounds {self.scale.low:g} to {self.scale.high:g}"
        fixed = self.plan.arms > 1 and self.plan.public and not self.plan.moving
        more = (ARMS,) if fixed else ()
        return note(f"{bounds}{listed}", provenance), f"outcomes {self.words}", *more


def _listed(sizes: tuple[int, ...]) -> str:
    return " and ".join(f"{size:,}" for size in sizes)
