"""What a run will do and cost, settled before anything is read: how likely a unit enters
a batch, how many steps there are, and how much noise each has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dither.errors import ArgumentError
from dither.learn.records import Source
from dither.learn.schedules import Schedule, factors_of
from dither.learn.units import rows_of, terms_of, unit_of, units_of
from dither.ledger.declaring import cheapest, noise_for_share, share_taken
from dither.ledger.shares import part_of
from dither.ledger.terms import Terms
from dither.privacy import Guarantee, Relation, Unit
from dither.privacy.numbers import positive, small_probability, usual_delta, whole
from dither.privacy.training import Run, noise_for, rate_of
from dither.question import Question

__all__ = ["Plan", "plan_of"]

MANY_STEPS = 10**7
WAYS = "epsilon, a share of the account, or noise"


@dataclass(frozen=True)
class Plan:
    """A run, fixed before its first step. `noises` has the noise multiplier of each."""

    question: Question
    units: int
    batch: int
    epochs: int
    rows: int
    run: Run
    noises: tuple[float, ...]
    delta: float
    promised: Guarantee
    charged: Guarantee

    @property
    def steps(self) -> int:
        return len(self.noises)

    @property
    def steps_per_epoch(self) -> int:
        return self.steps // self.epochs

    @property
    def terms(self) -> Terms | None:
        return terms_of(self.question.account)

    def after(self, steps: int) -> Guarantee:
        """What the first steps promise by themselves."""
        run = Run(self.run.rate, _stages(self.noises[:steps]), self.run.unit)
        return run.guarantee

    def epsilon_after(self, steps: int) -> float:
        return self.after(steps).epsilon_at(self.delta)

    @property
    def share(self) -> float | None:
        """The part of the account that is taken."""
        if self.terms is None:
            return None
        return float(share_taken(self.terms.cost(self.charged), self.terms))


def plan_of(
    source: Source,
    cost: Mapping[str, Any],
    *,
    units: int | None,
    batch: int,
    epochs: int,
    rows: int | None,
    schedule: Schedule | None,
    delta: float | None,
) -> Plan:
    """The run that costs what was stated."""
    way, amount = _way(cost)
    most, there = rows_of(source, rows), units_of(source, units)
    size = whole("batch", batch, "pass how many units a batch has, such as 256")
    count = whole("epochs", epochs, "pass how often units are seen, such as 10")
    question = _question(source, cost)
    # The run speaks of this unit itself, so nothing is converted when it is charged.
    question = replace(question, unit=_protected(question))
    terms = terms_of(question.account)
    at = _delta(terms, there, delta)
    steps = count * math.ceil(there / size)
    if steps > MANY_STEPS:
        raise ArgumentError(
            "epochs", f"make {steps:,} steps, which is too many; ask for fewer"
        )
    factors = factors_of(schedule, steps)
    wanted = Run(rate_of(size, there), _stages(factors), question.unit)
    run = _with_noise(wanted, way, amount, terms, at)
    pairs = zip(sorted(set(factors)), run.stages, strict=True)
    level = {factor: noise for factor, (noise, _) in pairs}
    noises = tuple(level[factor] for factor in factors)
    promised = question.owed(run.guarantee)
    charged = promised if terms is None else cheapest(promised, terms)
    return Plan(question, there, size, count, most, run, noises, at, promised, charged)


def _with_noise(
    run: Run, way: str, amount: Any, terms: Terms | None, delta: float
) -> Run:
    if way == "noise":
        return run.times(positive("noise", amount, "pass a multiplier such as 1.0"))
    if way == "epsilon":
        return noise_for(run, amount, delta)
    if terms is None:
        raise ArgumentError("share", "is of a budget; pass budget=, or state epsilon")
    return noise_for_share(run, terms, part_of(amount))


def _way(cost: Mapping[str, Any]) -> tuple[str, Any]:
    """How the cost is stated, and what is stated."""
    if cost.get("rho") is not None:
        raise ArgumentError("rho", f"is not what samples cost; state {WAYS}")
    stated = [(way, cost.get(way)) for way in ("epsilon", "share", "noise")]
    given = [(way, amount) for way, amount in stated if amount is not None]
    if len(given) != 1:
        raise ArgumentError("epsilon", f"state what this may cost in one way: {WAYS}")
    return given[0]


def _stages(noises: tuple[float, ...]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted(Counter(noises).items()))


def _question(source: Source, cost: Mapping[str, Any]) -> Question:
    asked = {"budget": cost.get("budget"), "by": cost.get("by")}
    # The noise is settled here; a question must state some cost.
    unit = unit_of(source, asked["budget"])
    stated = {"epsilon": 1.0, **asked}
    return Question.of("training", stated, unit=unit, dataset=source.dataset)


def _protected(question: Question) -> Unit:
    """The unit of the run's steps: an account about whoever is replaced gets steps that
    move twice as far, and nothing from sampling (rule R25).
    """
    terms = terms_of(question.account)
    if terms is not None and terms.unit.relation is Relation.REPLACE:
        return question.unit.replacing()
    return question.unit


def _delta(terms: Terms | None, units: int, delta: float | None) -> float:
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
