"""UNION ALL: the rows of several private queries, each with its owner."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.query.catalogue.types import Keys
from dither.query.operations import ranges
from dither.query.operations.arguments import TypeProblem, unify
from dither.query.operations.expressions import ColumnType, Expr, Ref
from dither.query.sql.question import Node, Project, Union, row_tables
from dither.query.sql.scope import Context, Rows, only

__all__ = ["union"]

MOST_KEYS = 20_000
"""Different lists of keys are combined up to this length."""

INSTEAD: dict[type[exp.Expr], str] = {
    exp.Except: (
        "EXCEPT would compare rows of different units; write WHERE id NOT IN "
        "(SELECT id FROM …) with the unit's id"
    ),
    exp.Intersect: (
        "INTERSECT would compare rows of different units; write WHERE id IN "
        "(SELECT id FROM …) with the unit's id"
    ),
}


def union(context: Context, node: exp.Expr) -> Rows:
    if type(node) in INSTEAD:
        raise context.text.problem(
            INSTEAD[type(node)], node.args.get("expression"), node.key.upper()
        )
    found = [context.query(context, part) for part in _parts(context, node)]
    _check_units(context, [rows.node for rows in found], node)
    if len({len(rows.ids) for rows in found}) > 1:
        message = (
            "the parts of a UNION ALL must have the same number of columns; select "
            "the same columns in each part"
        )
        raise context.text.problem(message, node.args.get("expression"), "UNION")
    context.made(len(found[0].ids) * len(found), node)
    places = zip(*(rows.node.columns for rows in found), strict=True)
    aligned = [
        _aligned(context, node, index, columns) for index, columns in enumerate(places)
    ]
    columns = tuple(column for column, _ in aligned)
    sources = tuple(
        _as(rows.node, columns, [exprs[i] for _, exprs in aligned])
        for i, rows in enumerate(found)
    )
    counts = [source.most for source in sources]
    most = (
        None if None in counts else sum(count for count in counts if count is not None)
    )
    ids = tuple(
        frozenset.intersection(*place)
        for place in zip(*(rows.ids for rows in found), strict=True)
    )
    return Rows(Union(columns, True, most, sources), ids)


def _parts(context: Context, node: exp.Expr) -> list[exp.Expr]:
    """The queries of a chain of UNION ALL, from left to right."""
    found, rest = [], [node]
    while rest:
        part = rest.pop()
        if not isinstance(part, exp.Union):
            found.append(part)
            continue
        if part.args.get("distinct"):
            message = (
                "UNION would compare rows of different units to remove duplicates; "
                "write UNION ALL"
            )
            raise context.text.problem(message, part.expression, "UNION")
        allowed = (
            ("this", "expression", "distinct", "with_")
            if part is node
            else ("this", "expression", "distinct")
        )
        only(context.text, part, *allowed)
        rest += [part.expression, part.this]
    return found


def _check_units(context: Context, sides: list[Node], node: exp.Expr) -> None:
    place = node.args.get("expression")
    if not all(side.private for side in sides):
        message = (
            "UNION ALL is only for private tables, because public rows do not belong "
            "to a unit; leave the public table out"
        )
        raise context.text.problem(message, place, "UNION")
    tables = {frozenset(row_tables(side)) for side in sides}
    if tables != {frozenset()} and len(tables) > 1:
        message = (
            "each row is a unit, so rows of different tables cannot be combined; ask "
            "about one table at a time"
        )
        raise context.text.problem(message, place, "UNION")


def _aligned(
    context: Context, node: exp.Expr, index: int, columns: tuple[ColumnType, ...]
) -> tuple[ColumnType, tuple[Expr, ...]]:
    """What is true of a column in every part (the hull of the ranges, all keys), and
    each part as the common type.
    """
    try:
        exprs = unify("UNION ALL", [Ref.to(index, column) for column in columns])
    except TypeProblem:
        message = (
            f"the column {columns[0].name!r} has different types in the parts of "
            "UNION ALL; use CAST to make them equal"
        )
        raise context.text.problem(
            message, node.args.get("expression"), "UNION"
        ) from None
    same_type = all(column.type is exprs[0].type for column in columns)
    keys = _all_keys([column.keys for column in columns]) if same_type else None
    range_ = ranges.hull([expr.range for expr in exprs])
    owner = all(column.owner for column in columns) and all(
        isinstance(expr, Ref) for expr in exprs
    )
    size, depth = max(expr.size for expr in exprs), max(expr.depth for expr in exprs)
    return ColumnType(
        columns[0].name, exprs[0].type, range_, keys, owner, size, depth
    ), exprs


def _all_keys(lists: list[Keys | None]) -> Keys | None:
    """The keys of all parts together. They are private where a part's are, or where
    different lists are too long.
    """
    different = dict.fromkeys(lists)
    if None in different or len(different) == 1:
        return lists[0] if None not in different else None
    known = [keys for keys in different if keys is not None]
    if sum(map(len, known)) > MOST_KEYS:
        return None
    found = dict.fromkeys(key for keys in known for key in keys)
    return Keys(
        (
            *(key for key in found if key is not None),
            *((None,) if None in found else ()),
        )
    )


def _as(source: Node, columns: tuple[ColumnType, ...], exprs: list[Expr]) -> Node:
    if all(isinstance(expr, Ref) for expr in exprs):
        return source
    typed = tuple(
        replace(column, range=expr.range)
        for column, expr in zip(columns, exprs, strict=True)
    )
    return Project(typed, source.private, source.most, source, tuple(exprs))
