"""Dates and times in DuckDB's SQL. Arguments lie within the years 1 to 9999, and so do
the results.
"""

from __future__ import annotations

from datetime import date

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import Range, Type
from dither.query.engines.duckdb.words import NAMES, Args, Writer, once, written
from dither.query.operations import ranges
from dither.query.operations.expressions import Call
from dither.query.operations.operators_basics import limits

__all__ = ["CALLS", "between_years"]


def _extract(expr: Call, args: Args) -> str:
    return (
        f"epoch({args[0]})"
        if expr.options[0] == "epoch"
        else f"date_part('{expr.options[0]}', {args[0]})"
    )


def _truncate(expr: Call, args: Args) -> str:
    return f"CAST(date_trunc('{expr.options[0]}', {args[0]}) AS {NAMES[expr.type]})"


def _difference(expr: Call, args: Args) -> str:
    return f"date_diff('{expr.options[0]}', {args[0]}, {args[1]})"


def _shift(unit: str) -> Writer:
    """A date moved by a constant; NULL where it would leave the years 1 to 9999."""

    def write(expr: Call, args: Args) -> str:
        count = int(expr.options[0])
        reach = _reachable(expr.type, unit, count)
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
    if expr.type is Type.DATE and unit == "DAY":
        return f"({sql} + ({expr.options[0]}))"
    return f"CAST({sql} + INTERVAL ({expr.options[0]}) {unit} AS {NAMES[expr.type]})"


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


def between_years(sql: str, type_: Type) -> str:
    """NULL outside of the years 1 to 9999, and for the infinities."""
    whole: Range = dates.DAYS if type_ is Type.DATE else dates.MICROSECONDS
    low, high = written(whole.low or 0, type_), written(whole.high or 0, type_)
    return once(
        sql, lambda it: f"(CASE WHEN {it} BETWEEN {low} AND {high} THEN {it} END)"
    )


CALLS: dict[str, Writer] = {
    "extract": _extract,
    "date_trunc": _truncate,
    "date_diff": _difference,
    "date_sub": lambda _, args: f"({args[0]} - {args[1]})",
    "add_days": _shift("DAY"),
    "add_months": _shift("MONTH"),
}
