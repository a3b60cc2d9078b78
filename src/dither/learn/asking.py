"""A run as it is asked for, checked before its noise is known: who is protected, how many
units there are, and how many steps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dither.errors import ArgumentError
from dither.learn.schedules import Schedule, factors_of
from dither.learn.source import Source
from dither.learn.units import rows_of, terms_of, unit_of, units_of
from dither.learn.validation import Validation
from dither.ledger.terms import Terms
from dither.privacy import GaussianDP, Relation, Unit
from dither.privacy.numbers import small_probability, usual_delta, whole
from dither.privacy.training import Run, rate_of
from dither.question import Question

__all__ = [
    "Asked",
    "asked_of",
    "beside_of",
    "delta_of",
    "question_of",
    "stages_of",
    "way_of",
]

MANY_STEPS = 10**7
WAYS = "epsilon, a share of the account, or noise"


@dataclass(frozen=True)
class Asked:
    """A run that was asked for, before its noise is known: `wanted` has factors of it."""

    question: Question
    units: int
    batch: int
    epochs: int
    rows: int
    wanted: Run
    factors: tuple[float, ...]
    delta: float
    validation: Validation | None = None

    @property
    def terms(self) -> Terms | None:
        return terms_of(self.question.account)


def asked_of(
    source: Source,
    cost: Mapping[str, Any],
    *,
    units: int | None,
    batch: int,
    epochs: int,
    rows: int | None,
    schedule: Schedule | None,
    delta: float | None,
    validation: Validation | None = None,
    each: int | None = None,
) -> Asked:
    """What is settled about a run before its noise. An epoch has `each` steps, or as many
    as see each unit once on average.
    """
    way_of(cost)
    most, there = rows_of(source, rows), units_of(source, units)
    size = whole("batch", batch, "pass how many units a batch has, such as 256")
    count = whole("epochs", epochs, "pass how often units are seen, such as 10")
    question = question_of(source, cost)
    at = delta_of(terms_of(question.account), there, delta)
    trained = there if validation is None else validation.left(there)
    steps = count * (math.ceil(trained / size) if each is None else each)
    if steps > MANY_STEPS:
        raise ArgumentError(
            "epochs", f"make {steps:,} steps, which is too many; ask for fewer"
        )
    factors = factors_of(schedule, steps)
    beside = beside_of(validation, count, count, question.unit)
    wanted = Run(rate_of(size, trained), stages_of(factors), question.unit, beside)
    rest = (most, wanted, factors, at, validation)
    return Asked(question, there, size, count, *rest)


def beside_of(
    validation: Validation | None, epoch: int, epochs: int, unit: Unit
) -> GaussianDP | None:
    """What measurements up to an epoch promise."""
    if validation is None:
        return None
    return validation.promise(validation.times(epoch, epochs), unit)


def way_of(cost: Mapping[str, Any]) -> tuple[str, Any]:
    """How the cost is stated, and what is stated."""
    if cost.get("rho") is not None:
        raise ArgumentError("rho", f"is not what samples cost; state {WAYS}")
    stated = [(way, cost.get(way)) for way in ("epsilon", "share", "noise")]
    given = [(way, amount) for way, amount in stated if amount is not None]
    if len(given) != 1:
        raise ArgumentError("epsilon", f"state what this may cost in one way: {WAYS}")
    return given[0]


def stages_of(noises: tuple[float, ...]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted(Counter(noises).items()))


def question_of(source: Source, cost: Mapping[str, Any]) -> Question:
    """Who pays for a run, and whom it protects."""
    asked = {"budget": cost.get("budget"), "by": cost.get("by")}
    # The noise is settled here; a question must state some cost.
    unit = unit_of(source, asked["budget"])
    stated = {"epsilon": 1.0, **asked}
    found = Question.of("training", stated, unit=unit, dataset=source.dataset)
    # The run speaks of this unit itself, so nothing is converted when it is charged.
    return replace(found, unit=_protected(found))


def _protected(question: Question) -> Unit:
    """The unit of the run's steps: an account about whoever is replaced gets steps that
    move twice as far, and nothing from sampling (rule R25).
    """
    terms = terms_of(question.account)
    if terms is not None and terms.unit.relation is Relation.REPLACE:
        return question.unit.replacing()
    return question.unit


def delta_of(terms: Terms | None, units: int, delta: float | None) -> float:
    """The δ at which ε is stated: the account's, or the usual one for so many units."""
    if terms is not None and delta is not None:
        raise ArgumentError("delta", "is the account's; leave it out")
    if terms is not None:
        found = terms.total.delta
    else:
        found = usual_delta(units) if delta is None else delta
        found = small_probability("delta", found, zero=False)
    if not found:
        raise ArgumentError(
            "budget",
            "has no δ, and noise of training needs one; open an account with a δ",
        )
    if found * units >= 1:
        raise ArgumentError(
            "delta",
            f"is {found:g}, which allows one of {units:,} units to be shown; it must be "
            f"far below 1/units, such as {usual_delta(units):g}",
        )
    return found
