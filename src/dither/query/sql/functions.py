"""The functions that can be asked: numbers, texts, dates, casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from dither.query.catalogue.types import Type
from dither.query.operations.expressions import Expr, Literal
from dither.query.operations.operators import literal
from dither.query.sql.constants import constant, folded, plain
from dither.query.sql.refusals import CLOCK, only, refuse
from dither.query.sql.scalars import OPERATORS, Handler, Scalars, operation

__all__ = ["HANDLERS"]

DAYS = {"DAY": 1, "WEEK": 7}
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1200}
KINDS = exp.DataType.Type
TYPES = {
    **dict.fromkeys(
        (KINDS.TINYINT, KINDS.SMALLINT, KINDS.INT, KINDS.BIGINT), Type.INTEGER
    ),
    **dict.fromkeys((KINDS.FLOAT, KINDS.DOUBLE), Type.REAL),
    **dict.fromkeys((KINDS.TEXT, KINDS.VARCHAR), Type.TEXT),
    KINDS.BOOLEAN: Type.BOOLEAN,
    KINDS.DATE: Type.DATE,
    **dict.fromkeys(
        (KINDS.TIMESTAMP, KINDS.TIMESTAMPNTZ, KINDS.DATETIME), Type.TIMESTAMP
    ),
}
LONGEST = 18
"""Digits of the count of an INTERVAL; no date moves that far."""
LOGARITHMS = {2: "log2", 10: "log10"}


def _additive(op: str, sign: int) -> Callable[[Scalars, exp.Expr], Expr]:
    """+ and -: of numbers, and of dates with intervals, days and dates."""

    def build(scalars: Scalars, node: exp.Expr) -> Expr:
        value = folded(node)
        if value is not None:
            return scalars.literal(node, value)
        left, other = scalars.bind(node.this), plain(node.expression)
        if isinstance(other, exp.Interval):
            return _shifted(scalars, left, other, sign)
        right = scalars.bind(other)
        if left.type is not Type.DATE or (
            isinstance(left, Literal) and left.value is None
        ):
            return scalars.call(node, op, left, right)
        if (
            isinstance(right, Literal)
            and right.type is Type.INTEGER
            and right.value is not None
        ):
            return scalars.call(node, "add_days", left, options=(sign * right.value,))
        if op == "sub":
            return scalars.call(node, "date_sub", left, right)
        return scalars.call(node, op, left, right)

    return build


def _shifted(scalars: Scalars, date: Expr, node: exp.Interval, sign: int) -> Expr:
    only(scalars.source, node, "this", "unit")
    unit = node.text("unit").upper()
    unit = unit.removesuffix("S") if unit.removesuffix("S") in DAYS | MONTHS else unit
    count = str(constant(node.this))
    if (
        unit not in DAYS | MONTHS
        or not count.removeprefix("-").isdecimal()
        or len(count) > LONGEST
    ):
        message = (
            "an INTERVAL needs a whole number of days, weeks, months, "
            "quarters or years; write INTERVAL 3 DAY"
        )
        raise scalars.source.problem(message, node, "INTERVAL")
    op = "add_days" if unit in DAYS else "add_months"
    return scalars.call(
        node, op, date, options=(sign * int(count) * (DAYS | MONTHS)[unit],)
    )


def _round(scalars: Scalars, node: exp.Round) -> Expr:
    digits = node.args.get("decimals")
    options = (
        ()
        if digits is None
        else (scalars.whole(digits, "the number of digits of ROUND"),)
    )
    return scalars.call(node, "round", scalars.bind(node.this), options=options)


def _log(scalars: Scalars, node: exp.Log) -> Expr:
    """LOG(x) has base 10; LOG(b, x), LOG2 and LOG10 come with their base first."""
    if node.expression is None:
        return scalars.call(node, "log10", scalars.bind(node.this))
    base = constant(node.this)
    if not isinstance(base, int) or base not in LOGARITHMS:
        raise scalars.source.problem(
            "LOG knows the bases 2 and 10; write LN(x) / LN(b) for another", node
        )
    return scalars.call(node, LOGARITHMS[base], scalars.bind(node.expression))


def _many(op: str) -> Handler:
    def build(scalars: Scalars, node: exp.Expr) -> Expr:
        return scalars.call(
            node,
            op,
            scalars.bind(node.this),
            *(scalars.bind(part) for part in node.expressions),
        )

    return Handler(build, ("this", "expressions", "ignore_nulls"))


def _concat(scalars: Scalars, node: exp.Concat) -> Expr:
    """CONCAT leaves NULLs out, unlike ||."""
    parts = [scalars.bind(part) for part in node.expressions]
    texts = [scalars.call(node, "coalesce", part, literal("")) for part in parts]
    return scalars.call(node, "concat", *texts)


def _trim(scalars: Scalars, node: exp.Trim) -> Expr:
    if node.expression is not None:
        raise scalars.source.problem("TRIM removes blanks only; write TRIM(x)", node)
    op = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(
        str(node.args.get("position")).upper(), "trim"
    )
    return scalars.call(node, op, scalars.bind(node.this))


def _substring(scalars: Scalars, node: exp.Substring) -> Expr:
    length = node.args.get("length")
    start = scalars.whole(node.args.get("start"), "the start of SUBSTRING")
    count = None if length is None else scalars.whole(length, "the length of SUBSTRING")
    return scalars.call(
        node, "substring", scalars.bind(node.this), options=(start, count)
    )


def _left(scalars: Scalars, node: exp.Left) -> Expr:
    count = scalars.whole(node.expression, "the length of LEFT")
    return scalars.call(node, "substring", scalars.bind(node.this), options=(1, count))


def _like(scalars: Scalars, node: exp.Expr, escape: str | None = None) -> Expr:
    op = "ilike" if isinstance(node, exp.ILike) else "like"
    text, pattern = scalars.bind(node.this), scalars.bind(node.expression)
    found = scalars.call(node, op, text, pattern, options=(escape,))
    return scalars.call(node, "not", found) if node.args.get("negate") else found


def _escape(scalars: Scalars, node: exp.Escape) -> Expr:
    inner, sign = node.this, constant(node.expression)
    if not isinstance(inner, exp.Like | exp.ILike) or not isinstance(sign, str):
        raise scalars.source.problem(
            "ESCAPE needs one character after a LIKE; write x LIKE '5!%' ESCAPE '!'",
            node,
        )
    only(scalars.source, inner, "this", "expression", "negate")
    return _like(scalars, inner, sign)


def _cast(scalars: Scalars, node: exp.Cast) -> Expr:
    wanted = node.args["to"]
    type_ = TYPES.get(wanted.this)
    if type_ is None or wanted.expressions or wanted.args.get("nested"):
        message = (
            "a CAST can be to INTEGER, DOUBLE, VARCHAR, BOOLEAN, DATE or "
            "TIMESTAMP; use one of these"
        )
        raise scalars.source.problem(message, node)
    only(scalars.source, wanted, "this", "nested")
    return scalars.call(node, "cast", scalars.bind(node.this), options=(type_,))


def _extract(scalars: Scalars, node: exp.Extract) -> Expr:
    part = node.this
    name = part.name if isinstance(part, exp.Var | exp.Literal) else ""
    return scalars.call(
        node, "extract", scalars.bind(node.expression), options=(name.lower(),)
    )


def _part(part: str) -> Handler:
    def build(scalars: Scalars, node: exp.Expr) -> Expr:
        return scalars.call(node, "extract", scalars.bind(node.this), options=(part,))

    return Handler(build, ("this",))


def _truncate(scalars: Scalars, node: exp.Expr) -> Expr:
    return scalars.call(
        node,
        "date_trunc",
        scalars.bind(node.this),
        options=(node.text("unit").lower(),),
    )


def _difference(scalars: Scalars, node: exp.DateDiff) -> Expr:
    """DATE_DIFF(unit, a, b) is b less a; sqlglot turns them round."""
    later, earlier = scalars.bind(node.this), scalars.bind(node.expression)
    return scalars.call(
        node, "date_diff", earlier, later, options=(node.text("unit").lower(),)
    )


def _named(scalars: Scalars, node: exp.Anonymous) -> Expr:
    """Functions that sqlglot has no node for."""
    name, args = str(node.this).upper(), node.expressions
    if name in ("DATE_PART", "DATEPART") and len(args) == 2:
        part = scalars.constant(args[0], "the part of a date")
        return scalars.call(
            node, "extract", scalars.bind(args[1]), options=(str(part).lower(),)
        )
    if name in ("WEEKDAY", "DOW") and len(args) == 1:
        return scalars.call(node, "extract", scalars.bind(args[0]), options=("dow",))
    if name == "PREFIX" and len(args) == 2:
        return scalars.call(node, "starts_with", *(scalars.bind(arg) for arg in args))
    if name in ("NOW", "TODAY", "GET_CURRENT_TIMESTAMP", "TRANSACTION_TIMESTAMP"):
        raise scalars.source.problem(CLOCK, node)
    raise refuse(scalars.source, node)


def _date(scalars: Scalars, node: exp.Date) -> Expr:
    return scalars.call(node, "cast", scalars.bind(node.this), options=(Type.DATE,))


ONE: dict[Any, str] = {
    exp.Abs: "abs",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Sign: "sign",
    exp.Sqrt: "sqrt",
    exp.Ln: "ln",
    exp.Exp: "exp",
    exp.Lower: "lower",
    exp.Upper: "upper",
    exp.Length: "length",
}
TWO: dict[Any, str] = {
    exp.StartsWith: "starts_with",
    exp.Contains: "contains",
    exp.Nullif: "nullif",
}
PARTS: dict[Any, str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfYear: "doy",
    exp.DayOfWeek: "dow",
    exp.DayOfWeekIso: "isodow",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
}
BINARY = ("this", "expression")
HANDLERS: dict[type[exp.Expr], Handler] = {
    **OPERATORS,
    **{kind: operation(op, "this") for kind, op in ONE.items()},
    **{kind: operation(op, *BINARY) for kind, op in TWO.items()},
    **{kind: _part(part) for kind, part in PARTS.items()},
    # typed, safe, coalesce and the like say how DuckDB reads the node: as we do.
    exp.Add: Handler(_additive("add", 1), BINARY),
    exp.Sub: Handler(_additive("sub", -1), BINARY),
    exp.Div: Handler(operation("div", *BINARY).build, (*BINARY, "typed", "safe")),
    exp.DPipe: Handler(operation("concat", *BINARY).build, (*BINARY, "safe")),
    exp.Concat: Handler(_concat, ("expressions", "safe", "coalesce")),
    exp.Round: Handler(_round, ("this", "decimals")),
    exp.Log: Handler(_log, BINARY),
    exp.Least: _many("least"),
    exp.Greatest: _many("greatest"),
    exp.Coalesce: _many("coalesce"),
    exp.Trim: Handler(_trim, (*BINARY, "position")),
    exp.Substring: Handler(_substring, ("this", "start", "length")),
    exp.Left: Handler(_left, BINARY),
    exp.Like: Handler(_like, (*BINARY, "negate")),
    exp.ILike: Handler(_like, (*BINARY, "negate")),
    exp.Escape: Handler(_escape, BINARY),
    exp.Cast: Handler(_cast, ("this", "to")),
    exp.TryCast: Handler(_cast, ("this", "to", "safe")),
    exp.Extract: Handler(_extract, BINARY),
    exp.TimestampTrunc: Handler(_truncate, ("this", "unit")),
    exp.DateTrunc: Handler(_truncate, ("this", "unit")),
    exp.DateDiff: Handler(_difference, (*BINARY, "unit", "date_part_boundary")),
    exp.Date: Handler(_date, ("this",)),
    exp.Anonymous: Handler(_named, ("this", "expressions")),
}
