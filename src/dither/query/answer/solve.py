"""The cost that reaches a wanted error, found by public scales only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from dither.errors import ArgumentError
from dither.query.answer.cost import Asked, Wanted, wanted_error
from dither.query.answer.plan import Plan, used
from dither.query.answer.widths import widths
from dither.query.limits import SOLVED
from dither.query.sql.question import Output, Question

__all__ = ["solve"]

SMALLEST = 1e-6


def solve(
    question: Question, asked: Asked, epsilons: Callable[[], tuple[float, float]], plan: Callable[[Asked], Plan]
) -> Asked:
    """The same question at the smallest ε, between the least and the largest, that reaches every wanted error."""
    if asked.error is None:
        return asked
    wanted, (smallest, largest) = _wanted(question, asked), epsilons()
    smallest = max(smallest, SMALLEST)
    if not _reached(plan(asked.at(largest)), wanted):
        raise ArgumentError("error", _best(plan(asked.at(largest)), wanted))
    low, high = math.log(smallest), math.log(largest)
    if _reached(plan(asked.at(smallest)), wanted):
        return asked.at(smallest)
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if _reached(plan(asked.at(math.exp(middle))), wanted) else (middle, high)
    return asked.at(min(math.exp(high), largest))


def _wanted(question: Question, asked: Asked) -> list[tuple[Output, Wanted]]:
    measured = [output for output in question.outputs if used(output.expr)]
    if max(len(measured), len(question.aggregates)) > SOLVED:  # all is planned anew for each ε that is tried
        raise ArgumentError("error", f"can be stated for {SOLVED} columns at a time; ask for fewer, or state epsilon")
    if not isinstance(asked.error, Mapping):
        wanted = wanted_error(asked.error)
        return [(output, wanted) for output in measured]
    names = {output.name: output for output in measured}
    for name in asked.error:
        if name not in names:
            raise ArgumentError("error", f"names {name!r}; the answer measures {', '.join(map(repr, names))}")
    return [(names[name], wanted_error(error)) for name, error in asked.error.items()]


def _reached(plan: Plan, wanted: list[tuple[Output, Wanted]]) -> bool:
    return all(_width(plan, output, one) <= one.width for output, one in wanted)


def _width(plan: Plan, output: Output, wanted: Wanted) -> float:
    found = widths(plan, output, wanted.confidence)
    if len(found) != 1 or not isinstance(found[0][1], int | float):
        raise ArgumentError("error", f"of {output.name} {_open(found)}")
    return float(found[0][1])


def _open(found: tuple[tuple[str, object], ...]) -> str:
    """What is missing to know a ± beforehand."""
    if any("counts for" in when for when, _ in found):
        return "depends on how much one unit may count for, which is chosen privately; state radius=, or declare rows"
    if len(found) > 1:
        return "depends on how many rows there are; state the public number you expect= for a group"
    return "follows from several measures; ask for these with an error each, or state epsilon"


def _best(plan: Plan, wanted: list[tuple[Output, Wanted]]) -> str:
    output, one = max(wanted, key=lambda pair: _width(plan, *pair) / pair[1].width)
    best = _width(plan, output, one)
    return f"cannot be reached: the whole account would give ±{best:.6g} for {output.name}; ask for more than that"
