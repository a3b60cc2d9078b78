"""What one unit can count for: the cap that was declared, and the radius that follows
from it without being chosen.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dither.mechanisms.sums import root_up
from dither.query.operations.expressions import Ref
from dither.query.plan.plan import HEAVIEST
from dither.query.plan.request import Request
from dither.query.plan.spend import VALUES, Spend
from dither.query.plan.vectors import CAP, Kind, Vector
from dither.query.sql.question import Question

__all__ = ["cap_of", "largest_of", "radius_without_choice", "stated_for"]

FEW = 4
"""Up to so many rows of one unit, a radius is not worth choosing: it is what units have
at most.
"""


def cap_of(question: Question, vector: Vector, spend: Spend) -> int | None:
    """The most that one unit can have, in steps, by what was declared; None where
    nothing was.
    """
    if vector.sure:
        return vector.row
    if vector.kind is Kind.DISTINCT:
        return _different(question, vector)
    rows, root = vector.most, spend.gaussian and vector.kind is Kind.UNITS
    if vector.kind is Kind.UNITS and not question.private_keys:
        groups = math.prod(len(key.values or ()) for key in question.keys)
        rows = groups if rows is None else min(rows, groups)
    found = None if rows is None else (root_up(rows) if root else rows) * vector.row
    total = vector.total
    if total is not None:
        found = total if found is None else min(found, total)
    return None if found is None or found > CAP else math.ceil(found)


def radius_without_choice(
    question: Question, vector: Vector, request: Request, spend: Spend, cap: int | None
) -> int | None:
    """The radius that needs no choosing: sure by construction, stated, or all that
    units have; in steps.

    Where there are groups and Gaussian noise, a chosen one is often far smaller than
    what units have at most.
    """
    if vector.kind is Kind.DISTINCT:
        return min(
            n
            for n in (request.values or VALUES, cap, _listed(question, vector))
            if n is not None
        )
    if vector.sure:
        return vector.row
    size = stated_for(question, vector, dict(request.radius))
    if size is not None:
        steps = (
            int(Fraction(size) / vector.step)
            if vector.kind is Kind.TOTAL
            else int(size * vector.row)
        )
        return min(max(steps, 1), CAP if cap is None else cap)
    if cap is None:
        return None
    alone = not spend.gaussian or not question.keys or cap <= FEW * vector.row
    return cap if alone or request.fixed else None


def _different(question: Question, vector: Vector) -> int | None:
    """How many different values one unit has in all groups at most; None where that is
    open or very many.
    """
    values = vector.different
    if values is not None and not question.private_keys:
        values *= math.prod(len(key.values or ()) for key in question.keys)
    found = [
        most
        for most in (values if not question.private_keys else None, vector.most)
        if most is not None
    ]
    return min(found) if found else None


def _listed(question: Question, vector: Vector) -> int | None:
    """How many different values were declared, in all groups. Others may be there too,
    but more is seldom worth it.
    """
    (arg,) = vector.args
    keys = arg.column.keys if isinstance(arg, Ref) else None
    if keys is None or question.private_keys:
        return None
    return len(keys) * math.prod(len(key.values or ()) for key in question.keys)


def stated_for(
    question: Question, vector: Vector, stated: dict[str, float]
) -> float | None:
    """What was stated for an output that needs this vector, or for all ("")."""
    for output in question.outputs:
        if output.name in stated and output.needs & set(vector.aggregates):
            return stated[output.name]
    return stated.get("")


def largest_of(question: Question, vector: Vector, spend: Spend) -> int:
    """The largest radius worth choosing, in rows; a unit is in each public group once."""
    if vector.kind is not Kind.UNITS or any(
        key.values is None for key in question.keys
    ):
        return HEAVIEST
    groups = math.prod(len(key.values or ()) for key in question.keys)
    return min(
        HEAVIEST, math.isqrt(max(groups - 1, 0)) + 1 if spend.gaussian else groups
    )
