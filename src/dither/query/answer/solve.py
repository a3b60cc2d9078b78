"""The cost that reaches a wanted error, found by public scales only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from dither.cost import Wanted
from dither.errors import ArgumentError
from dither.ledger.shares import share_of
from dither.ledger.terms import Terms
from dither.query.answer.widths import UNTOLD, widths
from dither.query.catalogue.limits import SOLVED
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.request import Request
from dither.query.plan.vectors import Kind
from dither.query.sql.question import Output, Question
from dither.text import width_in_words

__all__ = ["solve"]

SMALLEST = 1e-6

Wishes = list[tuple[Output, Wanted]]


def solve(
    question: Question,
    request: Request,
    terms: Terms,
    epsilons: Callable[[], tuple[float, float]],
    plans: Callable[[Request], Sequence[Plan]],
) -> Plan:
    """Of the plans that reach every wanted error, the one that costs the account least.

    Each kind of noise is looked at by itself, between the least and the largest ε that
    can be asked for.
    """
    wanted, (smallest, largest) = _wanted(question, request), epsilons()
    smallest = max(smallest, SMALLEST)
    found = []
    for best in plans(request.at(largest)):
        if _reached(best, wanted):
            found.append(_cheapest(plans, request, wanted, best, (smallest, largest)))
    if not found:
        raise ArgumentError("error", _best(plans(request.at(largest)), wanted))
    return min(found, key=lambda plan: share_of(plan.guarantee, terms))


def _cheapest(
    plans: Callable[[Request], Sequence[Plan]],
    request: Request,
    wanted: Wishes,
    best: Plan,
    between: tuple[float, float],
) -> Plan:
    """The plan at the smallest ε that reaches the wanted errors with the same kind of
    noise.
    """

    def at(epsilon: float) -> Plan | None:
        kinds = {
            plan.spend.gaussian: plan for plan in _possible(plans, request.at(epsilon))
        }
        plan = kinds.get(best.spend.gaussian)
        return plan if plan is not None and _reached(plan, wanted) else None

    low, high = map(math.log, between)
    found = at(between[0])
    if found is not None:
        return found
    while high - low > 1e-3:
        middle = (low + high) / 2
        plan = at(math.exp(middle))
        if plan is None:
            low = middle
        else:
            high, best = middle, plan
    return best


def _possible(
    plans: Callable[[Request], Sequence[Plan]], request: Request
) -> Sequence[Plan]:
    """None if the cost is too small for any noise to fit."""
    try:
        return plans(request)
    except ArgumentError:
        return ()


def _wanted(question: Question, request: Request) -> Wishes:
    measured = [output for output in question.outputs if output.needs]
    # All is planned anew for each ε that is tried
    if max(len(measured), len(question.aggregates)) > SOLVED:
        raise ArgumentError(
            "error",
            f"can be given for at most {SOLVED} columns at a time; select fewer, or "
            "pass epsilon instead",
        )
    error = request.cost.error
    assert error is not None  # else there would be nothing to solve for
    if not isinstance(error, Mapping):
        wanted = Wanted.of(error)
        return [(output, wanted) for output in measured]
    names = {output.name: output for output in measured}
    for name in error:
        if name not in names:
            raise ArgumentError(
                "error",
                f"error names {name!r}, which the answer does not measure; use one of "
                f"{', '.join(map(repr, names))}",
            )
    return [(names[name], Wanted.of(one)) for name, one in error.items()]


def _reached(plan: Plan, wanted: Wishes) -> bool:
    return all(_width(plan, output, one) <= one.width for output, one in wanted)


def _width(plan: Plan, output: Output, wanted: Wanted) -> float:
    """The ± of a column. If a radius cuts off what is known to be bounded, none can be
    promised beforehand.
    """
    found, needed = widths(plan, output, wanted.confidence), output.needs
    items = [
        measurement
        for measurement in plan.measurements
        if needed & set(measurement.vector.aggregates)
    ]
    chosen = any(measurement.radius is None for measurement in items) or (
        plan.question.selects and plan.groups is None
    )
    if not chosen and len(found) == 1 and found[0][1] == UNTOLD:
        return math.inf
    if chosen or len(found) != 1 or not isinstance(found[0][1], int | float):
        words = f"the error of {output.name!r} {_open(plan, items, found)}"
        raise ArgumentError("error", words)
    cut = any(
        measurement.clips(measurement.radius or 0)
        for measurement in items
        if _known(measurement, plan)
    )
    return math.inf if cut else float(found[0][1])


def _known(measurement: Measurement, plan: Plan) -> bool:
    """Whether it is known what a unit has at most, so that an answer need not be open."""
    return measurement.cap is not None or (
        measurement.vector.kind is Kind.DISTINCT and plan.request.values is None
    )


def _open(
    plan: Plan, items: Sequence[Measurement], found: tuple[tuple[str, object], ...]
) -> str:
    """The missing fact that would give a ± beforehand."""
    if plan.question.selects and plan.groups is None:
        return (
            "depends on how many private keys are released, and HAVING or LIMIT chooses "
            "among them; pass epsilon instead"
        )
    if any(measurement.radius is None for measurement in items):
        return (
            "depends on the radius (how much one unit may contribute), which is chosen "
            "privately; declare rows, or pass radius="
        )
    if len(found) > 1:
        return (
            "depends on the number of rows; pass a public number of rows per group as "
            "expect="
        )
    return (
        "follows from several measurements; ask for each of them with an error of its "
        "own, or pass epsilon instead"
    )


def _best(plans: Sequence[Plan], wanted: Wishes) -> str:
    """Which error cannot be had, and the smallest that can."""
    each = [
        max(
            (_width(plan, *pair) / pair[1].width, place)
            for place, pair in enumerate(wanted)
        )
        for plan in plans
    ]
    times, place = min(each)
    output, one = wanted[place]
    if math.isinf(times) and any(
        width == UNTOLD for plan in plans for _, width in widths(plan, output)
    ):
        return (
            f"the error of {output.name!r} has no upper bound, because groups have too "
            "few rows for a minimum or a maximum; pass a larger expect="
        )
    if math.isinf(times):
        return (
            f"the error of {output.name!r} has no upper bound, because a unit may have "
            "more rows or values than it may contribute; leave radius out, or pass a "
            "larger values="
        )
    best = times * one.width
    return (
        f"cannot be reached: the whole account would give {width_in_words(best)} "
        f"for {output.name!r}; pass a larger error"
    )
