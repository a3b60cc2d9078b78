"""The operations of the allow-list in PostgreSQL's SQL. Guards are left out where
ranges show that they are not needed.

PostgreSQL raises where others give NULL, infinity or NaN; `postgres_reals` and
`postgres_casts` are the guards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dither.query.catalogue.types import Type
from dither.query.engines.calls import STANDARD, function
from dither.query.engines.postgres import casts, reals
from dither.query.engines.postgres import dates as postgres_dates
from dither.query.engines.postgres.words import (
    BYTES,
    NAMES,
    Args,
    Writer,
    once,
    quoted,
    real,
)
from dither.query.operations.expressions import Call, Expr

__all__ = ["CALLS", "Cases"]

LONGEST = 65_536
LONG = 1 << 22
"""Of longer texts the rest is left out, where PostgreSQL would need many times their
memory and fail.
"""
FAR = 2**31 - 1
BIG = 1e300


def _whole(expr: Expr) -> bool:
    return expr.type is Type.INTEGER


def _sum(symbol: str) -> Writer:
    """Bounded results are finite; others may overflow."""

    def write(expr: Call, args: Args) -> str:
        return (
            f"({args[0]} {symbol} {args[1]})"
            if _whole(expr) or expr.range.bounded
            else reals.add(args, symbol)
        )

    return write


def _product(expr: Call, args: Args) -> str:
    return f"({args[0]} * {args[1]})" if _whole(expr) else reals.multiply(args)


def _quotient(expr: Call, args: Args) -> str:
    """Whole numbers are divided toward zero."""
    return (
        f"({args[0]} / nullif({args[1]}, 0))"
        if _whole(expr)
        else f"trunc({reals.divide(args)})"
    )


def _modulo(expr: Call, args: Args) -> str:
    return (
        f"({args[0]} % nullif({args[1]}, 0))" if _whole(expr) else reals.remainder(args)
    )


def _round(expr: Call, args: Args) -> str:
    digits = expr.options[0] if expr.options else 0
    if expr.args[0].type is Type.INTEGER:
        return f"CAST(round(CAST({args[0]} AS numeric), {digits}) AS bigint)"
    sql = (
        reals.rounded(args[0])
        if digits == 0
        else once(args, lambda x: _scaled(x, digits))
    )
    return f"CAST({sql} AS bigint)" if _whole(expr) else sql


def _scaled(x: str, digits: int) -> str:
    """Rounded in another unit, and back; a number without digits to cut off stays as it
    is.
    """
    unit, largest = real(10.0 ** abs(digits)), real(BIG)
    if digits > 0:
        inner, largest = (
            f"{reals.rounded(f'({x} * {unit})')} / {unit}",
            real(BIG / 10.0**digits),
        )
    else:
        inner = f"{reals.rounded(reals.over(x, 10.0**-digits))} * {unit}"
    return f"(CASE WHEN abs({x}) < {largest} THEN {inner} ELSE {x} END)"


def _to_whole(name: str) -> Writer:
    return lambda expr, args: (
        f"CAST({name}({args[0]}) AS bigint)" if _whole(expr) else f"{name}({args[0]})"
    )


def _concat(_: Call, args: Args) -> str:
    """Cut, or texts that are doubled again and again would fill the memory."""
    parts = [_cut(arg, LONGEST) for arg in args]
    return _cut(" || ".join(parts), LONGEST)


def _cut(x: str, length: int) -> str:
    return f"left({x}, {length})"


def _trimmed(name: str) -> Writer:
    return lambda _, args: f"{name}({_cut(args[0], LONG)})"


def _substring(expr: Call, args: Args) -> str:
    """Counted from 1; a negative start counts from the end, where a length may end
    before the text begins.
    """
    start, length = expr.options
    if start >= 0:
        length = "" if length is None else f", {min(length, FAR)}"
        return (
            f"substr({args[0]}, {start}{length})"
            if start <= FAR
            else f"left({args[0]}, 0)"
        )
    tail = f"right({args[0]}, {min(-start, FAR)})"
    return (
        tail
        if length is None or start + length >= 0
        else f"left({tail}, {max(start + length, -FAR)})"
    )


def _like(expr: Call, args: Args) -> str:
    return f"({args[0]} LIKE {args[1]} ESCAPE '{expr.options[0] or ''}')"


def _cast(expr: Call, args: Args) -> str:
    source, wanted = expr.args[0].type, expr.type
    if wanted is Type.TEXT:
        return casts.as_text(args[0], source)
    if source is Type.TEXT:
        return casts.of_text(args[0], wanted)
    if source is Type.REAL and wanted is Type.INTEGER:
        return casts.whole_real(args[0])
    if wanted is Type.BOOLEAN:
        return f"({args[0]} <> 0)"
    x = f"CAST({args[0]} AS integer)" if source is Type.BOOLEAN else args[0]
    return f"CAST({x} AS {NAMES[wanted]})"


@dataclass(frozen=True)
class Cases:
    """Lower and upper case by the rules of one of the server's collations: without one,
    only ASCII has cases.
    """

    collation: str = "C"

    def calls(self) -> dict[str, Writer]:
        return {
            **CALLS,
            "lower": self._case("lower"),
            "upper": self._case("upper"),
            "ilike": self._ilike,
        }

    def _case(self, name: str) -> Writer:
        return lambda _, args: self._as(name, args[0])

    def _as(self, name: str, x: str) -> str:
        return f"({name}({_cut(x, LONG)} COLLATE {quoted(self.collation)}) {BYTES})"

    def _ilike(self, expr: Call, args: Args) -> str:
        return _like(expr, [self._as("lower", arg) for arg in args])


def _of_one(guard: Callable[[Args], str], name: str, least: float) -> Writer:
    """A function of numbers from a least one on."""

    def write(expr: Call, args: Args) -> str:
        low = expr.args[0].range.low
        return f"{name}({args[0]})" if low is not None and low >= least else guard(args)

    return write


TINY = 5e-324
CALLS: dict[str, Writer] = {
    **STANDARD,
    "add": _sum("+"),
    "sub": _sum("-"),
    "mul": _product,
    "div": lambda _, args: reals.divide(args),
    "intdiv": _quotient,
    "mod": _modulo,
    "neg": lambda _, args: f"(- {args[0]})",
    "abs": function("abs"),
    "sign": lambda _, args: f"CAST(sign({args[0]}) AS bigint)",
    "round": _round,
    "floor": _to_whole("floor"),
    "ceil": _to_whole("ceil"),
    "sqrt": _of_one(reals.root, "sqrt", 0),
    "ln": _of_one(lambda args: reals.logarithm(args, "ln"), "ln", TINY),
    "log10": _of_one(lambda args: reals.logarithm(args, "log10"), "log10", TINY),
    "log2": lambda _, args: reals.logarithm2(args),
    "exp": lambda _, args: reals.exponential(args),
    "power": lambda _, args: reals.power(args),
    "least": function("least"),
    "greatest": function("greatest"),
    "nullif": function("nullif"),
    "lower": function("lower"),
    "upper": function("upper"),
    "length": lambda _, args: f"CAST(length({args[0]}) AS bigint)",
    "trim": _trimmed("btrim"),
    "ltrim": _trimmed("ltrim"),
    "rtrim": _trimmed("rtrim"),
    "concat": _concat,
    "substring": _substring,
    "like": _like,
    "ilike": _like,
    "starts_with": function("starts_with"),
    "contains": lambda _, args: f"(strpos({args[0]}, {args[1]}) > 0)",
    "cast": _cast,
    **postgres_dates.CALLS,
}
