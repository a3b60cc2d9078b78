"""What each run of a search may cost, so that all of it costs what was stated.

There are two ways. Either a random number of runs, each with a candidate drawn at
random, of which only the best is shown: the theorem of repetition. Or each candidate
once, and their costs add up. The second is cheaper for few candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dither.errors import ArgumentError
from dither.learn.estimators.spending import Spending, root_down
from dither.learn.grids import drawn
from dither.learn.units import terms_of
from dither.ledger.shares import part_of
from dither.ledger.terms import Accounting, Terms
from dither.privacy import GaussianDP, Guarantee, PureDP
from dither.privacy.numbers import at_most, float_down, float_up, written, written_up
from dither.privacy.repetition import Repetitions, largest, repeated, repeated_approx
from dither.question import Question

__all__ = ["Total", "Way", "best_way"]

Run = GaussianDP | PureDP


@dataclass(frozen=True)
class Total(Spending):
    """What a whole search may spend, with the question that it answers."""

    question: Question | None = None
    delta: float = 0.0

    @property
    def asked(self) -> Question:
        assert self.question is not None
        return self.question

    @property
    def replacing(self) -> bool:
        """Whether the account is about units that are replaced (rule R7)."""
        owed = self.asked.owed(PureDP(1.0, unit=self.unit))
        return owed.unit.relation is not self.unit.relation

    @property
    def terms(self) -> Terms | None:
        """The terms of the account that pays."""
        return terms_of(self.asked.account)

    def equal_run(self, gaussian: Way, pure: Way) -> float | None:
        """The μ of runs that cost the account together about as much as pure ones do;
        None if there is nothing to compare (rule R16).
        """
        asked, terms, mu = self.asked, self.terms, gaussian.run.mu
        if terms is None or asked.cost.share is not None or mu is None:
            return None
        each = [way.charged(way.run.guarantee) for way in (gaussian, pure)]
        cost, other = (terms.cost(asked.owed(one)).loss for one in each)
        return mu * math.sqrt(other / cost) if cost else None

    def fits(self, way: Way, run: GaussianDP) -> bool:
        """Whether runs cost no more together than was stated."""
        asked, terms = self.asked, self.terms
        if asked.cost.share is not None and terms is not None:
            most = part_of(asked.cost.share) * terms.loss_cap
            return terms.cost(way.charged(run)).loss <= most
        assert self.epsilon is not None
        return way.promise(run).epsilon_at(self.delta) <= self.epsilon


@dataclass(frozen=True)
class Way:
    """One of both ways, for runs of which all have Gaussian noise, or all pure ε."""

    run: Spending
    candidates: int
    repetitions: Repetitions | None
    approx: float | None = None
    """The δ, where the search is stated as (ε, δ)."""
    replacing: bool = False

    def charged(self, run: Run) -> Guarantee:
        """What is charged for them. If units are replaced, a run has a weaker
        guarantee, and the theorem is about that; twice a pure ε needs no theorem.
        """
        gaussian = self.replacing and isinstance(run, GaussianDP)
        return self.promise(run.for_replacement() if gaussian else run)  # type: ignore[arg-type]

    def promise(self, run: Run) -> Guarantee:
        """What all runs promise together."""
        if self.repetitions is None:
            return _together(run, self.candidates)
        if self.approx is not None and isinstance(run, GaussianDP):
            return repeated_approx(run, self.repetitions, self.approx)
        return repeated(run, self.repetitions)

    def draw(self) -> list[int]:
        """The candidates to run, drawn before anything is read. Anyone who calls it
        shows neither them nor how many they are.
        """
        if self.repetitions is None:
            return list(range(self.candidates))
        return drawn(self.candidates, self.repetitions)


def _together(run: Run, count: int) -> Guarantee:
    if isinstance(run, PureDP):
        return PureDP(written_up(count * written(run.epsilon)), unit=run.unit)
    return GaussianDP(
        float_up(Fraction(run.mu) / root_down(Fraction(1, count))), unit=run.unit
    )


def best_way(
    total: Total, candidates: int, repetitions: Repetitions | None, ways: Sequence[str]
) -> tuple[Way | None, Way | None]:
    """For Gaussian noise and for pure ε the way that leaves more to each run. None if
    such noise cannot be had.
    """
    gaussian: list[Way] = []
    pure: list[Way] = []
    if total.mu is not None:
        gaussian += [_each(total, candidates, pure=False)] if "each" in ways else []
        gaussian += _repeated(total, candidates, repetitions) if "best" in ways else []
    if total.epsilon is not None:
        pure += [_each(total, candidates, pure=True)] if "each" in ways else []
        if "best" in ways and repetitions is not None:
            pure += [_pure(total, candidates, repetitions)]
    return (
        max(gaussian, key=lambda way: _worth(way, way.run.mu), default=None),
        max(pure, key=lambda way: _worth(way, way.run.epsilon), default=None),
    )


SURE = 1.1
"""What it is worth that each candidate is tried, as a random number of runs may miss the
best one.
"""


def _worth(way: Way, cost: float | None) -> float:
    return (cost or 0.0) * (SURE if way.repetitions is None else 1.0)


def _each(total: Total, count: int, *, pure: bool) -> Way:
    """Squares of μ add up, or ε."""
    if pure:
        epsilon = float_down(at_most(total.epsilon or 0.0) / count)
        return Way(Spending(total.unit, epsilon=epsilon), count, None)
    mu = float_down(at_most(total.mu or 0.0) * root_down(Fraction(1, count)))
    return Way(Spending(total.unit, mu=mu), count, None)


def _pure(total: Total, count: int, repetitions: Repetitions) -> Way:
    most = at_most(total.epsilon or 0.0)

    def fits(epsilon: float) -> bool:
        promised = repeated(PureDP(epsilon, unit=total.unit), repetitions)
        return isinstance(promised, PureDP) and Fraction(promised.epsilon) <= most

    epsilon = _found(fits, float(most) / 1e4, float(most))
    return Way(Spending(total.unit, epsilon=epsilon), count, repetitions)


def _repeated(total: Total, count: int, repetitions: Repetitions | None) -> list[Way]:
    terms = total.terms
    counted = terms is not None and terms.accounting is Accounting.GDP
    if repetitions is None or counted or total.epsilon is None:
        return []
    # without an account nothing is added to it, so (ε, δ) says it all
    approx = total.delta if terms is None else None
    way = Way(Spending(total.unit), count, repetitions, approx, total.replacing)

    def fits(mu: float) -> bool:
        return total.fits(way, GaussianDP(mu, unit=total.unit))

    mu = _found(fits, (total.mu or 0.0) / 1e4, total.mu or 0.0)
    return [replace(way, run=Spending(total.unit, mu=mu))]


def _found(fits: Callable[[float], bool], low: float, high: float) -> float:
    found = largest(fits, low, high)
    if not found:
        raise ArgumentError(
            "epsilon",
            "is too small for the number of runs of this search; pass a larger "
            "epsilon, or a smaller grid",
        )
    return found
