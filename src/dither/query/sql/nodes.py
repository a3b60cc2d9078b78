"""The plan's nodes (scan, filter, join): frozen. Every row of a private node has one owner
(rule R9).

A node's columns are addressed by place. A private node also carries the owner's
id, which no column can change: it is fixed at the scan, joined only with itself, and
clipping happens per owner after the last join or union.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from dither.query.catalogue.model import Table
from dither.query.operations.expressions import ColumnType, Expr

__all__ = [
    "Distinct",
    "Filter",
    "InPublic",
    "Join",
    "JoinKind",
    "Node",
    "OfOwners",
    "PerUnit",
    "Project",
    "Scan",
    "SemiJoin",
    "Summary",
    "Union",
]


@dataclass(frozen=True)
class Node:
    """Rows with these columns. `private` rows have owners; `most` is how many rows one
    owner has at most, if known.
    """

    columns: tuple[ColumnType, ...]
    private: bool
    most: int | None

    @property
    def below(self) -> tuple[Node, ...]:
        """The nodes that it is made of."""
        names = ("source", "left", "right", "others", "values")
        return tuple(
            getattr(self, name) for name in names if hasattr(self, name)
        ) + getattr(self, "sources", ())

    @cached_property
    def parts(self) -> int:
        """How many nodes it is made of, itself included; a query named by WITH
        counts wherever it is mentioned.
        """
        return 1 + sum(part.parts for part in self.below)


@dataclass(frozen=True)
class Scan(Node):
    """A table of the catalogue: all its fields, read as declared (guarded casts,
    clipped to their bounds).
    """

    table: Table


@dataclass(frozen=True)
class Filter(Node):
    """The rows for which the condition is true."""

    source: Node
    condition: Expr


@dataclass(frozen=True)
class Project(Node):
    """Expressions over each row; the owner stays."""

    source: Node
    exprs: tuple[Expr, ...]


class JoinKind(StrEnum):
    """How rows without a partner are treated."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"


@dataclass(frozen=True)
class Join(Node):
    """Left columns, then right columns. `condition` refers to them in that order; None
    is no further condition.

    Two private sides are always joined on the owner besides the condition. Where one
    side is public, every row keeps the private side's owner, and rows without an owner
    are dropped.
    """

    left: Node
    right: Node
    kind: JoinKind
    condition: Expr | None


@dataclass(frozen=True)
class OfOwners(Node):
    """Rows whose owner has (or, negated, does not have) a row in another private
    node of the same unit.
    """

    source: Node
    others: Node
    negated: bool


@dataclass(frozen=True)
class SemiJoin(Node):
    """Rows that have (or, negated, do not have) a partner in another node: each of
    them once.

    `condition` refers to the columns of `source`, then of `others`; None is no
    condition. Two private sides are always compared by their owners besides, so only an
    owner's own rows decide about a row; rows of a public source are never decided about
    by private ones.
    """

    source: Node
    others: Node
    condition: Expr | None
    negated: bool


@dataclass(frozen=True)
class InPublic(Node):
    """Rows for which an expression equals (or, negated, equals none of) the values of a
    public node's one column.

    A NULL expression is in no list and not outside of one; NULLs of the public column
    are left out.
    """

    source: Node
    expr: Expr
    values: Node
    negated: bool


@dataclass(frozen=True)
class Summary:
    """An exact aggregate of a per-unit summary: count, distinct, sum, avg, min or max
    of an expression (None: rows).
    """

    function: str
    expr: Expr | None


@dataclass(frozen=True)
class PerUnit(Node):
    """One row for each owner and value of the keys: the keys, then exact aggregates
    over the owner's own rows.
    """

    source: Node
    keys: tuple[Expr, ...]
    summaries: tuple[Summary, ...]


@dataclass(frozen=True)
class Distinct(Node):
    """Each owner's different rows."""

    source: Node


@dataclass(frozen=True)
class Union(Node):
    """All rows of several private nodes of one unit; a row keeps its owner."""

    sources: tuple[Node, ...]
