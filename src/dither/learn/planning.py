"""What a run will do and cost, settled before anything is read: how likely a unit enters
a batch, how many steps there are, and how much noise each has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dither.errors import ArgumentError
from dither.learn.asking import Asked, beside_of, stages_of, way_of
from dither.learn.units import terms_of
from dither.learn.validation import Validation
from dither.ledger import Account as LedgerAccount
from dither.ledger.declaring import cheapest, noise_for_share, pays_for, share_taken
from dither.ledger.shares import part_of
from dither.ledger.terms import Terms
from dither.privacy import Guarantee
from dither.privacy.numbers import positive
from dither.privacy.training import Run, noise_for
from dither.question import Question

__all__ = ["Paid", "Plan", "check_paid", "plan_of", "plan_with", "run_for"]


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
        return terms_of(self.question.account)

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
        beside = beside_of(self.validation, epoch, self.epochs, self.run.unit)
        run = Run(self.run.rate, stages_of(self.noises[:steps]), self.run.unit, beside)
        return run.guarantee

    def epsilon_after(self, steps: int) -> float:
        return self.after(steps).epsilon_at(self.delta)

    @property
    def share(self) -> float | None:
        """The part of the account that is taken."""
        if self.terms is None:
            return None
        return float(share_taken(self.terms.cost(self.charged), self.terms))


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
    costs = (asked.delta, promised, charged, asked.validation)
    return Plan(asked.question, *sizes, run, noises, *costs)


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


def run_for(asked: Asked, way: str, amount: Any) -> Run:
    """The run with the noise that a cost leaves it."""
    run, terms, delta = asked.wanted, asked.terms, asked.delta
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
