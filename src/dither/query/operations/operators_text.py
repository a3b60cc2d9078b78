"""Texts: their functions and patterns."""

from __future__ import annotations

from dither.query.catalogue.types import ANY, Range, Type
from dither.query.operations.expressions import Call, Expr, Literal
from dither.query.operations.operators_basics import (
    Builder,
    Options,
    TypeProblem,
    describe,
    expect,
    is_null,
    null,
    of_type,
    typed,
)

__all__ = ["BUILDERS", "ESCAPE"]

ESCAPE = "\\"
WILDCARDS = 10
LONGEST = 1_000
FAR = 2**32 - 1
TRUTH = Range(0, 1)


def _texts(what: str, args: tuple[Expr, ...], count: int) -> tuple[Expr, ...]:
    expect(what, args, count)
    return tuple(_text(what, arg) for arg in args)


def _text(what: str, arg: Expr) -> Expr:
    if not of_type(arg, Type.TEXT):
        raise TypeProblem(
            f"{what} needs a text, not {describe(arg)}; write CAST(… AS TEXT) around it"
        )
    return null(Type.TEXT) if is_null(arg) else arg


def _function(
    op: str, what: str, result: Type, range_: Range, count: int = 1
) -> Builder:
    return lambda args, _: Call(result, range_, op, _texts(what, args, count))


def _concat(args: tuple[Expr, ...], _: Options) -> Expr:
    if not args:
        raise TypeProblem("|| needs two texts; write a || b")
    return Call(Type.TEXT, ANY, "concat", tuple(_text("||", arg) for arg in args))


def _substring(args: tuple[Expr, ...], options: Options) -> Expr:
    args = _texts("SUBSTRING", args, 1)
    start, length = (*options, None)[:2]
    if not isinstance(start, int) or not isinstance(length, int | None):
        raise TypeProblem(
            "SUBSTRING takes constant whole numbers; write SUBSTRING(x, 1, 3)"
        )
    if length is not None and length < 0:
        raise TypeProblem(
            "the length of a SUBSTRING cannot be negative; write SUBSTRING(x, 1, 3)"
        )
    start, length = (
        max(-FAR, min(start, FAR)),
        length if length is None else min(length, FAR),
    )
    return Call(Type.TEXT, ANY, "substring", args, (start, length))


def _like(op: str) -> Builder:
    """A constant pattern. Whatever the escape character was, it is ESCAPE afterwards,
    or there is none.
    """

    def build(args: tuple[Expr, ...], options: Options) -> Expr:
        value, pattern = _texts(op.upper(), args, 2)
        if not isinstance(pattern, Literal):
            raise TypeProblem(
                f"{op.upper()} needs a constant pattern; write x {op.upper()} "
                "'A%', or CONTAINS(x, y)"
            )
        if pattern.value is None:
            return null(Type.BOOLEAN)
        parts = _parts(pattern.value, options[0] if options else None)
        _limit(op, parts)
        escaped = any(plain and sign in "%_" for sign, plain in parts)
        text = "".join(_written(sign, plain, escaped) for sign, plain in parts)
        return Call(
            Type.BOOLEAN,
            TRUTH,
            op,
            (value, typed(text, Type.TEXT)),
            (ESCAPE if escaped else None,),
        )

    return build


def _parts(pattern: str, escape: str | None) -> list[tuple[str, bool]]:
    """The pattern's characters, each with whether it surely stands for itself."""
    if escape is None:
        return [(sign, False) for sign in pattern]
    if len(escape) != 1:
        raise TypeProblem("ESCAPE takes one character; write ESCAPE '!'")
    parts, signs = [], iter(pattern)
    for sign in signs:
        if sign != escape:
            parts.append((sign, False))
        elif (following := next(signs, None)) is not None:
            parts.append((following, True))
        else:
            raise TypeProblem(
                "the pattern ends with its escape character; write that "
                "character twice to mean itself"
            )
    return parts


def _written(sign: str, plain: bool, escaped: bool) -> str:
    return (
        ESCAPE + sign
        if escaped and (sign == ESCAPE or (plain and sign in "%_"))
        else sign
    )


def _limit(op: str, parts: list[tuple[str, bool]]) -> None:
    """Many % signs, or a very long pattern, can make matching one row take for ever."""
    if len(parts) > LONGEST:
        raise TypeProblem(
            f"a pattern has at most {LONGEST:,} characters; join shorter "
            f"ones: x {op.upper()} 'a%' AND …"
        )
    if sum(part == ("%", False) for part in parts) > WILDCARDS:
        raise TypeProblem(
            f"a pattern has at most {WILDCARDS} % signs; join shorter ones: x "
            f"{op.upper()} 'a%' AND …"
        )


BUILDERS: dict[str, Builder] = {
    "lower": _function("lower", "LOWER", Type.TEXT, ANY),
    "upper": _function("upper", "UPPER", Type.TEXT, ANY),
    "trim": _function("trim", "TRIM", Type.TEXT, ANY),
    "ltrim": _function("ltrim", "LTRIM", Type.TEXT, ANY),
    "rtrim": _function("rtrim", "RTRIM", Type.TEXT, ANY),
    "length": _function("length", "LENGTH", Type.INTEGER, Range(0, None)),
    "starts_with": _function("starts_with", "STARTS_WITH", Type.BOOLEAN, TRUTH, 2),
    "contains": _function("contains", "CONTAINS", Type.BOOLEAN, TRUTH, 2),
    "concat": _concat,
    "substring": _substring,
    "like": _like("like"),
    "ilike": _like("ilike"),
}
