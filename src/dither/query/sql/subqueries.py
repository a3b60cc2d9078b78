"""SELECTs in WHERE: rows are kept by values of a public table, or by rows of their own
owner (rule R9). `x IN (SELECT …)` and `EXISTS (SELECT …)` can be asked.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.query.catalogue.names import clash
from dither.query.operations.arguments import TypeProblem, unify
from dither.query.operations.calls import call
from dither.query.operations.expressions import Expr, Ref, refs
from dither.query.sql.grouping import items_of
from dither.query.sql.joins import Part, beside, same_owner, same_unit
from dither.query.sql.question import InPublic, Node, OfOwners, SemiJoin, row_tables
from dither.query.sql.scope import (
    Context,
    Nested,
    Rows,
    Scope,
    aggregates_in,
    only,
    row_scalars,
)

__all__ = ["checked", "in_rows", "partnered", "split"]

WAY = (
    "write EXISTS (SELECT * FROM … WHERE …) with the unit's id, or "
    "WHERE id IN (SELECT id FROM …)"
)


def checked(context: Context, node: exp.Exists) -> exp.Select:
    """The SELECT of an EXISTS, which has FROM and WHERE. What it selects means nothing:
    only that there is a row.
    """
    select = node.this
    only(context.text, node, "this")
    if not isinstance(select, exp.Select) or select.args.get("from_") is None:
        raise context.text.problem(
            f"EXISTS needs one SELECT with FROM and WHERE; {WAY}", node, "EXISTS"
        )
    items = items_of(context.text, select)
    if select.args.get("group") is not None or aggregates_in(
        *[item.node for item in items]
    ):
        message = (
            f"EXISTS only checks whether a row exists, so it cannot aggregate; {WAY}"
        )
        raise context.text.problem(message, node, "EXISTS")
    only(context.text, select, "expressions", "from_", "joins", "where")
    return select


def _check_items(context: Context, scope: Scope, select: exp.Select) -> None:
    for item in items_of(context.text, select):
        if isinstance(item.node, exp.Star):
            only(context.text, item.node)
        elif isinstance(item.node, exp.Literal | exp.Column) and not item.node.find(
            exp.Star
        ):
            row_scalars(context.text, scope, "EXISTS").bind(item.node)
        else:
            raise context.text.problem(
                "EXISTS does not read the columns of its SELECT; write EXISTS (SELECT * "
                "FROM …)",
                item.node,
            )


def split(
    context: Context, scope: Scope, parts: list[Part], conditions: list[exp.Expr]
) -> tuple[list[exp.Expr], list[exp.Expr]]:
    """The conditions over the inner tables alone, and those that look at the row around
    them.
    """
    inner = parts[0].scope
    for part in parts[1:]:
        inner = beside(inner, part.scope)
        context.made(len(inner.rows.ids), part.node)
    scalars = row_scalars(context.text, _nested(scope, inner), "WHERE")
    own, across = list[exp.Expr](), list[exp.Expr]()
    for node in conditions:
        found = refs(scalars.condition(node, "WHERE"))
        (
            across if any(ref.index < len(scope.rows.ids) for ref in found) else own
        ).append(node)
    return own, across


def _nested(outer: Scope, inner: Scope) -> Nested:
    """The columns of the rows around, then of the inner ones; inner names come first."""
    both = beside(outer, inner)
    return Nested(both.rows, both.entries[len(outer.entries) :], outer.entries)


def partnered(
    context: Context,
    scope: Scope,
    inner: Scope,
    across: list[exp.Expr],
    node: exp.Exists,
    negated: bool,
) -> Rows:
    """The rows with (or, negated, without) a partner for which all conditions hold."""
    both = _nested(scope, inner)
    _check_items(context, both, node.this)
    scalars = row_scalars(context.text, both, "WHERE")
    parts = [scalars.condition(one, "WHERE") for one in across]
    condition = parts[0] if len(parts) == 1 else call("and", *parts) if parts else None
    source, others = scope.rows.node, inner.rows.node
    if others.private:
        _check_owners(context, scope, inner, condition, node)
    joined = SemiJoin(
        source.columns, source.private, source.most, source, others, condition, negated
    )
    return replace(scope.rows, node=joined)


def _check_owners(
    context: Context,
    scope: Scope,
    inner: Scope,
    condition: Expr | None,
    node: exp.Exists,
) -> None:
    source, others = scope.rows.node, inner.rows.node
    if not source.private:
        message = (
            "EXISTS over a private table would reveal which rows of the public table "
            "match private rows; put the private table in FROM and join the public one"
        )
        raise context.text.problem(message, node, "EXISTS")
    if row_tables(source) | row_tables(others):
        message = (
            "each row is a unit, so EXISTS would look at rows of other units; ask "
            "about one table at a time"
        )
        raise context.text.problem(message, node, "EXISTS")
    if not same_owner(beside(scope, inner).rows, len(source.columns), condition):
        message = (
            "EXISTS over a private table can only look at rows of the same unit; "
            f"{_way(scope, inner)}"
        )
        raise context.text.problem(message, node, "EXISTS")


def _way(scope: Scope, inner: Scope) -> str:
    if clash([*scope.tables, *inner.tables]):
        return "rename the inner table with AS, and compare the unit's ids in its WHERE"
    found = same_unit(beside(scope, inner), len(scope.rows.ids))
    return (
        "use tables with the unit's id, and compare the ids in its WHERE"
        if found is None
        else f"add {found} to its WHERE with AND"
    )


def in_rows(
    context: Context, rows: Rows, expr: Expr, node: exp.In, negated: bool
) -> Rows:
    """The rows for which an expression is (or, negated, is not) among the values of a
    SELECT.
    """
    only(context.text, node, "this", "query")
    query = node.args["query"]
    only(context.text, query, "this")
    others = context.query(context, query.this)
    if len(others.ids) != 1:
        raise context.text.problem(
            "the SELECT after IN must have one column; select one", node
        )
    build = _of_owners if others.node.private else _in_public
    return replace(rows, node=build(context, rows, expr, others, node, negated))


def _of_owners(
    context: Context, rows: Rows, expr: Expr, others: Rows, node: exp.In, negated: bool
) -> Node:
    """Rows of the owners that the other node has rows of, or whose own key it has:
    only an owner's rows decide.
    """
    source = rows.node
    ids = isinstance(expr, Ref) and bool(rows.ids[expr.index] & others.ids[0])
    if not (ids and source.private) or row_tables(source) | row_tables(others.node):
        message = (
            "IN (SELECT …) over a private table can only compare ids of the same "
            "unit; write WHERE id IN (SELECT id FROM …), with the unit's id in both "
            "places"
        )
        raise context.text.problem(message, node)
    assert isinstance(expr, Ref)
    if expr.column.owner and others.node.columns[0].owner:
        return OfOwners(
            source.columns,
            source.private,
            source.most,
            source,
            others.node,
            negated,
        )
    if negated:  # as with public values: NULL is in no list, and not outside of one
        source = rows.filtered(call("is_not_null", expr)).node
    other = others.ref(0)
    equal = call("eq", expr, replace(other, index=len(rows.ids)))
    return SemiJoin(
        source.columns,
        source.private,
        source.most,
        source,
        others.node,
        equal,
        negated,
    )


def _in_public(
    context: Context, rows: Rows, expr: Expr, others: Rows, node: exp.In, negated: bool
) -> Node:
    source = rows.node
    try:
        mine, value = unify("IN", (expr, others.ref(0)))
    except TypeProblem as problem:
        raise context.text.problem(str(problem), node) from None
    values = others.projected([(others.node.columns[0].name, value)]).node
    return InPublic(
        source.columns, source.private, source.most, source, mine, values, negated
    )
