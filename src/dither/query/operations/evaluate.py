"""Expressions over released keys and aggregates, in Python: post-processing, which
costs nothing.

Values and intervals are computed for all groups of an answer at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from dither.query.catalogue.types import NUMERIC, Range, Type
from dither.query.operations.expressions import (
    AggregateLeaf,
    Call,
    Expr,
    KeyLeaf,
    Literal,
)
from dither.query.operations.record import (
    OPERATIONS,
    UNKNOWN,
    EndsRule,
    Group,
    Known,
)

__all__ = [
    "Ends",
    "by_call",
    "by_range",
    "ends",
    "intervals",
    "leaves",
    "value",
    "values",
]

Ends = tuple[float, float]
Row = Sequence[Any]


def leaves(expr: Expr) -> set[int]:
    """The places of the aggregates that the expression uses."""
    if isinstance(expr, AggregateLeaf):
        return {expr.index}
    return set().union(*map(leaves, expr.args)) if isinstance(expr, Call) else set()


def value(expr: Expr, keys: Row, aggregates: Row) -> Any:
    """The value of the expression for one group; None is NULL."""
    return values(expr, [keys], [aggregates])[0]


def values(expr: Expr, keys: Sequence[Row], aggregates: Sequence[Row]) -> list[Any]:
    """The value of the expression for each group, given the keys and the aggregates of
    each.
    """
    match expr:
        case Literal():
            return [expr.value] * len(keys)
        case KeyLeaf():
            return [_tidy(row[expr.index], expr.type) for row in keys]
        case AggregateLeaf():
            return [_tidy(row[expr.index], expr.type) for row in aggregates]
        case Call():
            return _called(expr, keys, aggregates)
    raise TypeError(
        f"{type(expr).__name__} is not an expression over keys and aggregates"
    )


def _called(expr: Call, keys: Sequence[Row], aggregates: Sequence[Row]) -> list[Any]:
    columns = [values(arg, keys, aggregates) for arg in expr.args]
    record = OPERATIONS[expr.op]
    rows = zip(*columns, strict=True) if columns else [()] * len(keys)
    found: list[Any] = []
    for args in rows:
        if record.strict and None in args:
            found.append(None)
            continue
        try:
            one = record.python(*args, *expr.options)
        except (ArithmeticError, ValueError):
            one = None  # a division by zero, a logarithm of a negative number
        found.append(_tidy(one, expr.type))
    return found


def _tidy(found: Any, type_: Type) -> Any:
    """The value in its type's Python form; None if there is no such form."""
    if found is None or type_ not in (Type.INTEGER, Type.REAL, Type.BOOLEAN):
        return found
    if type_ is Type.BOOLEAN:
        return bool(found)
    try:
        number = float(found)
    except OverflowError:
        return None
    if not math.isfinite(number):
        return None
    return int(found) if type_ is Type.INTEGER else number


def ends(expr: Expr, keys: Row, aggregates: Sequence[Ends | None]) -> Ends | None:
    """The interval of the expression for one group."""
    return intervals(expr, [keys], [aggregates])[0]


def intervals(
    expr: Expr,
    keys: Sequence[Row],
    aggregates: Sequence[Sequence[Ends | None]],
    absent: Sequence[Set[int]] = (),
) -> list[Ends | None]:
    """An interval of the expression for each group, given intervals for the aggregates
    of each; None if there is none to give.

    If every aggregate lies in its interval, then so does the expression, or it is NULL.
    `absent` are the aggregates of each group whose value is not shown, but NULL: the
    interval holds what the expression is with NULL, too.
    """
    if isinstance(expr, AggregateLeaf):
        found = [row[expr.index] for row in aggregates]
        if expr.type not in NUMERIC:
            return found  # dates stay as they are
        return [None if one is None else _sides(_range(one)) for one in found]
    groups = map(_Group, keys, aggregates, absent or [frozenset()] * len(keys))
    return [_sides(group.known(expr).range) for group in groups]


def _range(found: Ends) -> Range:
    """An end that is not finite is open."""
    low, high = map(float, found)
    return Range(
        low if math.isfinite(low) else None, high if math.isfinite(high) else None
    )


def _sides(range_: Range | None) -> Ends | None:
    if range_ is None:
        return None
    return (
        -math.inf if range_.low is None else float(range_.low),
        math.inf if range_.high is None else float(range_.high),
    )


@dataclass(frozen=True)
class _Group:
    """One group's keys, its aggregates' intervals, and which of these are NULL."""

    keys: Row
    aggregates: Sequence[Ends | None]
    absent: Set[int] = frozenset()

    def known(self, expr: Expr) -> Known:
        """Where an expression lies in this group."""
        if isinstance(expr, AggregateLeaf):
            found = self.aggregates[expr.index] if expr.type in NUMERIC else None
            sure = expr.index not in self.absent
            return Known(None if found is None else _range(found), sure)
        if self.fixed(expr):
            return _point(self.value(expr))
        if not isinstance(expr, Call) or expr.type not in NUMERIC:
            return UNKNOWN
        rule = OPERATIONS[expr.op].ends
        return UNKNOWN if rule is None else rule(self, expr)

    def fixed(self, expr: Expr) -> bool:
        """Whether the group's keys alone decide about an expression."""
        return not leaves(expr)

    def value(self, expr: Expr) -> Any:
        """The value of an expression that is fixed."""
        return value(expr, self.keys, ())


def _point(found: Any) -> Known:
    if found is None:
        return Known(None, sure=False, null=True)
    number = isinstance(found, int | float) and not isinstance(found, bool)
    return Known(Range(float(found), float(found)) if number else None, sure=True)


def by_call(
    rule: Callable[..., Range | None], total: Callable[..., bool] | None = None
) -> EndsRule:
    """An interval from a rule that takes the call, then the ranges of its arguments.

    `total` takes the ranges, and says whether there is a result wherever the arguments
    lie in them; without it there always is.
    """

    def ends(group: Group, expr: Call) -> Known:
        args = [group.known(arg) for arg in expr.args]
        found = [arg.range for arg in args if arg.range is not None]
        range_ = rule(expr, *found) if len(found) == len(args) else None
        if range_ is None:
            return UNKNOWN
        sure = all(arg.sure for arg in args)
        return Known(range_, sure and (total is None or total(*found)))

    return ends


def by_range(
    rule: Callable[..., Range | None], total: Callable[..., bool] | None = None
) -> EndsRule:
    """The same from a rule that needs the ranges alone."""
    return by_call(lambda _, *found: rule(*found), total)
