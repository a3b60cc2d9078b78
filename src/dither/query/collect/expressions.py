"""Expressions of the plan as SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dither.query.engines.protocol import Dialect
from dither.query.operations.expressions import Call, Expr, Literal, Ref

__all__ = ["render"]


def render(
    expr: Expr, dialect: Dialect, parameters: list[Any], column: Callable[[Ref], str]
) -> str:
    """The SQL of an expression over rows. Constants go to the parameters; `column`
    writes the columns below.
    """
    match expr:
        case Ref():
            return column(expr)
        case Literal():
            return dialect.literal(expr.value, expr.type, parameters)
        case Call():
            return dialect.call(
                expr, [render(arg, dialect, parameters, column) for arg in expr.args]
            )
    raise TypeError(f"{type(expr).__name__} is not an expression over rows")
