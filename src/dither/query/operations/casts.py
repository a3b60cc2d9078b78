"""CAST: guarded, so that what cannot be cast is NULL, and rounded alike everywhere."""

from __future__ import annotations

import math
import re
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from sqlglot import exp

from dither.query.catalogue import calendar as dates
from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations import postgres_casts, ranges
from dither.query.operations.arguments import (
    TRUTH,
    TypeProblem,
    convert,
    describe,
    is_null,
    limits,
    null,
    typed,
)
from dither.query.operations.dates import between_years
from dither.query.operations.evaluate import by_call
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.reading import Reading, Written
from dither.query.operations.record import Operation, Options, register
from dither.query.operations.writing import SPARK, Args, Spelling

__all__: list[str] = []

KINDS = exp.DataType.Type
TYPES = {
    KINDS.TINYINT: Type.INTEGER,
    KINDS.SMALLINT: Type.INTEGER,
    KINDS.INT: Type.INTEGER,
    KINDS.BIGINT: Type.INTEGER,
    KINDS.FLOAT: Type.REAL,
    KINDS.DOUBLE: Type.REAL,
    KINDS.TEXT: Type.TEXT,
    KINDS.VARCHAR: Type.TEXT,
    KINDS.BOOLEAN: Type.BOOLEAN,
    KINDS.DATE: Type.DATE,
    KINDS.TIMESTAMP: Type.TIMESTAMP,
    KINDS.TIMESTAMPNTZ: Type.TIMESTAMP,
    KINDS.DATETIME: Type.TIMESTAMP,
}
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


# Reading


def _read_cast(written: Written) -> Expr:
    wanted = written.node.args["to"]
    type_ = TYPES.get(wanted.this)
    if type_ is None or wanted.expressions or wanted.args.get("nested"):
        raise written.problem(
            "CAST only supports the types INTEGER, DOUBLE, VARCHAR, BOOLEAN, DATE and "
            "TIMESTAMP; use one of these"
        )
    written.binder.only(wanted, "this", "nested")
    return written.call("cast", written.arg(), options=(type_,))


def _read_date(written: Written) -> Expr:
    return written.call("cast", written.arg(), options=(Type.DATE,))


# Types and ranges


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
            "this string is not a date; write '2024-01-31' or '2024-01-31 12:00:00'"
        )
    if isinstance(value, datetime):
        return typed(value if wanted is Type.TIMESTAMP else value.date(), wanted)
    return typed(value if wanted is Type.DATE else dates.midnight(value), wanted)


def _instead(type_: Type) -> str:
    if type_ in MOMENTS:
        return "write EXTRACT(epoch FROM …) to get a number from a date"
    return "write DATE '1970-01-01' + INTERVAL 3 DAY to make a date"


def _range(arg: Expr, wanted: Type) -> Range:
    if wanted is Type.BOOLEAN:
        return TRUTH
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


# Python


NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
TRUTHS = {"true": True, "t": True, "yes": True, "y": True, "1": True}
FALSEHOODS = {"false": False, "f": False, "no": False, "n": False, "0": False}


def _python_cast(value: Any, type_: Type) -> Any:
    """CAST; what cannot be cast is None."""
    if type_ is Type.TEXT:
        return _written(value)
    if isinstance(value, str):
        return _read(value, type_)
    if type_ is Type.INTEGER:
        return _held(round(value))
    if type_ is Type.DATE:
        return value.date() if isinstance(value, datetime) else value
    if type_ is Type.TIMESTAMP and not isinstance(value, datetime):
        return dates.midnight(value)
    return value


