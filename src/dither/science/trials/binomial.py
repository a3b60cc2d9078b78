"""The test of a proportion: how many people have an outcome, against what a population
would be expected to have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.mechanisms import Additive
from dither.question import Asking, Paid, Question
from dither.release import Around, Spread, clamped
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.arms import Private, Share
from dither.science.trials.asking import need_replace, question_of
from dither.science.trials.checks import share
from dither.science.trials.null import Law
from dither.science.trials.outcomes import successes, told
from dither.science.trials.proportions import Evidence, Fixed, Open, Population
from dither.science.trials.result import TrialRelease
from dither.science.trials.sizes import at_most
from dither.science.trials.tables import ROOT
from dither.science.trials.tulap import Tulap, uniform

__all__ = ["Proportion", "binomtest"]


PRIVATE = "the number of people is private: the p-value is the worst over likely ones"


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
    people. Where it is private (a subgroup, or an account under add/remove), leave it
    out: then the numbers of successes and of failures both get noise.

    Guarantee: the stated cost, for one person's outcome.
    Why: replacing an outcome moves the count of successes by at most 1. With private n,
    a replaced person moves both counts by 1 (L1 2, L2 √2), and one who comes or goes
    one of them (1). The test is the uniformly most
    powerful one under pure privacy (one-sided), or the unbiased one (two-sided), of
    Awan & Slavković (2018, 2020): its p-value is exact. With private n, it is the
    worst over the numbers of people that are likely (docs/proofs/trials.md).
    Assumes: one record for each person; where n is public, it does not depend on
    outcomes.
    """
    against, side = share("p", p), checks.alternative(alternative)
    column = successes(outcomes, success)
    question = question_of("proportion", cost, column)
    people = _people(question, n)
    both = people is None and question.replacing
    mechanism = question.vector(2, ROOT) if both else question.additive(1, 1)
    words = "who is a success" if people is None else f"{people:,} people"
    notes = (
        note(words, provenance),
        told(success),
        *([PRIVATE] if people is None else []),
    )
    with question.paying(mechanism.guarantee) as paid:
        counts = counted(column, people, paid)
        noisy = [int(one) for one in mechanism.release(counts)]
    evidence, spread = _evidence(noisy, people, mechanism)
    among = sum(noisy) if people is None else people
    return Proportion(
        what="proportion",
        value=noisy[0] / among if among > 0 else 0.0,
        sources=(paid.source,),
        spread=spread,
        notes=notes,
        pvalue=evidence.pvalue(against, side),
        alternative=side,
        population=Population(evidence, side),
        estimand="proportion",
        count=clamped(noisy[0], (0, max(among, 0))),
        n=max(among, 0),
        limits=(0, 1),
    )


def _people(question: Question, n: Any) -> int | None:
    """The public number of people; None if it is private."""
    if n is not None:
        need_replace(question, "n", "leave n out")
        return checks.size(n, "n")
    return None


def counted(column: Any, people: int | None, paid: Paid) -> Any:
    """The counts that get noise: successes, and failures too where n is private."""
    yes = 1.0 - column.read(paid)
    if people is None:
        successes = int(yes.sum())
        return np.array([successes, yes.size - successes], np.int64)
    return np.array([int(np.nansum(at_most(yes, people)))], np.int64)


def _evidence(
    noisy: list[int], people: int | None, mechanism: Additive
) -> tuple[Evidence, Spread]:
    law = Law.of(mechanism)
    if people is None:
        arm = Private(noisy[0], noisy[1], law)
        return Open(arm), Share(arm, mechanism)
    spread = Around(noisy[0] / people, mechanism, True, 1 / people)
    return Fixed(noisy[0] + uniform(), people, Tulap(law)), spread
