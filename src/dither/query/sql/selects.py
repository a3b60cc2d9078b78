"""A SELECT inside a question: rows that keep their owners, or one row for each owner
and key.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.query.catalogue.limits import COLUMNS, PARTS
from dither.query.catalogue.names import same
from dither.query.operations.expressions import Expr
from dither.query.sql.aggregates import Item
from dither.query.sql.from_clause import renamed, rows_from
from dither.query.sql.grouping import items_of
from dither.query.sql.question import Distinct, Node, row_tables
from dither.query.sql.scope import (
    Context,
    Entry,
    Rows,
    Scope,
    aggregates_in,
    only,
    row_scalars,
)
from dither.query.sql.summaries import summarised
from dither.query.sql.text import CLAUSES
from dither.query.sql.unions import union

__all__ = ["check_parts", "distinct_of", "query", "with_named"]

READ = (
    "with_",
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "distinct",
)


def query(context: Context, node: exp.Expr) -> Rows:
    """The rows of a SELECT, or of a UNION ALL, that stands in FROM, in WITH or after
    IN.
    """
    _check_clauses(context, node)
    context = with_named(context, node)
    if isinstance(node, exp.Subquery):
        only(context.text, node, "this", "with_")
        rows = query(context, node.this)
    elif isinstance(node, exp.Select):
        rows = _select(context, node)
    elif isinstance(node, exp.SetOperation):
        rows = union(context, node)
    else:
        raise context.text.problem("only a SELECT can stand here; write one", node)
    check_parts(context, rows.node, node)
    return rows


def check_parts(context: Context, rows: Node, node: exp.Expr) -> None:
    if rows.parts > PARTS:
        raise context.text.problem(
            f"the question reads more than {PARTS} parts; ask for less at a time", node
        )


def with_named(context: Context, node: exp.Expr) -> Context:
    """The context with the queries that WITH names; each sees the ones before it."""
    found = node.args.get("with_")
    if found is None:
        return context
    if found.args.get("recursive"):
        message = (
            "WITH RECURSIVE cannot be asked; write the steps out, one query "
            "after the other"
        )
        raise context.text.problem(message, found, "RECURSIVE")
    only(context.text, found, "expressions")
    for cte in found.expressions:
        only(context.text, cte, "this", "alias", "materialized")
        only(context.text, cte.args["alias"], "this", "columns")
        rows = renamed(context, context.query(context, cte.this), cte.args["alias"])
        context = replace(context, named={**context.named, cte.alias.casefold(): rows})
    return context


def _select(context: Context, node: exp.Select) -> Rows:
    only(context.text, node, *READ)
    scope = rows_from(context, node)
    items = items_of(context.text, node)
    distinct = distinct_of(context, node)
    if node.args.get("group") is not None or aggregates_in(
        *[item.node for item in items]
    ):
        rows = summarised(context, scope, node, items)
    elif node.args.get("having") is not None:
        raise context.text.problem(
            "HAVING needs GROUP BY here; write the condition in WHERE",
            node.args["having"],
            "HAVING",
        )
    else:
        rows = _projected(context, scope, items)
    return _distinct(context, rows, node) if distinct else rows


def _check_clauses(context: Context, node: exp.Expr) -> None:
    for name in ("limit", "offset", "order", "qualify", "windows", "sample"):
        clause = node.args.get(name)
        if clause:
            word = CLAUSES[name]
            way = (
                ", or write it at the end of the whole question"
                if name in ("limit", "offset", "order")
                else ""
            )
            message = (
                f"{word} in a SELECT inside the question makes a unit's rows "
                f"depend on other units; leave it out{way}"
            )
            raise context.text.problem(
                message, clause[0] if isinstance(clause, list) else clause, word
            )


def distinct_of(context: Context, node: exp.Select) -> bool:
    """Whether SELECT DISTINCT was written."""
    found = node.args.get("distinct")
    if found is None:
        return False
    if found.args.get("on") is not None:
        message = (
            "DISTINCT ON keeps a row by its place among others; use GROUP BY "
            "with MIN or MAX instead"
        )
        raise context.text.problem(message, found, "DISTINCT")
    only(context.text, found)
    return True


def _projected(context: Context, scope: Scope, items: list[Item]) -> Rows:
    scalars = row_scalars(context.text, scope, "SELECT without GROUP BY")
    named: list[tuple[str, Expr]] = []
    for item in items:
        stars = _starred(context, scope, item.node)
        if stars is None:
            named.append((item.name, scalars.bind(item.node)))
        else:
            named += [(entry.name, scope.rows.ref(entry.index)) for entry in stars]
        if len(named) > COLUMNS:
            raise context.text.problem(
                f"one SELECT can have {COLUMNS:,} columns; name fewer", item.node
            )
    context.made(len(named), items[0].node)
    return scope.rows.projected(named)


def _starred(context: Context, scope: Scope, node: exp.Expr) -> list[Entry] | None:
    """The columns that * or table.* stands for; None if it is neither."""
    if isinstance(node, exp.Star):
        only(context.text, node)
        return [entry for entry in scope.entries if not entry.shared]
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Star):
        return None
    only(context.text, node, "this", "table")
    only(context.text, node.this)
    found = [entry for entry in scope.entries if same(entry.table, node.table)]
    if not found:
        raise context.text.problem(
            f"there is no table or alias {node.table} in FROM; name one that is", node
        )
    return found


def _distinct(context: Context, rows: Rows, node: exp.Select) -> Rows:
    source = rows.node
    if source.private and row_tables(source):
        message = (
            "each row is a unit of its own, so DISTINCT would compare rows "
            "of different units; leave it out"
        )
        raise context.text.problem(message, node.args["distinct"], "DISTINCT")
    if source.private and not any(column.owner for column in source.columns):
        message = (
            "DISTINCT in a SELECT inside the question compares rows of "
            "different units; "
            "add the unit's id to its columns, or ask it as a question of its own"
        )
        raise context.text.problem(message, node.args["distinct"], "DISTINCT")
    return replace(
        rows, node=Distinct(source.columns, source.private, source.most, source)
    )
