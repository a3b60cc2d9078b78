"""How many rows joins can make of one row, by public facts alone: sizes of public
tables, declared rows, unique keys.

A condition on one person's row, joined to nothing but public tables, must not decide
about minutes of work (rule R31). Everything here is an upper bound that holds for every
private table that keeps what was declared about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from dither.errors import QueryError
from dither.query.catalogue.limits import PUBLIC_ROWS, UNDECLARED
from dither.query.catalogue.model import Field, Table
from dither.query.catalogue.types import ANY
from dither.query.operations.expressions import Call, Expr, Ref, conjuncts
from dither.query.sql.question import (
    Distinct,
    Filter,
    InPublic,
    Join,
    JoinKind,
    Node,
    OfOwners,
    PerUnit,
    Project,
    Scan,
    SemiJoin,
    Union,
    nodes,
)

__all__ = ["Sizes", "check_fan_out", "most_rows"]

LOOKS = 2_000
"""So many times nodes are looked at; then only the simplest bound is computed."""
ENDLESS = 1 << 60
"""Rows of a table without a declared number of rows per unit; no bound that depends on
it is below.
"""
Columns = frozenset[int]
NONE: Columns = frozenset()


class Sizes(Protocol):
    """Facts about public tables."""

    def rows(self, table: Table) -> int:
        """Number of rows."""

    def repeats(self, table: Table, column: int) -> int:
        """Largest number of rows with the same value of a column; NULL is not a value."""


def check_fan_out(root: Node, sizes: Sizes, most: int) -> None:
    """Refuse joins that could make too many rows. How often values repeat is looked up
    only if sizes do not suffice.
    """
    if not any(isinstance(node, Join | SemiJoin | InPublic) for node in nodes(root)):
        return
    if Reach(sizes, repeats=False).of(root).fits(most):
        return
    exact = Reach(sizes, repeats=True).of(root)
    if not exact.fits(most):
        raise QueryError(exact.problem(most))


def most_rows(root: Node, sizes: Sizes) -> int | None:
    """Largest number of rows of one owner, by declared rows and the sizes of public
    tables; None if that is open.
    """
    if not any(isinstance(node, Join) for node in nodes(root)):
        return root.most
    tables = [node.table for node in nodes(root) if isinstance(node, Scan)]
    links = frozenset(
        (table.link.table, table.link.key) for table in tables if table.link is not None
    )
    found = Reach(sizes, repeats=True, undeclared=ENDLESS, links=links).rows(root)
    return None if found >= ENDLESS else found


@dataclass(frozen=True)
class Found:
    """The rows that joins make of one private row at most, and the most rows of a
    public part.
    """

    fan_out: int
    public: int

    def fits(self, most: int) -> bool:
        return self.fan_out <= most and self.public <= PUBLIC_ROWS

    def problem(self, most: int) -> str:
        way = "join fewer tables, or join on columns that match fewer rows"
        if self.public > PUBLIC_ROWS:
            return (
                f"the joins of public tables make {self.public:,} rows, and the limit "
                f"is {PUBLIC_ROWS:,}; {way}"
            )
        return (
            f"the joins can make {self.fan_out:,} rows from one row, and the limit is "
            f"{most:,}; {way}, or ask the curator to declare rows, the most rows per unit"
        )


@dataclass
class Reach:
    """Upper bounds on rows. Each is looked for once."""

    sizes: Sizes
    repeats: bool
    undeclared: int = UNDECLARED
    links: frozenset[tuple[str, str]] | None = None
    """The keys that must be unique, because rows find their owners by them; None: all
    that ever are.
    """
    known: dict[tuple[int, Columns], int] = field(default_factory=dict)
    stored: dict[int, int] = field(default_factory=dict)

    def of(self, root: Node) -> Found:
        """The worst of all parts. Each is compared with the stored rows that its own
        rows come from, so that a table of many rows somewhere else in the question
        allows nothing."""
        fan_out, public = [1], [0]
        for node in nodes(root):
            rows, stored = self._work(node)
            (fan_out if node.private else public).append(
                -(-rows // stored) if node.private else rows
            )
        return Found(max(fan_out), max(public))

    def _work(self, node: Node) -> tuple[int, int]:
        """The rows that an engine may have to look at for a node, and of how many
        stored rows they are made.
        """
        if not isinstance(node, SemiJoin):
            return self.rows(node), self._stored(node)
        # Other conditions are tried for every pair
        partners = _equal(node.condition, len(node.source.columns))[1]
        pairs = self.rows(node.source) * self.rows(node.others, partners)
        return pairs, max(self._stored(node.source), self._stored(node.others))

    def _stored(self, node: Node) -> int:
        """The most rows that one owner has in a stored table of which a node's rows
        are made.
        """
        if id(node) not in self.stored:
            if isinstance(node, Scan):
                found = self.rows(node) if node.private else 1
            else:
                made_of = (
                    node.below if isinstance(node, Join | Union) else node.below[:1]
                )
                found = max(map(self._stored, made_of))
            self.stored[id(node)] = found
        return self.stored[id(node)]

    def rows(self, node: Node, columns: Columns = NONE) -> int:
        """Largest number of rows that agree in some columns; of a private node, the
        number of rows of one owner.
        """
        key = id(node), columns
        if key not in self.known:
            self.known[key] = max(1, self._rows(node, columns))
        return self.known[key]

    def _rows(self, node: Node, columns: Columns) -> int:
        match node:
            case Scan():
                return self._scanned(node, columns)
            case Filter() | OfOwners() | SemiJoin() | InPublic() | Distinct():
                return self.rows(node.source, columns)
            case Project():
                return self.rows(node.source, _behind(node.exprs, columns))
            case PerUnit():
                return self._summarised(node, columns)
            case Union():
                return sum(self.rows(source, columns) for source in node.sources)
            case Join():
                return self._joined(node, columns)
        raise TypeError(f"unknown node {type(node).__name__}")

    def _scanned(self, scan: Scan, columns: Columns) -> int:
        table = scan.table
        if not table.public:
            alone = any(self._unique(table, table.fields[index]) for index in columns)
            return 1 if alone else self.undeclared if scan.most is None else scan.most
        rows = self.sizes.rows(table)
        if not self.repeats:
            return rows
        return min([rows, *(self.sizes.repeats(table, index) for index in columns)])

    def _unique(self, table: Table, field: Field) -> bool:
        """Whether a value is there once. Rows with a key that is there twice have no
        owner, but only where a row of another table leads to it; and values that are
        held within bounds may meet."""
        if self.links is None:
            return field.name in table.linked
        return (table.name, field.name) in self.links and field.range == ANY

    def _summarised(self, node: PerUnit, columns: Columns) -> int:
        """One row for each owner and key: if all keys agree, there is one."""
        own = {
            i
            for i, key in enumerate(node.keys)
            if isinstance(key, Ref) and key.column.owner
        }
        if set(range(len(node.keys))) <= own | columns:
            return 1
        return self.rows(
            node.source,
            _behind(node.keys, frozenset(i for i in columns if i < len(node.keys))),
        )

    def _joined(self, join: Join, columns: Columns) -> int:
        """For each row of one side, its partners on the other: the smaller of the two
        ways to count.
        """
        width = len(join.left.columns)
        here = frozenset(index for index in columns if index < width)
        there = frozenset(index - width for index in columns if index >= width)
        left, right = _equal(join.condition, width)
        keeps_left = join.kind in (JoinKind.LEFT, JoinKind.FULL)
        keeps_right = join.kind in (JoinKind.RIGHT, JoinKind.FULL)
        ours, theirs = self.rows(join.left, here), self.rows(join.right, there)
        # A row that is kept without a partner takes the place of its partners, which
        # were counted as one at least.
        found = ours * self.rows(join.right, there | right) + (
            theirs if keeps_right else 0
        )
        if left and len(self.known) < LOOKS:
            other = theirs * self.rows(join.left, here | left) + (
                ours if keeps_left else 0
            )
            found = min(found, other)
        return found


def _behind(exprs: Iterable[Expr], columns: Columns) -> Columns:
    """The columns that some expressions are, each by itself."""
    return frozenset(
        expr.index
        for i, expr in enumerate(exprs)
        if i in columns and isinstance(expr, Ref)
    )


def _equal(condition: Expr | None, width: int) -> tuple[Columns, Columns]:
    """The columns of each side that must equal something of the other side. The first
    `width` are of the left one.
    """
    left, right = set[int](), set[int]()
    for part in () if condition is None else conjuncts(condition):
        if isinstance(part, Call) and part.op == "eq":
            for one, other in (part.args, part.args[::-1]):
                sides = {index < width for index in _mentioned(other)}
                if isinstance(one, Ref) and (one.index < width) not in sides:
                    (left if one.index < width else right).add(
                        one.index if one.index < width else one.index - width
                    )
    return frozenset(left), frozenset(right)


def _mentioned(expr: Expr) -> set[int]:
    if isinstance(expr, Ref):
        return {expr.index}
    return set().union(*map(_mentioned, expr.args)) if isinstance(expr, Call) else set()
