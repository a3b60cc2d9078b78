"""The range of an aggregate before it is measured, which follows from what was
declared. An interval that holds all of it gives no information.
"""

from __future__ import annotations

from dither.query.plan.vectors import Kind, Vector
from dither.query.sql.question import Aggregate
from dither.query.statistics.intervals import Ends
from dither.query.statistics.totals import SIDES

__all__ = ["known_of"]


def known_of(aggregate: Aggregate, vector: Vector | None) -> Ends:
    """The ends between which an aggregate lies whatever the data; of a quantile, as
    edges of its leaves. A count needs no vector of its own.
    """
    if vector is None:
        return SIDES[1]
    match vector.kind:
        case Kind.TREE:
            leaves = vector.leaves
            return leaves.start(0), leaves.end(leaves.count - 1)
        case Kind.MOMENTS:
            return _of_moments(aggregate.function, vector)
        case Kind.DISTINCT if vector.different is not None:
            return 0, vector.different
    return SIDES[vector.sign]


def _of_moments(function: str, vector: Vector) -> Ends:
    moments = vector.moments
    match function.partition("_")[0]:
        case "avg":
            low = float(moments.ranges[0][0])
            return low, low + moments.width()
        case "var":
            return 0.0, moments.width() ** 2 / 4
        case "stddev":
            return 0.0, moments.width() / 2
        case "covar":
            most = moments.width(0) * moments.width(1) / 4
            return -most, most
    return -1.0, 1.0
