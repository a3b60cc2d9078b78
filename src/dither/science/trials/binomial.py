"""The test of a proportion: how many people have an outcome, against what a population
would be expected to have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.mechanisms import Additive
from dither.privacy.numbers import fraction
from dither.question import Asking, Paid, Question
from dither.release import Around, Ends, Spread
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.arms import Private
from dither.science.trials.asking import need_replace, question_of
from dither.science.trials.null import Law
from dither.science.trials.outcomes import MISSING, successes
from dither.science.trials.proportions import Evidence, Fixed, Open, Population
from dither.science.trials.result import TrialRelease
from dither.science.trials.sizes import fit
from dither.science.trials.tulap import Tulap, uniform

__all__ = ["Proportion", "binomtest"]


@dataclass(frozen=True, eq=False, repr=False)
class Proportion(TrialRelease):
    """A private test of a proportion. `statistic` is the noisy proportion; `count` the
    noisy number of successes, among `n` people (noisy as well, where they are private).
    """

    count: int = 0
    n: int = 0

    @property
    def proportion_estimate(self) -> float:
        """The noisy proportion, as scipy calls it."""
        return float(self.value)


@by_name("binomtest(cured, n=200, p=0.5, epsilon=1)", Asking)
def binomtest(
    outcomes: Any,
    *,
    n: int | None = None,
    p: float = 0.5,
    success: Any = 1,
    alternative: str = checks.TWO_SIDED,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Proportion:
    """Test whether the population's proportion of successes is p, as
    `scipy.stats.binomtest` does, on private outcomes.

    `success` is the outcome that counts (1, which True is too, or a word such as
    "yes"); all else, a missing outcome too, is a failure. `n` is the public number of
    people. Where the account is under add/remove it is private: leave it out, and the
    numbers of successes and of failures both get noise.

    Guarantee: the stated cost, for one person's outcome.
    Why: replacing an outcome moves the count of successes by at most 1; under
    add/remove, a person is in one of two counts. The test is the uniformly most
    powerful one under pure privacy (one-sided), or the unbiased one (two-sided), of
    Awan & Slavković (2018, 2020): its p-value is exact. With private n, it is the
    worst over the numbers of people that are likely (docs/proofs/trials.md).
    Assumes: one record for each person; where n is public, it does not depend on
    outcomes.
    """
    against, side = _proportion("p", p), checks.alternative(alternative)
    column = successes(outcomes, success)
    question = question_of("proportion", cost, column)
    people = _people(question, n)
    mechanism = question.additive(1, 1)
    words = "successes" if people is None else f"{people:,} people"
    notes = (note(words, provenance), MISSING)
    with question.paying(mechanism.guarantee) as paid:
        counts = _counts(column, people, paid)
        noisy = [int(one) for one in mechanism.release(counts)]
    evidence, spread = _evidence(noisy, people, mechanism)
    among = sum(noisy) if people is None else people
    return Proportion(
        what="proportion",
        value=_share(noisy[0], among),
        sources=(paid.source,),
        spread=spread,
        notes=notes,
        pvalue=evidence.pvalue(against, side),
        alternative=side,
        population=Population(evidence, side),
        estimand="proportion",
        count=noisy[0],
        n=among,
    )


def _proportion(argument: str, value: Any) -> float:
    way_out = "pass a proportion such as 0.5"
    if not 0 <= fraction(argument, value, way_out) <= 1:
        raise ArgumentError(argument, f"must lie between 0 and 1; {way_out}")
    return float(value)


def _people(question: Question, n: Any) -> int | None:
    """The public number of people; None where it is private."""
    if n is not None:
        need_replace(question, "n", "leave n out: it is private then, and is noised")
        return checks.size(n, "n")
    if question.replacing:
        raise ArgumentError("n", "is missing: pass the public number of people")
    return None


def _counts(column: Any, people: int | None, paid: Paid) -> Any:
    """The counts that get noise: successes, and failures too where n is private."""
    yes = (column.read(paid) == 0).astype(np.float64)
    if people is None:
        successes = int(yes.sum())
        return np.array([successes, yes.size - successes], np.int64)
    return np.array([int(np.nansum(fit(yes, people)))], np.int64)


def _evidence(
    noisy: list[int], people: int | None, mechanism: Additive
) -> tuple[Evidence, Spread]:
    law = Law.of(mechanism)
    if people is None:
        return Open(Private(noisy[0], noisy[1], law)), _Share(*noisy, mechanism)
    spread = Around(noisy[0] / people, mechanism, True, 1 / people, (0.0, 1.0))
    return Fixed(noisy[0] + uniform(), people, Tulap(law)), spread


def _share(part: float, whole: float) -> float:
    return min(1.0, max(0.0, part / whole)) if whole > 0 else 0.0


@dataclass(frozen=True)
class _Share:
    """Where the share of yes among these people lies: both counts hold together (union
    bound).
    """

    yes: int
    no: int
    mechanism: Additive

    def ends(self, confidence: float) -> Ends:
        width = self.mechanism.error((1 + confidence) / 2, integer=True)
        return self._least(width), 1 - _Share(self.no, self.yes, self.mechanism)._least(
            width
        )

    def _least(self, width: float) -> float:
        yes, no = max(0.0, self.yes - width), max(0.0, self.no + width)
        return yes / (yes + no) if yes > 0 else 0.0
