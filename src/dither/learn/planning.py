"""What a run will do and cost, settled before anything is read: how likely a unit enters
a batch, how many steps there are, and how much noise each has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dither.dataset import Account
from dither.errors import ArgumentError
from dither.learn.schedules import Schedule, factors_of
from dither.learn.source import Source
from dither.learn.validation import Validation
from dither.ledger import Account as LedgerAccount
from dither.ledger.declaring import cheapest, noise_for_share, pays_for, share_taken
from dither.ledger.shares import part_of
from dither.ledger.terms import Terms
from dither.privacy import ROW, GaussianDP, Guarantee, Relation, Unit
from dither.privacy.numbers import positive, small_probability, usual_delta, whole
from dither.privacy.training import Run, noise_for, rate_of
from dither.question import Question

__all__ = ["Paid", "Plan", "check_paid", "plan_of", "way_of"]

MANY_UNITS = 10**12
MANY_STEPS = 10**7
MANY_ROWS = 10**6
OWNER = Unit("owner")
WAYS = "epsilon, a share of the account, or noise"


@dataclass(frozen=True)
class Paid:
    """A run that an earlier charge pays for: what was declared then is what runs."""

    rate: int
    noises: tuple[float, ...]
    charged: Guarantee


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
    validation: Validation | None = None

    @property
    def steps(self) -> int:
        return len(self.noises)

    @property
    def steps_per_epoch(self) -> int:
        return self.steps // self.epochs

    @property
    def terms(self) -> Terms | None:
        return _terms(self.question.account)

    @property
    def affordable(self) -> bool:
        """Whether the account would grant the charge now."""
        account = self.question.account
        if not isinstance(account, LedgerAccount):
            return True
        return account.affords(self.charged, by=self.question.by)

    def after(self, steps: int) -> Guarantee:
        """What the first steps promise by themselves."""
        epoch = math.ceil(steps / self.steps_per_epoch)
        beside = _beside(self.validation, epoch, self.epochs, self.run.unit)
        run = Run(self.run.rate, _stages(self.noises[:steps]), self.run.unit, beside)
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
    validation: Validation | None = None,
    paid: Paid | None = None,
) -> Plan:
    """The run that costs what was stated; or one that is paid for, as it was."""
    way, amount = way_of(cost)
    most, there = _rows(source, rows), _units(source, units)
    size = whole("batch", batch, "pass how many units a batch has, such as 256")
    count = whole("epochs", epochs, "pass how often units are seen, such as 10")
    question = _question(source, cost)
    # The run speaks of this unit itself, so nothing is converted when it is charged.
    question = replace(question, unit=_protected(question))
    terms = _terms(question.account)
    at = _delta(terms, there, delta)
    trained = there if validation is None else validation.left(there)
    steps = count * math.ceil(trained / size)
    if steps > MANY_STEPS:
        raise ArgumentError(
            "epochs", f"make {steps:,} steps, which is too many; ask for fewer"
        )
    factors = factors_of(schedule, steps)
    beside = _beside(validation, count, count, question.unit)
    if paid is not None:
        run = Run(paid.rate, _stages(paid.noises), question.unit, beside)
        rest = (run, paid.noises, at, paid.charged, paid.charged, validation)
        return Plan(question, there, size, count, most, *rest)
    wanted = Run(rate_of(size, trained), _stages(factors), question.unit, beside)
    run = _with_noise(wanted, way, amount, terms, at)
    pairs = zip(sorted(set(factors)), run.stages, strict=True)
    level = {factor: noise for factor, (noise, _) in pairs}
    noises = tuple(level[factor] for factor in factors)
    promised = question.owed(run.guarantee)
    charged = promised if terms is None else cheapest(promised, terms)
    rest = (run, noises, at, promised, charged, validation)
    return Plan(question, there, size, count, most, *rest)


def check_paid(plan: Plan) -> None:
    """That the charge of an earlier run is what its steps cost: the book notes a hash of
    them, and whoever charges by hand can write any hash beside any charge.
    """
    if not pays_for(plan.charged, plan.question.owed(plan.run.guarantee)):
        raise ArgumentError(
            "resume",
            "is of a run that costs more than was charged for it; leave resume out for a "
            "new run and a new charge",
        )


def _beside(
    validation: Validation | None, epoch: int, epochs: int, unit: Unit
) -> GaussianDP | None:
    """What measurements up to an epoch promise."""
    if validation is None:
        return None
    return validation.promise(validation.times(epoch, epochs), unit)


def _with_noise(
    run: Run, way: str, amount: Any, terms: Terms | None, delta: float
) -> Run:
    if way == "noise":
        return run.times(positive("noise", amount, "pass a multiplier such as 1.0"))
    if way == "share" and terms is None:
        raise ArgumentError("share", "is of a budget; pass budget=, or state epsilon")
    try:
        if terms is None or way == "epsilon":
            return noise_for(run, amount, delta)
        return noise_for_share(run, terms, part_of(amount))
    except ArgumentError:
        if run.beside is not None:
            _check_validation(run.beside, way, amount, terms, delta)
        raise


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
            f"alone takes {what} of {alone:.3g}, and the whole run may take "
            f"{float(amount):.3g}; raise its noise= or every=, or ask for more",
        )


def way_of(cost: Mapping[str, Any]) -> tuple[str, Any]:
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


def _terms(account: Account | None) -> Terms | None:
    return account.terms if isinstance(account, LedgerAccount) else None


def _question(source: Source, cost: Mapping[str, Any]) -> Question:
    asked = {"budget": cost.get("budget"), "by": cost.get("by")}
    # The noise is settled here; a question must state some cost.
    unit = _unit(source, asked["budget"])
    stated = {"epsilon": 1.0, **asked}
    return Question.of("training", stated, unit=unit, dataset=source.dataset)


def _unit(source: Source, budget: Any) -> Unit:
    """Whom training protects: the account's unit, where that is meant."""
    terms = _terms(budget)
    held = None if terms is None else terms.unit
    if not source.owned:
        return held if held is not None and held.name == ROW.name else ROW
    if source.owner is None:  # ids of whatever the account is about
        return held if held is not None and held.name != ROW.name else OWNER
    return (
        held if held is not None and held.name == source.owner else Unit(source.owner)
    )


