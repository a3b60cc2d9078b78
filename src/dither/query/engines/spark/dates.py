"""Dates and times in Spark's SQL. Arguments lie within the years 1 to 9999, and so do
the results.
"""

from __future__ import annotations

from datetime import date

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Range, Type
from dither.query.engines.spark.words import NAMES, Args, Writer, once, written
from dither.query.operations import ranges
from dither.query.operations.expressions import Call
from dither.query.operations.operators_basics import limits

__all__ = ["CALLS", "number"]

PARTS = {
    "year": "year({})",
    "quarter": "quarter({})",
    "month": "month({})",
    "day": "day({})",
    "dow": "(dayofweek({}) - 1)",
    "isodow": "(weekday({}) + 1)",
    "doy": "dayofyear({})",
    "week": "weekofyear({})",
    "isoyear": "extract(YEAROFWEEK FROM {})",
    "decade": "(year({}) div 10)",
    "century": "((year({}) + 99) div 100)",
}
TIMES = ("hour", "minute", "second")


def number(sql: str, type_: Type) -> str:
    """Days or microseconds since 1970. (A time without a zone has to be given the
    session's, which is UTC.)
    """
    if type_ is Type.DATE:
        return f"CAST(unix_date({sql}) AS BIGINT)"
    return f"unix_micros(CAST({sql} AS TIMESTAMP))" if type_ is Type.TIMESTAMP else sql


def _extract(expr: Call, args: Args) -> str:
    part, (arg,), type_ = expr.options[0], args, expr.args[0].type
    if part == "epoch":
        return (
            f"({number(arg, type_)} {'* 86400e0' if type_ is Type.DATE else '/ 1e6'})"
        )
    if part in TIMES:
        return f"CAST({part}(CAST({arg} AS TIMESTAMP_NTZ)) AS BIGINT)"
    return f"CAST({PARTS[part].format(f'CAST({arg} AS DATE)')} AS BIGINT)"


def _truncate(expr: Call, args: Args) -> str:
    return (
        f"CAST(date_trunc('{expr.options[0]}', CAST({args[0]} AS "
        f"TIMESTAMP)) AS {NAMES[expr.type]})"
    )


def _difference(expr: Call, args: Args) -> str:
    """How many starts of the unit lie between; for weeks, how many whole weeks of days."""
    unit, type_ = expr.options[0], expr.args[0].type
    if unit in ("day", "week"):
        days = (
            f"CAST(datediff(CAST({args[1]} AS DATE), CAST({args[0]} AS DATE)) "
            "AS BIGINT)"
        )
        return days if unit == "day" else f"({days} div 7)"
    start, end = (_count(unit, arg, type_) for arg in args)
    return f"({end} - {start})"


def _count(unit: str, sql: str, type_: Type) -> str:
    """How many starts of the unit there were up to a moment."""
    if unit in dates.MONTHS:
        day = f"CAST({sql} AS DATE)"
        return (
            f"CAST((year({day}) * 12 + month({day}) - 1) div "
            f"{dates.MONTHS[unit]} AS BIGINT)"
        )
    moment = sql if type_ is Type.TIMESTAMP else f"CAST({sql} AS TIMESTAMP_NTZ)"
    length = dates.LENGTHS[unit]
    return once(
        number(moment, Type.TIMESTAMP),
        lambda it: f"(({it} - pmod({it}, {length})) div {length})",
    )


def _shift(unit: str) -> Writer:
    """A date moved by a constant; NULL where it would leave the years 1 to 9999."""

    def write(expr: Call, args: Args) -> str:
        reach = _reachable(expr.type, unit, int(expr.options[0]))
        if ranges.within(limits(expr.args[0]), Range(*reach)):
            return _moved(args[0], expr, unit)
        low, high = (written(end, expr.type) for end in reach)
        return once(
            args[0],
            lambda it: (
                f"(CASE WHEN {it} BETWEEN {low} AND {high} THEN "
                f"{_moved(it, expr, unit)} END)"
            ),
        )

    return write


def _moved(sql: str, expr: Call, unit: str) -> str:
    if expr.type is Type.DATE:
        return (
            f"{'date_add' if unit == 'DAY' else 'add_months'}({sql}, {expr.options[0]})"
        )
    return f"timestampadd({unit}, {expr.options[0]}, {sql})"


def _reachable(type_: Type, unit: str, count: int) -> tuple[int, int]:
    """The first and the last value that can be moved, as places. (A call that can move
    none is NULL already.)
    """
    whole = dates.MICROSECONDS if type_ is Type.TIMESTAMP else dates.DAYS
    at = dates.moment if type_ is Type.TIMESTAMP else dates.day
    back = dates.later_days if unit == "DAY" else dates.later_months
    first, last = at(int(whole.low or 0)), at(int(whole.high or 0))
    end: date = back(last if count > 0 else first, -count) or first
    return (
        (dates.place(first), dates.place(end))
        if count > 0
        else (dates.place(end), dates.place(last))
    )


def _days_between(_: Call, args: Args) -> str:
    return f"CAST(datediff({args[0]}, {args[1]}) AS BIGINT)"


CALLS: dict[str, Writer] = {
    "extract": _extract,
    "date_trunc": _truncate,
    "date_diff": _difference,
    "date_sub": _days_between,
    "add_days": _shift("DAY"),
    "add_months": _shift("MONTH"),
}
