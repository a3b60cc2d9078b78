"""What the type rules of all operations share: constants, conversions between types,
and how a wrong use is reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations import ranges
from dither.query.operations.expressions import Call, Expr, Literal, Ref
from dither.query.operations.record import OPERATIONS, Options

__all__ = [
    "TRUTH",
    "TypeProblem",
    "certain",
    "convert",
    "describe",
    "expect",
    "is_null",
    "limits",
    "literal",
    "midnights",
    "null",
    "numbers",
    "of_type",
    "real_call",
    "reals",
    "typed",
    "unify",
]

TRUTH = Range(0, 1)
LEAST, MOST = -(2**63), 2**63 - 1
"""The integers that a BIGINT can hold."""
CLOSED = {
    Type.INTEGER: ranges.INT64,
    Type.DATE: dates.DAYS,
    Type.TIMESTAMP: dates.MICROSECONDS,
    Type.BOOLEAN: TRUTH,
}


class TypeProblem(Exception):
    """An operation does not take these arguments. The message says why and what to
    write instead.
    """


def typed(value: Any, type_: Type) -> Literal:
    """A constant of a given type; its range is the value itself."""
    if value is None:
        return null(type_)
    match type_:
        case Type.TEXT:
            return Literal(type_, ANY, value)
        case Type.REAL:
            return Literal(type_, Range(float(value), float(value)), float(value))
        case Type.DATE | Type.TIMESTAMP:
            return Literal(type_, Range(dates.place(value), dates.place(value)), value)
    return Literal(type_, Range(int(value), int(value)), value)


def null(type_: Type) -> Literal:
    """NULL as a type. It has no value, so every range is true of it."""
    return Literal(
        type_,
        {Type.TEXT: ANY, Type.REAL: Range(0.0, 0.0)}.get(type_, Range(0, 0)),
        None,
    )


def literal(value: Any) -> Literal:
    """A constant of the question. A whole number that no BIGINT can hold is a real."""
    match value:
        case None:
            return null(Type.INTEGER)
        case bool():
            return typed(value, Type.BOOLEAN)
        case int() if LEAST <= value <= MOST:
            return typed(value, Type.INTEGER)
        case int() | float():
            return typed(_finite(value), Type.REAL)
        case str():
            return typed(value, Type.TEXT)
        case date():
            return _on(value)
    raise TypeProblem(
        f"a constant of type {type(value).__name__} is not supported; write a "
        "number, a string or a date"
    )


def _on(value: date) -> Literal:
    if not isinstance(value, datetime):
        return typed(value, Type.DATE)
    return typed(
        value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value,
        Type.TIMESTAMP,
    )


def _finite(value: float) -> float:
    # float() itself would raise for an integer beyond all doubles
    number = float(value) if abs(value) <= ranges.LARGEST else math.inf
    if math.isfinite(number):
        return number
    raise TypeProblem(
        "this number is too large for a REAL; write one below 1.7e308, or NULL"
    )


def is_null(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value is None


def of_type(expr: Expr, *types: Type) -> bool:
    return is_null(expr) or expr.type in types


def expect(what: str, args: tuple[Expr, ...], count: int) -> None:
    if len(args) != count:
        raise TypeProblem(
            f"{what} takes {count} argument{'s' if count > 1 else ''}, not {len(args)}; "
            f"write exactly {count}"
        )


def describe(expr: Expr) -> str:
    """An expression in a message: a column by its name, a number as written, and its
    type.
    """
    name = expr.type.value.upper()
    if isinstance(expr, Ref):
        return f"{expr.column.name!r} ({name})"
    if isinstance(expr, Literal) and expr.type is not Type.TEXT:
        return f"{expr.value} ({name})"
    return f"an {name}" if expr.type is Type.INTEGER else f"a {name}"


def limits(expr: Expr) -> Range:
    """The range with the open sides that its type closes: all 64-bit integers, or the
    years 1 to 9999.
    """
    return ranges.clipped(expr.range, CLOSED.get(expr.type, ANY))


def certain(expr: Expr) -> bool:
    """Whether the value is certainly not NULL: a constant, or an operation that leaves
    NULLs out and has one.
    """
    if isinstance(expr, Call) and OPERATIONS[expr.op].skips_null:
        return any(certain(arg) for arg in expr.args)
    return isinstance(expr, Literal) and expr.value is not None


def convert(expr: Expr, type_: Type) -> Expr:
    """The expression as another type, where that loses nothing: NULL, INTEGER as REAL,
    DATE as TIMESTAMP.
    """
    if expr.type is type_:
        return expr
    if is_null(expr):
        return null(type_)
    if isinstance(expr, Literal):
        return typed(
            dates.midnight(expr.value) if type_ is Type.TIMESTAMP else expr.value, type_
        )
    range_ = (
        ranges.floats(expr.range) if type_ is Type.REAL else midnights(limits(expr))
    )
    return Call(type_, range_, "cast", (expr,), (type_,))


def midnights(days: Range) -> Range:
    """A range of days in microseconds."""
    return ranges.multiply(days, Range(dates.DAY, dates.DAY))


def unify(what: str, args: Iterable[Expr]) -> tuple[Expr, ...]:
    """The arguments in one type. NULL takes any; a text constant beside a date is read
    as one.
    """
    args = tuple(args)
    # a text is read as a date before the types are compared, or it would not fit
    args = (
        tuple(map(_as_moment, args)) if any(_is_moment(arg) for arg in args) else args
    )
    types = {arg.type for arg in args if not is_null(arg)}
    if len(types) > 1:
        types = {_wider(what, args, types)}
    wanted = types.pop() if types else Type.INTEGER
    return tuple(convert(arg, wanted) for arg in args)


def _is_moment(arg: Expr) -> bool:
    return arg.type in (Type.DATE, Type.TIMESTAMP) and not is_null(arg)


def _as_moment(arg: Expr) -> Expr:
    if not isinstance(arg, Literal) or arg.type is not Type.TEXT or arg.value is None:
        return arg
    value = dates.parse(arg.value)
    if value is None:
        raise TypeProblem(
            "this string is used with a date, but it is not a date; write '2024-01-31' "
            "or '2024-01-31 12:00:00'"
        )
    return literal(value)


def _wider(what: str, args: tuple[Expr, ...], types: set[Type]) -> Type:
    if types == {Type.INTEGER, Type.REAL}:
        return Type.REAL
    if types == {Type.DATE, Type.TIMESTAMP}:
        return Type.TIMESTAMP
    first = next(arg for arg in args if not is_null(arg))
    second = next(
        arg for arg in args if not is_null(arg) and arg.type is not first.type
    )
    raise TypeProblem(
        f"{what} cannot mix {describe(first)} with {describe(second)}; "
        f"{_remedy(first, second)}"
    )


def _remedy(first: Expr, second: Expr) -> str:
    """Which side to cast: a text as the other type, a condition as a number."""
    for one, other in ((first, second), (second, first)):
        if one.type is Type.TEXT or (one.type is Type.BOOLEAN and other.type.numeric):
            name = one.column.name if isinstance(one, Ref) else "…"
            return f"write CAST({name} AS {other.type.value.upper()})"
    return (
        "compare numbers with numbers and dates with dates, such as "
        "EXTRACT(year FROM d) or DATE '2024-01-31'"
    )


def numbers(what: str, args: tuple[Expr, ...], count: int) -> tuple[Expr, ...]:
    """The arguments as numbers of one type."""
    expect(what, args, count)
    for arg in args:
        if not of_type(arg, Type.INTEGER, Type.REAL):
            raise TypeProblem(
                f"{what} needs numbers, not {describe(arg)}; {_as_number(arg)}"
            )
    return unify(what, args)


def _as_number(arg: Expr) -> str:
    if arg.type is Type.BOOLEAN:
        return "write CASE WHEN … THEN 1 ELSE 0 END for a condition"
    if arg.type is Type.TEXT:
        return "write CAST(… AS REAL) around the string"
    return (
        "write DATE_DIFF('day', a, b) or EXTRACT(year FROM a) to get a number from "
        "a date"
    )


def reals(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(convert(arg, Type.REAL) for arg in args)


def real_call(
    op: str, range_: Range, args: tuple[Expr, ...], options: Options = ()
) -> Call:
    return Call(Type.REAL, ranges.floats(range_), op, args, options)
