"""By how much the outcomes of one arm are shifted against those of another (Hodges &
Lehmann 1963), by a private choice among shifts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from dither.by_name import by_name
from dither.question import Asking
from dither.science.declared import note
from dither.science.trials import checks
from dither.science.trials.asking import (
    need_replace,
    people_may_change_arms,
    question_of,
)
from dither.science.trials.columns import Integers, Reals, given
from dither.science.trials.means import ARMS
from dither.science.trials.medians import MISSING, WAY_OUT, Middles, points_of, public
from dither.science.trials.moments import Scale
from dither.science.trials.order import around, ended
from dither.science.trials.result import TrialRelease
from dither.science.trials.sizes import at_most

__all__ = ["location_shift", "pairs_outside"]

WHAT = "shift"


@by_name("location_shift(x, y, within=(-20, 20), sizes=(200, 200), epsilon=1)", Asking)
def location_shift(
    x: Any,
    y: Any,
    *,
    within: tuple[float, float],
    sizes: Sequence[int] | None = None,
    confidence: float = 0.95,
    points: int | None = None,
    provenance: str | None = None,
    **cost: Unpack[Asking],
) -> TrialRelease:
    """By how much the first arm's outcomes lie above the second's, where both follow the
    same law but for that shift.

    An interval of shifts that a Mann–Whitney test does not reject, whose ends are chosen
    privately among `points` equal parts of `within`, the shifts that are thought
    possible; outcomes need no bounds. It is shorter than that of `median_difference`,
    and about the difference of medians only where laws have the same shape. The value
    is its middle. The rate `confidence` is fixed here: at a higher one nothing is known
    but `within`.

    Guarantee: the stated cost, for one person's outcome.
    Why: a person is in one pair with each person of the other arm, so moves the number
    of pairs on either side of a shift by at most max(sizes) (docs/proofs/trials.md).
    Assumes: sizes and `within` are public, not read off the data; one record for each
    person; arm membership is public where x and y are columns in memory. In a dataset it
    is private, and a person may move as many pairs as there are people.
    """
    columns = given("x", x), given("y", y)
    first, second = checks.sizes(public(sizes, "sizes"), 2)
    scale = Scale(*checks.bounds(within, "within"))
    rate, count = checks.confidence(confidence, "confidence"), points_of(points)
    question = question_of(WHAT, cost, *columns)
    need_replace(question, "sizes", WAY_OUT)
    moving = people_may_change_arms(*columns)
    moved = first + second if moving else max(first, second)
    pair, plan = around(question, (first, second), rate, count, moved)
    words = f"shifts from {scale.low:g} to {scale.high:g}"
    declared = note(f"{words}, sizes {first:,} and {second:,}", provenance)
    with question.paying(pair.choice.guarantee) as paid:
        one, other = (column.read(paid) for column in columns)
        grid = np.linspace(scale.low, scale.high, pair.points + 1)
        one, other = at_most(one, first), at_most(other, second)
        counts = pairs_outside(one, other, grid, first * second)
        ends = (pair.release(counts, grid),)
    here = Middles(ends, scale, plan.here)
    return TrialRelease(
        WHAT,
        here.value,
        (paid.source,),
        here,
        notes=(
            declared,
            f"intervals end on a grid of {pair.points} equal parts",
            MISSING,
        )
        + (() if moving else (ARMS,)),
        population=Middles(ends, scale, rate),
        estimand="shift between arms of the same shape",
    )


def pairs_outside(
    x: Reals, y: Reals, shifts: Reals, total: int
) -> tuple[Integers, Integers]:
    """How many of so many pairs differ by less than each shift, and how many by more;
    pairs with a missing outcome do both.
    """
    one, other = x[~np.isnan(x)], np.sort(y[~np.isnan(y)])
    unknown = total - one.size * other.size
    less, more = np.empty(shifts.size, np.int64), np.empty(shifts.size, np.int64)
    for place, shift in enumerate(shifts):
        with np.errstate(all="ignore"):  # a value beyond floats is infinite
            moved = one - shift
        up_to = np.searchsorted(other, moved, side="right")
        less[place] = unknown + one.size * other.size - int(up_to.sum())
        more[place] = unknown + int(np.searchsorted(other, moved, side="left").sum())
    return ended(less, more, total)
