"""Intervals for expressions over released aggregates, from the aggregates' own
intervals: post-processing too.

If every aggregate lies in its interval, then so does the expression, or it is NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations import ranges
from dither.query.operations.evaluate_functions import STRICT
from dither.query.operations.evaluate_values import leaves, value
from dither.query.operations.expressions import AggregateLeaf, Call, Expr

__all__ = ["Ends", "ends"]

Ends = tuple[float, float]


def ends(
    expr: Expr, keys: Sequence[Any], aggregates_ends: Sequence[Ends | None]
) -> Ends | None:
    """An interval for the expression, given intervals for the aggregates; None where
    there is none to give.
    """
    if isinstance(expr, AggregateLeaf) and not expr.type.numeric:
        return aggregates_ends[expr.index]  # dates, as they are
    found = _Group(keys, aggregates_ends).known(expr).range
    return None if found is None else _sides(found)


class Known(NamedTuple):
    """Where a value lies, None if that is not known; whether it is surely not NULL;
    whether it surely is.
    """

    range: Range | None
    sure: bool
    null: bool = False


UNKNOWN = Known(None, sure=False)


@dataclass(frozen=True)
class _Group:
    """One group's keys, and its aggregates' intervals."""

    keys: Sequence[Any]
    aggregates: Sequence[Ends | None]

    def known(self, expr: Expr) -> Known:
        if isinstance(expr, AggregateLeaf):
            found = self.aggregates[expr.index] if expr.type.numeric else None
            return Known(
                None if found is None else ranges.of(*map(float, found)), sure=True
            )
        if not leaves(expr):
            return _point(value(expr, self.keys, ()))
        if not isinstance(expr, Call) or not expr.type.numeric:
            return UNKNOWN
        if expr.op == "case":
            return self._case(expr)
        args = [self.known(arg) for arg in expr.args]
        return _chosen(expr.op, args) if expr.op in CHOICES else _combined(expr, args)

    def _case(self, expr: Call) -> Known:
        """The branch that the keys choose."""
        for condition, chosen in zip(expr.args[:-1:2], expr.args[1::2], strict=True):
            if leaves(condition):
                return UNKNOWN
            if value(condition, self.keys, ()):
                return self.known(chosen)
        return self.known(expr.args[-1])


def _point(found: Any) -> Known:
    if found is None:
        return Known(None, sure=False, null=True)
    number = isinstance(found, int | float) and not isinstance(found, bool)
    return Known(Range(float(found), float(found)) if number else None, sure=True)


def _hull(found: Sequence[Range], _: Sequence[Range]) -> Range:
    return ranges.hull(found)


CHOICES: dict[str, Callable[[Sequence[Range], Sequence[Range]], Range]] = {
    "coalesce": _hull,
    "least": ranges.least,
    "greatest": ranges.greatest,
}


def _chosen(op: str, args: list[Known]) -> Known:
    """One of the arguments that are not NULL."""
    args = [arg for arg in args if not arg.null]
    sure = next((place for place, arg in enumerate(args) if arg.sure), len(args))
    args = args[: sure + 1] if op == "coalesce" else args
    found = [arg.range for arg in args if arg.range is not None]
    if len(found) < len(args):
        return UNKNOWN
    certain = [arg.range for arg in args if arg.sure and arg.range is not None]
    return Known(CHOICES[op](found, certain), any(arg.sure for arg in args))


def _combined(expr: Call, args: list[Known]) -> Known:
    found = [arg.range for arg in args if arg.range is not None]
    rule = RULES.get(expr.op)
    if (
        rule is None
        or len(found) < len(args)
        or (expr.op == "power" and leaves(expr.args[1]))
    ):
        return UNKNOWN
    range_ = rule(expr, *found)
    return (
        UNKNOWN
        if range_ is None
        else Known(range_, all(arg.sure for arg in args) and _total(expr.op, found))
    )


def _total(op: str, found: list[Range]) -> bool:
    """Whether the operation has a result wherever its arguments lie."""
    if op == "div":
        return not ranges.within(Range(0, 0), found[1])
    return op not in ("exp", "power") and ranges.sides(found[0])[0] >= LOWEST.get(
        op, -math.inf
    )


def _quotient(_: Call, a: Range, b: Range) -> Range:
    return ANY if ranges.within(Range(0, 0), b) else ranges.quotient(a, b)


def _stepped(expr: Call, a: Range) -> Range:
    """Rounding never falls."""
    if expr.op == "cast":
        return (
            ranges.increasing(lambda end: float(round(end)), a)
            if expr.type is Type.INTEGER
            else a
        )
    return ranges.increasing(
        lambda end: float(STRICT[expr.op](float(end), *expr.options)), a
    )


def _above(
    op: str, function: Callable[[Range], Range]
) -> Callable[[Call, Range], Range | None]:
    return lambda _, a: function(a) if ranges.sides(a)[1] >= LOWEST[op] else None


def _plain(function: Callable[..., Range]) -> Callable[..., Range]:
    return lambda _, *found: function(*found)


def _sides(range_: Range) -> Ends:
    low, high = ranges.sides(range_)
    return float(low), float(high)


TINY = math.ulp(0.0)
LOWEST = {"sqrt": 0.0, "ln": TINY, "log10": TINY, "log2": TINY}
RULES: dict[str, Callable[..., Range | None]] = {
    "add": _plain(ranges.add),
    "sub": _plain(ranges.subtract),
    "mul": _plain(ranges.multiply),
    "div": _quotient,
    "neg": _plain(ranges.negate),
    "abs": _plain(ranges.absolute),
    "round": _stepped,
    "floor": _stepped,
    "ceil": _stepped,
    "cast": _stepped,
    "sqrt": _above("sqrt", ranges.square_root),
    "ln": _above("ln", lambda a: ranges.logarithm(math.log, a)),
    "log10": _above("log10", lambda a: ranges.logarithm(math.log10, a)),
    "log2": _above("log2", lambda a: ranges.logarithm(math.log2, a)),
    "exp": _plain(ranges.exponential),
    "power": _plain(ranges.power),
}
