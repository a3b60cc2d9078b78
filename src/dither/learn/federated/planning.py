"""The plan and the cost of a federated run, settled before any client is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from dither.errors import ArgumentError
from dither.learn.federated.factorizations import Factorization, factorization_of
from dither.learn.federated.participation import Participation
from dither.learn.federated.settings import Settings
from dither.learn.planning import (
    Plan,
    asked_of,
    delta_of,
    needed,
    plan_of,
    question_of,
    way_of,
)
from dither.learn.source import Source
from dither.learn.units import rows_of, terms_of, units_of
from dither.ledger.declaring import cheapest
from dither.ledger.shares import mu_of, part_of
from dither.ledger.terms import Terms
from dither.privacy import GaussianDP, Guarantee, Relation
from dither.privacy.gaussian import gaussian_mu
from dither.privacy.numbers import float_up, positive
from dither.privacy.training import WHOLE_RATE, Run
from dither.question import Question

__all__ = ["Limited", "federated_plan"]


@dataclass(frozen=True)
class Limited(Plan):
    """A run whose clients are not sampled: who comes how often is limited, and the
    noise of all rounds is one Gaussian vector. `noises` is its standard deviation over
    how far a client moves all rounds together.

    Guarantee: 1/noise-Gaussian differential privacy for all rounds together (2/noise
    where clients are replaced).
    Why: rounds are a Gaussian mechanism whose inputs may depend on earlier outputs
    (docs/proofs/federated.md).
    Assumes: `Admission` is who decides who takes part.
    """

    rule: Participation = field(kw_only=True)
    factorization: Factorization = field(kw_only=True)

    @cached_property
    def moved(self) -> float:
        """Distance by which a client moves all rounds together, for contributions of
        length 1.
        """
        return self.factorization.sensitivity(self.steps, self.rule)

    @property
    def largest(self) -> float:
        """The largest standard deviation of a round's noise, beside that of the first."""
        return self.factorization.largest(self.steps)

    def after(self, steps: int) -> Guarantee:  # noqa: ARG002
        """A part of such a run is paid as the whole of it."""
        return self.promised


def federated_plan(source: Source, settings: Settings) -> Plan:
    if settings.participation is None:
        return _sampled(source, settings)
    return _limited(source, settings, settings.participation)


def _sampled(source: Source, settings: Settings) -> Plan:
    there = units_of(source, settings.units)
    if settings.cohort > there:
        raise ArgumentError(
            "cohort",
            f"must be at most the declared number of units, {there:,}; pass fewer "
            "clients",
        )
    asked = asked_of(source, settings, settings.cohort, settings.rounds, each=1)
    return plan_of(asked, settings.cost)


def _limited(source: Source, settings: Settings, rule: Participation) -> Plan:
    way, amount = way_of(settings.cost)
    there, rows = units_of(source, settings.units), rows_of(source, settings.rows)
    chosen = factorization_of(settings.factorization, settings.rounds, rule)
    question = question_of(source, settings.cost)
    terms = terms_of(question.account)
    at = delta_of(terms, there, settings.delta)
    noise, mu = _noise(question, way, amount, terms, at)
    promised = question.owed(GaussianDP(mu, unit=question.unit))
    charged = promised if terms is None else cheapest(promised, terms)
    cohort = settings.cohort
    if cohort is None:
        cohort = max(1, there // rule.period(settings.rounds))
    return Limited(
        there,
        cohort,
        settings.rounds,
        rows,
        Run(WHOLE_RATE, ((noise, 1),), question.unit),
        (noise,) * settings.rounds,
        promised,
        question=question,
        delta=at,
        charged=charged,
        rule=rule,
        factorization=chosen,
    )


def _noise(
    question: Question, way: str, amount: Any, terms: Terms | None, delta: float
) -> tuple[float, float]:
    """The multiplier, and the μ of the whole run. If clients are replaced, one goes and
    another comes, and rounds move twice as far.
    """
    factor = 2 if question.unit.relation is Relation.REPLACE else 1
    if way == "noise":
        noise = positive("noise", amount, "pass a noise multiplier such as 1.0")
        return noise, float_up(factor / Fraction(noise))
    wanted = _bought(way, amount, terms, delta)
    noise = float_up(factor / Fraction(wanted))
    if not math.isfinite(noise):
        raise ArgumentError(
            "epsilon", "is too small for any noise; pass a larger epsilon"
        )
    return noise, float_up(factor / Fraction(noise))


def _bought(way: str, amount: Any, terms: Terms | None, delta: float) -> float:
    """The μ that a stated ε or share buys."""
    if way == "epsilon":
        return gaussian_mu(amount, delta)
    return mu_of(part_of(amount), needed(terms))
