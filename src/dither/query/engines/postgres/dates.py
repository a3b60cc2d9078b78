"""Dates and times in PostgreSQL's SQL. Arguments lie within the years 1 to 9999, and so
do the results.
"""

from __future__ import annotations

from datetime import date

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Range, Type
from dither.query.engines.postgres.words import NAMES, Args, Writer, once, written
from dither.query.operations import ranges
from dither.query.operations.expressions import Call
from dither.query.operations.operators_basics import limits

__all__ = ["CALLS", "number"]

SECONDS = {"hour": 3600, "minute": 60, "second": 1}
MONTHS = {"year": 12, "quarter": 3, "month": 1}


def _time(x: str) -> str:
    """A date as a time: without a zone, which PostgreSQL would otherwise give it."""
    return f"CAST({x} AS timestamp)"


def number(x: str, type_: Type) -> str:
    """Days or microseconds since 1970, exactly."""
    if type_ is Type.DATE:
        return f"CAST({x} - DATE '1970-01-01' AS bigint)"
    return f"CAST(extract(epoch FROM {x}) * 1000000 AS bigint)"


def _extract(expr: Call, args: Args) -> str:
    if expr.options[0] == "epoch":
        return (
            f"(CAST({number(_time(args[0]), Type.TIMESTAMP)} AS double "
            "precision) / 1e6)"
        )
    return f"CAST(trunc(extract({expr.options[0]} FROM {_time(args[0])})) AS bigint)"


def _truncate(expr: Call, args: Args) -> str:
    return (
        f"CAST(date_trunc('{expr.options[0]}', {_time(args[0])}) AS {NAMES[expr.type]})"
    )


def _difference(expr: Call, args: Args) -> str:
    start, end = (_count(expr.options[0], arg) for arg in args)
    whole = f"({end} - {start})"
    return (
        f"CAST({whole} / 7 AS bigint)"
        if expr.options[0] == "week"
        else f"CAST({whole} AS bigint)"
    )


def _count(unit: str, x: str) -> str:
    """How many starts of the unit lie before a moment. Weeks are counted in days."""
    if unit in SECONDS:
        return f"floor(extract(epoch FROM {_time(x)}) / {SECONDS[unit]})"
    if unit in MONTHS:
        months = "extract(year FROM {0}) * 12 + extract(month FROM {0}) - 1"
        return once([x], lambda it: f"div({months.format(it)}, {MONTHS[unit]})")
    return f"CAST({x} AS date)"


def _shift(unit: str) -> Writer:
    """A date moved by a constant; NULL where it would leave the years 1 to 9999."""

    def write(expr: Call, args: Args) -> str:
        reach = _reachable(expr.type, unit, int(expr.options[0]))
        if ranges.within(limits(expr.args[0]), Range(*reach)):
            return _moved(args[0], expr, unit)
        low, high = (written(end, expr.type) for end in reach)
        return once(
            args,
            lambda it: (
                f"(CASE WHEN {it} BETWEEN {low} AND {high} THEN "
                f"{_moved(it, expr, unit)} END)"
            ),
        )

    return write


def _moved(sql: str, expr: Call, unit: str) -> str:
    return (
        f"CAST({sql} + INTERVAL '{int(expr.options[0])} {unit}' AS {NAMES[expr.type]})"
    )


def _reachable(type_: Type, unit: str, count: int) -> tuple[int, int]:
    """The first and the last value that can be moved, as places. (A call that can move
    none is NULL already.)
    """
    whole = dates.MICROSECONDS if type_ is Type.TIMESTAMP else dates.DAYS
    at = dates.moment if type_ is Type.TIMESTAMP else dates.day
    back = dates.later_days if unit == "day" else dates.later_months
    first, last = at(int(whole.low or 0)), at(int(whole.high or 0))
    end: date = back(last if count > 0 else first, -count) or first
    return (
        (dates.place(first), dates.place(end))
        if count > 0
        else (dates.place(end), dates.place(last))
    )


CALLS: dict[str, Writer] = {
    "extract": _extract,
    "date_trunc": _truncate,
    "date_diff": _difference,
    "date_sub": lambda _, args: f"CAST({args[0]} - {args[1]} AS bigint)",
    "add_days": _shift("day"),
    "add_months": _shift("month"),
}
