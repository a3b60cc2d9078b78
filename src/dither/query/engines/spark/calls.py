"""The operations of the allow-list in Spark's SQL, in ANSI mode.

There a division by zero, an overflow and a bad cast raise, and filters may be computed
before or after: so every part is total by itself. Guards are left out where the range
shows that they are not needed.
"""

from __future__ import annotations

from dither.query.catalogue.types import Type
from dither.query.engines.calls import STANDARD, function, holds_zero
from dither.query.engines.spark import dates as spark_dates
from dither.query.engines.spark.casts import cast
from dither.query.engines.spark.words import Args, Writer, finite, once
from dither.query.operations.expressions import Call, Expr, Literal

__all__ = ["CALLS"]

LONGEST = 65_536
WHOLE = "4503599627370496e0"
"""From 2^52 on all doubles are whole numbers, and Spark's FLOOR, which gives a BIGINT,
would cut them off.
"""
FAR = (1 << 31) - 1
BACKSLASH = r"\\"
"""In a literal of Spark a backslash is written twice."""


def _arithmetic(symbol: str) -> Writer:
    """Bounded results are finite; others may overflow."""

    def write(expr: Call, args: Args) -> str:
        sql = f"({args[0]} {symbol} {args[1]})"
        return sql if expr.type is Type.INTEGER or expr.range.bounded else finite(sql)

    return write


def _divide(expr: Call, args: Args) -> str:
    sql = (
        f"try_divide({args[0]}, {args[1]})"
        if holds_zero(expr.args[1])
        else f"({args[0]} / {args[1]})"
    )
    return sql if expr.range.bounded and not holds_zero(expr.args[1]) else finite(sql)


def _whole_divide(expr: Call, args: Args) -> str:
    if expr.type is Type.INTEGER:
        return f"({args[0]} div {_nonzero(expr.args[1], args[1])})"
    return once(
        _divide(expr, args),
        lambda it: f"(CASE WHEN {it} < 0 THEN {_up(it)} ELSE {_down(it)} END)",
    )


def _nonzero(expr: Expr, sql: str) -> str:
    return (
        once(sql, lambda it: f"(CASE WHEN {it} <> 0 THEN {it} END)")
        if holds_zero(expr)
        else sql
    )


def _modulo(expr: Call, args: Args) -> str:
    return f"({args[0]} % {_nonzero(expr.args[1], args[1])})"


def _down(it: str) -> str:
    return (
        f"(CASE WHEN abs({it}) < {WHOLE} THEN CAST(floor({it}) AS DOUBLE) "
        f"ELSE {it} END)"
    )


def _up(it: str) -> str:
    return (
        f"(CASE WHEN abs({it}) < {WHOLE} THEN CAST(ceil({it}) AS DOUBLE) ELSE {it} END)"
    )


def _to_whole(name: str) -> Writer:
    def write(expr: Call, args: Args) -> str:
        if expr.type is Type.INTEGER:
            return f"{name}({args[0]})"
        return once(args[0], _down if name == "floor" else _up)

    return write


def _round(expr: Call, args: Args) -> str:
    """Digits are cut by scaling, as other engines do; Spark's own would round the
    number as it is written.
    """
    digits = expr.options[0] if expr.options else 0
    if expr.args[0].type is Type.INTEGER:
        return f"round({args[0]}, {digits})"
    if digits == 0:
        return (
            f"CAST(round({args[0]}) AS BIGINT)"
            if expr.type is Type.INTEGER
            else f"round({args[0]})"
        )
    there, back = ("*", "/") if digits > 0 else ("/", "*")
    step = f"1e{abs(digits)}"
    scaled = f"round({{0}} {there} {step}) {back} {step}"
    return once(args[0], lambda it: f"coalesce({finite(scaled.format(it))}, {it})")


def _square_root(expr: Call, args: Args) -> str:
    low = expr.args[0].range.low
    return (
        f"sqrt({args[0]})"
        if low is not None and low >= 0
        else finite(f"sqrt({args[0]})")
    )


def _binary_logarithm(_: Call, args: Args) -> str:
    """Spark divides two logarithms, which misses the powers of two."""
    whole = "round(log2({0}))"
    return once(
        args[0],
        lambda it: (
            f"(CASE WHEN power(2e0, {whole.format(it)}) = {it} THEN "
            f"{whole.format(it)} ELSE log2({it}) END)"
        ),
    )


def _exponential(expr: Call, args: Args) -> str:
    return f"exp({args[0]})" if expr.range.bounded else finite(f"exp({args[0]})")


def _power(expr: Call, args: Args) -> str:
    (base, exponent), sql = expr.args, f"power({args[0]}, {args[1]})"
    whole = (
        isinstance(exponent, Literal)
        and exponent.value is not None
        and exponent.value in (1, 2, 3, 4)
    )
    positive = base.range.low is not None and base.range.low > 0
    return sql if expr.range.bounded and (whole or positive) else finite(sql)


def _extreme(name: str) -> Writer:
    return lambda _, args: f"{name}({', '.join(args)})" if len(args) > 1 else args[0]


def _nullif(_: Call, args: Args) -> str:
    return once(
        args[0], lambda it: f"(CASE WHEN {it} = {args[1]} THEN NULL ELSE {it} END)"
    )


def _concat(_: Call, args: Args) -> str:
    """Cut, or texts that are doubled again and again would fill the memory."""
    return f"left({' || '.join(args)}, {LONGEST})"


def _substring(expr: Call, args: Args) -> str:
    """Counted from 1. To Spark a start of 0 is 1; here it is the place before the text."""
    start, length = expr.options
    if start == 0:
        start, length = 1, length if length is None else max(length - 1, 0)
    kept = [max(-FAR, min(start, FAR)), *([] if length is None else [min(length, FAR)])]
    return f"substring({', '.join([args[0], *map(str, kept)])})"


def _like(word: str) -> Writer:
    r"""A pattern without an escape character is given one that it does not hold: Spark's own would be \."""

    def write(expr: Call, args: Args) -> str:
        pattern = expr.args[1].value if isinstance(expr.args[1], Literal) else ""
        absent = next(
            sign
            for sign in map(chr, range(ord("!"), 0x10000))
            if _plain(sign) and sign not in pattern
        )
        return (
            f"({args[0]} {word} {args[1]} ESCAPE "
            f"'{BACKSLASH if expr.options[0] else absent}')"
        )

    return write


def _plain(sign: str) -> bool:
    """Whether a sign can stand in a literal of Spark, and means nothing in a pattern or
    in another case.
    """
    return sign not in "'\\%_$" and not sign.isalpha()


def _cast(expr: Call, args: Args) -> str:
    return cast(args[0], expr.args[0].type, expr.type)


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
    "round": _round,
    "floor": _to_whole("floor"),
    "ceil": _to_whole("ceil"),
    "sqrt": _square_root,
    "ln": function("ln"),
    "log10": function("log10"),
    "log2": _binary_logarithm,
    "exp": _exponential,
    "power": _power,
    "least": _extreme("least"),
    "greatest": _extreme("greatest"),
    "nullif": _nullif,
    "lower": function("lower"),
    "upper": function("upper"),
    "length": lambda _, args: f"CAST(length({args[0]}) AS BIGINT)",
    "trim": function("trim"),
    "ltrim": function("ltrim"),
    "rtrim": function("rtrim"),
    "concat": _concat,
    "substring": _substring,
    "like": _like("LIKE"),
    "ilike": _like("ILIKE"),
    "starts_with": function("startswith"),
    "contains": function("contains"),
    "cast": _cast,
    **spark_dates.CALLS,
}