def _held(number: int) -> int | None:
    return number if -(2**63) <= number < 2**63 else None


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return str(value).rstrip("0") if value.microsecond else str(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _read(text: str, type_: Type) -> Any:
    if type_ is Type.BOOLEAN:
        return {**TRUTHS, **FALSEHOODS}.get(text.strip().lower())
    if type_ in (Type.DATE, Type.TIMESTAMP):
        found = dates.parse(text)
        return found and _python_cast(found, type_)
    if NUMBER.fullmatch(text) is None:
        return None
    try:
        return (
            float(text)
            if type_ is Type.REAL
            else _held(int(Decimal(text).quantize(Decimal(1), ROUND_HALF_UP)))
        )
    except InvalidOperation:
        return None


# Ends of intervals


def _ends(expr: Call, found: Range) -> Range:
    """Rounding never falls, and other casts change no number."""
    if expr.type is not Type.INTEGER:
        return found
    return ranges.increasing(lambda end: float(round(end)), found)


# SQL


def _duckdb_cast(expr: Call, args: Args, spelling: Spelling) -> str:
    source, wanted = expr.args[0].type, expr.type
    sql = f"TRY_CAST({args[0]} AS {spelling.types[wanted]})"
    if source is Type.TEXT and wanted is Type.REAL:
        return spelling.finite(sql)
    if source is Type.TEXT and wanted in (Type.DATE, Type.TIMESTAMP):
        return between_years(sql, wanted, spelling)
    return sql


def _postgres_cast(expr: Call, args: Args, spelling: Spelling) -> str:
    source, wanted = expr.args[0].type, expr.type
    if wanted is Type.TEXT:
        return postgres_casts.as_text(args[0], source)
    if source is Type.TEXT:
        return postgres_casts.of_text(args[0], wanted)
    if source is Type.REAL and wanted is Type.INTEGER:
        return postgres_casts.whole_real(args[0])
    if wanted is Type.BOOLEAN:
        return f"({args[0]} <> 0)"
    # PostgreSQL makes no bigint and no double of a truth, but an integer
    sql = f"CAST({args[0]} AS integer)" if source is Type.BOOLEAN else args[0]
    return spelling.cast(sql, wanted)


# Patterns of Spark: a backslash is written twice in a literal.
SPARK_NUMBER = r"^\\s*[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?\\s*\\z"
SPARK_MOMENT = r"^\\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?)?\\s*\\z"
SPARK_EXACT = "DECIMAL(38,18)"
"""Enough digits before the point for every BIGINT, and enough after it to round by."""
SPARK_BEYOND = "9223372036854775808e0"


def spark_cast(sql: str, source: Type, wanted: Type) -> str:
    """A value of one type as another."""
    if source is wanted:
        return sql
    if source is Type.TEXT:
        return _spark_of_text(sql, wanted)
    if source is Type.REAL and wanted is Type.INTEGER:
        # a plain cast would cut, and make the largest BIGINT of what is just beyond
        return SPARK.once(
            f"rint({sql})",
            lambda it: (
                f"(CASE WHEN {it} >= -{SPARK_BEYOND} AND {it} < {SPARK_BEYOND} "
                f"THEN CAST({it} AS BIGINT) END)"
            ),
        )
    return SPARK.cast(sql, wanted)


def _spark_of_text(sql: str, wanted: Type) -> str:
    """Spark reads more than others do ('1d', '2024', 'epoch'), and less ('1.5' is not
    an integer to it).
    """
    match wanted:
        case Type.INTEGER:
            exact = f"try_cast({_shaped(sql, SPARK_NUMBER)} AS {SPARK_EXACT})"
            return f"try_cast(round({exact}) AS BIGINT)"
        case Type.REAL:
            return SPARK.finite(f"try_cast({_shaped(sql, SPARK_NUMBER)} AS DOUBLE)")
        case Type.DATE | Type.TIMESTAMP:
            shaped = f"rtrim('Z', trim({_shaped(sql, SPARK_MOMENT)}))"
            moment = f"try_cast({shaped} AS TIMESTAMP_NTZ)"
            return between_years(SPARK.cast(moment, wanted), wanted, SPARK)
    return f"try_cast({sql} AS {SPARK.types[wanted]})"


def _shaped(sql: str, pattern: str) -> str:
    return SPARK.once(
        sql, lambda it: f"(CASE WHEN {it} RLIKE '{pattern}' THEN {it} END)"
    )


register(
    Operation(
        "cast",
        reads=(
            Reading(exp.Cast, also=("to",), bind=_read_cast),
            Reading(exp.TryCast, also=("to", "safe"), bind=_read_cast),
            Reading(exp.Date, bind=_read_date),
        ),
        functions=("CAST", "TRY_CAST"),
        build=_cast,
        python=_python_cast,
        ends=by_call(_ends),
        duckdb=_duckdb_cast,
        postgres=_postgres_cast,
        spark=lambda expr, args, _: spark_cast(args[0], expr.args[0].type, expr.type),
    ),
)
