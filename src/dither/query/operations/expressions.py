"""Row expressions and expressions over released aggregates: small frozen trees with a
type and a range.

Every expression is total: whatever the row holds, the engine computes a value within
the range, or NULL. Integers never overflow (an operation whose range leaves ±2^62 is
done in reals), and a real is finite or NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dither.query.catalogue.types import ANY, Keys, Range, Type

__all__ = [
    "AggregateLeaf",
    "Call",
    "ColumnType",
    "Expr",
    "KeyLeaf",
    "Literal",
    "Ref",
    "conjuncts",
    "refs",
]


@dataclass(frozen=True)
class ColumnType:
    """A column of a relation: its public facts. `owner` says that it is the unit's id
    itself, unchanged; `total` is what the magnitudes of its values add up to at most
    over the rows of one owner, where that was declared.

    `size` and `depth` count the parts of which its values are made, as if all SELECTs
    below were written out.
    """

    name: str
    type: Type
    range: Range = ANY
    # Hardly any two columns differ by their keys alone, so the hash leaves them out.
    keys: Keys | None = field(default=None, hash=False)
    owner: bool = False
    size: int = field(default=1, compare=False, repr=False)
    depth: int = field(default=0, compare=False, repr=False)
    total: float | None = None

    @classmethod
    def of(cls, name: str, expr: Expr) -> ColumnType:
        """The column that an expression makes; only a column by itself keeps what is
        declared about it.
        """
        if isinstance(expr, Ref):
            return replace(expr.column, name=name)
        return cls(name, expr.type, expr.range, size=expr.size, depth=expr.depth)


@dataclass(frozen=True)
class Expr:
    """An expression with its type and the range its values lie in."""

    type: Type
    range: Range

    @property
    def size(self) -> int:
        """Number of parts if all that it mentions is written out; a part in two places
        is counted twice.
        """
        return 1

    @property
    def depth(self) -> int:
        return 0


@dataclass(frozen=True)
class Ref(Expr):
    """A column of the relation below, by its place."""

    index: int
    column: ColumnType

    @classmethod
    def to(cls, index: int, column: ColumnType) -> Ref:
        return cls(column.type, column.range, index, column)

    @property
    def size(self) -> int:
        return self.column.size

    @property
    def depth(self) -> int:
        return self.column.depth


@dataclass(frozen=True)
class Literal(Expr):
    """A constant of the question: a Python int, float, str, bool, date, datetime, or
    None.
    """

    value: Any


@dataclass(frozen=True)
class Call(Expr):
    """An operation of the allow-list. `options` holds its constants, such as the part
    of a date.
    """

    op: str
    args: tuple[Expr, ...]
    options: tuple[Any, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: plans look expressions up again and again, and each has all of
        its parts below it.
        """
        return hash((self.type, self.range, self.op, self.args, self.options))

    @cached_property
    def size(self) -> int:
        return 1 + sum(arg.size for arg in self.args)

    @cached_property
    def depth(self) -> int:
        return 1 + max((arg.depth for arg in self.args), default=0)

    def fits(self, size: int, depth: int) -> bool:
        """Whether it has at most this number of parts, nested at most this deep."""
        return self.size <= size and self.depth <= depth


@dataclass(frozen=True)
class KeyLeaf(Expr):
    """After aggregation: one of the group's keys, by its place."""

    index: int


@dataclass(frozen=True)
class AggregateLeaf(Expr):
    """After aggregation: one of the released aggregates, by its place."""

    index: int


def conjuncts(expr: Expr) -> Iterator[Expr]:
    """The conditions that are joined by AND."""
    if isinstance(expr, Call) and expr.op == "and":
        for arg in expr.args:
            yield from conjuncts(arg)
    else:
        yield expr


def refs(expr: Expr) -> Iterator[Ref]:
    """The columns that an expression looks at."""
    if isinstance(expr, Ref):
        yield expr
    for arg in expr.args if isinstance(expr, Call) else ():
        yield from refs(arg)
