"""What votes cost, settled before anything is read: noise for a stated cost, or the cost
of stated noise. Nothing here depends on votes (rule R4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from dither.errors import ArgumentError, DitherError
from dither.learn.pate.display import Display
from dither.learn.pate.voting import (
    MANY,
    ConfidentGNMax,
    Gaussians,
    GNMax,
    NoisyMax,
    Voting,
)
from dither.learn.run.cost import Priced
from dither.learn.units import About, terms_of, unit_of
from dither.ledger.declaring import cheapest
from dither.ledger.shares import part_of, share_of
from dither.ledger.terms import Accounting, Terms
from dither.mechanisms import Gaussian
from dither.privacy import (
    Composed,
    GaussianDP,
    Guarantee,
    PureDP,
    Relation,
    Unit,
    ZeroConcentratedDP,
    gaussian_mu,
)
from dither.privacy.numbers import small_probability, whole
from dither.question import Question

__all__ = ["Plan", "Voters", "plan_of", "teachers_of"]

TEACHERS = "pass the number of teachers, such as 250"
LARGEST = 10**8
"""Number of counts in memory at a time: queries times classes."""


class Voters(About, Protocol):
    """Facts about records before they are read."""

    @property
    def draws(self) -> bool:
        """Whether each row is a unit and draws its teacher here, by itself."""


@dataclass(frozen=True)
class Plan(Priced):
    """Votes, settled. `votes` is what they promise by themselves, and `charged` what is
    charged, with the display beside it.
    """

    voting: Voting
    queries: int
    classes: int
    teachers: int
    votes: Guarantee
    display: Display | None = None

    @property
    def epsilon(self) -> float:
        return self.charged.epsilon_at(self.delta)


def teachers_of(teachers: Any) -> int:
    found = whole("teachers", teachers, TEACHERS)
    if not 2 <= found <= MANY:
        raise ArgumentError("teachers", f"must be from 2 to {MANY:,}; {TEACHERS}")
    return found


def plan_of(
    about: Voters,
    cost: Mapping[str, Any],
    voting: Voting | None,
    *,
    queries: int,
    classes: int,
    teachers: int,
    delta: float | None,
    display: Display | None = None,
) -> Plan:
    """Votes that cost what was stated, or that have the stated noise."""
    if voting is not None and not isinstance(voting, Voting):
        raise ArgumentError(
            "voting",
            "must be GNMax(), ConfidentGNMax(…) or NoisyMax() from dither.learn.pate",
        )
    if queries > MANY or queries * classes > LARGEST:
        raise ArgumentError(
            "queries", "are too many to hold in memory; pass fewer at a time"
        )
    chosen = voting if voting is not None else _usual(about, cost, delta)
    if isinstance(chosen, ConfidentGNMax) and chosen.threshold > teachers:
        raise ArgumentError(
            "threshold",
            f"must be at most the number of teachers, {teachers:,}; pass a smaller one",
        )
    question = _question(about, cost, chosen)
    at = _delta(question, delta, chosen)
    if not chosen.settled:
        chosen = _solved(chosen, queries, question, at)
    votes = _cheapest(chosen, queries, question, at)
    charged = votes
    if display is not None:
        display = display.settled(chosen, question.account, teachers, queries)
        shown = question.owed(display.guarantee(question.unit))
        charged = Composed((votes, shown))
    return Plan(
        chosen,
        queries,
        classes,
        teachers,
        votes,
        display,
        question=question,
        delta=at,
        charged=charged,
    )


def _usual(about: Voters, cost: Mapping[str, Any], delta: float | None) -> Voting:
    """Gaussian noise if there is a δ, or a ρ; else the pure kind."""
    budget = about.dataset.payer if about.dataset is not None else None
    terms = terms_of(cost.get("budget") or budget)
    has = delta or cost.get("rho") is not None or (terms and terms.total.delta)
    return GNMax() if has else NoisyMax(noise="exponential")


def _question(about: Voters, cost: Mapping[str, Any], voting: Voting) -> Question:
    words = {name: one for name, one in cost.items() if one is not None}
    stated = [name for name in ("epsilon", "rho", "share") if name in words]
    if voting.settled and stated:
        raise ArgumentError(
            stated[0],
            "cannot be passed together with the noise of the votes; leave one of them "
            "out",
        )
    if voting.settled:
        words["epsilon"] = 1.0  # a question must state some cost; the noise says which
    unit = unit_of(about, words.get("budget"))
    question = Question.of("votes", words, unit=unit, dataset=about.dataset)
    return replace(question, unit=_protected(about, question))


def _protected(about: Voters, question: Question) -> Unit:
    """Anyone who comes or goes. Of rows that draw their teachers, one that is replaced
    leaves its teacher to the other one, so the same holds for replacement.
    """
    plain = Unit(question.unit.name)
    terms = terms_of(question.account)
    replaced = terms is not None and terms.unit.relation is Relation.REPLACE
    return plain.replacing() if replaced and about.draws else plain


def _delta(question: Question, delta: float | None, voting: Voting) -> float:
    if terms_of(question.account) is not None:
        if delta is not None:
            raise ArgumentError(
                "delta", "is set by the account that pays; leave it out"
            )
        found = question.delta
    else:
        found = 0.0 if delta is None else small_probability("delta", delta, zero=True)
    if found or (isinstance(voting, NoisyMax) and question.rho is None):
        return found
    if question.account is None and (question.rho is not None or voting.settled):
        return 1e-6  # at which ε is shown; nothing else depends on it
    raise ArgumentError(
        "delta",
        "must be above 0 for Gaussian noise; pass delta= or an account with a delta, "
        "or pass voting=NoisyMax()",
    )


def _solved(voting: Voting, queries: int, question: Question, delta: float) -> Voting:
    if isinstance(voting, Gaussians):
        return voting.for_mu(queries, _mu(question, delta))
    assert isinstance(voting, NoisyMax)
    fits = _fits(question, delta)

    def within(epsilon: float) -> bool:
        one = replace(voting, epsilon=epsilon)
        return any(_holds(fits, each) for each in one.promises(queries, question.unit))

    return replace(voting, epsilon=_largest(within))


def _holds(fits: Callable[[Guarantee], bool], one: Guarantee) -> bool:
    try:
        return fits(one)
    except DitherError:  # a kind that the account does not count
        return False


def _mu(question: Question, delta: float) -> float:
    if question.rho is not None:
        return Gaussian(sensitivity=1, rho=question.rho).guarantee.mu
    if question.delta:
        return question.mu
    return gaussian_mu(PureDP(question.epsilon or 0.0).epsilon, delta)


def _fits(question: Question, delta: float) -> Callable[[Guarantee], bool]:
    """Whether a promise costs no more than was stated, where the account counts it."""
    terms = terms_of(question.account)
    if question.cost.share is not None and terms is not None:
        part = part_of(question.cost.share)
        return lambda one: share_of(question.owed(one), terms) <= part
    within = _within_rho if question.rho is not None else _within_epsilon

    def fits(one: Guarantee) -> bool:
        counted = terms is None or math.isfinite(_price(question.owed(one), terms))
        return counted and within(one, question, delta)

    return fits


def _within_rho(one: Guarantee, question: Question, _: float) -> bool:
    most = ZeroConcentratedDP(question.rho or 0.0).rho
    if isinstance(one, GaussianDP):
        return Fraction(one.mu) ** 2 / 2 <= Fraction(most)
    return isinstance(one, ZeroConcentratedDP) and one.rho <= most


def _within_epsilon(one: Guarantee, question: Question, delta: float) -> bool:
    most = PureDP(question.epsilon or 0.0).epsilon
    if isinstance(one, PureDP):
        return one.epsilon <= most
    return bool(delta) and one.epsilon_at(delta) <= most


def _largest(fits: Callable[[float], bool]) -> float:
    """The largest ε of one query, within a millionth, that fits."""
    low, high = 1e-9, 1e3
    if not fits(low):
        raise ArgumentError(
            "epsilon",
            "is too small for this number of queries; pass a larger epsilon, or fewer "
            "queries",
        )
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _cheapest(
    voting: Voting, queries: int, question: Question, delta: float
) -> Guarantee:
    """The cheapest guarantee of the votes."""
    options = list(voting.promises(queries, question.unit))
    terms = terms_of(question.account)
    if terms is None:
        return _stated(options, question, delta)
    owed = [question.owed(one) for one in options]
    priced = [(_price(one, terms), place) for place, one in enumerate(owed)]
    best = owed[min(priced)[1]]
    if terms.accounting is Accounting.PURE or not isinstance(best, GaussianDP):
        return best
    # All votes are declared beforehand, so the charge may be cut off (rule R17).
    return cheapest(best, terms)


def _price(one: Guarantee, terms: Terms) -> float:
    try:
        return float(share_of(one, terms))
    except DitherError:
        return math.inf


def _stated(options: list[Guarantee], question: Question, delta: float) -> Guarantee:
    if question.rho is not None:
        kinds = (ZeroConcentratedDP, GaussianDP)
        return next(one for one in options if isinstance(one, kinds))
    usable = [one for one in options if delta or isinstance(one, PureDP)]
    return min(usable, key=lambda one: one.epsilon_at(delta))
