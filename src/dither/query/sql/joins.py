"""Joins: two private sides only where their owners are the same, and no row without an
owner (rule R9).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from sqlglot import exp

from dither.query.catalogue.names import nearest
from dither.query.operations.calls import call
from dither.query.operations.expressions import Call, ColumnType, Expr, Ref, conjuncts
from dither.query.sql.question import Join, JoinKind, Node, Project, row_tables
from dither.query.sql.scope import (
    Context,
    Entry,
    Rows,
    Scope,
    only,
    row_scalars,
)

__all__ = ["Part", "beside", "join", "linked", "same_owner", "same_unit"]

KINDS = {
    "": JoinKind.INNER,
    "LEFT": JoinKind.LEFT,
    "RIGHT": JoinKind.RIGHT,
    "FULL": JoinKind.FULL,
}


@dataclass(frozen=True)
class Part:
    """What stands between two commas of FROM: a source, or several with JOIN between
    them. `node`: where it begins.
    """

    scope: Scope
    node: exp.Expr


def join(context: Context, left: Scope, right: Scope, node: exp.Join) -> Scope:
    """Two sides of a FROM clause as one."""
    _check_kind(context, node)
    kind = KINDS[node.side]
    _check_sides(context, left.rows.node, right.rows.node, kind, node)
    pair = _pair(left.rows.node, right.rows.node, kind)
    context.made(len(pair.columns), node)
    both = _side_by_side(left, right, pair)
    shared = _using(context, left, right, node)
    condition = _condition(context, both, shared, node)
    if left.rows.node.private and right.rows.node.private:
        _check_owners(context, both, len(left.rows.ids), condition, node)
    context.made(len(shared) * len(pair.columns), node)
    return _merged(
        replace(both, rows=replace(both.rows, node=replace(pair, condition=condition))),
        shared,
        kind,
    )


def linked(
    context: Context,
    left: Scope,
    right: Scope,
    conditions: list[exp.Expr],
    node: exp.Expr,
) -> Scope:
    """Two parts of FROM with a comma between them as one; the conditions of WHERE that
    link them join them.
    """
    word = "JOIN" if node.args.get("kind") else ""
    _check_sides(context, left.rows.node, right.rows.node, JoinKind.INNER, node, word)
    pair = _pair(left.rows.node, right.rows.node, JoinKind.INNER)
    context.made(len(pair.columns), node)
    both = _side_by_side(left, right, pair)
    scalars = row_scalars(context.text, both, "WHERE")
    parts = [scalars.condition(one, "WHERE") for one in conditions]
    condition = parts[0] if len(parts) == 1 else call("and", *parts) if parts else None
    if left.rows.node.private and right.rows.node.private:
        _check_owners(context, both, len(left.rows.ids), condition, node, word)
    return replace(
        both, rows=replace(both.rows, node=replace(pair, condition=condition))
    )


def beside(left: Scope, right: Scope) -> Scope:
    """Every row of one side with every row of the other: names for both, to which
    conditions are then added.
    """
    return _side_by_side(
        left, right, _pair(left.rows.node, right.rows.node, JoinKind.INNER)
    )


def _check_kind(context: Context, node: exp.Join) -> None:
    text = context.text
    if node.kind in ("SEMI", "ANTI"):
        way = "write WHERE id IN (SELECT id FROM …), or NOT IN, with the unit's id"
        raise text.problem(f"{node.kind} JOIN is not supported; {way}", node, node.kind)
    if (
        node.method
        or node.kind not in ("", "INNER", "OUTER", "CROSS")
        or (node.kind == "OUTER" and not node.side)
    ):
        word = node.method or node.kind
        raise text.problem(
            f"{word} JOIN is not supported; write JOIN … ON with a condition",
            node,
            word,
        )
    only(text, node, "this", "side", "kind", "on", "using")


def _check_sides(
    context: Context,
    left: Node,
    right: Node,
    kind: JoinKind,
    node: exp.Expr,
    word: str = "JOIN",
) -> None:
    kept = {
        JoinKind.INNER: [],
        JoinKind.LEFT: [left],
        JoinKind.RIGHT: [right],
        JoinKind.FULL: [left, right],
    }[kind]
    if left.private != right.private and any(not side.private for side in kept):
        message = (
            f"this {kind.upper()} JOIN would keep rows of a public table that do not "
            "belong to a unit; put the private table first and write LEFT JOIN"
        )
        raise context.text.problem(message, node, kind.upper())
    if left.private and right.private and row_tables(left) | row_tables(right):
        message = (
            "each row is a unit, so private tables cannot be joined; ask about one "
            "table at a time"
        )
        raise context.text.problem(message, node, word)


def _pair(left: Node, right: Node, kind: JoinKind) -> Join:
    """Left columns, then right columns. On a side that can be missing the owner's id
    can be NULL.

    A row can have several partners, so what a column adds up to is no longer known.
    """
    columns = (
        *_nullable(left.columns, kind in (JoinKind.RIGHT, JoinKind.FULL)),
        *_nullable(right.columns, kind in (JoinKind.LEFT, JoinKind.FULL)),
    )
    columns = tuple(replace(column, total=None) for column in columns)
    return Join(
        columns,
        left.private or right.private,
        _most(left, right, kind),
        left,
        right,
        kind,
        None,
    )


def _side_by_side(left: Scope, right: Scope, pair: Join) -> Scope:
    width = len(pair.left.columns)
    moved = tuple(
        Entry(entry.table, entry.name, entry.index + width, entry.shared)
        for entry in right.entries
    )
    return Scope(Rows(pair, left.rows.ids + right.rows.ids), left.entries + moved)


def _nullable(columns: tuple[ColumnType, ...], missing: bool) -> tuple[ColumnType, ...]:
    return (
        tuple(replace(column, owner=False) for column in columns)
        if missing
        else columns
    )


def _most(left: Node, right: Node, kind: JoinKind) -> int | None:
    if not (left.private and right.private) or left.most is None or right.most is None:
        return None
    pairs = left.most * right.most
    return max(pairs, left.most + right.most) if kind is JoinKind.FULL else pairs


@dataclass(frozen=True)
class Shared:
    """A column of USING: its places on both sides, counted from the left."""

    name: str
    left: int
    right: int
    owner: bool


def _using(context: Context, left: Scope, right: Scope, node: exp.Join) -> list[Shared]:
    shared = []
    for name in node.args.get("using") or []:
        one, two = (_one(context, scope, name) for scope in (left, right))
        columns = left.rows.node.columns[one], right.rows.node.columns[two]
        owner = all(column.owner for column in columns)
        shared.append(Shared(name.name, one, two + len(left.rows.ids), owner))
    return shared


def _one(context: Context, scope: Scope, name: exp.Expr) -> int:
    found = scope.find(name.name)
    if len(found) == 1:
        return found[0].index
    if found:
        raise context.text.problem(
            f"the column name {name.name!r} is ambiguous; write ON with the names of "
            "the tables",
            name,
        )
    way = nearest(name.name, [entry.name for entry in scope.entries])
    raise context.text.problem(
        f"there is no column {name.name!r} on one side of this JOIN; {way}", name
    )


def _condition(
    context: Context, both: Scope, shared: list[Shared], node: exp.Join
) -> Expr | None:
    on = node.args.get("on")
    scalars = row_scalars(context.text, both, "ON")
    parts = [
        scalars.call(node, "eq", both.rows.ref(pair.left), both.rows.ref(pair.right))
        for pair in shared
    ]
    if on is not None:
        parts += list(conjuncts(scalars.condition(on, "ON")))
    if not parts and node.side:
        raise context.text.problem(
            f"{node.side} JOIN needs a condition; write ON or USING", node, "JOIN"
        )
    return (
        parts[0]
        if len(parts) == 1
        else scalars.call(node, "and", *parts)
        if parts
        else None
    )


def _check_owners(
    context: Context,
    both: Scope,
    width: int,
    condition: Expr | None,
    node: exp.Expr,
    word: str = "JOIN",
) -> None:
    if same_owner(both.rows, width, condition):
        return
    message = (
        "private tables can only be joined if their rows belong to the same unit; "
        f"{_way(both, width)}"
    )
    raise context.text.problem(message, node, word)


def _way(both: Scope, width: int) -> str:
    found = same_unit(both, width)
    if found is None:
        return "select the unit's id on both sides and join on it"
    return f"write JOIN … ON {found}, and add other conditions with AND"


def same_unit(both: Scope, width: int) -> str | None:
    """A condition that would do."""
    ids = both.rows.ids
    for left, right in product(both.entries, both.entries):
        if left.index < width <= right.index and ids[left.index] & ids[right.index]:
            names = [
                f"{entry.table}.{entry.name}" if entry.table else entry.name
                for entry in (left, right)
            ]
            return " = ".join(names)
    return None


def same_owner(rows: Rows, width: int, condition: Expr | None) -> bool:
    """Whether a condition holds only for rows of one owner; the columns of the left
    side are the first `width`.
    """
    return condition is not None and any(
        _same_id(rows, width, part) for part in conjuncts(condition)
    )


def _same_id(rows: Rows, width: int, part: Expr) -> bool:
    """An equality of two columns, one from each side, that are ids of the same kind."""
    if not (isinstance(part, Call) and part.op == "eq"):
        return False
    one, two = part.args
    if not (isinstance(one, Ref) and isinstance(two, Ref)) or (one.index < width) == (
        two.index < width
    ):
        return False
    return bool(rows.ids[one.index] & rows.ids[two.index])


def _merged(scope: Scope, shared: list[Shared], kind: JoinKind) -> Scope:
    """The names after USING: one column instead of two, the one of the side that is
    always there.
    """
    for pair in shared:
        entries, keep = list(scope.entries), pair.left
        if kind is JoinKind.FULL:
            scope = replace(scope, rows=_coalesced(scope.rows, pair))
            keep = len(scope.rows.ids) - 1
        elif kind is JoinKind.RIGHT:
            keep = pair.right
        place = next(
            i
            for i, entry in enumerate(entries)
            if entry.index == pair.left and not entry.shared
        )
        hidden = [
            replace(e, shared=True) if e.index in (pair.left, pair.right) else e
            for e in entries
        ]
        hidden.insert(place, Entry("", entries[place].name, keep))
        scope = replace(scope, entries=tuple(hidden))
    return scope


def _coalesced(rows: Rows, pair: Shared) -> Rows:
    """After FULL JOIN … USING either side may be missing: the column is the one that is
    there.
    """
    left, right = rows.ref(pair.left), rows.ref(pair.right)
    expr = call("coalesce", left, right)
    column = replace(ColumnType.of(pair.name, expr), owner=pair.owner)
    exprs = (*(rows.ref(index) for index in range(len(rows.ids))), expr)
    source = rows.node
    project = Project(
        (*source.columns, column), source.private, source.most, source, exprs
    )
    return Rows(project, (*rows.ids, rows.ids[pair.left] & rows.ids[pair.right]))
