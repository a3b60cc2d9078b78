"""The operations of the allow-list in DuckDB's SQL.

Nothing here relies on a branch of CASE not being computed: DuckDB computes common parts
of an expression up front, so every part has to be total by itself. Guards are left out
where the range shows that they are not needed.
"""

from __future__ import annotations

import math

from dither.query.catalogue.types import Type
from dither.query.engines.calls import STANDARD, function, holds_zero
from dither.query.engines.duckdb import dates as duckdb_dates
from dither.query.engines.duckdb.words import NAMES, Args, Writer, once
from dither.query.operations.expressions import Call, Expr, Literal

__all__ = ["CALLS"]

TINY = math.ulp(0.0)
LONGEST = 65_536
ESCAPE = " ESCAPE '\\'"


def _finite(sql: str) -> str:
    return once(sql, lambda it: f"(CASE WHEN isfinite({it}) THEN {it} END)")


def _arithmetic(symbol: str) -> Writer:
    """Bounded results are finite; others may overflow."""

    def write(expr: Call, args: Args) -> str:
        sql = f"({args[0]} {symbol} {args[1]})"
        return sql if expr.type is Type.INTEGER or expr.range.bounded else _finite(sql)

    return write


def _divide(expr: Call, args: Args) -> str:
    sql = f"({args[0]} / {args[1]})"
    return _finite(sql) if holds_zero(expr.args[1]) or not expr.range.bounded else sql


def _nonzero(expr: Expr, sql: str) -> str:
    return (
        once(sql, lambda it: f"(CASE WHEN {it} <> 0 THEN {it} END)")
        if holds_zero(expr)
        else sql
    )


def _whole_divide(expr: Call, args: Args) -> str:
    if expr.type is Type.INTEGER:
        return f"({args[0]} // {_nonzero(expr.args[1], args[1])})"
    return f"trunc({_divide(expr, args)})"


def _modulo(expr: Call, args: Args) -> str:
    if expr.type is Type.INTEGER:
        return f"({args[0]} % {_nonzero(expr.args[1], args[1])})"
    return (
        _finite(f"({args[0]} % {args[1]})")
        if holds_zero(expr.args[1])
        else f"({args[0]} % {args[1]})"
    )


def _to_whole(name: str) -> Writer:
    def write(expr: Call, args: Args) -> str:
        sql = f"{name}({', '.join([args[0], *map(str, expr.options)])})"
        return f"CAST({sql} AS BIGINT)" if expr.type is Type.INTEGER else sql

    return write


def _of_positive(name: str, least: float) -> Writer:
    """A function of numbers from a least one on; it gives NaN or infinity for the
    others.
    """

    def write(expr: Call, args: Args) -> str:
        low, sql = expr.args[0].range.low, f"{name}({args[0]})"
        return sql if low is not None and low >= least else _finite(sql)

    return write


def _exponential(expr: Call, args: Args) -> str:
    return f"exp({args[0]})" if expr.range.bounded else _finite(f"exp({args[0]})")


def _power(expr: Call, args: Args) -> str:
    (base, exponent), sql = expr.args, f"power({args[0]}, {args[1]})"
    whole = (
        isinstance(exponent, Literal)
        and exponent.value is not None
        and exponent.value in (1, 2, 3, 4)
    )
    positive = base.range.low is not None and base.range.low > 0
    return sql if expr.range.bounded and (whole or positive) else _finite(sql)


def _nullif(_: Call, args: Args) -> str:
    return once(
        args[0], lambda it: f"(CASE WHEN {it} = {args[1]} THEN NULL ELSE {it} END)"
    )


def _concat(_: Call, args: Args) -> str:
    """Cut, or texts that are doubled again and again would fill the memory."""
    return f"left({' || '.join(args)}, {LONGEST})"


def _substring(expr: Call, args: Args) -> str:
    return f"substring({', '.join([args[0], *(str(option) for option in expr.options if option is not None)])})"


def _like(word: str) -> Writer:
    return lambda expr, args: (
        f"({args[0]} {word} {args[1]}{ESCAPE if expr.options[0] else ''})"
    )


def _cast(expr: Call, args: Args) -> str:
    source, wanted = expr.args[0].type, expr.type
    sql = f"TRY_CAST({args[0]} AS {NAMES[wanted]})"
    if source is Type.TEXT and wanted is Type.REAL:
        return _finite(sql)
    if source is Type.TEXT and wanted in (Type.DATE, Type.TIMESTAMP):
        return duckdb_dates.between_years(sql, wanted)
    return sql


CALLS: dict[str, Writer] = {
    **STANDARD,
    "add": _arithmetic("+"),
    "sub": _arithmetic("-"),
    "mul": _arithmetic("*"),
    "div": _divide,
    "intdiv": _whole_divide,
    "mod": _modulo,
    "neg": lambda _, args: f"(- {args[0]})",
    "abs": function("abs"),
    "sign": lambda _, args: f"CAST(sign({args[0]}) AS BIGINT)",
    "round": _to_whole("round"),
    "floor": _to_whole("floor"),
    "ceil": _to_whole("ceil"),
    "sqrt": _of_positive("sqrt", 0),
    "ln": _of_positive("ln", TINY),
    "log10": _of_positive("log10", TINY),
    "log2": _of_positive("log2", TINY),
    "exp": _exponential,
    "power": _power,
    "least": function("least"),
    "greatest": function("greatest"),
    "nullif": _nullif,
    "lower": function("lower"),
    "upper": function("upper"),
    "length": function("length"),
    "trim": function("trim"),
    "ltrim": function("ltrim"),
    "rtrim": function("rtrim"),
    "concat": _concat,
    "substring": _substring,
    "like": _like("LIKE"),
    "ilike": _like("ILIKE"),
    "starts_with": function("starts_with"),
    "contains": function("contains"),
    "cast": _cast,
    **duckdb_dates.CALLS,
}
