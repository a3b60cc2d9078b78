"""Arithmetic: + - * / // %, the minus sign, ABS and SIGN.

Whole numbers stay whole while 64 bits certainly hold them; else the operation is done
in reals. A real that is not finite is NULL.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations import postgres_reals, ranges
from dither.query.operations.arguments import (
    limits,
    numbers,
    real_call,
    reals,
)
from dither.query.operations.evaluate import by_range
from dither.query.operations.expressions import Call, Expr
from dither.query.operations.reading import (
    BINARY,
    Reading,
    Written,
    constant,
    folded,
)
from dither.query.operations.record import (
    Builder,
    Operation,
    Options,
    register,
)
from dither.query.operations.writing import (
    Args,
    Spelling,
    Writer,
    function,
    holds_zero,
)

__all__ = ["SAFE", "spark_whole"]

SAFE = Range(-(2**62), 2**62)
"""A result that may leave this is computed in reals, long before 64 bits overflow."""
ZERO = Range(0, 0)


# Reading


def _folding(op: str) -> Callable[[Written], Expr]:
    """Decimals that are written out are computed exactly, as SQL does."""

    def bind(written: Written) -> Expr:
        value = folded(written.node)
        if value is not None:
            return written.binder.literal(written.node, value)
        return written.call(op, written.arg(), written.arg("expression"))

    return bind


def _negative(written: Written) -> Expr:
    value = constant(written.node)
    if isinstance(value, int | float):
        return written.binder.literal(written.node, value)
    return written.call("neg", written.arg())


# Types and ranges


def _arithmetic(op: str, what: str, rule: Callable[..., Range], count: int) -> Builder:
    """An operation of whole numbers where the result certainly fits, and of reals
    otherwise.
    """

    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        args = numbers(what, args, count)
        if args[0].type is Type.INTEGER and ranges.within(
            rule(*map(limits, args)), SAFE
        ):
            return Call(Type.INTEGER, rule(*(arg.range for arg in args)), op, args)
        args = reals(args)
        return real_call(op, rule(*(arg.range for arg in args)), args)

    return build


def _divide(args: tuple[Expr, ...], _: Options) -> Expr:
    args = numbers("/", args, 2)
    whole = args[1].type is Type.INTEGER
    a, b = reals(args)
    return real_call("div", ranges.quotient(a.range, b.range, whole), (a, b))


def _whole_divide(args: tuple[Expr, ...], _: Options) -> Expr:
    args = numbers("//", args, 2)
    whole = args[1].type is Type.INTEGER
    if whole and ranges.within(ranges.truncated(*map(limits, args)), SAFE):
        range_ = ranges.truncated(args[0].range, args[1].range)
        return Call(Type.INTEGER, range_, "intdiv", args)
    a, b = reals(args)
    quotient = ranges.quotient(a.range, b.range, whole)
    return real_call("intdiv", ranges.increasing(math.trunc, quotient), (a, b))


def _modulo(args: tuple[Expr, ...], _: Options) -> Expr:
    args = numbers("%", args, 2)
    # A divisor of -1 overflows for the smallest integer, so an open dividend is divided
    # as a real there.
    if args[0].type is Type.INTEGER and (
        ranges.within(limits(args[0]), SAFE)
        or not ranges.within(Range(-1, -1), args[1].range)
    ):
        range_ = ranges.remainder(args[0].range, args[1].range, whole=True)
        return Call(Type.INTEGER, range_, "mod", args)
    a, b = reals(args)
    return real_call("mod", ranges.remainder(a.range, b.range), (a, b))


def _sign(args: tuple[Expr, ...], _: Options) -> Expr:
    args = numbers("SIGN", args, 1)
    low, high = ranges.sides(args[0].range)
    range_ = Range((low > 0) - (low < 0), (high > 0) - (high < 0))
    return Call(Type.INTEGER, range_, "sign", args)


# Python


def _python_whole_divide(a: Any, b: Any) -> Any:
    """Toward zero, where Python's own // goes down."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return float(math.trunc(a / b))


