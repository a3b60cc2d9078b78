"""FROM and WHERE: the tables and the SELECTs in brackets that a SELECT looks at, the
joins between them, and the rows that are kept (rule R9).

Commas in FROM join their parts by the conditions of WHERE that link them, under the
same rules as JOIN … ON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile

from sqlglot import exp

from dither.query.catalogue.limits import QUERIES, TABLES
from dither.query.catalogue.model import Catalogue, Field, Table
from dither.query.catalogue.names import nearest, same
from dither.query.catalogue.types import Keys, Range, Type
from dither.query.operations.calls import call
from dither.query.operations.expressions import Call, ColumnType, Expr, refs
from dither.query.sql.joins import Part, beside, join, linked, same_owner
from dither.query.sql.question import Scan
from dither.query.sql.scope import (
    OWNER,
    Context,
    Entry,
    Ids,
    Rows,
    Scope,
    only,
    row_scalars,
)
from dither.query.sql.subqueries import checked, in_rows, partnered, split
from dither.query.sql.text import refuse

__all__ = ["renamed", "rows_from", "scan"]


def rows_from(context: Context, select: exp.Select) -> Scope:
    """The rows of FROM that WHERE keeps, and their names."""
    parts = _parts_of(context, select)
    where = _where(context, select)
    scope, rest = _connected(context, parts, where.conditions)
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
    for node in _conjuncts(where.this):
        inner, negated = node, False
        while isinstance(inner, exp.Not):
            inner, negated = inner.this.unnest(), not negated
        if isinstance(inner, exp.In) and inner.args.get("query") is not None:
            found.members.append((inner, negated))
        elif isinstance(inner, exp.Exists):
            found.partners.append((inner, negated))
        else:
            found.conditions.append(node)
    if len(found.members) + len(found.partners) > QUERIES:
        message = f"a WHERE may have at most {QUERIES} subqueries; use fewer"
        raise context.text.problem(message, where, "WHERE")
    return found


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    found, rest = [], [node]
    while rest:
        part = rest.pop().unnest()
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
    parts, where = _parts_of(context, select), _where(context, select)
    context.made(len(scope.rows.ids), select)
    own, across = split(context, scope, parts, where.conditions)
    inner, rest = _connected(context, parts, own)
    inner = _kept(context, inner, replace(where, conditions=rest))
    return partnered(context, scope, inner, across, node, negated)


def _parts_of(context: Context, select: exp.Select) -> list[Part]:
    """The parts of FROM, from left to right; JOIN binds closer than a comma."""
    start = select.args.get("from_")
    if start is None:
        raise context.text.problem(
            "this SELECT has no FROM; write FROM and the name of a table", select
        )
    joins = select.args.get("joins") or []
    if len(joins) >= TABLES:
        raise context.text.problem(
            f"a SELECT may join at most {TABLES} tables; join fewer", joins[TABLES - 1]
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
                f"the name {name!r} occurs twice in FROM; rename one of the tables "
                "with AS",
                node,
            )


def _source(context: Context, node: exp.Expr) -> Scope:
    if isinstance(node, exp.Table):
        if not isinstance(node.this, exp.Identifier):
            raise context.text.problem(
                "a function is not allowed in FROM; name a table of the catalogue", node
            )
        if node.args.get("sample") is not None:
            message = (
                "SAMPLE is not supported, because other units' rows may decide which "
                "rows it keeps; remove it"
            )
            raise context.text.problem(message, node)
        if node.args.get("joins"):
            raise context.text.problem(
                "some JOINs are not followed by their own ON; write JOIN … ON … for one "
                "table after the other",
                node,
            )
        if node.args.get("db") is not None:
            raise context.text.problem(
                "a table name has no schema here; write the name alone", node
            )
        only(context.text, node, "this", "alias")
        return _named(context, _table(context, node), node, node.name)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        only(context.text, node, "this", "alias")
        return _named(context, context.query(context, node.this), node, "")
    if isinstance(node, exp.Subquery):
        raise context.text.problem(
            "parentheses in FROM are only for a SELECT; write the joins without them",
            node,
        )
    if isinstance(node, exp.Values):
        raise context.text.problem(
            "VALUES is not supported in FROM; declare a public table in the catalogue",
            node,
        )
    raise refuse(context.text, node)


def _table(context: Context, node: exp.Table) -> Rows:
    """The rows of a query that WITH names, or of a table of the catalogue."""
    name = node.name.casefold()
    found = context.named.get(name)
    if found is not None:
        return found
    for table in context.catalogue.tables:
        if table.name.casefold() == name:
            context.made(len(table.fields), node)
            if name not in context.scans:
                context.scans[name] = scan(context.catalogue, table)
            return context.scans[name]
    names = [*context.named, *(table.name for table in context.catalogue.tables)]
    raise context.text.problem(
        f"there is no table {node.name[:255]!r}; {nearest(node.name[:255], names)}",
        node,
    )


def scan(catalogue: Catalogue, table: Table) -> Rows:
    """A table as declared."""
    private_owner = None if table.public else table.owner
    # Case does not matter in SQL, so the owner's column may be declared in another one.
    owner = None if private_owner is None else private_owner.casefold()
    columns = tuple(
        _column(field, field.name.casefold() == owner) for field in table.fields
    )
    ids = tuple(_ids(catalogue, table, column) for column in columns)
    return Rows(Scan(columns, not table.public, _most(table), table), ids)


def _column(field: Field, owner: bool) -> ColumnType:
    range_ = Range(0, 1) if field.type is Type.BOOLEAN else field.range
    keys = field.keys
    assert keys is None or isinstance(keys, Keys)
    return ColumnType(
        field.name, field.type, range_, keys, owner=owner, total=field.total
    )


def _ids(catalogue: Catalogue, table: Table, column: ColumnType) -> Ids:
    if table.public:
        return frozenset()
    ids = {OWNER} if column.owner else set()
    links = [other.link for other in catalogue.tables if other.link is not None]
    if table.link is not None and same(table.link.column, column.name):
        ids.add(f"{table.link.table}.{table.link.key}".casefold())
    if any(
        same(link.table, table.name) and same(link.key, column.name) for link in links
    ):
        ids.add(f"{table.name}.{column.name}".casefold())
    return frozenset(ids)


def _most(table: Table) -> int | None:
    if table.public:
        return None
    return 1 if table.owner is None and table.link is None else table.rows


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
            f"AS gives {len(names)} names, but the number of columns is "
            f"{len(columns)}; remove some names"
        )
        raise context.text.problem(message, alias)
    for index, name in enumerate(names):
        columns[index] = replace(columns[index], name=name.name)
    return (
        replace(rows, node=replace(rows.node, columns=tuple(columns)))
        if names
        else rows
    )


def _connected(
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
