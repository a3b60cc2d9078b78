"""CAST: guarded, so that what cannot be cast is NULL."""

from __future__ import annotations

import math
from datetime import datetime

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations import ranges
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.operators_basics import (
    Builder,
    Options,
    TypeProblem,
    convert,
    describe,
    is_null,
    limits,
    null,
    typed,
)

__all__ = ["BUILDERS"]

NUMBERS = {Type.INTEGER, Type.REAL, Type.TEXT, Type.BOOLEAN}
MOMENTS = {Type.TEXT, Type.DATE, Type.TIMESTAMP}
SOURCES = {
    Type.INTEGER: NUMBERS,
    Type.REAL: NUMBERS,
    Type.BOOLEAN: NUMBERS,
    Type.DATE: MOMENTS,
    Type.TIMESTAMP: MOMENTS,
    Type.TEXT: set(Type),
}


def _cast(args: tuple[Expr, ...], options: Options) -> Expr:
    arg, wanted = args[0], Type(options[0])
    if is_null(arg):
        return null(wanted)
    if arg.type is wanted:
        return arg
    if arg.type not in SOURCES[wanted]:
        raise TypeProblem(
            f"{describe(arg)} cannot be cast to {wanted.value.upper()}; "
            f"{_instead(arg.type)}"
        )
    if isinstance(arg, Literal) and arg.type is Type.TEXT and wanted in MOMENTS:
        return _constant(arg.value, wanted)
    return Call(wanted, _range(arg, wanted), "cast", (arg,), (wanted,))


def _constant(text: str, wanted: Type) -> Literal:
    value = dates.parse(text)
    if value is None:
        raise TypeProblem(
            "this text is not a date; write it as '2024-01-31' or '2024-01-31 12:00:00'"
        )
    if isinstance(value, datetime):
        return typed(value if wanted is Type.TIMESTAMP else value.date(), wanted)
    return typed(value if wanted is Type.DATE else dates.midnight(value), wanted)


def _instead(type_: Type) -> str:
    if type_ in MOMENTS:
        return "write EXTRACT(epoch FROM …) to make a number of a date"
    return "write DATE '1970-01-01' + INTERVAL 3 DAY to make a date"


def _range(arg: Expr, wanted: Type) -> Range:
    if wanted is Type.BOOLEAN:
        return Range(0, 1)
    if wanted is Type.TEXT:
        return ANY
    if arg.type is Type.TEXT:
        return {Type.DATE: dates.DAYS, Type.TIMESTAMP: dates.MICROSECONDS}.get(
            wanted, ANY
        )
    if wanted is Type.INTEGER:
        return limits(arg) if arg.type is Type.BOOLEAN else _whole(arg.range)
    if wanted is Type.DATE:
        return ranges.increasing(lambda end: end // dates.DAY, limits(arg))
    return (
        ranges.floats(limits(arg))
        if arg.type is Type.BOOLEAN
        else convert(arg, wanted).range
    )


def _whole(range_: Range) -> Range:
    """A real range rounded. Values beyond 64 bits are NULL, so a side out there is
    open.
    """
    low, high = ranges.sides(range_)
    return ranges.of(
        round(low) if low > -(2**63) else -math.inf,
        round(high) if high < 2**63 else math.inf,
    )


BUILDERS: dict[str, Builder] = {"cast": _cast}
