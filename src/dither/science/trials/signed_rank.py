"""The Wilcoxon signed-rank test of paired outcomes, or of differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.question import Asking, Paid, Question
from dither.release import Around, Ends
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import need_replace, question_of
from dither.science.trials.columns import Given, Reals, given, together
from dither.science.trials.null import Law, special
from dither.science.trials.private_sizes import (
    UNKNOWN,
    Held,
    OneSize,
    SizesPlan,
    shrinking,
    unfilled,
)
from dither.science.trials.rank_nulls import signed_null
from dither.science.trials.ranks import capped_signs, known, signed
from dither.science.trials.result import TrialRelease
from dither.science.trials.sizes import at_most
from dither.science.trials.superiority import Pairs

__all__ = ["Wilcoxon", "wilcoxon"]

WHAT = "signed-rank sum"
ESTIMAND = "probability that two differences have a sum above 0"
WAY_OUT = "leave size out, which is then bounded privately at the same cost"


@dataclass(frozen=True, eq=False, repr=False)
class Wilcoxon(TrialRelease):
    """A private signed-rank test. `statistic` is the sum of the ranks of positive
    differences less that of negative ones. `above` is the noisy share of pairs of
    differences whose sum is positive, a sum of 0 counted half. If the size is private,
    `size` is noisy.
    """

    size: int = 1
    above: float = 0.5

    def _estimate(self) -> float:
        return self.above

    def _known(self) -> Ends:
        return 0.0, 1.0


@by_name("wilcoxon(x, y, size=200, epsilon=1.0)", Asking)
def wilcoxon(
    x: Any,
    y: Any = None,
    *,
    size: int | None = None,
    alternative: str = checks.TWO_SIDED,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Wilcoxon:
    """Whether differences tend to lie above 0, by signed ranks: those of x itself, or of
    x and y of the same people. No bounds are needed.

    `statistic` is W = R₊ − R₋. Zeros keep their ranks and count for neither side
    (Pratt), and so do missing differences; ties share their mean rank. `interval()`
    says where these people's own W lies, and `confidence_interval()` where the
    population's P(D + D′ > 0) + P(D + D′ = 0) / 2 lies, for the differences of two
    people. The p-value is about differences as likely above 0 as below by any amount;
    ties, zeros and missing ones only make it larger than it need be.

    `size` is the public number of people, under accounts for people who are replaced.
    Without it, a part of the cost bounds the number privately, and all of it is about
    differences that are not missing.

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one person who is
    replaced; without size also for one who comes or goes, as the account says.
    Why: W is the sum of sign(dᵢ + dⱼ) over all pairs i ≤ j, of which one person is in
    `size`: its sensitivity is 2·size (docs/proofs/trials.md).
    Assumes: one record for each person; a declared size is public.
    """
    special()  # what computes p-values must be there before anything is charged
    columns = [given("x", x)] if y is None else [given("x", x), given("y", y)]
    together(*columns)
    side = checks.alternative(alternative)
    question = question_of(WHAT, cost, *columns)
    if size is None:
        return _of_private_size(question, columns, side, provenance)
    need_replace(question, "size", WAY_OUT)
    people = checks.size(size)
    declared = note(f"{people:,} people", provenance)
    return _tested(question, columns, people, side, declared)


def _tested(
    question: Question, columns: list[Given], people: int, side: str, declared: str
) -> Wilcoxon:
    null = signed_null(people)
    mechanism = question.additive(null.sensitivity)
    with question.paying(mechanism.guarantee) as paid:
        found = at_most(_differences(columns, paid), people)
        noisy = mechanism.release(signed(found, people))
    most = people * (people + 1) // 2
    law = Law.of(mechanism)
    return Wilcoxon(
        WHAT,
        noisy,
        (paid.source,),
        Around(noisy, mechanism, integer=True),
        notes=(declared,),
        pvalue=null.pvalue(law, noisy, side),
        alternative=side,
        population=PositiveSums(noisy, people, law),
        estimand=ESTIMAND,
        size=people,
        above=_above(noisy, people),
        limits=(-most, most),
    )


def _of_private_size(
    question: Question, columns: list[Given], side: str, provenance: str | None
) -> Wilcoxon:
    if provenance is not None:
        raise ArgumentError(
            "provenance",
            "is the source of a declared size, but size is not declared; pass size, or "
            "leave provenance out",
        )
    plan = SizesPlan.of(question, arms=1)
    with question.paying() as paid:
        found = known(_differences(columns, paid))
        size = plan.size(found.size)
        mechanism = plan.noise(size.cap)
        noisy = mechanism.release(capped_signs(found, size.cap))
    law = Law.of(mechanism)
    people = max(1, size.noisy)
    return Wilcoxon(
        WHAT,
        noisy,
        (paid.source,),
        Held(noisy, mechanism, size),
        notes=(f"about {people:,} differences, by a noisy count",),
        pvalue=min(1.0, size.null.pvalue(law, noisy, side) + UNKNOWN),
        alternative=side,
        population=UnsureSums(noisy, size, law),
        estimand=ESTIMAND,
        size=people,
        above=_above(noisy, people),
    )


def _above(noisy: int, people: int) -> float:
    return min(1.0, max(0.0, 0.5 + noisy / (people * (people + 1))))


def _differences(columns: list[Given], paid: Paid) -> Reals:
    if len(columns) == 1:
        return columns[0].read(paid)
    first, second = (column.read(paid) for column in columns)
    with np.errstate(all="ignore"):  # ∞ − ∞ is missing
        return np.asarray(first - second)


@dataclass(frozen=True)
class PositiveSums:
    """Where the chance that two people's differences have a positive sum lies.

    W counts each person with themselves too, which is not a pair of two people: how
    much that can matter is bounded by the chance itself (docs/proofs/trials.md).
    """

    noisy: float
    size: int
    law: Law

    def ends(self, confidence: float) -> tuple[float, float]:
        if self.size == 1:
            return 0.0, 1.0
        low, high = all_pairs(self.noisy, self.size, self.law).ends(confidence)
        return of_two(low, self.size), 1 - of_two(1 - high, self.size)


def all_pairs(noisy: float, size: int, law: Law) -> Pairs:
    """The share of all pairs with a positive sum, people with themselves included."""
    most, trials = size * (size + 1) / 2, size // 2
    return Pairs(noisy + most, trials, 2 * most / trials, law)


def of_two(share: float, n: int) -> float:
    """The least chance of a positive sum of two people, if that share of all pairs of n
    people, those with themselves included, is expected to be positive.
    """
    root = (math.sqrt(1 + (n * n - 1) * share) - 1) / (n - 1)
    return root**2


@dataclass(frozen=True)
class UnsureSums:
    """The same if the number of people is noisy too: a half of the miss is its own, and
    each end takes the better of two ways to allow for it.
    """

    noisy: int
    size: OneSize
    law: Law

    def ends(self, confidence: float) -> tuple[float, float]:
        missed = 1 - confidence
        few, most = self.size.below(missed / 4), self.size.above(missed / 4)
        if few < 2:
            return 0.0, 1.0
        hidden = self.size.hidden(missed / 4)
        sums = self.noisy - hidden, self.noisy + hidden
        factor = most * (most + 1) / (few * (few + 1))
        rate = 1 - missed / 2
        filled = unfilled(*_ends(sums, most, self.law, rate), factor)
        shrunk = _ends(shrinking(*sums, factor), few, self.law, rate)
        low, high = max(filled[0], shrunk[0]), min(filled[1], shrunk[1])
        return of_two(low, few), 1 - of_two(1 - high, few)


def _ends(
    sums: tuple[float, float], size: int, law: Law, rate: float
) -> tuple[float, float]:
    low, high = (all_pairs(one, size, law).ends(rate) for one in sums)
    return low[0], high[1]
