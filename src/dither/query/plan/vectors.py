"""What is measured for each aggregate: integer vectors, with what bounds one unit's
part in them.

A vector lists integers of all groups at once. A unit's whole vector is clipped jointly
(rules R12 and R13), so groups compose in parallel. Counts and sums are one number a
group; means, variances, covariances and correlations are part sums (`Moments`);
quantiles and extremes are leaf counts below a tree, clipped in L1 (rule R11).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.query.catalogue.types import Type
from dither.query.operations.expressions import Expr, Ref
from dither.query.sql.question import (
    Aggregate,
    Distinct,
    Filter,
    InPublic,
    Node,
    OfOwners,
    PerUnit,
    Project,
    Question,
    Scan,
    SemiJoin,
)
from dither.query.statistics.estimates import Moments
from dither.query.statistics.quantiles import Leaves

__all__ = ["CAP", "FINEST", "Bins", "Kind", "Vector", "one_row_each", "vectors_of"]

CAP = 1 << 45
"""A unit's part in one group is held within ± this, so that sums of squares over 2^36
groups fit 127 bits.
"""
FINEST = Fraction(1, 1 << 1000)
"""No step is smaller than this, so that each is a positive float and so is what it
divides.
"""
FINE_BITS = 12
WIDEST = 1e150
REAL_BITS = 21


class Kind(StrEnum):
    """How a vector is collected."""

    TOTAL = "total"
    UNITS = "units"
    MOMENTS = "moments"
    TREE = "tree"
    DISTINCT = "distinct"


DEGREES = {
    "avg": (1,),
    "var_samp": (2,),
    "var_pop": (2,),
    "stddev_samp": (2,),
    "stddev_pop": (2,),
    "covar_samp": (1, 1),
    "covar_pop": (1, 1),
    "corr": (2, 2),
}
KINDS = {
    "count": Kind.TOTAL,
    "sum": Kind.TOTAL,
    "units": Kind.UNITS,
    "distinct": Kind.DISTINCT,
}
KINDS |= dict.fromkeys(DEGREES, Kind.MOMENTS) | dict.fromkeys(
    ("min", "max", "quantile"), Kind.TREE
)


@dataclass(frozen=True)
class Vector:
    """One vector that is noised as a whole; it may tell several aggregates.

    `row` is the most that one row adds, in steps, in the norm that is clipped; `step`
    is the value of one step of a total. `sure` says that a unit has one row at most, by
    construction: then `row` bounds its part, and nothing is clipped. `most` is how many
    rows one unit has at most, by what the curator declared.
    """

    kind: Kind
    args: tuple[Expr, ...]
    aggregates: tuple[int, ...]
    function: str
    sure: bool
    most: int | None = None

    @cached_property
    def moments(self) -> Moments:
        ranges = [(arg.range.low or 0, arg.range.high or 0) for arg in self.args]
        whole = [arg.type is Type.INTEGER for arg in self.args]
        return Moments.over(
            DEGREES[self.function], ranges, whole, None if self.sure else self.most
        )

    @cached_property
    def leaves(self) -> Leaves:
        (arg,) = self.args
        return Leaves(
            arg.range.low or 0, arg.range.high or 0, arg.type is not Type.REAL
        )

    @cached_property
    def step(self) -> Fraction:
        """The value of one step; finer than the values where clipping scales them, so
        that little is lost.
        """
        if self.function != "sum":
            fine = self.kind in (Kind.TOTAL, Kind.UNITS) and not self.sure
            return Fraction(1, 1 << FINE_BITS) if fine else Fraction(1)
        (arg,) = self.args
        bits = REAL_BITS if arg.type is Type.REAL else 0 if self.sure else FINE_BITS
        largest, step = Fraction(arg.range.largest) or Fraction(1), Fraction(1)
        while largest / step < 1 << bits and step > FINEST:
            step /= 2
        while largest / step > 1 << max(bits + 1, 40):
            step *= 2
        return self._real_step(step, largest) if arg.type is Type.REAL else step

    @staticmethod
    def _real_step(step: Fraction, largest: Fraction) -> Fraction:
        while largest / step > 1 << (REAL_BITS + 1):
            step *= 2
        return step

    @cached_property
    def total(self) -> int | None:
        """What a unit adds at most to a sum, in steps, where that was declared by
        itself.
        """
        if (
            self.function != "sum"
            or not isinstance(self.args[0], Ref)
            or self.args[0].column.total is None
        ):
            return None
        return math.ceil(Fraction(self.args[0].column.total) / self.step)

    @cached_property
    def sign(self) -> int:
        """1 where more rows never make a number smaller, −1 where they never make it
        larger, 0 where they may both.
        """
        if self.function != "sum":
            return 1
        range_ = self.args[0].range
        return 1 if (range_.low or 0) >= 0 else -1 if (range_.high or 0) <= 0 else 0

    @cached_property
    def row(self) -> int:
        match self.kind:
            case Kind.TOTAL if self.function == "sum":
                return max(1, round(Fraction(self.args[0].range.largest) / self.step))
            case Kind.TOTAL | Kind.UNITS:
                return int(1 / self.step)
            case Kind.MOMENTS:
                return self.moments.total
            case Kind.TREE:
                return 1 if self.sure else 1 << FINE_BITS
        return 1

    @cached_property
    def size(self) -> int:
        """How many numbers a group has."""
        match self.kind:
            case Kind.MOMENTS:
                return len(self.moments.places)
            case Kind.TREE:
                return self.leaves.count
        return 1

    @cached_property
    def noisy_size(self) -> int:
        """How many numbers a group has with noise: of a tree, all its nodes."""
        return self.leaves.tree.nodes if self.kind is Kind.TREE else self.size

    @property
    def different(self) -> int | None:
        """How many different whole numbers there are within the bounds, to which values
        are held; None where they are no whole numbers.
        """
        (arg,) = self.args
        if (
            arg.type is not Type.INTEGER
            or arg.range.low is None
            or arg.range.high is None
        ):
            return None
        return int(arg.range.high) - int(arg.range.low) + 1

    @cached_property
    def levels(self) -> int:
        return self.leaves.tree.levels if self.kind is Kind.TREE else 1


@dataclass(frozen=True)
class Bins:
    """Bins of a unit's norm in steps: up to `first`, then up to first · √2, first · 2,
    …, and at last `largest`.

    The bin of a norm, as an engine computes it, is ceil(2 · log2(norm / first)), held
    from 0 to count − 1.
    """

    first: int
    largest: int

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The largest norm in each bin."""
        found = [self.first]
        while found[-1] < self.largest:
            found.append(math.isqrt(self.first**2 << len(found)))
        return (*found[:-1], max(self.largest, self.first))

    @property
    def count(self) -> int:
        return len(self.edges)

    @cached_property
    def middles(self) -> NDArray[np.float64]:
        """The norm that the units of each bin are taken to have."""
        edges = np.array(self.edges, np.float64)
        return np.concatenate([edges[:1], (edges[:-1] + edges[1:]) / 2])

    def bin(self, norm: int) -> int:
        """The bin of a norm: the reference for what engines compute."""
        return next(
            (b for b, edge in enumerate(self.edges) if norm <= edge), self.count - 1
        )