def _protected(question: Question) -> Unit:
    """The unit of the run's steps: an account about whoever is replaced gets steps that
    move twice as far, and nothing from sampling (rule R25).
    """
    terms = _terms(question.account)
    if terms is not None and terms.unit.relation is Relation.REPLACE:
        return question.unit.replacing()
    return question.unit


def _units(source: Source, units: int | None) -> int:
    declared = source.dataset.catalogue.population if source.dataset else None
    stated = declared if units is None else units
    way_out = "pass how many units there are by public knowledge, such as 60_000"
    if stated is None:
        raise ArgumentError("units", f"is missing; {way_out}")
    if declared is not None and stated != declared:
        raise ArgumentError(
            "units", f"is declared as the population: {declared:,}; leave it out"
        )
    found = whole("units", stated, way_out)
    if found > MANY_UNITS:
        raise ArgumentError("units", f"are more than there can be; {way_out}")
    return found


def _rows(source: Source, rows: int | None) -> int:
    """How many rows of a unit count: stated, or declared for the dataset."""
    if not source.owned:
        if rows not in (None, 1):
            raise ArgumentError("rows", "is per owner; pass owner=, or leave rows out")
        return 1
    caps = {} if source.dataset is None else source.dataset.caps
    only = next(iter(caps.values())) if len(caps) == 1 else None
    declared = only if source.table is None else caps.get(source.table, only)
    way_out = "pass how many rows of a unit count at most, such as 1"
    stated = declared if rows is None else rows
    if stated is None:
        raise ArgumentError("rows", f"is missing; {way_out}")
    most = whole("rows", stated, way_out)
    if most > MANY_ROWS:
        raise ArgumentError("rows", f"are too many to hold; {way_out}")
    return most


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
