"""Two arms compared by a yes-or-no outcome: odds ratio and risk difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from dither.by_name import by_name
from dither.errors import ArgumentError
from dither.question import Asking
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import need_replace, question_of
from dither.science.trials.columns import labels, names, together
from dither.science.trials.comparisons import Comparison, comparison
from dither.science.trials.contrasts import DIFFERENCE, ODDS, Contrast
from dither.science.trials.outcomes import successes, told
from dither.science.trials.tables import Counted, Design

__all__ = ["odds_ratio", "risk_difference"]

NAMED = ("arm", "outcome")


@by_name("odds_ratio(cured, arm, arms=('drug', 'placebo'), epsilon=1)", Asking)
def odds_ratio(
    outcomes: Any,
    arm: Any,
    *,
    arms: Sequence[Any],
    sizes: Any = None,
    success: Any = 1,
    alternative: str = checks.TWO_SIDED,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Comparison:
    """The odds of a success in the first arm over those in the second, with an interval
    whose ends may be 0 or infinite, and a test of whether it is 1.

    `success` is the outcome that counts; all else, a missing outcome too, is none.
    `sizes` are the public numbers of people in the two arms: with them, arm membership
    is public, and the noise is half as large. Without, who is in no declared arm does
    not count. The noisy `table`, `risk_difference()`, `risk_ratio()` and each arm's
    `proportion` follow from the same charge.

    Guarantee: the stated cost, for one person's outcome (and arm, without sizes).
    Why: with sizes, one success of one arm comes or goes: L1 and L2 move by 1. Without,
    a replaced person moves two of four cells (2 and √2), one who comes or goes one cell
    (1). The test is exact for each pair of proportions, and the worst of them counts
    (Barnard's way, with Berger & Boos 1994; docs/proofs/trials.md).
    Assumes: one record for each person.
    """
    return _compared(
        ODDS, outcomes, arm, arms, sizes, success, alternative, provenance, cost
    )


@by_name("risk_difference(cured, arm, arms=('drug', 'placebo'), epsilon=1)", Asking)
def risk_difference(
    outcomes: Any,
    arm: Any,
    *,
    arms: Sequence[Any],
    sizes: Any = None,
    success: Any = 1,
    alternative: str = checks.TWO_SIDED,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> Comparison:
    """The proportion of successes in the first arm less that in the second, with an
    interval and a test of whether it is 0. All else is as for `odds_ratio`.

    Guarantee: the stated cost, for one person's outcome (and arm, without sizes).
    Why: as for `odds_ratio`.
    Assumes: one record for each person.
    """
    return _compared(
        DIFFERENCE, outcomes, arm, arms, sizes, success, alternative, provenance, cost
    )


def _compared(
    contrast: Contrast,
    outcomes: Any,
    arm: Any,
    arms: Any,
    sizes: Any,
    success: Any,
    alternative: str,
    provenance: str | None,
    cost: Mapping[str, Any],
) -> Comparison:
    side = checks.alternative(alternative)
    if len(names("arms", arms)) != 2:
        raise ArgumentError(
            "arms", 'must be two labels, such as ("treatment", "control")'
        )
    yes, groups = successes(outcomes, success), labels("arm", arm, arms)
    together(yes, groups)
    public = None if sizes is None else checks.sizes(sizes, 2)
    design = Design(tuple(arms), (success, f"not {success}"), public)
    question = question_of(contrast.name, cost, yes, groups)
    if public is not None:
        need_replace(question, "sizes", "leave sizes out")
    mechanism = design.mechanism(question)
    words = "arms" if public is None else "arms and their sizes"
    notes = (note(words, provenance), told(success), *design.assumed(question))
    with question.paying(mechanism.guarantee) as paid:
        counts = design.counts(groups.read(paid), yes.read(paid))
        noisy = mechanism.release(counts)
    counted = Counted(design, design.table(noisy), mechanism)
    return comparison(counted, contrast, side, paid.source, NAMED, notes)
