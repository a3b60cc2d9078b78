"""Values as whole numbers, in SQL: what each row adds to a vector, what rows add up
to, and exact sums of one unit's rows. Rounded first, then held in integers within public limits.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction

from dither.query.catalogue.types import Range, Type
from dither.query.engines.protocol import Dialect
from dither.query.operations.expressions import ColumnType, Expr
from dither.query.plan.vectors import FINEST, Kind, Vector
from dither.query.sql.question import Summary
from dither.query.statistics.leaves import Leaves

__all__ = [
    "held",
    "leaf",
    "nearest",
    "over",
    "row_parts",
    "sums",
    "unit_summary",
    "unit_sums",
]

LONG = 1 << 62
"""Differences up to this fit 64 bits, and half a step more does too."""
NEGLIGIBLE = 2.0**-100
"""So little of a step is none, however many parts a step is divided into."""
MOST = 1 << 62
"""Per-unit sums of integers are held within ± this."""
FINENESS = 1 << 50
"""Per-unit sums of reals are counted in steps of at most this share of the largest
value.
"""
COARSE = 1 << 900
"""Up to this step, no number of rows makes a sum that a double cannot hold."""


def over(x: str, by: float) -> str:
    """A real in steps of a positive constant, to be rounded: zero where it is far below
    one step.

    (PostgreSQL refuses to divide where the result is too close to zero for a double.)
    """
    if by <= 1:
        return f"{x} / {by!r}"
    return f"(CASE WHEN abs({x}) < {by * NEGLIGIBLE!r} THEN 0 ELSE {x} / {by!r} END)"


def nearest(x: str) -> str:
    """The whole number nearest to a real; of two the larger. (Engines' own rounding
    differs if there are two.)
    """
    return f"CAST(floor({x} + 0.5) AS BIGINT)"


def held(x: str, low: float, high: float) -> str:
    """A value kept within limits; NULL stays NULL."""
    return (
        f"(CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END)"
    )


def sums(vector: Vector, args: Sequence[str], dialect: Dialect) -> list[str]:
    """The exact sum of each part over some rows, 0 where all are NULL; of an indicator
    of units, the largest.

    Engines count faster than they add, so what can be counted is: Σ (S − u) is S · (how
    many u there are) − Σ u. What all rows are multiplied by, their sum is.
    """
    if vector.kind is Kind.UNITS:
        return [f"max({part})" if args else part for part in row_parts(vector, args)]
    if vector.function == "count":
        return [f"({dialect.wide(_count(args))} * {vector.row})"]
    if vector.kind is Kind.MOMENTS and vector.moments.degrees == (1,):
        added, times = _place(vector, 0, args[0])
        upper = f"(coalesce({dialect.total(added)}, 0) * {times})"
        return [
            f"({dialect.wide(_count(args))} * {vector.moments.total} - {upper})",
            upper,
        ]
    if vector.kind is Kind.MOMENTS:
        return [
            f"coalesce({dialect.total(part)}, 0)" for part in row_parts(vector, args)
        ]
    added, times = _total(vector, args[0])
    return [f"(coalesce({dialect.total(added)}, 0) * {times})"]


def unit_sums(vector: Vector, args: Sequence[str], dialect: Dialect) -> list[str]:
    """What the rows of one unit and group add up to, held where sums of squares stay
    exact.
    """
    found = sums(vector, args, dialect)
    if vector.kind is Kind.UNITS:
        return found
    limit = vector.limit
    return [f"CAST({held(total, -limit, limit)} AS BIGINT)" for total in found]


def _count(args: Sequence[str]) -> str:
    return f"count({args[0]})" if args else "count(*)"


def row_parts(vector: Vector, args: Sequence[str]) -> list[str]:
    """One integer expression for each part of a total, an indicator of units, or
    moments; a NULL argument adds 0.
    """
    if vector.kind is Kind.MOMENTS:
        return _moments(vector, args)
    if vector.kind is Kind.UNITS or vector.function == "count":
        one = vector.row
        return [
            f"(CASE WHEN {args[0]} IS NULL THEN 0 ELSE {one} END)" if args else str(one)
        ]
    added, times = _total(vector, args[0])
    return [f"coalesce({added} * {times}, 0)"]


def _total(vector: Vector, x: str) -> tuple[str, int]:
    """The contribution of a row to a sum, and its multiplicity: a value in steps."""
    (arg,) = vector.args
    if arg.type is Type.INTEGER and vector.step <= 1:
        return held(x, *_whole(arg)), int(1 / vector.step)
    low, high = (
        round(end / vector.step) for end in (arg.range.low or 0, arg.range.high or 0)
    )
    inside = held(x, float(arg.range.low or 0), float(arg.range.high or 0))
    return held(nearest(over(inside, float(vector.step))), low, high), 1


def _whole(arg: Expr) -> tuple[int, int]:
    return int(arg.range.low or 0), int(arg.range.high or 0)


def _moments(vector: Vector, args: Sequence[str]) -> list[str]:
    moments, there = vector.moments, " AND ".join(f"{x} IS NOT NULL" for x in args)
    places = ["({} * {})".format(*_place(vector, of, x)) for of, x in enumerate(args)]
    found = []
    for place in moments.places:
        factors = []
        for of, i in enumerate(place):
            u, steps, degree = places[of], moments.steps[of], moments.degrees[of]
            factors += [
                str(math.comb(degree, i)),
                *[u] * i,
                *[f"({steps} - {u})"] * (degree - i),
            ]
        found.append(f"(CASE WHEN {there} THEN {' * '.join(factors)} ELSE 0 END)")
    return found


def _place(vector: Vector, of: int, x: str) -> tuple[str, int]:
    """u = round((x − low) · S / width), held from 0 to S, as a number and how many
    times it counts.

    In whole numbers where S is a multiple of the width.
    """
    (low, high), steps = vector.moments.ranges[of], vector.moments.steps[of]
    if not high > low:
        return "CAST(0 AS BIGINT)", 1
    if vector.args[of].type is Type.INTEGER and steps % (int(high) - int(low)) == 0:
        return f"({held(x, int(low), int(high))} - ({int(low)}))", steps // (
            int(high) - int(low)
        )
    share = over(
        f"({held(x, float(low), float(high))} - ({float(low)!r}))",
        vector.moments.width(of),
    )
    return held(nearest(f"{share} * {steps}"), 0, steps), 1


def leaf(vector: Vector, x: str, dialect: Dialect) -> str:
    """The leaf of a value, from 0 to count − 1; NULL for NULL.

    Engines' logarithms may differ in the last bit, and the one that is computed here
    decides: a row is in one leaf, whichever it is.
    """
    leaves, (arg,) = vector.leaves, vector.args
    number = dialect.number(x, arg.type)
    if leaves.step is not None:
        return _whole_leaf(leaves, number, dialect)
    if arg.type is Type.REAL:
        inside = held(number, float(leaves.low), float(leaves.high))
    else:
        inside = dialect.real(held(number, int(leaves.low), int(leaves.high)))
    return f"CAST(floor({_place_of(leaves, inside, dialect)}) AS BIGINT)"


def _whole_leaf(leaves: Leaves, number: str, dialect: Dialect) -> str:
    low, high, step = int(leaves.low), int(leaves.high), leaves.step
    inside = held(number, low, high)
    if step == 1:
        return f"({inside} - ({low}))"
    far = high - low >= LONG
    above = f"({dialect.wide(inside) if far else inside} - ({low}))"
    return dialect.divided(above, str(step))


def _place_of(leaves: Leaves, x: str, dialect: Dialect) -> str:
    """The place of a real, by the operations of `Places` in the same order."""
    places = leaves.places
    assert places is not None
    low, step, less, size, times = (
        dialect.constant(value, Type.REAL)
        for value in (places.low, places.step, places.less, places.size, places.times)
    )
    found = f"({x} - {low} + {step}) / {step}"
    if places.times:
        sign = "" if leaves.low >= 0 else f"sign({x}) * "
        found += f" + {times} * ({sign}ln(({size} + abs({x})) / {size}))"
    return f"{found} - {less}"


def unit_summary(summary: Summary, x: str, column: ColumnType, dialect: Dialect) -> str:
    """An exact aggregate of one unit's rows. Sums are of whole numbers, so they do not
    depend on the rows' order.
    """
    match summary.function:
        case "count":
            return "count(*)" if summary.expr is None else f"count({x})"
        case "distinct":
            return f"count(DISTINCT {x})"
        case "min" | "max":
            return f"{summary.function}({x})"
    assert summary.expr is not None
    step = (
        Fraction(1)
        if summary.expr.type is Type.INTEGER
        else real_step(summary.expr.range)
    )
    total = dialect.total(_in_steps(x, summary.expr, step))
    # Divided first: a sum may be beyond the reals where the average is not
    if summary.function == "avg":
        return _finite(f"{dialect.real(total)} / nullif(count({x}), 0)", step)
    if column.type is Type.REAL:
        return _finite(dialect.real(total), step)
    return f"CAST({held(total, -MOST, MOST)} AS BIGINT)"


def _finite(steps: str, step: Fraction) -> str:
    """So many steps as a real: the largest one where it would be infinite, for which
    PostgreSQL raises.
    """
    most = float(Fraction(sys.float_info.max) // step) if step > COARSE else None
    return f"{steps if most is None else held(steps, -most, most)} * {float(step)!r}"


def _in_steps(x: str, expr: Expr, step: Fraction) -> str:
    return x if expr.type is Type.INTEGER else nearest(over(x, float(step)))


def real_step(range_: Range) -> Fraction:
    """The steps in which reals of a range are summed exactly: a power of two, at most
    2^-32 of the largest value.
    """
    largest = Fraction(range_.largest) or Fraction(1)
    step = Fraction(1)
    while step * FINENESS > largest and step > FINEST:
        step /= 2
    while step * FINENESS * 2 <= largest:
        step *= 2
    return step
