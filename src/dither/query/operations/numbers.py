"""Functions of numbers: ROUND, FLOOR and CEIL, roots, logarithms and powers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from dither.query.catalogue.types import Range, Type
from dither.query.operations import postgres_reals, ranges
from dither.query.operations.arguments import (
    TypeProblem,
    limits,
    numbers,
    real_call,
    reals,
)
from dither.query.operations.arithmetic import SAFE, spark_whole
from dither.query.operations.evaluate import by_call, by_range
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.reading import BINARY, Reading, Written, constant
from dither.query.operations.record import (
    UNKNOWN,
    Builder,
    EndsRule,
    Group,
    Known,
    Operation,
    Options,
    register,
)
from dither.query.operations.writing import (
    Args,
    Spelling,
    Writer,
    function,
    named,
    real,
)

__all__ = ["round_half_away"]

EXACT = Range(-(2**53), 2**53)
"""Where doubles hold every whole number."""
DIGITS = 15
BASES = {2: "log2", 10: "log10"}
TINY = math.ulp(0.0)
BIG = 1e300


# Reading


def _read_round(written: Written) -> Expr:
    digits = written.node.args.get("decimals")
    what = "the number of digits of ROUND"
    options = () if digits is None else (written.binder.whole(digits, what),)
    return written.call("round", written.arg(), options=options)


def _read_log(op: str) -> Callable[[Written], Expr | None]:
    """LOG(x) has base 10; LOG(b, x), LOG2 and LOG10 come with their base first."""

    def bind(written: Written) -> Expr | None:
        if written.node.expression is None:
            return written.call(op, written.arg()) if op == "log10" else None
        base = constant(written.node.this)
        if not isinstance(base, int) or base not in BASES:
            raise written.problem(
                "LOG only supports the bases 2 and 10; write LN(x) / LN(b) for others"
            )
        if BASES[base] != op:
            return None
        return written.call(op, written.arg("expression"))

    return bind


# Types and ranges


def _round(args: tuple[Expr, ...], options: Options) -> Expr:
    args = numbers("ROUND", args, 1)
    digits = options[0] if options else 0
    if not isinstance(digits, int) or abs(digits) > DIGITS:
        raise TypeProblem(
            f"ROUND takes a constant number of digits from -{DIGITS} to "
            f"{DIGITS}; write ROUND(x, 2)"
        )
    whole = args[0].type is Type.INTEGER
    if whole and digits >= 0:
        return args[0]
    if digits == 0:  # whole, and no longer a real where that is sure to fit
        return _to_whole("round", round_half_away, args)
    if whole and ranges.within(_coarse(limits(args[0]), -digits), SAFE):
        range_ = _coarse(args[0].range, -digits)
        return Call(Type.INTEGER, range_, "round", args, (digits,))
    args = reals(args)
    range_ = ranges.rounded(lambda x: round_half_away(x, digits), args[0].range)
    return real_call("round", range_, args, (digits,))


def _coarse(range_: Range, zeros: int) -> Range:
    step = 10**zeros
    return ranges.add(range_, Range(-step, step))


def _to_whole(
    op: str, function: Callable[[float], float], args: tuple[Expr, ...]
) -> Expr:
    """FLOOR, CEIL and ROUND of a real: whole where doubles hold every whole number."""
    if args[0].type is Type.INTEGER:
        return args[0]
    range_ = ranges.increasing(function, args[0].range)
    if ranges.within(range_, EXACT):
        return Call(Type.INTEGER, ranges.increasing(int, range_), op, args)
    return real_call(op, range_, args)


def _whole(op: str, function: Callable[[float], float]) -> Builder:
    return lambda args, _: _to_whole(op, function, numbers(op.upper(), args, 1))


def _real(op: str, what: str, rule: Callable[..., Range], count: int = 1) -> Builder:
    """A function of reals."""

    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        args = reals(numbers(what, args, count))
        return real_call(op, rule(*(arg.range for arg in args)), args)

    return build


def _logarithm(op: str, function: Callable[[float], float]) -> Builder:
    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        args = numbers(op.upper(), args, 1)
        whole = args[0].type is Type.INTEGER
        args = reals(args)
        return real_call(op, ranges.logarithm(function, args[0].range, whole), args)

    return build


# Python


def round_half_away(value: float, digits: int = 0) -> float:
    """ROUND: halves go away from zero, and digits are cut by scaling, as engines do."""
    scaled = value * 10.0**digits if digits >= 0 else value / 10.0**-digits
    if not math.isfinite(scaled):
        return value
    size = abs(scaled)
    whole = float(math.floor(size))
    whole = math.copysign(whole + 1 if size - whole >= 0.5 else whole, value)
    back = whole / 10.0**digits if digits >= 0 else whole * 10.0**-digits
    return back if math.isfinite(back) else value


def _python_round(value: Any, digits: int = 0) -> Any:
    if isinstance(value, int):
        step = 10 ** max(-digits, 0)
        return (abs(value) + step // 2) // step * step * (1 if value >= 0 else -1)
    return round_half_away(value, digits)


# Ends of intervals


def _from(
    least: float, function: Callable[[Range], Range]
) -> Callable[[Range], Range | None]:
    """The function of what lies above the least number that it takes; None if nothing
    does.
    """
    return lambda a: function(a) if ranges.sides(a)[1] >= least else None


def _surely(least: float) -> Callable[[Range], bool]:
    return lambda a: ranges.sides(a)[0] >= least


def _never(*_: Range) -> bool:
    """It may overflow, and is NULL then."""
    return False


def _rising(function: Callable[..., Any]) -> EndsRule:
    """The interval of a function of a number and the options that never falls: it takes
    the ends of the argument to its own.
    """

    def end(value: float | None, options: Options) -> float | None:
        return None if value is None else float(function(float(value), *options))

    def rule(expr: Call, found: Range) -> Range:
        return Range(end(found.low, expr.options), end(found.high, expr.options))

    return by_call(rule)


_power_of_ranges = by_range(ranges.power, total=_never)


def _power_ends(group: Group, expr: Call) -> Known:
    """Only with an exponent that aggregates have no part in: one that may be whole or
    not makes a negative base NULL or a number.
    """
    if not group.fixed(expr.args[1]):
        return UNKNOWN
    return _power_of_ranges(group, expr)


# SQL


def _duckdb_whole(name: str) -> Writer:
    def write(expr: Call, args: Args, spelling: Spelling) -> str:
        sql = f"{name}({', '.join([args[0], *map(str, expr.options)])})"
        return spelling.cast(sql, expr.type) if expr.type is Type.INTEGER else sql

    return write


def _postgres_whole(name: str) -> Writer:
    def write(expr: Call, args: Args, spelling: Spelling) -> str:
        sql = f"{name}({args[0]})"
        return spelling.cast(sql, expr.type) if expr.type is Type.INTEGER else sql

    return write


def _spark_whole(name: str) -> Writer:
    def write(expr: Call, args: Args, spelling: Spelling) -> str:
        if expr.type is Type.INTEGER:
            return f"{name}({args[0]})"
        return spelling.once(args[0], lambda it: spark_whole(name, it))

    return write


def _postgres_round(expr: Call, args: Args, _: Spelling) -> str:
    """PostgreSQL rounds doubles to even, and only its decimals to digits."""
    digits = expr.options[0] if expr.options else 0
    if expr.args[0].type is Type.INTEGER:
        return f"CAST(round(CAST({args[0]} AS numeric), {digits}) AS bigint)"
    if digits != 0:
        return named(args, lambda x: _scaled(x, digits))
    sql = postgres_reals.rounded(args[0])
    return f"CAST({sql} AS bigint)" if expr.type is Type.INTEGER else sql


def _scaled(x: str, digits: int) -> str:
    """Rounded in another unit, and back; a number without digits to cut off stays as it
    is.
    """
    unit = real(10.0 ** abs(digits))
    if digits > 0:
        inner = f"{postgres_reals.rounded(f'({x} * {unit})')} / {unit}"
        largest = real(BIG / 10.0**digits)
    else:
        over = postgres_reals.over(x, 10.0**-digits)
        inner = f"{postgres_reals.rounded(over)} * {unit}"
        largest = real(BIG)
    return f"(CASE WHEN abs({x}) < {largest} THEN {inner} ELSE {x} END)"


def _spark_round(expr: Call, args: Args, spelling: Spelling) -> str:
    """Digits are cut by scaling, as other engines do; Spark's own would round the
    number as it is written.
    """
    digits = expr.options[0] if expr.options else 0
    if expr.args[0].type is Type.INTEGER:
        return f"round({args[0]}, {digits})"
    if digits == 0:
        sql = f"round({args[0]})"
        return spelling.cast(sql, expr.type) if expr.type is Type.INTEGER else sql
    there, back = ("*", "/") if digits > 0 else ("/", "*")
    step = f"1e{abs(digits)}"
    scaled = f"round({{0}} {there} {step}) {back} {step}"
    return spelling.once(
        args[0], lambda it: f"coalesce({spelling.finite(scaled.format(it))}, {it})"
    )


def _of_positive(name: str, least: float) -> Writer:
    """A function of numbers from a least one on; it gives NaN or infinity for the
    others.
    """

    def write(expr: Call, args: Args, spelling: Spelling) -> str:
        sql = f"{name}({args[0]})"
        return sql if _all_from(least, expr) else spelling.finite(sql)

    return write


def _all_from(least: float, expr: Call) -> bool:
    low = expr.args[0].range.low
    return low is not None and low >= least


def _postgres_of_positive(
    name: str, least: float, guard: Callable[[Args], str]
) -> Writer:
    """The same where PostgreSQL would raise."""

    def write(expr: Call, args: Args, _: Spelling) -> str:
        return f"{name}({args[0]})" if _all_from(least, expr) else guard(args)

    return write


def _spark_log2(_: Call, args: Args, spelling: Spelling) -> str:
    """Spark divides two logarithms, which misses the powers of two."""
    whole = "round(log2({0}))"
    return spelling.once(
        args[0],
        lambda it: (
            f"(CASE WHEN power(2e0, {whole.format(it)}) = {it} THEN "
            f"{whole.format(it)} ELSE log2({it}) END)"
        ),
    )


def _exponential(expr: Call, args: Args, spelling: Spelling) -> str:
    sql = f"exp({args[0]})"
    return sql if expr.range.bounded else spelling.finite(sql)


def _power(expr: Call, args: Args, spelling: Spelling) -> str:
    (base, exponent), sql = expr.args, f"power({args[0]}, {args[1]})"
    whole = (
        isinstance(exponent, Literal)
        and exponent.value is not None
        and exponent.value in (1, 2, 3, 4)
    )
    positive = base.range.low is not None and base.range.low > 0
    surely = expr.range.bounded and (whole or positive)
    return sql if surely else spelling.finite(sql)


register(
    Operation(
        "round",
        reads=(Reading(exp.Round, also=("decimals",), bind=_read_round),),
        functions=("ROUND",),
        build=_round,
        python=_python_round,
        ends=_rising(_python_round),
        duckdb=_duckdb_whole("round"),
        postgres=_postgres_round,
        spark=_spark_round,
    ),
    Operation(
        "floor",
        reads=(Reading(exp.Floor),),
        functions=("FLOOR",),
        build=_whole("floor", math.floor),
        python=math.floor,
        ends=_rising(math.floor),
        duckdb=_duckdb_whole("floor"),
        postgres=_postgres_whole("floor"),
        spark=_spark_whole("floor"),
    ),
    Operation(
        "ceil",
        reads=(Reading(exp.Ceil),),
        functions=("CEIL",),
        build=_whole("ceil", math.ceil),
        python=math.ceil,
        ends=_rising(math.ceil),
        duckdb=_duckdb_whole("ceil"),
        postgres=_postgres_whole("ceil"),
        spark=_spark_whole("ceil"),
    ),
    Operation(
        "sqrt",
        reads=(Reading(exp.Sqrt),),
        functions=("SQRT",),
        build=_real("sqrt", "SQRT", ranges.square_root),
        python=math.sqrt,
        ends=by_range(_from(0, ranges.square_root), total=_surely(0)),
        sql=_of_positive("sqrt", 0),
        postgres=_postgres_of_positive("sqrt", 0, postgres_reals.root),
    ),
    Operation(
        "ln",
        reads=(Reading(exp.Ln),),
        functions=("LN",),
        build=_logarithm("ln", math.log),
        python=math.log,
        ends=by_range(
            _from(TINY, lambda a: ranges.logarithm(math.log, a)), total=_surely(TINY)
        ),
        duckdb=_of_positive("ln", TINY),
        postgres=_postgres_of_positive(
            "ln", TINY, lambda args: postgres_reals.logarithm(args, "ln")
        ),
        spark=function("ln"),  # NULL of what has no logarithm
    ),
    Operation(
        "log10",
        reads=(Reading(exp.Log, BINARY, bind=_read_log("log10")),),
        functions=("LOG10", "LOG"),
        build=_logarithm("log10", math.log10),
        python=math.log10,
        ends=by_range(
            _from(TINY, lambda a: ranges.logarithm(math.log10, a)), total=_surely(TINY)
        ),
        duckdb=_of_positive("log10", TINY),
        postgres=_postgres_of_positive(
            "log10", TINY, lambda args: postgres_reals.logarithm(args, "log10")
        ),
        spark=function("log10"),
    ),
    Operation(
        "log2",
        reads=(Reading(exp.Log, BINARY, bind=_read_log("log2")),),
        functions=("LOG2",),
        build=_logarithm("log2", math.log2),
        python=math.log2,
        ends=by_range(
            _from(TINY, lambda a: ranges.logarithm(math.log2, a)), total=_surely(TINY)
        ),
        duckdb=_of_positive("log2", TINY),
        postgres=lambda _, args, __: postgres_reals.logarithm2(args),
        spark=_spark_log2,
    ),
    Operation(
        "exp",
        reads=(Reading(exp.Exp),),
        functions=("EXP",),
        build=_real("exp", "EXP", ranges.exponential),
        python=math.exp,
        ends=by_range(ranges.exponential, total=_never),
        sql=_exponential,
        postgres=lambda _, args, __: postgres_reals.exponential(args),
    ),
    Operation(
        "power",
        reads=(Reading(exp.Pow, BINARY),),
        functions=("POWER",),
        build=_real("power", "POWER", ranges.power, 2),
        python=math.pow,
        ends=_power_ends,
        sql=_power,
        postgres=lambda _, args, __: postgres_reals.power(args),
    ),
)
