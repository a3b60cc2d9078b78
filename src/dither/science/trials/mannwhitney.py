"""The Mann–Whitney U test of two arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.question import Asking, Question
from dither.release import Around, Ends
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import need_replace, question_of
from dither.science.trials.columns import Given, given
from dither.science.trials.null import Law, special
from dither.science.trials.private_sizes import (
    UNKNOWN,
    Held,
    SizesPlan,
    UnsurePairs,
)
from dither.science.trials.rank_nulls import wins_null
from dither.science.trials.ranks import capped, known
from dither.science.trials.result import TrialRelease
from dither.science.trials.superiority import Pairs

__all__ = ["MannWhitney", "mannwhitneyu"]

WHAT = "Mann–Whitney U"
ESTIMAND = "probability of superiority"
WAY_OUT = "leave sizes out, which are then bounded privately at the same cost"


@dataclass(frozen=True, eq=False, repr=False)
class MannWhitney(TrialRelease):
    """A private Mann–Whitney test. `statistic` is U: how many pairs of an x and a y the
    x wins, ties counted half. `superiority` is the noisy share of pairs that the x
    wins.

    If sizes are private, `sizes` are noisy, and the statistic is U less half the number
    of pairs.
    """

    sizes: tuple[int, int] = (1, 1)
    superiority: float = 0.5

    def _estimate(self) -> float:
        return self.superiority

    def _known(self) -> Ends:
        return 0.0, 1.0


@by_name("mannwhitneyu(x, y, sizes=(200, 200), epsilon=1.0)", Asking)
def mannwhitneyu(
    x: Any,
    y: Any,
    *,
    sizes: Any = None,
    alternative: str = checks.TWO_SIDED,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> MannWhitney:
    """Whether the outcomes of one arm tend to lie above those of another, by ranks: no
    bounds are needed, and ties and missing outcomes are allowed.

    `statistic` is U of x, `interval()` says where these people's own U lies, and
    `confidence_interval()` where the population's P(X > Y) + P(X = Y) / 2 lies. A
    missing outcome counts half against everyone. The p-value is about outcomes that
    come in any order equally likely; ties and missing outcomes only make it larger
    than it need be.

    `sizes` are the public numbers of people in the two arms, under accounts for people
    who are replaced. Without them, a part of the cost bounds the sizes privately, the
    statistic is U less half of all pairs, and all of it is about outcomes that are not
    missing.

    Guarantee: epsilon-differential privacy, or rho-zCDP, for one person who is
    replaced, even by one in the other arm; without sizes also for one who comes or
    goes, as the account says.
    Why: 2U has sensitivity 2·max(sizes); of an arm that has more people than declared,
    the most and the least are averaged, which no person moves more
    (docs/proofs/trials.md).
    Assumes: one record for each person; the declared sizes are public.
    """
    special()  # what computes p-values must be there before anything is charged
    columns = given("x", x), given("y", y)
    side = checks.alternative(alternative)
    question = question_of(WHAT, cost, *columns)
    if sizes is None:
        return _of_private_sizes(question, columns, side, provenance)
    need_replace(question, "sizes", WAY_OUT)
    first, second = checks.sizes(sizes, 2)
    declared = note(f"arms of {first:,} and {second:,} people", provenance)
    return _tested(question, columns, (first, second), side, declared)


def _tested(
    question: Question,
    columns: tuple[Given, Given],
    sizes: tuple[int, int],
    side: str,
    declared: str,
) -> MannWhitney:
    null = wins_null(*sizes)
    mechanism = question.additive(null.sensitivity)
    with question.paying(mechanism.guarantee) as paid:
        x, y = (column.read(paid) for column in columns)
        noisy = mechanism.release(capped(x, y, sizes))
    pairs = math.prod(sizes)
    value = (noisy + pairs) / 2
    law = Law.of(mechanism)
    return MannWhitney(
        WHAT,
        value,
        (paid.source,),
        Around(value, mechanism, integer=True, step=0.5),
        notes=(declared,),
        limits=(0, pairs),
        pvalue=null.pvalue(law, noisy, side),
        alternative=side,
        population=Pairs(noisy + pairs, min(sizes), 2 * max(sizes), law),
        estimand=ESTIMAND,
        sizes=sizes,
        superiority=_share(value / pairs),
    )


def _of_private_sizes(
    question: Question,
    columns: tuple[Given, Given],
    side: str,
    provenance: str | None,
) -> MannWhitney:
    if provenance is not None:
        raise ArgumentError(
            "provenance",
            "is the source of declared sizes, but sizes are not declared; pass sizes, or "
            "leave provenance out",
        )
    plan = SizesPlan.of(question)
    with question.paying() as paid:
        x, y = (known(column.read(paid)) for column in columns)
        sizes = plan.sizes(x.size, y.size)
        mechanism = plan.noise(*sizes.caps)
        noisy = mechanism.release(capped(x, y, sizes.caps))
    law = Law.of(mechanism)
    chance = sizes.null.pvalue(law, noisy, side) + UNKNOWN
    first, second = sizes.likely
    return MannWhitney(
        f"{WHAT} minus its mean",
        noisy / 2,
        (paid.source,),
        Held(noisy, mechanism, sizes, 0.5),
        notes=(f"arms of about {first:,} and {second:,} outcomes, by noisy counts",),
        pvalue=min(1.0, chance),
        alternative=side,
        population=UnsurePairs(noisy, sizes, law),
        estimand=ESTIMAND,
        sizes=sizes.likely,
        superiority=_share(0.5 + noisy / (2 * first * second)),
    )


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
