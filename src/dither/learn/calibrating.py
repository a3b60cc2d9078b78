"""The noise of each candidate of a search, so that all runs together cost what was stated.

There are two ways, as in a search over estimators: the best of a random number of runs,
by the theorem of repetition; or each candidate once, and all steps are composed. In both
all candidates promise about the same by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dither.errors import ArgumentError
from dither.learn.grids import drawn
from dither.learn.planning import Asked, run_for
from dither.ledger.declaring import cheapest, share_taken
from dither.ledger.shares import part_of
from dither.ledger.terms import ATTO, Accounting, Terms
from dither.privacy import Composed, Guarantee
from dither.privacy.profiles import AnyOf
from dither.privacy.repetition import (
    Repetitions,
    largest,
    repeated,
    repeated_approx,
)
from dither.privacy.training import Run, noise_for

__all__ = ["Way", "best_way"]

ORDERS = (1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128)
"""Rényi orders that are enough to state an ε, beside the account's; each takes time."""
FINE = 1e-3
"""Tolerance of the search for the noise, relative to the stated cost."""
MOST = 1e4
SURE = 1.1
"""What it is worth that each candidate is tried, as a random number of runs may miss the
best one.
"""
HALVES = 6
LEVELS = (1.0, 0.985, 0.97, 0.955, 0.94)
"""Parts of the largest loss of a candidate at which all of them are tried."""


@dataclass(frozen=True)
class Amount:
    """The cost that a whole search may have."""

    way: str
    stated: Any
    delta: float
    terms: Terms | None

    def fits(self, charged: Guarantee) -> bool:
        if self.way == "epsilon":
            return charged.epsilon_at(self.delta) <= float(self.stated)
        assert self.terms is not None
        return self.share(charged) <= float(part_of(self.stated))

    def share(self, charged: Guarantee) -> float:
        assert self.terms is not None
        return float(share_taken(self.terms.cost(charged), self.terms))


@dataclass(frozen=True)
class Way:
    """How a search runs: which noise each candidate has, and what all of it promises.
    Without `repetitions` each candidate runs once.
    """

    runs: tuple[Run, ...]
    repetitions: Repetitions | None
    charged: Guarantee

    @property
    def mean(self) -> float:
        """Number of runs on average."""
        return self.repetitions.mean if self.repetitions else float(len(self.runs))

    def draw(self) -> list[int]:
        """The candidates to run, drawn before anything is read."""
        if self.repetitions is None:
            return list(range(len(self.runs)))
        return drawn(len(self.runs), self.repetitions)


def best_way(
    asked: Sequence[Asked], way: str, stated: Any, ways: Sequence[Repetitions | None]
) -> Way:
    """The way with the least noise, among those that may be taken."""
    first = asked[0]
    amount = Amount(way, stated, first.delta, first.terms)
    alone = [run_for(one, way, stated) for one in asked]
    found = [_solved(alone, amount, one) for one in ways]
    good = [pair for pair in found if pair is not None]
    if not good:
        raise ArgumentError(
            way,
            f"is too small for a search of {len(asked):,} candidates; pass a larger "
            f"{way}, or a grid with fewer candidates",
        )
    return min(good, key=lambda pair: pair[0])[1]


def _solved(
    alone: Sequence[Run], amount: Amount, repetitions: Repetitions | None
) -> tuple[float, Way] | None:
    """The factor by which each candidate's noise exceeds that of a single run; None if
    no noise is enough.
    """
    charge = _charging(amount, repetitions)
    coarse = _charging(amount, repetitions, coarse=True)

    def fits(less: float) -> bool:
        return amount.fits(coarse([run.times(1.0 / less) for run in alone]))

    less = 1.0 if len(alone) == 1 and fits(1.0) else largest(fits, 1 / MOST, 1.0, FINE)
    if not less:
        return None
    runs = [run.times(1.0 / less) for run in alone]
    runs = _alike(runs, amount, charge)
    sure = SURE if repetitions is None else 1.0
    return 1.0 / less / sure, Way(tuple(runs), repetitions, charge(runs))


Charging = Callable[[Sequence[Run]], Guarantee]


def _charging(
    amount: Amount, repetitions: Repetitions | None, *, coarse: bool = False
) -> Charging:
    """The charge for runs with a given noise; if coarse, it may be larger."""

    def each(runs: Sequence[Run]) -> Guarantee:
        together = Composed([run.guarantee for run in runs])
        if amount.terms is None:
            return together
        return cheapest(together, amount.terms, coarse=coarse)

    def best(runs: Sequence[Run]) -> Guarantee:
        assert repetitions is not None
        return _repeated(AnyOf(run.guarantee for run in runs), repetitions, amount)

    return each if repetitions is None else best


def _repeated(base: AnyOf, repetitions: Repetitions, amount: Amount) -> Guarantee:
    """The best of so many runs: without an account (ε, δ) says it all, and a Gaussian
    account takes nothing else.
    """
    terms = amount.terms
    if terms is None:
        return repeated_approx(base, repetitions, amount.delta)
    if terms.accounting is Accounting.GDP:
        options = [
            repeated_approx(base, repetitions, terms.delta_cap / ATTO / 2**halved)
            for halved in range(HALVES)
        ]
        return min(options, key=amount.share)
    orders = sorted({*map(float, ORDERS), float(terms.order)})
    return repeated(base, repetitions, orders)


def _alike(runs: list[Run], amount: Amount, charge: Charging) -> list[Run]:
    """The same with all candidates at one loss, as large as fits: more noise does not
    change runs of different rates and steps alike.
    """
    different = set(runs)
    if len(different) == 1:
        return runs
    spare = amount.delta / 10
    worst = max(run.guarantee.epsilon_at(spare) for run in different)
    for part in LEVELS:
        level = {run: noise_for(run, part * worst, spare) for run in different}
        closer = [level[run] for run in runs]
        if amount.fits(charge(closer)):
            return closer
    return runs
