"""FROM and WHERE: which rows a SELECT looks at."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.query.names import same
from dither.query.sql.expressions import Expr, Ref
from dither.query.sql.grouping import row_scalars
from dither.query.sql.joins import join
from dither.query.sql.operators import TypeProblem, call
from dither.query.sql.operators_basics import unify
from dither.query.sql.refusals import only, refuse
from dither.query.sql.relations import InPublic, OfOwners, Relation
from dither.query.sql.scalars import plain
from dither.query.sql.scope import Context, Entry, Rows, Scope

__all__ = ["renamed", "rows_from"]

MOST_TABLES = 20


def rows_from(context: Context, select: exp.Select) -> Scope:
    """The rows of FROM that WHERE keeps, and their names."""
    start = select.args.get("from_")
    if start is None:
        raise context.source.problem("the question has no FROM; name the table that it is about", select)
    only(context.source, start, "this")
    scope = _source(context, start.this)
    joins = select.args.get("joins") or []
    if len(joins) >= MOST_TABLES:
        raise context.source.problem(f"one SELECT may join {MOST_TABLES} tables; join fewer", joins[MOST_TABLES - 1])
    for node in joins:
        scope = _joined(context, scope, node)
    return _where(context, scope, select.args.get("where"))


def _joined(context: Context, scope: Scope, node: exp.Join) -> Scope:
    other = _source(context, node.this)
    for name in other.tables:
        if any(same(name, known) for known in scope.tables):
            raise context.source.problem(f"{name} stands twice in FROM; give one of them another name with AS", node)
    return join(context, scope, other, node)


def _source(context: Context, node: exp.Expr) -> Scope:
    if isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Identifier):
            raise context.source.problem("a function cannot stand in FROM; name a table of the catalogue", node)
        if node.args.get("sample") is not None:
            message = (
                "a SAMPLE keeps rows by chance or by other units' rows; leave it out: noise is added to the answer"
            )
            raise context.source.problem(message, node)
        if node.args.get("joins"):
            raise context.source.problem("write ON right after the JOIN that it belongs to", node)
        if node.args.get("db") is not None:
            raise context.source.problem("tables have no schema here; write the table's name alone", node)
        only(context.source, node, "this", "alias")
        return _named(context, context.table(node), node, node.name)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        only(context.source, node, "this", "alias")
        return _named(context, context.query(context, node.this), node, "")
    if isinstance(node, exp.Subquery):
        raise context.source.problem("brackets in FROM hold a SELECT; write the joins without them", node)
    if isinstance(node, exp.Values):
        raise context.source.problem("VALUES cannot stand in FROM; declare a public table in the catalogue", node)
    raise refuse(context.source, node)


def _named(context: Context, rows: Rows, node: exp.Expr, name: str) -> Scope:
    """Rows under the name and the column names that AS gives them."""
    alias = node.args.get("alias")
    if alias is not None:
        only(context.source, alias, "this", "columns")
        rows = renamed(context, rows, alias)
        name = alias.name or name
    columns = rows.relation.columns
    return Scope(rows, tuple(Entry(name, column.name, index) for index, column in enumerate(columns)))


def renamed(context: Context, rows: Rows, alias: exp.TableAlias) -> Rows:
    names, columns = alias.columns, list(rows.relation.columns)
    if len(names) > len(columns):
        message = f"AS gives {len(names)} names, and there are fewer columns ({len(columns)}); leave some out"
        raise context.source.problem(message, alias)
    for index, name in enumerate(names):
        columns[index] = replace(columns[index], name=name.name)
    return replace(rows, relation=replace(rows.relation, columns=tuple(columns))) if names else rows


def _where(context: Context, scope: Scope, where: exp.Expr | None) -> Scope:
    if where is None:
        return scope
    only(context.source, where, "this")
    scalars = row_scalars(context.source, scope, "WHERE")
    kept: list[Expr] = []
    queries: list[tuple[exp.In, bool]] = []
    for node in _conjuncts(where.this):
        found = _in_query(node)
        if found is not None:
            queries.append(found)
        else:
            kept.append(scalars.condition(node, "WHERE"))
    rows = scope.rows
    if kept:
        rows = rows.filtered(kept[0] if len(kept) == 1 else call("and", *kept))
    for query, negated in queries:
        rows = _in_rows(context, rows, scalars.bind(query.this), query, negated)
    return replace(scope, rows=rows)


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    found, rest = [], [node]
    while rest:
        part = plain(rest.pop())
        if isinstance(part, exp.And):
            rest += [part.expression, part.this]
        else:
            found.append(part)
    return found


def _in_query(node: exp.Expr) -> tuple[exp.In, bool] | None:
    """`x IN (SELECT …)` or its negation."""
    negated = False
    while isinstance(node, exp.Not):
        node, negated = plain(node.this), not negated
    return (node, negated) if isinstance(node, exp.In) and node.args.get("query") is not None else None


def _in_rows(context: Context, rows: Rows, expr: Expr, node: exp.In, negated: bool) -> Rows:
    only(context.source, node, "this", "query")
    query = node.args["query"]
    only(context.source, query, "this")
    others = context.query(context, query.this)
    if len(others.facts) != 1:
        raise context.source.problem("the SELECT after IN must have one column; name one", node)
    build = _of_owners if others.relation.private else _in_public
    return replace(rows, relation=build(context, rows.relation, expr, others, node, negated))


def _of_owners(context: Context, source: Relation, expr: Expr, others: Rows, node: exp.In, negated: bool) -> Relation:
    """Rows of the owners that the other relation has rows of: the only way it may touch these rows."""
    mine = isinstance(expr, Ref) and expr.column.owner
    if not (mine and others.relation.columns[0].owner):
        message = (
            "IN (SELECT …) over a private table can compare only the unit's id with the unit's id; "
            "write WHERE id IN (SELECT id FROM …)"
        )
        raise context.source.problem(message, node)
    return OfOwners(source.columns, source.private, source.most, source, others.relation, negated)


def _in_public(context: Context, source: Relation, expr: Expr, others: Rows, node: exp.In, negated: bool) -> Relation:
    try:
        mine, value = unify("IN", (expr, others.ref(0)))
    except TypeProblem as problem:
        raise context.source.problem(str(problem), node) from None
    values = others.projected([(others.relation.columns[0].name, value)]).relation
    return InPublic(source.columns, source.private, source.most, source, mine, values, negated)
