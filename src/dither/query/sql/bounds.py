"""Which expressions an aggregate may be taken of: the right type, and a public bound on
both sides.
"""

from __future__ import annotations

from sqlglot import exp

from dither.query.catalogue.types import Type
from dither.query.operations.expressions import Expr, Ref
from dither.query.sql.aggregates import ORDERED
from dither.query.sql.question import Aggregate
from dither.query.sql.scope import OWNER, Rows
from dither.query.sql.text import QueryText

__all__ = ["check", "check_bounds", "check_types"]

FREE = ("count", "units", "distinct")
EXTREMES = ("min", "max", "quantile")


def check(text: QueryText, node: exp.Expr, rows: Rows, aggregate: Aggregate) -> None:
    """Refuse an aggregate whose noise no bound could be computed for."""
    if aggregate.function in FREE:
        return
    check_types(text, node, rows, aggregate)
    check_bounds(text, node, aggregate)


def check_types(
    text: QueryText, node: exp.Expr, rows: Rows, aggregate: Aggregate
) -> None:
    for arg in aggregate.args:
        if isinstance(arg, Ref) and OWNER in rows.ids[arg.index]:
            name = arg.column.name
            raise text.problem(
                (
                    f"{name} is the unit's id and can only be counted; write "
                    f"COUNT(DISTINCT {name})"
                ),
                node,
            )
        if aggregate.function in EXTREMES and arg.type not in ORDERED:
            raise text.problem(
                (
                    f"{aggregate.text} needs numbers or dates; count the values with "
                    "GROUP BY instead"
                ),
                node,
            )
        if aggregate.function not in EXTREMES and not arg.type.numeric:
            raise text.problem(f"{aggregate.text} needs numbers; {_number(arg)}", node)


def check_bounds(text: QueryText, node: exp.Expr, aggregate: Aggregate) -> None:
    for arg in aggregate.args:
        if not arg.range.bounded:
            raise text.problem(_missing(aggregate, arg), node)


def _number(arg: Expr) -> str:
    if arg.type in (Type.DATE, Type.TIMESTAMP):
        return (
            "take MIN, MAX or MEDIAN of a date, or a number made by "
            "DATE_DIFF or EXTRACT"
        )
    return "write CAST(x AS DOUBLE) to read a number from a text, or use COUNT"


def _missing(aggregate: Aggregate, arg: Expr) -> str:
    """The missing bound and the two ways out."""
    sides = [
        side
        for side, end in (("lower", arg.range.low), ("upper", arg.range.high))
        if end is None
    ]
    missing = "none" if len(sides) == 2 else f"no {sides[0]} one"
    what = arg.column.name if isinstance(arg, Ref) else "its argument"
    low, high = (
        ("DATE '2020-01-01'", "DATE '2024-12-31'")
        if arg.type in (Type.DATE, Type.TIMESTAMP)
        else ("0", "100")
    )
    name = arg.column.name if isinstance(arg, Ref) else "x"
    return (
        f"{aggregate.text} needs a lower and an upper bound, and {what} has {missing}; "
        "declare them (bounds= or the catalogue), or clamp it here: "
        f"LEAST(GREATEST({name}, {low}), {high})"
    )
