"""The integers that each row adds to a vector, written in SQL. Rounded, then held in
integers within public limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dither.query.catalogue.types import Type
from dither.query.collect.rows import held, nearest, over
from dither.query.engines.protocol import Dialect
from dither.query.operations.expressions import Expr
from dither.query.plan.vectors import Kind, Vector

__all__ = ["components", "leaf", "sums"]

LONG = 1 << 62
"""Differences up to this fit 64 bits, and half a step more does too."""


def sums(vector: Vector, args: Sequence[str], dialect: Dialect) -> list[str]:
    """The exact sum of each part over some rows, 0 where all are NULL; of an indicator
    of units, the largest.

    Engines count faster than they add, so what can be counted is: Σ (S − u) is S · (how
    many u there are) − Σ u. What all rows are multiplied by, their sum is.
    """
    if vector.kind is Kind.UNITS:
        return [f"max({part})" if args else part for part in components(vector, args)]
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
            f"coalesce({dialect.total(part)}, 0)" for part in components(vector, args)
        ]
    added, times = _total(vector, args[0])
    return [f"(coalesce({dialect.total(added)}, 0) * {times})"]


def _count(args: Sequence[str]) -> str:
    return f"count({args[0]})" if args else "count(*)"


def components(vector: Vector, args: Sequence[str]) -> list[str]:
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
    """What a row adds to a sum, and how many times: a value in steps."""
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
    """The leaf of a value, from 0 to count − 1; NULL for NULL."""
    leaves, (arg,) = vector.leaves, vector.args
    if arg.type is Type.REAL:
        above = (
            f"({held(x, float(leaves.low), float(leaves.high))} - "
            f"({float(leaves.low)!r}))"
        )
        return held(nearest(over(above, float(leaves.step))), 0, leaves.count - 1)
    low, step = int(leaves.low), int(leaves.step)
    number = dialect.number(x, arg.type)
    if step == 1:
        return f"({held(number, low, low + leaves.count - 1)} - ({low}))"
    inside = held(number, low, int(leaves.high))
    far = int(leaves.high) - low >= LONG
    above = f"({dialect.wide(inside) if far else inside} - ({low}) + {step // 2})"
    return held(dialect.divided(above, str(step)), 0, leaves.count - 1)