def _python_modulo(a: Any, b: Any) -> Any:
    """With the sign of the dividend, where Python's own % has the divisor's."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (1 if a >= 0 else -1)
    return math.fmod(a, b)


# Ends of intervals


def _quotient(a: Range, b: Range) -> Range:
    return ANY if ranges.within(ZERO, b) else ranges.quotient(a, b)


def _has_quotient(_: Range, b: Range) -> bool:
    return not ranges.within(ZERO, b)


# SQL


def _plain(symbol: str) -> Writer:
    """Bounded results are finite; others may overflow."""

    def write(expr: Call, args: Args, spelling: Spelling) -> str:
        sql = f"({args[0]} {symbol} {args[1]})"
        bounded = expr.type is Type.INTEGER or expr.range.bounded
        return sql if bounded else spelling.finite(sql)

    return write


def _postgres_sum(symbol: str) -> Writer:
    def write(expr: Call, args: Args, _: Spelling) -> str:
        if expr.type is Type.INTEGER or expr.range.bounded:
            return f"({args[0]} {symbol} {args[1]})"
        return postgres_reals.add(args, symbol)

    return write


def _postgres_product(expr: Call, args: Args, _: Spelling) -> str:
    """Guarded even if it is bounded: PostgreSQL also raises where a product is too
    close to zero.
    """
    if expr.type is Type.INTEGER:
        return f"({args[0]} * {args[1]})"
    return postgres_reals.multiply(args)


def _duckdb_divide(expr: Call, args: Args, spelling: Spelling) -> str:
    sql = f"({args[0]} / {args[1]})"
    surely = expr.range.bounded and not holds_zero(expr.args[1])
    return sql if surely else spelling.finite(sql)


def _spark_divide(expr: Call, args: Args, spelling: Spelling) -> str:
    if holds_zero(expr.args[1]):  # a plain division by zero raises
        return spelling.finite(f"try_divide({args[0]}, {args[1]})")
    sql = f"({args[0]} / {args[1]})"
    return sql if expr.range.bounded else spelling.finite(sql)


def _nonzero(expr: Expr, sql: str, spelling: Spelling) -> str:
    """A divisor that is NULL instead of zero."""
    if not holds_zero(expr):
        return sql
    return spelling.once(sql, lambda it: f"(CASE WHEN {it} <> 0 THEN {it} END)")


def _duckdb_whole_divide(expr: Call, args: Args, spelling: Spelling) -> str:
    if expr.type is Type.INTEGER:
        return f"({args[0]} // {_nonzero(expr.args[1], args[1], spelling)})"
    return f"trunc({_duckdb_divide(expr, args, spelling)})"


def _postgres_whole_divide(expr: Call, args: Args, _: Spelling) -> str:
    """Whole numbers are divided toward zero."""
    if expr.type is Type.INTEGER:
        return f"({args[0]} / nullif({args[1]}, 0))"
    return f"trunc({postgres_reals.divide(args)})"


SPARK_WHOLE = "4503599627370496e0"
"""From 2^52 on all doubles are whole numbers, and Spark's FLOOR, which gives a BIGINT,
would cut them off.
"""


def spark_whole(name: str, it: str) -> str:
    """FLOOR or CEIL of a double as a double."""
    return (
        f"(CASE WHEN abs({it}) < {SPARK_WHOLE} THEN CAST({name}({it}) AS DOUBLE) "
        f"ELSE {it} END)"
    )


def _spark_whole_divide(expr: Call, args: Args, spelling: Spelling) -> str:
    if expr.type is Type.INTEGER:
        return f"({args[0]} div {_nonzero(expr.args[1], args[1], spelling)})"

    def toward_zero(it: str) -> str:
        up, down = spark_whole("ceil", it), spark_whole("floor", it)
        return f"(CASE WHEN {it} < 0 THEN {up} ELSE {down} END)"

    return spelling.once(_spark_divide(expr, args, spelling), toward_zero)


def _duckdb_modulo(expr: Call, args: Args, spelling: Spelling) -> str:
    if expr.type is Type.INTEGER:
        return f"({args[0]} % {_nonzero(expr.args[1], args[1], spelling)})"
    sql = f"({args[0]} % {args[1]})"
    return spelling.finite(sql) if holds_zero(expr.args[1]) else sql


def _postgres_modulo(expr: Call, args: Args, _: Spelling) -> str:
    """Its % takes no reals."""
    if expr.type is Type.INTEGER:
        return f"({args[0]} % nullif({args[1]}, 0))"
    return postgres_reals.remainder(args)


def _spark_modulo(expr: Call, args: Args, spelling: Spelling) -> str:
    return f"({args[0]} % {_nonzero(expr.args[1], args[1], spelling)})"


# Dates are added and subtracted too, so + and - of numbers come last.
register(
    Operation(
        "add",
        reads=(Reading(exp.Add, BINARY, bind=_folding("add"), last=True),),
        sign="+",
        build=_arithmetic("add", "+", ranges.add, 2),
        python=operator.add,
        ends=by_range(ranges.add),
        sql=_plain("+"),
        postgres=_postgres_sum("+"),
    ),
    Operation(
        "sub",
        reads=(Reading(exp.Sub, BINARY, bind=_folding("sub"), last=True),),
        sign="-",
        build=_arithmetic("sub", "-", ranges.subtract, 2),
        python=operator.sub,
        ends=by_range(ranges.subtract),
        sql=_plain("-"),
        postgres=_postgres_sum("-"),
    ),
    Operation(
        "mul",
        reads=(Reading(exp.Mul, BINARY, bind=_folding("mul")),),
        sign="*",
        build=_arithmetic("mul", "*", ranges.multiply, 2),
        python=operator.mul,
        ends=by_range(ranges.multiply),
        sql=_plain("*"),
        postgres=_postgres_product,
    ),
    Operation(
        "neg",
        reads=(Reading(exp.Neg, bind=_negative),),
        build=_arithmetic("neg", "-", ranges.negate, 1),
        python=operator.neg,
        ends=by_range(ranges.negate),
        sql=lambda _, args, __: f"(- {args[0]})",
    ),
    Operation(
        "abs",
        reads=(Reading(exp.Abs),),
        functions=("ABS",),
        build=_arithmetic("abs", "ABS", ranges.absolute, 1),
        python=abs,
        ends=by_range(ranges.absolute),
        sql=function("abs"),
    ),
    Operation(
        "div",
        reads=(Reading(exp.Div, BINARY, also=("typed", "safe")),),
        sign="/",
        build=_divide,
        python=operator.truediv,
        ends=by_range(_quotient, total=_has_quotient),
        duckdb=_duckdb_divide,
        postgres=lambda _, args, __: postgres_reals.divide(args),
        spark=_spark_divide,
    ),
    Operation(
        "intdiv",
        reads=(Reading(exp.IntDiv, BINARY),),
        sign="//",
        build=_whole_divide,
        python=_python_whole_divide,
        duckdb=_duckdb_whole_divide,
        postgres=_postgres_whole_divide,
        spark=_spark_whole_divide,
    ),
    Operation(
        "mod",
        reads=(Reading(exp.Mod, BINARY),),
        functions=("MOD",),
        sign="%",
        build=_modulo,
        python=_python_modulo,
        duckdb=_duckdb_modulo,
        postgres=_postgres_modulo,
        spark=_spark_modulo,
    ),
    Operation(
        "sign",
        reads=(Reading(exp.Sign),),
        functions=("SIGN",),
        build=_sign,
        python=lambda x: (x > 0) - (x < 0),
        sql=lambda _, args, to: to.cast(f"sign({args[0]})", Type.INTEGER),
    ),
)
