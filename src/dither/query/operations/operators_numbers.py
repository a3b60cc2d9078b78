"""Arithmetic. Whole numbers stay whole while 64 bits surely hold them; else the
operation is done in reals.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dither.query.catalogue.types import Range, Type
from dither.query.operations import ranges
from dither.query.operations.evaluate_functions import round_half_away
from dither.query.operations.expressions import Call, Expr
from dither.query.operations.operators_basics import (
    Builder,
    Options,
    TypeProblem,
    certain,
    convert,
    describe,
    expect,
    is_null,
    limits,
    of_type,
    unify,
)

__all__ = ["BUILDERS"]

SAFE = Range(-(2**62), 2**62)
EXACT = Range(-(2**53), 2**53)
DIGITS = 15
LOGARITHMS = {"ln": math.log, "log10": math.log10, "log2": math.log2}


def _numbers(what: str, args: tuple[Expr, ...], count: int) -> tuple[Expr, ...]:
    expect(what, args, count)
    for arg in args:
        if not of_type(arg, Type.INTEGER, Type.REAL):
            raise TypeProblem(
                f"{what} needs numbers, not {describe(arg)}; {_remedy(arg)}"
            )
    return unify(what, args)


def _remedy(arg: Expr) -> str:
    if arg.type is Type.BOOLEAN:
        return "write CASE WHEN … THEN 1 ELSE 0 END for a condition"
    if arg.type is Type.TEXT:
        return "write CAST(… AS REAL) around the text"
    return (
        "write DATE_DIFF('day', a, b) or EXTRACT(year FROM a) to make a "
        "number of a date"
    )


def _reals(args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(convert(arg, Type.REAL) for arg in args)


def _real(
    op: str, range_: Range, args: tuple[Expr, ...], options: Options = ()
) -> Call:
    return Call(Type.REAL, ranges.floats(range_), op, args, options)


def _arithmetic(op: str, what: str, rule: Callable[..., Range], count: int) -> Builder:
    """An operation of whole numbers where the result surely fits, and of reals
    otherwise.
    """

    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        args = _numbers(what, args, count)
        if args[0].type is Type.INTEGER and ranges.within(
            rule(*map(limits, args)), SAFE
        ):
            return Call(Type.INTEGER, rule(*(arg.range for arg in args)), op, args)
        args = _reals(args)
        return _real(op, rule(*(arg.range for arg in args)), args)

    return build


def _divide(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _numbers("/", args, 2)
    whole = args[1].type is Type.INTEGER
    reals = _reals(args)
    return _real("div", ranges.quotient(reals[0].range, reals[1].range, whole), reals)


def _whole_divide(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _numbers("//", args, 2)
    if args[0].type is Type.INTEGER and ranges.within(
        ranges.truncated(*map(limits, args)), SAFE
    ):
        return Call(
            Type.INTEGER, ranges.truncated(args[0].range, args[1].range), "intdiv", args
        )
    whole = args[1].type is Type.INTEGER
    reals = _reals(args)
    parts = ranges.quotient(reals[0].range, reals[1].range, whole)
    return _real("intdiv", ranges.increasing(math.trunc, parts), reals)


def _modulo(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _numbers("%", args, 2)
    whole = args[0].type is Type.INTEGER
    # A divisor of -1 overflows for the smallest integer, so an open dividend is divided
    # as a real there.
    if whole and (
        ranges.within(limits(args[0]), SAFE) or not _holds(args[1].range, -1)
    ):
        return Call(
            Type.INTEGER,
            ranges.remainder(args[0].range, args[1].range, whole=True),
            "mod",
            args,
        )
    reals = _reals(args)
    return _real("mod", ranges.remainder(reals[0].range, reals[1].range), reals)


def _holds(range_: Range, value: int) -> bool:
    return ranges.within(Range(value, value), range_)


def _sign(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _numbers("SIGN", args, 1)
    low, high = ranges.sides(args[0].range)
    return Call(
        Type.INTEGER,
        Range((low > 0) - (low < 0), (high > 0) - (high < 0)),
        "sign",
        args,
    )


def _round(args: tuple[Expr, ...], options: Options) -> Expr:
    args = _numbers("ROUND", args, 1)
    digits = options[0] if options else 0
    if not isinstance(digits, int) or abs(digits) > DIGITS:
        raise TypeProblem(
            f"ROUND takes a constant number of digits from -{DIGITS} to "
            f"{DIGITS}; write ROUND(x, 2)"
        )
    if args[0].type is Type.INTEGER and digits >= 0:
        return args[0]
    if digits == 0:
        return _to_whole("round", round_half_away, args)
    if args[0].type is Type.INTEGER and ranges.within(
        _coarse(limits(args[0]), -digits), SAFE
    ):
        return Call(
            Type.INTEGER, _coarse(args[0].range, -digits), "round", args, (digits,)
        )
    args = _reals(args)
    return _real(
        "round",
        ranges.rounded(lambda x: round_half_away(x, digits), args[0].range),
        args,
        (digits,),
    )


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
    return _real(op, range_, args)


def _whole(op: str, function: Callable[[float], float]) -> Builder:
    return lambda args, _: _to_whole(op, function, _numbers(op.upper(), args, 1))


def _square_root(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _reals(_numbers("SQRT", args, 1))
    return _real("sqrt", ranges.square_root(args[0].range), args)


def _logarithm(op: str) -> Builder:
    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        args = _numbers(op.upper(), args, 1)
        whole = args[0].type is Type.INTEGER
        reals = _reals(args)
        return _real(op, ranges.logarithm(LOGARITHMS[op], reals[0].range, whole), reals)

    return build


def _exponential(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _reals(_numbers("EXP", args, 1))
    return _real("exp", ranges.exponential(args[0].range), args)


def _power(args: tuple[Expr, ...], _: Options) -> Expr:
    args = _reals(_numbers("POWER", args, 2))
    return _real("power", ranges.power(args[0].range, args[1].range), args)


def _extreme(op: str, rule: Callable[..., Range]) -> Builder:
    def build(args: tuple[Expr, ...], _: Options) -> Expr:
        if not args:
            raise TypeProblem(
                f"{op.upper()} needs an argument; write {op.upper()}(x, 100)"
            )
        args = unify(op.upper(), args)
        present = [arg for arg in args if not is_null(arg)] or [args[0]]
        if any(arg.type is Type.BOOLEAN for arg in present):
            raise TypeProblem(
                f"{op.upper()} does not take conditions; join them with AND or OR"
            )
        range_ = rule(
            [arg.range for arg in present],
            [arg.range for arg in present if certain(arg)],
        )
        return Call(args[0].type, range_, op, args)

    return build


BUILDERS: dict[str, Builder] = {
    "add": _arithmetic("add", "+", ranges.add, 2),
    "sub": _arithmetic("sub", "-", ranges.subtract, 2),
    "mul": _arithmetic("mul", "*", ranges.multiply, 2),
    "neg": _arithmetic("neg", "-", ranges.negate, 1),
    "abs": _arithmetic("abs", "ABS", ranges.absolute, 1),
    "div": _divide,
    "intdiv": _whole_divide,
    "mod": _modulo,
    "sign": _sign,
    "round": _round,
    "floor": _whole("floor", math.floor),
    "ceil": _whole("ceil", math.ceil),
    "sqrt": _square_root,
    "ln": _logarithm("ln"),
    "log10": _logarithm("log10"),
    "log2": _logarithm("log2"),
    "exp": _exponential,
    "power": _power,
    "least": _extreme("least", ranges.least),
    "greatest": _extreme("greatest", ranges.greatest),
}
