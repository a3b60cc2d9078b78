"""Dates and times. All of them stay within the years 1 to 9999; what would leave is
NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Range, Type
from dither.query.operations import ranges
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.operators_basics import (
    Builder,
    Options,
    TypeProblem,
    convert,
    describe,
    expect,
    is_null,
    limits,
    literal,
    null,
    of_type,
    unify,
)

__all__ = ["BUILDERS"]

PARTS = {
    "quarter": Range(1, 4),
    "month": Range(1, 12),
    "day": Range(1, 31),
    "dow": Range(0, 6),
    "isodow": Range(1, 7),
    "doy": Range(1, 366),
    "week": Range(1, 53),
    "hour": Range(0, 23),
    "minute": Range(0, 59),
    "second": Range(0, 59),
}
RISING = ("year", "isoyear", "decade", "century", "epoch")
NAMES = {
    "dayofweek": "dow",
    "weekday": "dow",
    "dayofyear": "doy",
    "weekofyear": "week",
    "dayofmonth": "day",
}
MOST_DAYS = 3_652_059
MOST_MONTHS = 120_000


def _moments(what: str, args: tuple[Expr, ...], count: int) -> tuple[Expr, ...]:
    expect(what, args, count)
    return tuple(_moment(what, arg) for arg in args)


def _moment(what: str, arg: Expr) -> Expr:
    if is_null(arg):
        return arg if arg.type is Type.TIMESTAMP else null(Type.DATE)
    if isinstance(arg, Literal) and arg.type is Type.TEXT:
        return _parsed(arg.value)
    if not of_type(arg, Type.DATE, Type.TIMESTAMP):
        raise TypeProblem(
            f"{what} needs a date, not {describe(arg)}; write CAST(… AS DATE) "
            "around a text"
        )
    return arg


def _parsed(text: str) -> Literal:
    value = dates.parse(text)
    if value is None:
        raise TypeProblem(
            "this text is not a date; write it as '2024-01-31' or '2024-01-31 12:00:00'"
        )
    return literal(value)


def _word(what: str, options: Options, known: tuple[str, ...]) -> str:
    written = str(options[0]).lower() if options else ""
    word = NAMES.get(written, written)
    word = word.removesuffix("s") if word not in known else word
    if word not in known:
        raise TypeProblem(
            f"{what} does not know the part {written!r:.40}; use one of "
            f"{', '.join(known)}"
        )
    return word


def _ends(expr: Expr) -> tuple[date, date]:
    """The earliest and the latest value of a date or time."""
    low, high = ranges.sides(limits(expr))
    at = dates.moment if expr.type is Type.TIMESTAMP else dates.day
    return at(int(low)), at(int(high))


def _span(first: date | None, last: date | None, type_: Type) -> Range:
    """A range from its ends; None is as far as dates go."""
    whole = dates.MICROSECONDS if type_ is Type.TIMESTAMP else dates.DAYS
    return Range(
        whole.low if first is None else dates.place(first),
        whole.high if last is None else dates.place(last),
    )


def _extract(args: tuple[Expr, ...], options: Options) -> Expr:
    args = _moments("EXTRACT", args, 1)
    part = _word("EXTRACT", options, (*RISING, *PARTS))
    result = Type.REAL if part == "epoch" else Type.INTEGER
    range_ = PARTS.get(part) or Range(
        *(dates.part(end, part) for end in _ends(args[0]))
    )
    return Call(result, range_, "extract", args, (part,))


def _truncate(args: tuple[Expr, ...], options: Options) -> Expr:
    args = _moments("DATE_TRUNC", args, 1)
    unit = _word("DATE_TRUNC", options, dates.UNITS)
    if args[0].type is Type.DATE and unit in ("hour", "minute", "second"):
        args = (convert(args[0], Type.TIMESTAMP),)
    first, last = (dates.truncate(end, unit) for end in _ends(args[0]))
    return Call(
        args[0].type, _span(first, last, args[0].type), "date_trunc", args, (unit,)
    )


def _difference(args: tuple[Expr, ...], options: Options) -> Expr:
    args = unify("DATE_DIFF", _moments("DATE_DIFF", args, 2))
    unit = _word("DATE_DIFF", options, dates.UNITS)
    (earliest, latest), (first, last) = map(_ends, args)
    range_ = Range(
        dates.difference(unit, latest, first), dates.difference(unit, earliest, last)
    )
    return Call(Type.INTEGER, range_, "date_diff", args, (unit,))


def _days_between(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _moments("-", args, 2)
    if any(arg.type is Type.TIMESTAMP for arg in args):
        raise TypeProblem(
            "only dates can be subtracted, not times; write DATE_DIFF('hour', a, b)"
        )
    return Call(
        Type.INTEGER,
        ranges.subtract(limits(args[0]), limits(args[1])),
        "date_sub",
        args,
    )


def _count(options: Options, most: int) -> int:
    count = options[0] if options else None
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeProblem(
            "a date moves by a constant whole number; write d + INTERVAL 3 DAY"
        )
    return max(-most, min(count, most))


def _shift(op: str, later: Callable[[date, int], date | None], most: int) -> Builder:
    def build(args: tuple[Expr, ...], options: Options) -> Expr:
        args, count = _moments("INTERVAL", args, 1), _count(options, most)
        first, last = (later(end, count) for end in _ends(args[0]))
        if (first if count > 0 else last) is None:
            return null(args[0].type)  # even the nearest value is moved too far
        return Call(args[0].type, _span(first, last, args[0].type), op, args, (count,))

    return build


BUILDERS: dict[str, Builder] = {
    "extract": _extract,
    "date_trunc": _truncate,
    "date_diff": _difference,
    "date_sub": _days_between,
    "add_days": _shift("add_days", dates.later_days, MOST_DAYS),
    "add_months": _shift("add_months", dates.later_months, MOST_MONTHS),
}
