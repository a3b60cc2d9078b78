"""What a SELECT can see: rows, the names of their columns, and scalar expressions over
them. What an operation means is in its record; here are names, constants, brackets, and
what is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sqlglot import exp

from dither.errors import QueryError
from dither.query.catalogue.limits import ALL_COLUMNS
from dither.query.catalogue.model import Catalogue
from dither.query.catalogue.names import nearest, same
from dither.query.catalogue.types import Type
from dither.query.operations.arguments import TypeProblem, literal
from dither.query.operations.calls import PARTS, READINGS, call
from dither.query.operations.expressions import ColumnType, Expr, Literal, Ref
from dither.query.operations.reading import Reading, constant
from dither.query.sql.question import Filter, Node, Project
from dither.query.sql.text import CLAUSES, CLOCK, NAMED, QueryText, refuse

__all__ = [
    "ANONYMOUS",
    "OWNER",
    "Context",
    "Entry",
    "Ids",
    "Nested",
    "Rows",
    "Scalars",
    "Scope",
    "WrittenNode",
    "aggregates_in",
    "only",
    "row_scalars",
]

OWNER = "owner"
Ids = frozenset[str]
CLOCKS = ("NOW", "TODAY", "GET_CURRENT_TIMESTAMP", "TRANSACTION_TIMESTAMP")
AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup, exp.IgnoreNulls)
ANONYMOUS = {"MEAN": "avg", "VAR": "var_samp"}
"""Aggregates that sqlglot has no node for."""


@dataclass(frozen=True)
class Rows:
    """A node, and for each column which ids its values are.

    A column's ids are "owner" (its value, unless NULL, is the id of the row's owner)
    or names such as "visits.visit_id" (its value, unless NULL, is that key of a row
    with the same owner). Two rows whose columns share an id and are equal therefore
    have the same owner.
    """

    node: Node
    ids: tuple[Ids, ...]

    def ref(self, index: int) -> Ref:
        column = self.node.columns[index]
        return Ref(column.type, column.range, index, column)

    def filtered(self, condition: Expr) -> Rows:
        source = self.node
        return replace(
            self,
            node=Filter(source.columns, source.private, source.most, source, condition),
        )

    def projected(self, named: list[tuple[str, Expr]]) -> Rows:
        """Expressions over rows. Only a column by itself keeps what is declared about
        it.
        """
        source = self.node
        columns = tuple(ColumnType.of(name, expr) for name, expr in named)
        exprs = tuple(expr for _, expr in named)
        if columns == source.columns and exprs == tuple(
            self.ref(index) for index in range(len(columns))
        ):
            return self
        ids = tuple(
            self.ids[expr.index] if isinstance(expr, Ref) else frozenset()
            for expr in exprs
        )
        return Rows(Project(columns, source.private, source.most, source, exprs), ids)


@dataclass(frozen=True)
class Entry:
    """A name for a column. A `shared` one is part of a USING column, and is reached as
    table.name only.
    """

    table: str
    name: str
    index: int
    shared: bool = False


@dataclass(frozen=True)
class Scope:
    """The rows of a FROM clause and the names of their columns."""

    rows: Rows
    entries: tuple[Entry, ...]

    @cached_property
    def _named(self) -> dict[str, list[Entry]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.name.casefold(), []).append(entry)
        return found

    @property
    def tables(self) -> list[str]:
        return list(dict.fromkeys(entry.table for entry in self.entries if entry.table))

    def find(self, name: str, table: str = "") -> list[Entry]:
        named = self._named.get(name.casefold(), [])
        if table:
            return [entry for entry in named if same(entry.table, table)]
        return [entry for entry in named if not entry.shared]

    def ref(self, text: QueryText, node: exp.Column) -> Ref:
        """The column that a name means."""
        if node.args.get("db") is not None:
            raise text.problem(
                "a column name has at most two parts here; write table.column", node
            )
        only(text, node, "this", "table")
        found = self.find(node.name, node.table)
        if len(found) > 1:
            names = {f"{entry.table}.{entry.name}" for entry in found if entry.table}
            way = (
                f"write {' or '.join(sorted(names))}"
                if len(names) == len(found)
                else "rename one of these columns with AS"
            )
            raise text.problem(
                f"the column name {node.name!r} is ambiguous here; {way}", node
            )
        if not found:
            raise text.problem(self._unknown(node), node)
        return self.rows.ref(found[0].index)

    def _unknown(self, node: exp.Column) -> str:
        if node.table and not any(same(node.table, table) for table in self.tables):
            return (
                f"there is no table or alias {node.table!r} in FROM; "
                f"{nearest(node.table, self.tables)}"
            )
        of = f" in {node.table!r}" if node.table else ""
        visible = [
            entry
            for entry in self.entries
            if not node.table or same(entry.table, node.table)
        ]
        quotes = (
            f" (a string needs single quotes: '{node.name}')"
            if node.this.args.get("quoted")
            else ""
        )
        return (
            f"there is no column {node.name!r}{of}; "
            f"{nearest(node.name, [entry.name for entry in visible])}{quotes}"
        )


@dataclass(frozen=True)
class Nested(Scope):
    """The names of a SELECT inside WHERE: its own, and for names that it does not have
    those around it.
    """

    around: tuple[Entry, ...] = ()

    def find(self, name: str, table: str = "") -> list[Entry]:
        own = super().find(name, table)
        if own or any(same(table, known) for known in self.tables):
            return own
        return Scope(self.rows, self.around).find(name, table)


@dataclass(frozen=True)
class Context:
    """What every part of a question is bound in: its text, the catalogue, and the
    queries named by WITH.
    """

    text: QueryText
    catalogue: Catalogue
    query: Callable[[Context, exp.Expr], Rows]
    named: Mapping[str, Rows] = field(default_factory=dict)
    _columns: Counter[None] = field(default_factory=Counter)
    scans: dict[str, Rows] = field(default_factory=dict)

    def made(self, columns: int, node: exp.Expr) -> None:
        """Count columns that a part of the question has: also of parts that nothing
        mentions, which cost time too.
        """
        self._columns[None] += columns
        if self._columns[None] > ALL_COLUMNS:
            message = (
                "the parts of the question have more than "
                f"{ALL_COLUMNS:,} columns in total; select fewer"
            )
            raise self.text.problem(message, node)


def only(text: QueryText, node: exp.Expr, *allowed: str) -> None:
    """Refuse a node with any part that is not read: nothing that was written is
    silently left out.
    """
    for name, value in node.args.items():
        if (
            name not in allowed
            and value is not None
            and value is not False
            and value != []
        ):
            place = value[0] if isinstance(value, list) else value
            inner = place if isinstance(place, exp.Expr) else node
            if isinstance(node, exp.Func) and name not in NAMED:
                raise text.problem(
                    f"{text.name(node)} does not support this part; remove it",
                    inner,
                )
            word = CLAUSES.get(name) or NAMED.get(name) or name.strip("_").upper()
            raise text.problem(
                f"{word} is not supported here; remove it",
                inner,
                CLAUSES.get(name, ""),
            )


def _is_aggregate(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in ANONYMOUS
    return isinstance(node, AGGREGATES)


def aggregates_in(*nodes: exp.Expr) -> bool:
    """Whether an aggregate stands in some expression (and not in a SELECT inside it)."""
    return any(
        _is_aggregate(part)
        for node in nodes
        for part in node.walk(
            prune=lambda part: isinstance(part, exp.Query | exp.Window)
        )
    )


def _none(_: exp.Expr) -> Expr | None:
    """Leaves an aggregate to the operations, which refuse it."""
    return None


@dataclass(frozen=True)
class Scalars:
    """Binds scalar expressions. What differs from place to place is given: `leaf` binds
    columns and keys, `aggregate` binds aggregates.
    """

    text: QueryText
    leaf: Callable[[exp.Expr], Expr | None]
    aggregate: Callable[[exp.Expr], Expr | None] = _none

    def bind(self, node: exp.Expr | None) -> Expr:
        """The expression that a node means: a constant, a leaf, or an operation."""
        if node is None:
            raise self.text.problem(
                "a function has too few arguments; write them in its parentheses"
            )
        if type(node) in PLAIN:
            return PLAIN[type(node)](self, node)
        found = self.aggregate(node) if _is_aggregate(node) else self.leaf(node)
        return self._operation(node) if found is None else found

    def _operation(self, node: exp.Expr) -> Expr:
        """The first operation that takes the node. Parts that none of them reads are
        refused.
        """
        key: object = type(node)
        if isinstance(node, exp.Anonymous):
            key = (str(node.this).upper(), len(node.expressions))
            self.only(node, "this", "expressions")
            if str(node.this).upper() in CLOCKS:
                raise self.problem(CLOCK, node)
        elif key in PARTS:
            self.only(node, *PARTS[key])
        written = WrittenNode(node, self)
        for record, reading in READINGS.get(key, ()):
            found = written.read(record.name, reading)
            if found is not None:
                return found
        raise refuse(self.text, node)

    def only(self, node: exp.Expr, *parts: str) -> None:
        """Refuse a node that has any other part."""
        only(self.text, node, *parts)

    def problem(self, message: str, node: exp.Expr, word: str = "") -> QueryError:
        """The error that says what is wrong with a node."""
        return self.text.problem(message, node, word)

    def condition(self, node: exp.Expr, what: str) -> Expr:
        """An expression that is true or false."""
        found = self.bind(node)
        if found.type is Type.BOOLEAN:
            return found
        raise self.text.problem(
            f"{what} needs a condition; write a comparison such as x > 0", node
        )

    def call(
        self, node: exp.Expr, op: str, *args: Expr, options: tuple[Any, ...] = ()
    ) -> Expr:
        try:
            return call(op, *args, options=options)
        except TypeProblem as problem:
            raise self.text.problem(str(problem), node) from None

    def literal(self, node: exp.Expr, value: Any) -> Literal:
        try:
            return literal(value)
        except TypeProblem as problem:
            raise self.text.problem(str(problem), node) from None

    def constant(self, node: exp.Expr | None, what: str) -> Any:
        """The value of a part that must be written as a constant."""
        found = constant(node)
        if found is None:
            raise self.text.problem(
                f"{what} must be a constant; write a number or a string", node
            )
        return found

    def whole(self, node: exp.Expr | None, what: str) -> int:
        value = self.constant(node, what)
        if isinstance(value, int):
            return value
        raise self.text.problem(f"{what} must be a whole number, such as 2", node)


@dataclass(frozen=True)
class WrittenNode:
    """A node of a question. Each of its parts is bound once, however many operations
    look at it before one takes it; otherwise every link of a chain of + would double
    the work.
    """

    node: Any
    binder: Scalars
    bound: dict[str, Expr] = field(default_factory=dict)

    def read(self, op: str, reading: Reading) -> Expr | None:
        """The node as an operation that is written like this, or None if it is another
        one.
        """
        if reading.bind is not None:
            return reading.bind(self)
        if reading.count is not None:
            return self.call(op, *self.many())
        there = [part for part in reading.args if self.node.args.get(part)]
        return self.call(op, *[self.arg(part) for part in there])

    def arg(self, part: str = "this") -> Expr:
        """A part of the node as an expression."""
        if part not in self.bound:
            self.bound[part] = self.binder.bind(self.node.args.get(part))
        return self.bound[part]

    def many(self, part: str = "expressions") -> list[Expr]:
        """A part that is a list."""
        return [self.binder.bind(node) for node in self.node.args.get(part) or ()]

    def call(self, op: str, *args: Expr, options: tuple[Any, ...] = ()) -> Expr:
        """An operation in the place of the node."""
        return self.binder.call(self.node, op, *args, options=options)

    def problem(self, message: str) -> QueryError:
        """The error that says what is wrong with the node."""
        return self.binder.problem(message, self.node)


def _literal(scalars: Scalars, node: exp.Expr) -> Expr:
    value = constant(node)
    if value is None:
        raise scalars.problem(
            "this number cannot be read; write it in decimal digits", node
        )
    return scalars.literal(node, value)


Bind = Callable[[Scalars, exp.Expr], Expr]
PLAIN: dict[type[exp.Expr], Bind] = {
    exp.Literal: _literal,
    exp.Null: lambda scalars, node: scalars.literal(node, None),
    exp.Boolean: lambda scalars, node: scalars.literal(node, bool(node.this)),
    exp.Paren: lambda scalars, node: scalars.bind(node.this),
}
"""The meaning of nodes that are not operations, the same everywhere. sqlglot keeps no
other part in them that could go unread.
"""


def row_scalars(text: QueryText, scope: Scope, place: str) -> Scalars:
    """Expressions over single rows; an aggregate in them is refused."""

    def leaf(node: exp.Expr) -> Expr | None:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return scope.ref(text, node)
        return None

    def refused(node: exp.Expr) -> Expr | None:
        raise text.problem(_misplaced(place), node)

    return Scalars(text, leaf, refused)


def _misplaced(place: str) -> str:
    way = {
        "WHERE": "move the condition to HAVING",
        "an aggregate": (
            "aggregate per unit in a subquery in FROM, and then over the units"
        ),
    }
    return (
        f"an aggregate is not allowed in {place}; "
        f"{way.get(place, 'use it in SELECT, HAVING or ORDER BY')}"
    )
