"""The values of expressions over released keys and aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dither.query.operations import evaluate_functions
from dither.query.operations.expressions import (
    AggregateLeaf,
    Call,
    Expr,
    KeyLeaf,
    Literal,
)

__all__ = ["leaves", "value"]


def leaves(expr: Expr) -> set[int]:
    """The places of the aggregates that the expression uses."""
    if isinstance(expr, AggregateLeaf):
        return {expr.index}
    return set().union(*map(leaves, expr.args)) if isinstance(expr, Call) else set()


def value(
    expr: Expr, keys: Sequence[Any], aggregates: Sequence[float | int | None]
) -> Any:
    """What the expression is for one group; None is NULL."""
    match expr:
        case Literal():
            return expr.value
        case KeyLeaf():
            return evaluate_functions.tidy(keys[expr.index], expr.type)
        case AggregateLeaf():
            return evaluate_functions.tidy(aggregates[expr.index], expr.type)
        case Call():
            args = [value(arg, keys, aggregates) for arg in expr.args]
            return evaluate_functions.tidy(_applied(expr, args), expr.type)
    raise TypeError(
        f"{type(expr).__name__} is not an expression over keys and aggregates"
    )


def _applied(expr: Call, args: list[Any]) -> Any:
    if expr.op in evaluate_functions.SOMETIMES_NULL:
        return evaluate_functions.SOMETIMES_NULL[expr.op](*args)
    if None in args:
        return None
    try:
        return evaluate_functions.STRICT[expr.op](*args, *expr.options)
    except (ArithmeticError, ValueError):
        return None  # a division by zero, a logarithm of a negative number, an overflow
