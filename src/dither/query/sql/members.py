"""`x IN (SELECT …)`: values of a public table, or rows whose owner the other SELECT has
rows of (rule R9).
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.query.operations.arguments import unify
from dither.query.operations.calls import TypeProblem, call
from dither.query.operations.expressions import Expr, Ref
from dither.query.sql.joins import row_tables
from dither.query.sql.nodes import InPublic, Node, OfOwners, SemiJoin
from dither.query.sql.refusals import only
from dither.query.sql.scope import Context, Rows

__all__ = ["in_rows"]


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
            "the SELECT after IN must have one column; name one", node
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
            "IN (SELECT …) over a private table can compare only the unit's "
            "id with the unit's id, or a key that leads "
            "to the unit with itself; write WHERE id IN (SELECT id FROM …)"
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
