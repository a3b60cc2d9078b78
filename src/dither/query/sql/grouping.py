"""The items of SELECT and the keys of GROUP BY: which expressions they are, and which
public values the keys have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from sqlglot import exp

from dither.query.catalogue.limits import ALL_EFFORT, KEYS, MOST_GROUPS
from dither.query.catalogue.names import same
from dither.query.catalogue.types import Type
from dither.query.operations.expressions import (
    Call,
    Expr,
    KeyLeaf,
    Literal,
    Ref,
    refs,
)
from dither.query.operations.numbers import EXACT
from dither.query.operations.ranges import within
from dither.query.operations.reading import constant
from dither.query.sql.aggregates import Item
from dither.query.sql.domains import public_values, steps_to
from dither.query.sql.question import Key, Output
from dither.query.sql.scope import (
    OWNER,
    Context,
    Scalars,
    Scope,
    aggregates_in,
    only,
    row_scalars,
)
from dither.query.sql.text import QueryText

__all__ = ["described", "group_keys", "item_at", "items_of", "keyed"]

WHOLE = ("floor", "ceil", "round")
"""Operations that make integers of bounded reals."""


def items_of(text: QueryText, select: exp.Select) -> list[Item]:
    if not select.expressions:
        raise text.problem(
            "SELECT has no items; write for example SELECT COUNT(*) FROM …",
            select,
            "SELECT",
        )
    return [_item(node) for node in select.expressions]


def _item(node: exp.Expr) -> Item:
    alias = ""
    if isinstance(node, exp.Alias):
        node, alias = node.this, node.alias
    own = node.name if isinstance(node, exp.Column) else ""
    return Item(node, alias, alias or own)


def group_keys(
    text: QueryText, scope: Scope, select: exp.Select, items: list[Item]
) -> dict[Expr, exp.Expr]:
    """The expressions of GROUP BY, by themselves, by alias or by place, and where they
    stand.
    """
    group = select.args.get("group")
    if group is None:
        return {}
    only(text, group, "expressions", "all")
    if group.args.get("all"):
        nodes: Iterable[exp.Expr] = [
            item.node for item in items if not aggregates_in(item.node)
        ]
    elif group.expressions:
        nodes = [
            _key_node(text, scope, node.unnest(), items) for node in group.expressions
        ]
    else:
        raise text.problem(
            "GROUP BY needs a column or an expression; add one", group, "GROUP BY"
        )
    return keyed(row_scalars(text, scope, "GROUP BY"), nodes)


def keyed(scalars: Scalars, nodes: Iterable[exp.Expr]) -> dict[Expr, exp.Expr]:
    """Grouping expressions and their places; constants group nothing and are left out."""
    found = {scalars.bind(node): node for node in nodes}
    keys = {key: node for key, node in found.items() if not isinstance(key, Literal)}
    if len(keys) > KEYS:
        raise scalars.text.problem(
            f"a SELECT may have at most {KEYS} keys; group by fewer",
            list(keys.values())[KEYS],
        )
    return keys


def _key_node(
    text: QueryText, scope: Scope, node: exp.Expr, items: list[Item]
) -> exp.Expr:
    """What an item of GROUP BY means: a place in SELECT, a column, or else an alias."""
    if isinstance(node, exp.Tuple):
        raise text.problem(
            "GROUP BY takes its columns without parentheses; write GROUP BY a, b", node
        )
    if isinstance(node, exp.Column):
        if node.table or scope.find(node.name):
            return node
        return next((item.node for item in items if same(item.alias, node.name)), node)
    place = constant(node)
    return item_at(text, node, place, items).node if isinstance(place, int) else node


def item_at(text: QueryText, node: exp.Expr, place: int, items: list[Item]) -> Item:
    if 1 <= place <= len(items):
        return items[place - 1]
    raise text.problem(
        f"SELECT has no item {place}; write a position from 1 to {len(items)}", node
    )


def described(
    context: Context,
    scope: Scope,
    keys: dict[Expr, exp.Expr],
    outputs: tuple[Output, ...],
) -> tuple[Key, ...]:
    """The keys with their names and public values."""
    steps = 0
    for key, place in keys.items():
        _check_key(context, scope, key, place)
        steps += steps_to(key)
        if steps > ALL_EFFORT:
            message = (
                "the public values of these keys take too long to compute; "
                "group by fewer or simpler keys"
            )
            raise context.text.problem(message, place)
    found = tuple(
        Key(key, _name(index, key, outputs), public_values(key))
        for index, key in enumerate(keys)
    )
    groups = math.prod(len(key.values) for key in found if key.values is not None)
    if groups > MOST_GROUPS:
        message = (
            f"the keys have {groups:,} groups, and the limit is {MOST_GROUPS:,}; "
            "group by fewer or coarser keys"
        )
        raise context.text.problem(message, next(iter(keys.values())))
    return found


def _name(index: int, key: Expr, outputs: tuple[Output, ...]) -> str:
    for output in outputs:
        if isinstance(output.expr, KeyLeaf) and output.expr.index == index:
            return output.name
    return key.column.name if isinstance(key, Ref) else f"key {index + 1}"


def _check_key(context: Context, scope: Scope, key: Expr, place: exp.Expr) -> None:
    if isinstance(key, Ref) and OWNER in scope.rows.ids[key.index]:
        message = (
            f"{key.column.name!r} is the unit's id, so each group would be one unit; "
            f"remove it from the keys, or write COUNT(DISTINCT {key.column.name})"
        )
        raise context.text.problem(message, place)
    if (
        isinstance(key, Ref)
        and scope.rows.ids[key.index]
        and public_values(key) is None
    ):
        message = (
            f"{key.column.name!r} identifies one unit, so each group would be one unit "
            "and could not be released; group by something that many units share"
        )
        raise context.text.problem(message, place)
    if key.type is Type.REAL:
        raise context.text.problem(_real_key(key, place), place)


def _real_key(key: Expr, place: exp.Expr) -> str:
    """Numbers with a fraction make no groups; what to do depends on where the fraction
    comes from, and on whether bounds are declared: FLOOR of an unbounded number stays
    REAL, because an integer could not hold all its values.
    """
    bounded = within(key.range, EXACT)
    if isinstance(key, Ref):
        name = key.column.name
        return (
            f"{name!r} is REAL, and its values rarely repeat; declare {name} as "
            '"integer" if it has only whole numbers, or '
            f"{'' if bounded else 'declare its bounds and '}group by FLOOR({name} / 10)"
        )
    columns = [ref.column for ref in refs(key)]
    if isinstance(key, Call) and key.op in WHOLE and not bounded and columns:
        name = columns[0].name
        return (
            f"{key.op.upper()}(…) of {name!r} has no public range; declare the bounds "
            f'of {name}, such as bounds={{"{name}": (0, 100)}}, or write CAST(… AS '
            f"INTEGER) instead of {key.op.upper()}(…)"
        )
    divided = place.find(exp.Div) and all(one.type is Type.INTEGER for one in columns)
    whole = "write // instead of /, or " if divided else ""
    floor = "FLOOR(…) or " if bounded else ""
    return (
        "this key is REAL, and its values rarely repeat; "
        f"{whole}put {floor}CAST(… AS INTEGER) around it"
    )
