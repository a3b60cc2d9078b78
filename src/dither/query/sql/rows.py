"""Which rows a SELECT looks at: FROM, WHERE, and the SELECTs that decide about rows
(rule R9).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dither.query.catalogue.limits import QUERIES
from dither.query.operations.calls import call
from dither.query.operations.expressions import Expr
from dither.query.operations.reading import plain
from dither.query.sql.commas import connected
from dither.query.sql.from_clause import parts_of
from dither.query.sql.grouping import row_scalars
from dither.query.sql.members import in_rows
from dither.query.sql.partners import checked, partnered, split
from dither.query.sql.refusals import only
from dither.query.sql.scope import Context, Rows, Scope

__all__ = ["rows_from"]


def rows_from(context: Context, select: exp.Select) -> Scope:
    """The rows of FROM that WHERE keeps, and their names."""
    parts = parts_of(context, select)
    where = _where(context, select)
    scope, rest = connected(context, parts, where.conditions)
    return _kept(context, scope, replace(where, conditions=rest))


@dataclass(frozen=True)
class Where:
    """The conditions of WHERE that are joined by AND: those over single rows, `x IN
    (SELECT …)` and `EXISTS (…)`, each with whether it is negated."""

    conditions: list[exp.Expr]
    members: list[tuple[exp.In, bool]]
    partners: list[tuple[exp.Exists, bool]]


def _where(context: Context, select: exp.Select) -> Where:
    where = select.args.get("where")
    found = Where([], [], [])
    if where is None:
        return found
    only(context.text, where, "this")
    for node in _conjuncts(where.this):
        inner, negated = node, False
        while isinstance(inner, exp.Not):
            inner, negated = plain(inner.this), not negated
        if isinstance(inner, exp.In) and inner.args.get("query") is not None:
            found.members.append((inner, negated))
        elif isinstance(inner, exp.Exists):
            found.partners.append((inner, negated))
        else:
            found.conditions.append(node)
    if len(found.members) + len(found.partners) > QUERIES:
        message = f"one WHERE can have {QUERIES} SELECTs; ask for less at a time"
        raise context.text.problem(message, where, "WHERE")
    return found


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    found, rest = [], [node]
    while rest:
        part = plain(rest.pop())
        if isinstance(part, exp.And):
            rest += [part.expression, part.this]
        else:
            found.append(part)
    return found


def _kept(context: Context, scope: Scope, where: Where) -> Scope:
    scalars = row_scalars(context.text, scope, "WHERE")
    kept: list[Expr] = [scalars.condition(node, "WHERE") for node in where.conditions]
    rows = scope.rows
    if kept:
        rows = rows.filtered(kept[0] if len(kept) == 1 else call("and", *kept))
    for query, negated in where.members:
        rows = in_rows(context, rows, scalars.bind(query.this), query, negated)
    scope = replace(scope, rows=rows)
    for exists, negated in where.partners:
        scope = replace(scope, rows=_partnered(context, scope, exists, negated))
    return scope


def _partnered(context: Context, scope: Scope, node: exp.Exists, negated: bool) -> Rows:
    """Rows for which the SELECT of an EXISTS has a row. Its conditions may look at the
    row around it.
    """
    select = checked(context, node)
    parts, where = parts_of(context, select), _where(context, select)
    context.made(len(scope.rows.ids), select)
    own, across = split(context, scope, parts, where.conditions)
    inner, rest = connected(context, parts, own)
    inner = _kept(context, inner, replace(where, conditions=rest))
    return partnered(context, scope, inner, across, node, negated)
