"""The plan's relations: frozen nodes. Every row of a private relation has one owner
(rule R9).

A relation's columns are addressed by place. A private relation also carries the owner's
id, which no column can change: it is fixed at the scan, joined only with itself, and
clipping happens per owner after the last join or union.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from dither.query.catalogue.model import Table
from dither.query.operations.expressions import Column, Expr

__all__ = [
    "Distinct",
    "Filter",
    "InPublic",
    "Join",
    "JoinKind",
    "OfOwners",
    "PerUnit",
    "Project",
    "Relation",
    "Scan",
    "SemiJoin",
    "Summary",
    "Union",
]


@dataclass(frozen=True)
class Relation:
    """Rows with these columns. `private` rows have owners; `most` is how many rows one
    owner has at most, if known.
    """

    columns: tuple[Column, ...]
    private: bool
    most: int | None

    @property
    def below(self) -> tuple[Relation, ...]:
        """The relations that it is made of."""
        names = ("source", "left", "right", "others", "values")
        return tuple(
            getattr(self, name) for name in names if hasattr(self, name)
        ) + getattr(self, "sources", ())

    @cached_property
    def parts(self) -> int:
        """How many relations it is made of, itself included; a query named by WITH
        counts wherever it is mentioned.
        """
        return 1 + sum(part.parts for part in self.below)


@dataclass(frozen=True)
class Scan(Relation):
    """A table of the catalogue: all its fields, read as declared (guarded casts,
    clipped to their bounds).
    """

    table: Table


@dataclass(frozen=True)
class Filter(Relation):
    """The rows for which the condition is true."""

    source: Relation
    condition: Expr


@dataclass(frozen=True)
class Project(Relation):
    """Expressions over each row; the owner stays."""

    source: Relation
    exprs: tuple[Expr, ...]


class JoinKind(StrEnum):
    """How rows without a partner are treated."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"


@dataclass(frozen=True)
class Join(Relation):
    """Left columns, then right columns. `condition` refers to them in that order; None
    is no further condition.

    Two private sides are always joined on the owner besides the condition. Where one
    side is public, every row keeps the private side's owner, and rows without an owner
    are dropped.
    """

    left: Relation
    right: Relation
    kind: JoinKind
    condition: Expr | None


@dataclass(frozen=True)
class OfOwners(Relation):
    """Rows whose owner has (or, negated, does not have) a row in another private
    relation of the same unit.
    """

    source: Relation
    others: Relation
    negated: bool


@dataclass(frozen=True)
class SemiJoin(Relation):
    """Rows that have (or, negated, do not have) a partner in another relation: each of
    them once.

    `condition` refers to the columns of `source`, then of `others`; None is no
    condition. Two private sides are always compared by their owners besides, so only an
    owner's own rows decide about a row; rows of a public source are never decided about
    by private ones.
    """

    source: Relation
    others: Relation
    condition: Expr | None
    negated: bool


@dataclass(frozen=True)
class InPublic(Relation):
    """Rows for which an expression equals (or, negated, equals none of) the values of a
    public relation's one column.

    A NULL expression is in no list and not outside of one; NULLs of the public column
    are left out.
    """

    source: Relation
    expr: Expr
    values: Relation
    negated: bool


@dataclass(frozen=True)
class Summary:
    """An exact aggregate of a per-unit summary: count, distinct, sum, avg, min or max
    of an expression (None: rows).
    """

    function: str
    expr: Expr | None


@dataclass(frozen=True)
class PerUnit(Relation):
    """One row for each owner and value of the keys: the keys, then exact aggregates
    over the owner's own rows.
    """

    source: Relation
    keys: tuple[Expr, ...]
    summaries: tuple[Summary, ...]


@dataclass(frozen=True)
class Distinct(Relation):
    """Each owner's different rows."""

    source: Relation


@dataclass(frozen=True)
class Union(Relation):
    """All rows of several private relations of one unit; a row keeps its owner."""

    sources: tuple[Relation, ...]
