"""FROM: the tables and the SELECTs in brackets that a SELECT looks at, and the joins
that are written between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from sqlglot import exp

from dither.query.catalogue.limits import TABLES
from dither.query.catalogue.names import same
from dither.query.sql.joins import join
from dither.query.sql.refusals import only, refuse
from dither.query.sql.scope import Context, Entry, Rows, Scope

__all__ = ["Part", "parts_of", "renamed"]


@dataclass(frozen=True)
class Part:
    """What stands between two commas of FROM: a source, or several with JOIN between
    them. `node`: where it begins.
    """

    scope: Scope
    node: exp.Expr


def parts_of(context: Context, select: exp.Select) -> list[Part]:
    """The parts of FROM, from left to right; JOIN binds closer than a comma."""
    start = select.args.get("from_")
    if start is None:
        raise context.text.problem(
            "the question has no FROM; name the table that it is about", select
        )
    only(context.text, start, "this")
    joins = select.args.get("joins") or []
    if len(joins) >= TABLES:
        raise context.text.problem(
            f"one SELECT may join {TABLES} tables; join fewer", joins[TABLES - 1]
        )
    parts: list[Part] = []
    for first, others in _between_commas(start, joins):
        known = [name for part in parts for name in part.scope.tables]
        parts.append(_part(context, known, first, others))
    return parts


def _between_commas(
    start: exp.Expr, joins: list[exp.Join]
) -> Iterator[tuple[exp.Expr, list[exp.Join]]]:
    """The first source of each part, and the joins after it. A CROSS JOIN that ends a
    part is another comma.
    """
    first, others = start, list[exp.Join]()
    for place, node in enumerate(joins):
        rest = takewhile(lambda other: not _is_comma(other), joins[place:])
        if _is_comma(node) or all(map(_is_cross, rest)):
            yield first, others
            first, others = node, []
        else:
            others.append(node)
    yield first, others


def _is_comma(node: exp.Join) -> bool:
    return not any(
        node.args.get(part) for part in ("kind", "side", "method", "on", "using")
    )


def _is_cross(node: exp.Join) -> bool:
    return node.kind == "CROSS" and not any(
        node.args.get(part) for part in ("side", "method", "on", "using")
    )


def _part(
    context: Context, known: list[str], first: exp.Expr, others: list[exp.Join]
) -> Part:
    if isinstance(first, exp.Join):
        only(context.text, first, "this", "kind")
    scope = _source(context, first.this)
    _check_names(context, known, scope, first)
    for node in others:
        other = _source(context, node.this)
        _check_names(context, [*known, *scope.tables], other, node)
        scope = join(context, scope, other, node)
    return Part(scope, first)


def _check_names(
    context: Context, known: list[str], scope: Scope, node: exp.Expr
) -> None:
    for name in scope.tables:
        if any(same(name, other) for other in known):
            raise context.text.problem(
                f"{name} stands twice in FROM; give one of them another name with AS",
                node,
            )


def _source(context: Context, node: exp.Expr) -> Scope:
    if isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Identifier):
            raise context.text.problem(
                "a function cannot stand in FROM; name a table of the catalogue", node
            )
        if node.args.get("sample") is not None:
            message = (
                "a SAMPLE keeps rows by chance or by other units' rows; leave "
                "it out: noise is added to the answer"
            )
            raise context.text.problem(message, node)
        if node.args.get("joins"):
            raise context.text.problem(
                "write ON right after the JOIN that it belongs to", node
            )
        if node.args.get("db") is not None:
            raise context.text.problem(
                "tables have no schema here; write the table's name alone", node
            )
        only(context.text, node, "this", "alias")
        return _named(context, context.table(node), node, node.name)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        only(context.text, node, "this", "alias")
        return _named(context, context.query(context, node.this), node, "")
    if isinstance(node, exp.Subquery):
        raise context.text.problem(
            "brackets in FROM hold a SELECT; write the joins without them", node
        )
    if isinstance(node, exp.Values):
        raise context.text.problem(
            "VALUES cannot stand in FROM; declare a public table in the catalogue", node
        )
    raise refuse(context.text, node)


def _named(context: Context, rows: Rows, node: exp.Expr, name: str) -> Scope:
    """Rows under the name and the column names that AS gives them."""
    alias = node.args.get("alias")
    if alias is not None:
        only(context.text, alias, "this", "columns")
        rows = renamed(context, rows, alias)
        name = alias.name or name
    columns = rows.node.columns
    return Scope(
        rows,
        tuple(Entry(name, column.name, index) for index, column in enumerate(columns)),
    )


def renamed(context: Context, rows: Rows, alias: exp.TableAlias) -> Rows:
    names, columns = alias.columns, list(rows.node.columns)
    if len(names) > len(columns):
        message = (
            f"AS gives {len(names)} names, and there are fewer columns "
            f"({len(columns)}); leave some out"
        )
        raise context.text.problem(message, alias)
    for index, name in enumerate(names):
        columns[index] = replace(columns[index], name=name.name)
    return (
        replace(rows, node=replace(rows.node, columns=tuple(columns)))
        if names
        else rows
    )
