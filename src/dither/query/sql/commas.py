"""Commas in FROM: parts are joined by the conditions of WHERE that link them, under the
same rules as JOIN … ON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from sqlglot import exp

from dither.query.operations.expressions import Call, Expr, Ref
from dither.query.sql.from_clause import Part
from dither.query.sql.grouping import row_scalars
from dither.query.sql.joins import beside, linked, same_owner
from dither.query.sql.scope import Context, Scope

__all__ = ["connected", "refs"]


def connected(
    context: Context, parts: list[Part], conditions: list[exp.Expr]
) -> tuple[Scope, list[exp.Expr]]:
    """All parts of FROM as one, and the conditions that no join has used.

    From the first part on, the next one is always the first that an equality links to
    those before it: to a private part one that makes their owners equal. Public parts
    without any come last, and are multiplied.
    """
    if len(parts) == 1:
        return parts[0].scope, conditions
    pool = _linking(context, parts, conditions)
    order, used = [0], set[int]()
    scope = parts[0].scope
    while len(order) < len(parts):
        new, ids = _next(context, scope, parts, order, pool)
        scope = linked(
            context,
            scope,
            parts[new].scope,
            [conditions[i] for i in ids],
            parts[new].node,
        )
        order.append(new)
        used.update(ids)
    rest = [node for i, node in enumerate(conditions) if i not in used]
    return _in_order(scope, parts, order), rest


@dataclass(frozen=True)
class Link:
    """An equality of WHERE: its number there, and the parts of FROM that it looks at."""

    id: int
    node: exp.Expr
    parts: frozenset[int]

    def joins(self, joined: list[int], new: int) -> bool:
        """Whether it compares the new part with those before it, and nothing else."""
        return (
            new in self.parts and len(self.parts) > 1 and self.parts <= {*joined, new}
        )


def _linking(
    context: Context, parts: list[Part], conditions: list[exp.Expr]
) -> list[Link]:
    """The equalities of WHERE; other conditions are left to a filter above the joins."""
    scope = parts[0].scope
    for part in parts[1:]:
        scope = beside(scope, part.scope)
        context.made(len(scope.rows.ids), part.node)
    owner = [number for number, part in enumerate(parts) for _ in part.scope.rows.ids]
    scalars = row_scalars(context.text, scope, "WHERE")
    bound = [
        (i, node, scalars.condition(node, "WHERE")) for i, node in enumerate(conditions)
    ]
    equal = [
        (i, node, expr)
        for i, node, expr in bound
        if isinstance(expr, Call) and expr.op == "eq"
    ]
    return [
        Link(i, node, frozenset(owner[ref.index] for ref in refs(expr)))
        for i, node, expr in equal
    ]


def refs(expr: Expr) -> Iterator[Ref]:
    """The columns that an expression looks at."""
    if isinstance(expr, Ref):
        yield expr
    for arg in expr.args if isinstance(expr, Call) else ():
        yield from refs(arg)


def _next(
    context: Context,
    scope: Scope,
    parts: list[Part],
    joined: list[int],
    pool: list[Link],
) -> tuple[int, list[int]]:
    """The part to join next, and the conditions that join it. One that cannot be joined
    is refused where it is.
    """
    waiting = [number for number in range(len(parts)) if number not in joined]
    links = {
        number: [link for link in pool if link.joins(joined, number)]
        for number in waiting
    }
    for number in waiting:
        if _suits(
            context, scope, parts[number].scope, [link.node for link in links[number]]
        ):
            return number, [link.id for link in links[number]]
    private = scope.rows.node.private
    free = [
        number
        for number in waiting
        if not (private and parts[number].scope.rows.node.private)
    ]
    number = (free or waiting)[0]
    return number, [link.id for link in links[number]]


def _suits(context: Context, left: Scope, right: Scope, nodes: list[exp.Expr]) -> bool:
    if not (left.rows.node.private and right.rows.node.private) or not nodes:
        return bool(nodes)
    context.made(len(left.rows.ids) + len(right.rows.ids), nodes[0])
    both = beside(left, right)
    scalars = row_scalars(context.text, both, "WHERE")
    width = len(left.rows.ids)
    return any(
        same_owner(both.rows, width, scalars.condition(node, "WHERE")) for node in nodes
    )


def _in_order(scope: Scope, parts: list[Part], order: list[int]) -> Scope:
    """The names as they stand in FROM: what * means does not depend on the order of the
    joins.
    """
    widths = [len(parts[number].scope.rows.ids) for number in order]
    starts = dict(zip(order, accumulate(widths[:-1], initial=0), strict=True))
    entries = [
        replace(entry, index=entry.index + starts[number])
        for number, part in enumerate(parts)
        for entry in part.scope.entries
    ]
    return replace(scope, entries=tuple(entries))
