"""Comparisons, logic and conditionals."""

from __future__ import annotations

from dither.query.catalogue.types import Range, Type
from dither.query.operations import ranges
from dither.query.operations.expressions import Call, Expr
from dither.query.operations.operators_basics import (
    Builder,
    Options,
    TypeProblem,
    certain,
    describe,
    expect,
    is_null,
    null,
    of_type,
    unify,
)

__all__ = ["BUILDERS"]

TRUTH = Range(0, 1)
SYMBOLS = {
    "eq": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "is_distinct": "IS DISTINCT FROM",
    "is_not_distinct": "IS NOT DISTINCT FROM",
    "between": "BETWEEN",
    "in": "IN",
}


def _truth(op: str, args: tuple[Expr, ...]) -> Call:
    return Call(Type.BOOLEAN, TRUTH, op, args)


def _comparison(op: str, count: int | None = 2) -> Builder:
    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        if len(args) < 2 or (count is not None and len(args) != count):
            raise TypeProblem(
                f"{SYMBOLS[op]} takes {count or 'two or more'} arguments, not "
                f"{len(args)}"
            )
        return _truth(op, unify(SYMBOLS[op], args))

    return build


def _null_test(op: str) -> Builder:
    return lambda args, _: _truth(op, args[:1])


def _condition(what: str, arg: Expr) -> Expr:
    if not of_type(arg, Type.BOOLEAN):
        raise TypeProblem(
            f"{what} needs a condition, not {describe(arg)}; write a "
            "comparison such as x <> 0"
        )
    return null(Type.BOOLEAN) if is_null(arg) else arg


def _logic(op: str, what: str) -> Builder:
    return lambda args, _: _truth(op, tuple(_condition(what, arg) for arg in args))


def _case(args: tuple[Expr, ...], _: Options) -> Expr:
    """Pairs of a condition and a value, then the value otherwise."""
    if len(args) % 2 == 0 or len(args) < 3:
        raise TypeProblem(
            "CASE needs WHEN … THEN … pairs; write CASE WHEN x > 0 THEN 1 ELSE 0 END"
        )
    conditions = [_condition("WHEN", arg) for arg in args[:-1:2]]
    values = unify("CASE", (*args[1::2], args[-1]))
    pairs = [
        part for pair in zip(conditions, values[:-1], strict=True) for part in pair
    ]
    return Call(values[0].type, _hull(values), "case", (*pairs, values[-1]))


def _hull(values: tuple[Expr, ...]) -> Range:
    return ranges.hull(
        [value.range for value in values if not is_null(value)] or [values[0].range]
    )


def _coalesce(args: tuple[Expr, ...], _: Options) -> Expr:
    if not args:
        raise TypeProblem("COALESCE needs an argument; write COALESCE(x, 0)")
    args = unify("COALESCE", args)
    last = next(
        (place for place, arg in enumerate(args) if certain(arg)), len(args) - 1
    )
    args = args[: last + 1]
    return Call(args[0].type, _hull(args), "coalesce", args)


def _nullif(args: tuple[Expr, ...], _: Options) -> Expr:
    expect("NULLIF", args, 2)
    args = unify("NULLIF", args)
    return Call(args[0].type, args[0].range, "nullif", args)


BUILDERS: dict[str, Builder] = {
    **{
        op: _comparison(op)
        for op in ("eq", "ne", "lt", "le", "gt", "ge", "is_distinct", "is_not_distinct")
    },
    "between": _comparison("between", 3),
    "in": _comparison("in", None),
    "is_null": _null_test("is_null"),
    "is_not_null": _null_test("is_not_null"),
    "and": _logic("and", "AND"),
    "or": _logic("or", "OR"),
    "not": _logic("not", "NOT"),
    "is_true": _logic("is_true", "IS TRUE"),
    "is_false": _logic("is_false", "IS FALSE"),
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
}
