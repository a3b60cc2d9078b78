"""Row expressions and expressions over released aggregates: small frozen trees with a type and a range.

Every expression is total: whatever the row holds, the engine computes a value within the range, or NULL. Integers never
overflow (an operation whose range leaves ±2^62 is done in reals), and a real is finite or NULL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dither.query.sql.types import ANY, Range, Type

__all__ = ["AggregateLeaf", "Call", "Column", "Expr", "KeyLeaf", "Literal", "Ref"]


@dataclass(frozen=True)
class Column:
    """A column of a relation: its public facts. `owner` says that it is the unit's id itself, unchanged."""

    name: str
    type: Type
    range: Range = ANY
    keys: tuple[Any, ...] | None = None
    owner: bool = False


@dataclass(frozen=True)
class Expr:
    """An expression with its type and the range its values lie in."""

    type: Type
    range: Range


@dataclass(frozen=True)
class Ref(Expr):
    """A column of the relation below, by its place."""

    index: int
    column: Column

    @classmethod
    def to(cls, index: int, column: Column) -> Ref:
        return cls(column.type, column.range, index, column)


@dataclass(frozen=True)
class Literal(Expr):
    """A constant of the question: a Python int, float, str, bool, date, datetime, or None."""

    value: Any


@dataclass(frozen=True)
class Call(Expr):
    """An operation of the allow-list. `options` holds its constants, such as the part of a date.

    `size` and `depth` count its parts as if written out: an argument that stands in two places counts twice.
    """

    op: str
    args: tuple[Expr, ...]
    options: tuple[Any, ...] = ()
    size: int = field(init=False, compare=False, repr=False)
    depth: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        calls = [arg for arg in self.args if isinstance(arg, Call)]
        object.__setattr__(self, "size", 1 + len(self.args) - len(calls) + sum(call.size for call in calls))
        object.__setattr__(self, "depth", 1 + max((call.depth for call in calls), default=0))


@dataclass(frozen=True)
class KeyLeaf(Expr):
    """After aggregation: one of the group's keys, by its place."""

    index: int


@dataclass(frozen=True)
class AggregateLeaf(Expr):
    """After aggregation: one of the released aggregates, by its place."""

    index: int
