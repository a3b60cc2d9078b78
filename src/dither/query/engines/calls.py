"""Operations that all engines write alike, and what those that differ are written with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dither.query.operations.expressions import Call, Expr

__all__ = ["STANDARD", "Args", "Writer", "function", "holds_zero", "infix", "suffix"]

Args = Sequence[str]
Writer = Callable[[Call, Args], str]


def holds_zero(expr: Expr) -> bool:
    low, high = expr.range.low, expr.range.high
    return (low is None or low <= 0) and (high is None or high >= 0)


def infix(symbol: str) -> Writer:
    return lambda _, args: "(" + f" {symbol} ".join(args) + ")"


def function(name: str) -> Writer:
    return lambda _, args: f"{name}({', '.join(args)})"


def suffix(words: str) -> Writer:
    return lambda _, args: f"({args[0]} {words})"


def _case(_: Call, args: Args) -> str:
    pairs = zip(args[:-1:2], args[1::2], strict=True)
    whens = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"(CASE {whens} ELSE {args[-1]} END)"


STANDARD: dict[str, Writer] = {
    "eq": infix("="),
    "ne": infix("<>"),
    "lt": infix("<"),
    "le": infix("<="),
    "gt": infix(">"),
    "ge": infix(">="),
    "is_distinct": infix("IS DISTINCT FROM"),
    "is_not_distinct": infix("IS NOT DISTINCT FROM"),
    "is_null": suffix("IS NULL"),
    "is_not_null": suffix("IS NOT NULL"),
    "is_true": suffix("IS NOT DISTINCT FROM TRUE"),
    "is_false": suffix("IS NOT DISTINCT FROM FALSE"),
    "in": lambda _, args: f"({args[0]} IN ({', '.join(args[1:])}))",
    "between": lambda _, args: f"({args[0]} BETWEEN {args[1]} AND {args[2]})",
    "and": infix("AND"),
    "or": infix("OR"),
    "not": lambda _, args: f"(NOT {args[0]})",
    "case": _case,
    "coalesce": function("coalesce"),
}
"""Comparisons, logic and choices, which cannot fail."""
