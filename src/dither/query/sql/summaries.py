"""A SELECT inside a question that aggregates: one row for each owner and key, from that
owner's rows alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlglot import exp

from dither.query.catalogue.types import Range, Type
from dither.query.operations import ranges
from dither.query.operations.expressions import ColumnType, Expr, Ref
from dither.query.sql.aggregates import Grouping, Item, check_bounds, check_types
from dither.query.sql.grouping import group_keys
from dither.query.sql.question import (
    Aggregate,
    PerUnit,
    Summary,
    has_outer_join,
    row_tables,
)
from dither.query.sql.scope import Context, Rows, Scope

__all__ = ["summarised"]

KNOWN = ("count", "distinct", "units", "sum", "avg", "min", "max")
SATURATED = Range(-(2**62), 2**62)


@dataclass
class WithinUnit(Grouping):
    """Binds expressions over the rows of one owner and key: keys and aggregates are
    exact there, and columns of the summary.
    """

    def key(self, index: int) -> Expr:
        return Ref.to(index, _key_column(self.keys[index]))

    def aggregate(self, index: int, found: Aggregate) -> Expr:
        column = _column(found, self.scope.rows.node.most)
        return Ref.to(len(self.keys) + index, column)

    def check(self, node: exp.Expr, found: Aggregate) -> None:
        if found.function not in KNOWN:
            message = (
                f"{found.text} is not supported in a subquery; use COUNT, SUM, AVG, MIN "
                "or MAX there"
            )
            raise self.text.problem(message, node)
        if found.function in ("count", "distinct", "units"):
            return
        check_types(self.text, node, self.scope.rows, found)
        # A sum of whole numbers is exact without bounds; one of reals is not.
        if found.function in ("sum", "avg") and found.args[0].type is Type.REAL:
            check_bounds(self.text, node, found)


def summarised(
    context: Context, scope: Scope, node: exp.Select, items: list[Item]
) -> Rows:
    """The items of SELECT over one row for each owner and key that HAVING keeps."""
    keys = list(group_keys(context.text, scope, node, items))
    _check_owner(context, scope, keys, node)
    context.made(len(items), node)
    grouping = WithinUnit(context.text, scope, keys, items)
    named = [(item.name, grouping.scalars.bind(item.node)) for item in items]
    having = node.args.get("having")
    condition = (
        None if having is None else grouping.scalars.condition(having.this, "HAVING")
    )
    rows = _rows(scope.rows, keys, grouping.aggregates)
    return (rows if condition is None else rows.filtered(condition)).projected(named)


def _check_owner(
    context: Context, scope: Scope, keys: list[Expr], node: exp.Select
) -> None:
    source = scope.rows.node
    if source.private and any(_within_a_unit(scope.rows, key) for key in keys):
        return
    place = node.args.get("group") or node
    if not source.private:
        message = (
            "a subquery cannot aggregate a public table; declare the result as a "
            "public table in the catalogue"
        )
    elif row_tables(source):
        message = (
            "each row is a unit, so a subquery has nothing to aggregate; move the "
            "aggregate to the outermost SELECT"
        )
    else:
        message = (
            f"a subquery can only aggregate within one unit; add {_owner(scope)} to "
            "its GROUP BY, or ask it as a separate question, with HAVING, ORDER BY and "
            "LIMIT"
        )
    raise context.text.problem(
        message, place, "GROUP BY" if node.args.get("group") else "SELECT"
    )


def _within_a_unit(rows: Rows, key: Expr) -> bool:
    """Whether equal keys belong to one unit: its id, or a key that leads to it. An
    outer join may have left that out: as NULL it would be the same for many units."""
    if not isinstance(key, Ref):
        return False
    return key.column.owner or (
        bool(rows.ids[key.index]) and not has_outer_join(rows.node)
    )


def _owner(scope: Scope) -> str:
    """How to name the unit's id."""
    columns = scope.rows.node.columns
    for entry in scope.entries:
        if columns[entry.index].owner:
            return (
                f"{entry.table}.{entry.name}"
                if entry.table and len(scope.tables) > 1
                else entry.name
            )
    return "the unit's id (from a table that has it)"


def _rows(rows: Rows, keys: list[Expr], aggregates: list[Aggregate]) -> Rows:
    source = rows.node
    columns = (
        *(_key_column(key) for key in keys),
        *(_column(aggregate, source.most) for aggregate in aggregates),
    )
    alone = all(isinstance(key, Ref) and key.column.owner for key in keys)
    summaries = tuple(_summary(rows, aggregate) for aggregate in aggregates)
    summary = PerUnit(
        columns, True, 1 if alone else source.most, source, tuple(keys), summaries
    )
    ids = [
        rows.ids[key.index] if isinstance(key, Ref) else frozenset[str]()
        for key in keys
    ]
    return Rows(summary, (*ids, *(frozenset[str]() for _ in aggregates)))


def _key_column(key: Expr) -> ColumnType:
    return key.column if isinstance(key, Ref) else ColumnType.of("", key)


def _summary(rows: Rows, aggregate: Aggregate) -> Summary:
    if aggregate.function != "units":
        return Summary(
            aggregate.function, aggregate.args[0] if aggregate.args else None
        )
    if aggregate.args:
        return Summary("distinct", aggregate.args[0])
    return Summary(
        "distinct",
        next(ref for ref in map(rows.ref, range(len(rows.ids))) if ref.column.owner),
    )


def _column(aggregate: Aggregate, most: int | None) -> ColumnType:
    """What is known of an exact aggregate over at most so many rows of one owner."""
    if aggregate.function in ("count", "distinct", "units"):
        return ColumnType(aggregate.text, Type.INTEGER, Range(0, most))
    arg = aggregate.args[0]
    # Of texts: one of them, so as long as they are
    if aggregate.function in (
        "min",
        "max",
    ):
        return ColumnType(aggregate.text, arg.type, arg.range, size=arg.size)
    if aggregate.function == "avg":
        return ColumnType(aggregate.text, Type.REAL, ranges.floats(arg.range))
    return ColumnType(aggregate.text, arg.type, _sum(arg, most))


def _sum(arg: Expr, most: int | None) -> Range:
    """A sum's range: open on the side to which more rows can carry it, unless the
    number of rows is bounded.
    """
    low, high = ranges.sides(arg.range)
    times = math.inf if most is None else most
    least, greatest = (times * low if low < 0 else 0), (times * high if high > 0 else 0)
    found = ranges.of(least, greatest)
    if arg.type is Type.REAL:
        return ranges.floats(found)
    return ranges.clipped(found, SATURATED) if found.bounded else found