def one_row_each(node: Node) -> bool:
    """Whether every owner has at most one row, by construction and not by declaration."""
    match node:
        case Scan():
            return node.table.owner is None and node.table.link is None
        case PerUnit():
            return all(isinstance(key, Ref) and key.column.owner for key in node.keys)
        case Filter() | Project() | Distinct() | OfOwners() | InPublic() | SemiJoin():
            return one_row_each(node.source)
    return False


def vectors_of(question: Question, most: int | None = None) -> tuple[Vector, ...]:
    """The vectors of a question's aggregates; those that need the same vector share
    one.

    `most` is how many rows one unit has at most; without it, what the node says by
    itself.
    """
    most = question.rows.most if most is None else most
    for aggregate in question.aggregates:
        _check_width(aggregate)
    sure = one_row_each(question.rows)
    found: dict[tuple[object, ...], list[int]] = {}
    for index, aggregate in enumerate(question.aggregates):
        found.setdefault(_signature(aggregate), []).append(index)
    result = []
    for indices in found.values():
        first = question.aggregates[indices[0]]
        kind = KINDS[first.function]
        alone = sure or (kind is Kind.UNITS and not question.keys)
        result.append(
            Vector(kind, first.args, tuple(indices), first.function, alone, most)
        )
    return tuple(result)


def _check_width(aggregate: Aggregate) -> None:
    """Refuse a range whose width or square leaves the floats."""
    if aggregate.function in ("count", "units", "distinct"):
        return
    ends = [end for arg in aggregate.args for end in (arg.range.low, arg.range.high)]
    if any(end is None or abs(end) > WIDEST for end in ends):
        raise ArgumentError(
            "sql",
            f"{aggregate.text} has values up to beyond {WIDEST:g}; measure in "
            "larger units, or clamp them",
        )


def _signature(aggregate: Aggregate) -> tuple[object, ...]:
    kind = KINDS[aggregate.function]
    shape: object = (
        DEGREES[aggregate.function] if kind is Kind.MOMENTS else aggregate.function
    )
    return kind, "tree" if kind is Kind.TREE else shape, aggregate.args
