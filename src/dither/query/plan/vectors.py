"""What is measured for each aggregate: integer vectors, with what bounds one unit's
part in them.

A vector lists integers of all groups at once. A unit's whole vector is clipped jointly
(rules R12 and R13), so groups compose in parallel. Counts and sums are one number a
group; means, variances, covariances and correlations are part sums (`Moments`);
quantiles and extremes are leaf counts below a tree, clipped in L1 (rule R11).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.query.catalogue.calendar import DAY, LENGTHS
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
from dither.query.statistics.leaves import Leaves
from dither.query.statistics.rounding import MOST_ROWS, ROUNDED

__all__ = [
    "CAP",
    "FINEST",
    "KINDS",
    "MANY",
    "ROOM",
    "Bins",
    "Kind",
    "Vector",
    "one_row_each",
    "vectors_of",
]

WHOLE_BITS = 45
CAP = 1 << WHOLE_BITS
"""A unit's part in one group is held within ± this, in the steps in which norms are
computed, so that sums of squares over 2^36 groups fit 127 bits.
"""
FINEST = Fraction(1, 1 << 1000)
"""No step is smaller than this, so that each is a positive float and so is what it
divides.
"""
FINE_BITS = 12
ROUND = {Type.DATE: (1,), Type.TIMESTAMP: (DAY, *LENGTHS.values(), 1)}
"""Sizes of round values: a day; and midnights, hours, minutes, seconds, microseconds."""
WIDEST = 1e150
LEAST_BITS = 21
"""A real is never counted in larger steps than 2^-20 of the largest value."""
LITTLE_BITS = 35
"""Number of bits for the largest value that are enough; norms need not be rounded then."""
ROOM = 1 << 15
"""Number of rows of one unit that fit if none are declared; no larger radius is ever
chosen.
"""
MANY = 1 << 12
"""Over how many groups a unit is spread at most where that is not declared, as far as
rounding goes.
"""


class Kind(StrEnum):
    """How a vector is collected."""

    TOTAL = "total"
    UNITS = "units"
    MOMENTS = "moments"
    TREE = "tree"
    DISTINCT = "distinct"


PART_BITS = {Kind.TOTAL: 62, Kind.MOMENTS: 58}
"""The rows of one unit add up to at most 2 to this power in a group, by clamping. The
parts of a mean and more, of which there are nine at most, are added up in 64 bits.
"""
ROW_BITS = {1: 50, 2: 56, 4: 56}
"""One row is at most 2 to this power steps, for each total degree of its parts. Doubles
are rounded to steps exactly up to 2^51.
"""

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
    rows one unit has at most, by what the curator declared; without it, there is `room`
    for that number. `bits` is how many bits one row has at most where noise would not fit
    64 bits otherwise.
    """

    kind: Kind
    args: tuple[Expr, ...]
    aggregates: tuple[int, ...]
    function: str
    sure: bool
    most: int | None = None
    room: int = ROOM
    bits: int | None = None

    @cached_property
    def _declared(self) -> Fraction | None:
        """The most that the values of one unit add up to, if that was declared by
        itself.
        """
        if self.function != "sum" or not isinstance(self.args[0], Ref):
            return None
        total = self.args[0].column.total
        return None if total is None else Fraction(total)

    @cached_property
    def _rows(self) -> int:
        """Number of rows of one unit, of the largest value each, that fit in its part."""
        rows = self.room if self.most is None else max(self.most, 1)
        if self._declared is None:
            return rows
        largest = Fraction(self.args[0].range.largest) or Fraction(1)
        needed = max(math.ceil(self._declared / largest), 1)
        return needed if self.most is None else min(rows, needed)

    @cached_property
    def _row_bits(self) -> int:
        """Number of bits of one row, at most: as many as all rows of a unit leave in 64
        bits, and as 64-bit noise does.
        """
        degree = 1 if self.kind is Kind.TOTAL else sum(DEGREES[self.function])
        bits, rows = ROW_BITS[degree], (self._rows - 1).bit_length()
        if not self.sure:
            # One bit is left for what norms are rounded up by
            left = PART_BITS[self.kind] - rows - 1
            if self._declared is not None and WHOLE_BITS - rows >= LITTLE_BITS:
                # A total may be far below one row, and then rounding would show
                left = WHOLE_BITS - rows
            bits = min(bits, left)
        return max(bits if self.bits is None else min(bits, self.bits), LEAST_BITS)

    def coarser(self, bits: int) -> Vector:
        """The vector whose rows have fewer bits by `bits`, if its steps can be coarser."""
        if not (bits and self._is_fine):
            return self
        return replace(self, bits=(self.row - 1).bit_length() - bits)

    @cached_property
    def moments(self) -> Moments:
        ranges = [(arg.range.low or 0, arg.range.high or 0) for arg in self.args]
        whole = [arg.type is Type.INTEGER for arg in self.args]
        return Moments.over(
            DEGREES[self.function],
            ranges,
            whole,
            rows=None if self.sure else self.most,
            bits=self._row_bits,
        )

    @property
    def _is_fine(self) -> bool:
        """Whether steps are as fine as rows leave room for: not those of counts."""
        return self.kind in PART_BITS and self.function != "count"

    @cached_property
    def shift(self) -> int:
        """Number of low bits that the part of a unit loses, rounded up, before it enters a
        norm: as few as keep the rest within ± `CAP`.
        """
        if self.sure or not self._is_fine:
            return 0
        bits = (self.row - 1).bit_length() + (self._rows - 1).bit_length()
        if bits <= WHOLE_BITS:
            return 0
        return min(bits + 1, PART_BITS[self.kind]) - WHOLE_BITS

    @cached_property
    def limit(self) -> int:
        """A unit's part in one group is held within ± this, in steps."""
        return CAP << self.shift

    @cached_property
    def too_many(self) -> bool:
        """Whether so many rows of one unit are declared that they do not fit, however
        coarse the steps.
        """
        bits = (self._rows - 1).bit_length() + LEAST_BITS
        return self._is_fine and bits > WHOLE_BITS

    @cached_property
    def slack(self) -> int:
        """Largest difference between the integer norm of a unit and its norm, because each
        of its parts is rounded up (docs/proofs/query.md), where `most` rows are declared.
        """
        parts = self.size * (self.most or MANY) + 2
        return parts << self.shift if self.shift else 0

    @cached_property
    def leaves(self) -> Leaves:
        (arg,) = self.args
        return Leaves(
            arg.range.low or 0,
            arg.range.high or 0,
            arg.type is not Type.REAL,
            units=ROUND.get(arg.type, ()),
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
        most = least = self._row_bits
        if arg.type is not Type.REAL:
            least = 0 if self.sure else FINE_BITS
        largest, step = Fraction(arg.range.largest) or Fraction(1), Fraction(1)
        while largest / step < 1 << least and step > FINEST:
            step /= 2
        while largest / step > 1 << most:
            step *= 2
        return step

    @cached_property
    def rounding(self) -> float:
        """Largest difference between the sum of a group and the one of values that are not
        rounded to steps, if it has `MOST_ROWS` rows at most.
        """
        if self.function != "sum" or self._is_whole:
            return 0.0
        return float(MOST_ROWS * self.step) * ROUNDED

    @property
    def _is_whole(self) -> bool:
        """Whether values are whole numbers of steps."""
        return self.args[0].type is Type.INTEGER and self.step <= 1

    @cached_property
    def total(self) -> int | None:
        """What a unit adds at most to a sum, in steps, where that was declared by
        itself.
        """
        if self._declared is None:
            return None
        return math.ceil(self._declared / self.step)

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
        """Number of numbers in a group."""
        match self.kind:
            case Kind.MOMENTS:
                return len(self.moments.places)
            case Kind.TREE:
                return self.leaves.count
        return 1

    @cached_property
    def noisy_size(self) -> int:
        """Number of numbers in a group with noise: of a tree, all its nodes."""
        return self.leaves.tree.nodes if self.kind is Kind.TREE else self.size

    @property
    def different(self) -> int | None:
        """Number of distinct integers within the bounds that values are clamped to;
        None if values are not integers.
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
            f"{aggregate.text} may have values beyond ±{WIDEST:g}; use larger units, or "
            "clamp them",
        )


def _signature(aggregate: Aggregate) -> tuple[object, ...]:
    kind = KINDS[aggregate.function]
    shape: object = (
        DEGREES[aggregate.function] if kind is Kind.MOMENTS else aggregate.function
    )
    return kind, "tree" if kind is Kind.TREE else shape, aggregate.args
