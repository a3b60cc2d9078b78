"""The allow-list of operations: each call is checked, typed and given the range its
value lies in.
"""

from __future__ import annotations

from typing import Any

from dither.query.catalogue.limits import HIGHEST, LARGEST, LONGEST_TEXT
from dither.query.catalogue.types import Type
from dither.query.operations import (
    operators_casts,
    operators_dates,
    operators_logic,
    operators_numbers,
    operators_text,
)
from dither.query.operations.evaluate import value
from dither.query.operations.evaluate_functions import STRICT
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.operators_basics import (
    TypeProblem,
    is_null,
    literal,
    null,
    typed,
)

__all__ = ["OPERATORS", "TypeProblem", "call", "literal"]

OPERATORS = {
    **operators_numbers.BUILDERS,
    **operators_logic.BUILDERS,
    **operators_text.BUILDERS,
    **operators_dates.BUILDERS,
    **operators_casts.BUILDERS,
}


def call(op: str, *args: Expr, options: tuple[Any, ...] = ()) -> Expr:
    """An operation applied to expressions, or TypeProblem where it cannot be. Of
    constants it is a constant.
    """
    expr = OPERATORS[op](args, options)
    if not isinstance(expr, Call):
        return expr
    if (
        expr.size > (LONGEST_TEXT if expr.op == "concat" else LARGEST)
        or expr.depth > HIGHEST
    ):
        raise TypeProblem(
            "this expression is too large or too deeply nested, all that it "
            "mentions written out; ask for less of it"
        )
    if expr.op in STRICT and any(map(is_null, expr.args)):
        return null(expr.type)
    if all(isinstance(arg, Literal) for arg in expr.args) and not _of_texts(expr):
        return typed(value(expr, (), ()), expr.type)
    return expr


def _of_texts(expr: Call) -> bool:
    """Whether the engine's own rules for texts decide, such as for upper case."""
    return any(part.type is Type.TEXT for part in (expr, *expr.args))
