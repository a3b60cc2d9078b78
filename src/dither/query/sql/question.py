"""A bound question: the nodes that make its rows (scan, filter, join), its keys, its
aggregates, and what is done with the released answers.

Every row of a private node has one owner (rule R9). A node's columns are addressed by
place. A private node also carries the owner's id, which no column can change: it is
fixed at the scan, joined only with itself, and clipping happens per owner after the
last join or union.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from dither.query.catalogue.model import Table
from dither.query.catalogue.types import Keys
from dither.query.operations.evaluate import leaves
from dither.query.operations.expressions import ColumnType, Expr

__all__ = [
    "Aggregate",
    "Distinct",
    "Filter",
    "InPublic",
    "Join",
    "JoinKind",
    "Key",
    "Node",
    "OfOwners",
    "Output",
    "PerUnit",
    "Project",
    "Question",
    "Scan",
    "SemiJoin",
    "Summary",
    "Union",
    "has_outer_join",
    "nodes",
    "row_tables",
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

    Two private sides are always joined on the owner besides the condition. If one side
    is public, every row keeps the private side's owner, and rows without an owner are
    dropped.
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

    `condition` refers to the columns of `source`, then of `others`; None is not a
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


def nodes(root: Node) -> list[Node]:
    """A node and all that it is made of."""
    return [root, *(node for part in root.below for node in nodes(part))]


def has_outer_join(root: Node) -> bool:
    """Whether columns may be NULL because a row had no partner."""
    return any(
        isinstance(node, Join) and node.kind is not JoinKind.INNER
        for node in nodes(root)
    )


def row_tables(root: Node) -> set[str]:
    """The private tables in which each row is a unit of its own."""
    tables = [
        node.table for node in nodes(root) if isinstance(node, Scan) and node.private
    ]
    return {
        table.name for table in tables if table.owner is None and table.link is None
    }


@dataclass(frozen=True)
class Key:
    """A grouping expression. `values` are its public values in order; None means they
    are private (rule R14).
    """

    expr: Expr
    name: str
    values: Keys | None


@dataclass(frozen=True)
class Aggregate:
    """One aggregate over the rows of a group.

    `function`: count (no argument: rows; one argument: where it is not NULL), units
    (owners of such rows), distinct, sum, avg, var_samp, var_pop, stddev_samp,
    stddev_pop, covar_samp, covar_pop, corr, min, max, quantile (its level as `level`).
    Every argument but those of count, units and distinct has a bounded range.
    """

    function: str
    args: tuple[Expr, ...] = ()
    level: float | None = None
    text: str = ""

    @property
    def largest(self) -> bool | None:
        """Whether this is the largest value of all; None if it is not an extreme."""
        levels = {"min": 0, "max": 1, "quantile": self.level}
        level = levels.get(self.function)
        return bool(level) if level in (0, 1) else None


@dataclass(frozen=True)
class Output:
    """A column of the answer: an expression over keys and aggregates."""

    name: str
    expr: Expr

    @cached_property
    def needs(self) -> set[int]:
        """The numbers of the aggregates that it is made of."""
        return leaves(self.expr)


@dataclass(frozen=True)
class Question:
    """What was asked. HAVING, ORDER BY, LIMIT and the outputs are post-processing of
    the releases, and free.
    """

    rows: Node
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expr | None = None
    order: tuple[tuple[Expr, bool], ...] = ()
    limit: int | None = None
    offset: int = 0

    @property
    def selects(self) -> bool:
        """Whether groups are shown or not by their own numbers: those that are shown
        are then a choice (rule R30).
        """
        ordered = any(leaves(expr) for expr, _ in self.order)
        ranked = self.limit is not None and ordered
        return ranked or (self.having is not None and bool(leaves(self.having)))

    @property
    def private_keys(self) -> bool:
        """Whether some keys are found in the data."""
        return any(key.values is None for key in self.keys)
