"""What may stand after GROUP BY: its keys, aggregates, and operations on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sqlglot import exp

from dither.errors import QueryError
from dither.query.catalogue.limits import AGGREGATES, KEYS
from dither.query.catalogue.names import same
from dither.query.operations.expressions import Expr, Literal
from dither.query.operations.reading import constant, plain
from dither.query.sql.aggregates import Reader, aggregates_in, is_aggregate
from dither.query.sql.question import Aggregate
from dither.query.sql.refusals import only
from dither.query.sql.scalars import Scalars
from dither.query.sql.scope import Scope
from dither.query.sql.text import QueryText

__all__ = [
    "Grouping",
    "Item",
    "group_keys",
    "item_at",
    "items_of",
    "keyed",
    "row_scalars",
]


@dataclass(frozen=True)
class Item:
    """An item of SELECT: its expression and the name it was given, if any."""

    node: exp.Expr
    alias: str = ""

    @property
    def name(self) -> str:
        return self.alias or (
            self.node.name if isinstance(self.node, exp.Column) else ""
        )


def items_of(text: QueryText, select: exp.Select) -> list[Item]:
    if not select.expressions:
        raise text.problem(
            "SELECT names nothing to ask for; write SELECT COUNT(*) FROM …",
            select,
            "SELECT",
        )
    return [_item(text, node) for node in select.expressions]


def _item(text: QueryText, node: exp.Expr) -> Item:
    if not isinstance(node, exp.Alias):
        return Item(node)
    only(text, node, "this", "alias")
    return Item(node.this, node.alias)


def row_scalars(text: QueryText, scope: Scope, place: str) -> Scalars:
    """Expressions over single rows; an aggregate in them is refused."""

    def leaf(node: exp.Expr) -> Expr | None:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return scope.ref(text, node)
        if is_aggregate(node):
            raise text.problem(_misplaced(place), node)
        return None

    return Scalars(text, leaf)


def _misplaced(place: str) -> str:
    way = {
        "WHERE": "write the condition on it in HAVING",
        "an aggregate": (
            "aggregate for each unit in a SELECT inside FROM, then over the units"
        ),
    }
    return (
        f"an aggregate cannot stand in {place}; "
        f"{way.get(place, 'use it in SELECT, HAVING or ORDER BY')}"
    )


def group_keys(
    text: QueryText, scope: Scope, select: exp.Select, items: list[Item]
) -> dict[Expr, exp.Expr]:
    """The expressions of GROUP BY, by themselves, by alias or by place, and where they
    stand.
    """
    group = select.args.get("group")
    if group is None:
        return {}
    only(text, group, "expressions", "all")
    if group.args.get("all"):
        nodes: Iterable[exp.Expr] = [
            item.node for item in items if not aggregates_in(item.node)
        ]
    elif group.expressions:
        nodes = [
            _key_node(text, scope, plain(node), items) for node in group.expressions
        ]
    else:
        raise text.problem(
            "GROUP BY needs a column or an expression; name one", group, "GROUP BY"
        )
    return keyed(row_scalars(text, scope, "GROUP BY"), nodes)


def keyed(scalars: Scalars, nodes: Iterable[exp.Expr]) -> dict[Expr, exp.Expr]:
    """Grouping expressions and their places; constants group nothing and are left out."""
    found = {scalars.bind(node): node for node in nodes}
    keys = {key: node for key, node in found.items() if not isinstance(key, Literal)}
    if len(keys) > KEYS:
        raise scalars.text.problem(
            f"one SELECT can have {KEYS} keys; group by fewer",
            list(keys.values())[KEYS],
        )
    return keys


def _key_node(
    text: QueryText, scope: Scope, node: exp.Expr, items: list[Item]
) -> exp.Expr:
    """What an item of GROUP BY means: a place in SELECT, a column, or else an alias."""
    if isinstance(node, exp.Tuple):
        raise text.problem(
            "GROUP BY takes its columns without brackets; write GROUP BY a, b", node
        )
    place = constant(node)
    if isinstance(place, int):
        return item_at(text, node, place, items).node
    if isinstance(node, exp.Column) and not node.table and not scope.find(node.name):
        return next((item.node for item in items if same(item.alias, node.name)), node)
    return node


def item_at(text: QueryText, node: exp.Expr, place: int, items: list[Item]) -> Item:
    if 1 <= place <= len(items):
        return items[place - 1]
    raise text.problem(
        f"SELECT has {len(items)} items; write a place from 1 to {len(items)}", node
    )


@dataclass
class Grouping:
    """Binds expressions over groups, and collects the aggregates they need."""

    text: QueryText
    scope: Scope
    keys: list[Expr]
    items: list[Item]
    key_leaf: Callable[[int], Expr]
    aggregate_leaf: Callable[[int, Aggregate], Expr]
    check: Callable[[exp.Expr, Aggregate], None]
    aggregates: list[Aggregate] = field(default_factory=list)

    def bind(self, node: exp.Expr) -> Expr:
        return Scalars(self.text, self._leaf).bind(node)

    def condition(self, node: exp.Expr) -> Expr:
        return Scalars(self.text, self._leaf).condition(node, "HAVING")

    def _leaf(self, node: exp.Expr) -> Expr | None:
        if is_aggregate(node):
            return self._aggregate(node)
        if not isinstance(node, exp.Literal | exp.Null | exp.Boolean | exp.Star):
            found = self._key(node)
            if found is not None:
                return found
        return self._named(node) if isinstance(node, exp.Column) else None

    def _key(self, node: exp.Expr) -> Expr | None:
        if aggregates_in(node):
            return None
        try:
            expr = row_scalars(self.text, self.scope, "GROUP BY").bind(node)
        except QueryError:
            return None  # an alias stands in it, or it is wrong: its parts will tell
        return self.key_leaf(self.keys.index(expr)) if expr in self.keys else None

    def _named(self, node: exp.Column) -> Expr:
        """A name that is no key: another item of SELECT by its alias."""
        for item in self.items:
            if not node.table and item.alias and same(item.alias, node.name):
                return self._plainly(item.node)
        column = self.scope.ref(self.text, node).column.name
        way = f"add {column} to GROUP BY, or aggregate it, such as COUNT({column})"
        raise self.text.problem(
            f"{column} is neither in GROUP BY nor in an aggregate; {way}", node
        )

    def _plainly(self, node: exp.Expr) -> Expr:
        """An item of SELECT, in which aliases have no meaning."""
        inner = Grouping(
            self.text,
            self.scope,
            self.keys,
            [],
            self.key_leaf,
            self.aggregate_leaf,
            self.check,
            self.aggregates,
        )
        return inner.bind(node)

    def _aggregate(self, node: exp.Expr) -> Expr:
        reader = Reader(
            row_scalars(self.text, self.scope, "an aggregate"), self.scope.rows
        )
        found = reader.read(node)
        self.check(node, found)
        for index, known in enumerate(self.aggregates):
            if (known.function, known.args, known.level) == (
                found.function,
                found.args,
                found.level,
            ):
                return self.aggregate_leaf(index, known)
        if len(self.aggregates) >= AGGREGATES:
            raise self.text.problem(
                f"one SELECT can have {AGGREGATES} aggregates; ask for fewer", node
            )
        self.aggregates.append(found)
        return self.aggregate_leaf(len(self.aggregates) - 1, found)
