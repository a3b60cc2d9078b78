"""The plan of a run, settled before anything is read: who is protected, how likely a unit
enters a batch, how many steps there are, and how much noise each has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dither.errors import ArgumentError
from dither.learn.run.cost import Priced
from dither.learn.run.settings import RunSettings
from dither.learn.schedules import factors_of
from dither.learn.source import Source
from dither.learn.units import rows_of, terms_of, unit_of, units_of
from dither.learn.validation import Validation
from dither.ledger.declaring import cheapest, noise_for_share, pays_for, share_taken
from dither.ledger.shares import part_of
from dither.ledger.terms import Terms
from dither.privacy import GaussianDP, Guarantee, Relation, Unit
from dither.privacy.numbers import positive, small_probability, usual_delta, whole
from dither.privacy.training import Run, noise_for, rate_of
from dither.question import Question

__all__ = [
    "Asked",
    "Paid",
    "Plan",
    "asked_of",
    "beside_of",
    "check_paid",
    "delta_of",
    "needed",
    "plan_of",
    "plan_with",
    "question_of",
    "run_for",
    "stages_of",
    "way_of",
]

MANY_STEPS = 10**7
WAYS = "pass exactly one of epsilon, share or noise"


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
    settings: RunSettings,
    batch: Any,
    epochs: Any,
    *,
    validation: Validation | None = None,
    each: int | None = None,
) -> Asked:
    """What is settled about a run before its noise. An epoch has `each` steps, or as many
    as see each unit once on average.
    """
    way_of(settings.cost)
    rows, there = rows_of(source, settings.rows), units_of(source, settings.units)
    size = whole("batch", batch, "pass the number of units per batch, such as 256")
    count = whole("epochs", epochs, "pass the number of epochs, such as 10")
    question = question_of(source, settings.cost)
    at = delta_of(terms_of(question.account), there, settings.delta)
    trained = there if validation is None else validation.left(there)
    steps = count * (math.ceil(trained / size) if each is None else each)
    if steps > MANY_STEPS:
        raise ArgumentError(
            "epochs",
            f"the run has {steps:,} steps, but at most {MANY_STEPS:,} are allowed; "
            "pass fewer epochs or rounds",
        )
    factors = factors_of(settings.noise_schedule, steps)
    beside = beside_of(validation, count, count, question.unit)
    wanted = Run(rate_of(size, trained), stages_of(factors), question.unit, beside)
    sizes = (there, size, count, rows)
    return Asked(question, *sizes, wanted, factors, at, validation)


def beside_of(
    validation: Validation | None, epoch: int, epochs: int, unit: Unit
) -> GaussianDP | None:
    """The guarantee of all measurements up to an epoch."""
    if validation is None:
        return None
    return validation.promise(validation.times(epoch, epochs), unit)


def way_of(cost: Mapping[str, Any]) -> tuple[str, Any]:
    """How the cost is stated, and what is stated."""
    if cost.get("rho") is not None:
        raise ArgumentError("rho", f"is not supported for training; {WAYS}")
    stated = [(way, cost.get(way)) for way in ("epsilon", "share", "noise")]
    given = [(way, amount) for way, amount in stated if amount is not None]
    if len(given) != 1:
        raise ArgumentError("epsilon", WAYS)
    return given[0]


def stages_of(noises: tuple[float, ...]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted(Counter(noises).items()))


def question_of(source: Source, cost: Mapping[str, Any]) -> Question:
    """The account that pays for a run, and the unit it protects."""
    asked = {"budget": cost.get("budget"), "by": cost.get("by")}
    # The noise is settled here; a question must state some cost.
    unit = unit_of(source, asked["budget"])
    stated = {"epsilon": 1.0, **asked}
    found = Question.of("training", stated, unit=unit, dataset=source.dataset)
    terms = terms_of(found.account)
    if terms is None or terms.unit.relation is not Relation.REPLACE:
        return found
    # The run speaks of this unit itself, so nothing is converted when it is charged: its
    # steps move twice as far, and get nothing from sampling (rule R25).
    return replace(found, unit=found.unit.replacing())


def delta_of(terms: Terms | None, units: int, delta: float | None) -> float:
    """The δ at which ε is stated: the account's, or the usual one for this number of
    units.
    """
    if terms is not None and delta is not None:
        raise ArgumentError("delta", "is set by the account that pays; leave it out")
    if terms is not None:
        found = terms.total.delta
    else:
        found = usual_delta(units) if delta is None else delta
        found = small_probability("delta", found, zero=False)
    if not found:
        raise ArgumentError(
            "budget",
            "the account has no δ, but training adds Gaussian noise, which needs one; "
            "open an account with a delta",
        )
    if found * units >= 1:
        raise ArgumentError(
            "delta",
            f"must be far below 1/units, not {found:g}, which would allow one of "
            f"{units:,} units to be revealed in full; use a delta such as "
            f"{usual_delta(units):g}",
        )
    return found


@dataclass(frozen=True)
class Paid:
    """A run that an earlier charge pays for: what was declared then is what runs."""

    rate: int
    noises: tuple[float, ...]
    charged: Guarantee


@dataclass(frozen=True)
class Plan(Priced):
    """A run, fixed before its first step. `noises` has the noise multiplier of each."""

    units: int
    batch: int
    epochs: int
    rows: int
    run: Run
    noises: tuple[float, ...]
    promised: Guarantee
    validation: Validation | None = None

    @property
    def steps(self) -> int:
        return len(self.noises)

    @property
    def steps_per_epoch(self) -> int:
        return self.steps // self.epochs

    @property
    def epsilon(self) -> float:
        return self.epsilon_after(self.steps)

    def after(self, steps: int) -> Guarantee:
        """The guarantee of the first steps by themselves."""
        epoch = math.ceil(steps / self.steps_per_epoch)
        beside = beside_of(self.validation, epoch, self.epochs, self.run.unit)
        run = Run(self.run.rate, stages_of(self.noises[:steps]), self.run.unit, beside)
        return run.guarantee

    def epsilon_after(self, steps: int) -> float:
        return self.after(steps).epsilon_at(self.delta)


def plan_of(asked: Asked, cost: Mapping[str, Any], paid: Paid | None = None) -> Plan:
    """The run that costs what was stated; or one that is paid for, as it was."""
    if paid is None:
        run = run_for(asked, *way_of(cost))
        return plan_with(asked, run)
    run = replace(asked.wanted, rate=paid.rate, stages=stages_of(paid.noises))
    return _plan(asked, run, paid.noises, paid.charged, paid.charged)


def plan_with(asked: Asked, run: Run, charged: Guarantee | None = None) -> Plan:
    """The plan with a noise for each factor. What is charged is the cheapest way, unless
    a charge pays for more than this run.
    """
    pairs = zip(sorted(set(asked.factors)), run.stages, strict=True)
    level = {factor: noise for factor, (noise, _) in pairs}
    noises = tuple(level[factor] for factor in asked.factors)
    promised = asked.question.owed(run.guarantee)
    if charged is None:
        terms = asked.terms
        charged = promised if terms is None else cheapest(promised, terms)
    return _plan(asked, run, noises, promised, charged)


def _plan(
    asked: Asked,
    run: Run,
    noises: tuple[float, ...],
    promised: Guarantee,
    charged: Guarantee,
) -> Plan:
    sizes = (asked.units, asked.batch, asked.epochs, asked.rows)
    return Plan(
        *sizes,
        run,
        noises,
        promised,
        asked.validation,
        question=asked.question,
        delta=asked.delta,
        charged=charged,
    )


def check_paid(plan: Plan) -> None:
    """Check that the charge of an earlier run is the cost of its steps: the book notes
    a hash of them, and anyone who charges by hand can write any hash next to any
    charge.
    """
    if not pays_for(plan.charged, plan.question.owed(plan.run.guarantee)):
        raise ArgumentError(
            "resume",
            "the run of the checkpoint costs more than was charged for it; leave "
            "resume out to start a new run with a new charge",
        )


def run_for(asked: Asked, way: str, amount: Any) -> Run:
    """The run with the noise that a cost leaves it."""
    run, terms, delta = asked.wanted, asked.terms, asked.delta
    if way == "noise":
        return run.times(
            positive("noise", amount, "pass a noise multiplier such as 1.0")
        )
    payer = needed(terms) if way == "share" else None
    try:
        if payer is None:
            return noise_for(run, amount, delta)
        return noise_for_share(run, payer, part_of(amount))
    except ArgumentError:
        if run.beside is not None:
            _check_validation(run.beside, way, amount, terms, delta)
        raise


def needed(terms: Terms | None) -> Terms:
    """The account that a share is of."""
    if terms is None:
        raise ArgumentError(
            "share", "needs an account; pass budget=, or epsilon instead of share"
        )
    return terms


def _check_validation(
    beside: Guarantee, way: str, amount: Any, terms: Terms | None, delta: float
) -> None:
    """Where no noise of the steps is enough: whether the measurements alone cost more
    than the run may.
    """
    alone, what = beside.epsilon_at(delta), "an ε"
    if terms is not None and way == "share":
        price = terms.cost(cheapest(beside, terms))
        alone, what = float(share_taken(price, terms)), "a share"
    if 0 < amount < alone:
        raise ArgumentError(
            "validation",
            f"the validation alone costs {what} of {alone:.3g}, but the whole run may "
            f"cost only {float(amount):.3g}; raise noise= or every= of the Validation, "
            f"or pass a larger {way}",
        )
