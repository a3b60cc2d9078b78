"""A question in words: one line for each relation, key, aggregate and step after them.
For EXPLAIN and tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dither.query.catalogue.calendar import day, moment
from dither.query.catalogue.types import Range, Type
from dither.query.operations.expressions import (
    AggregateLeaf,
    Call,
    Column,
    Expr,
    KeyLeaf,
    Literal,
    Ref,
)
from dither.query.operations.record import OPERATIONS
from dither.query.sql.nodes import (
    Distinct,
    Filter,
    InPublic,
    Join,
    OfOwners,
    PerUnit,
    Project,
    Relation,
    Scan,
    SemiJoin,
    Summary,
    Union,
)
from dither.query.sql.question import Aggregate, Key, Question

__all__ = ["describe"]

SHOWN = 6


def describe(question: Question) -> str:
    """What a question does, from the rows it reads to the answer."""
    names = (
        [key.name for key in question.keys],
        [aggregate.text for aggregate in question.aggregates],
    )
    lines = ["rows", *(f"  {line}" for line in _relation(question.relation))]
    lines += [f"key {_key(key)}" for key in question.keys]
    lines += [f"aggregate {_aggregate(aggregate)}" for aggregate in question.aggregates]
    lines += [
        f"output {output.name} = {_expr(output.expr, names)}"
        for output in question.outputs
    ]
    if question.having is not None:
        lines.append(f"having {_expr(question.having, names)}")
    lines += [
        f"order by {_expr(expr, names)}{' desc' if down else ''}"
        for expr, down in question.order
    ]
    if question.limit is not None or question.offset:
        lines.append(
            "limit "
            f"{question.limit if question.limit is not None else 'none'} "
            f"offset {question.offset}"
        )
    return "\n".join(lines)


def _relation(relation: Relation) -> Iterator[str]:
    yield f"{_node(relation)}{_facts(relation)}"
    for below in _below(relation):
        yield from (f"  {line}" for line in _relation(below))


def _facts(relation: Relation) -> str:
    most = "" if relation.most is None else f", at most {relation.most} a unit"
    return f" [{'private' if relation.private else 'public'}{most}]"


def _node(relation: Relation) -> str:
    return NODES[type(relation)](relation)


def _project(relation: Project) -> str:
    columns = zip(relation.exprs, relation.columns, strict=True)
    return "project " + ", ".join(
        f"{_expr(expr)} AS {_column(column)}" for expr, column in columns
    )


def _join(relation: Join) -> str:
    on = "" if relation.condition is None else f" on {_expr(relation.condition)}"
    return f"{relation.kind} join{on}"


def _semi_join(relation: SemiJoin) -> str:
    on = "" if relation.condition is None else f" on {_expr(relation.condition)}"
    return f"rows {'without' if relation.negated else 'with'} a partner{on}"


def _per_unit(relation: PerUnit) -> str:
    keys = ", ".join(map(_expr, relation.keys))
    summaries = zip(
        relation.summaries, relation.columns[len(relation.keys) :], strict=True
    )
    return f"per unit by {keys}: " + (
        ", ".join(f"{_summary(one)}{_limits(fact)}" for one, fact in summaries) or "-"
    )


NODES: dict[type[Relation], Callable[[Any], str]] = {
    Scan: lambda relation: f"scan {relation.table.name}",
    Filter: lambda relation: f"filter {_expr(relation.condition)}",
    Project: _project,
    Join: _join,
    OfOwners: lambda relation: f"owners {'not ' if relation.negated else ''}among",
    SemiJoin: _semi_join,
    InPublic: lambda relation: (
        f"{_expr(relation.expr)} {'not ' if relation.negated else ''}in"
    ),
    PerUnit: _per_unit,
    Distinct: lambda relation: (
        "distinct within a unit" if relation.private else "distinct"
    ),
    Union: lambda relation: f"union all of {', '.join(map(_column, relation.columns))}",
}


def _below(relation: Relation) -> tuple[Relation, ...]:
    names = ("source", "left", "right", "others", "values")
    return (
        *(getattr(relation, name) for name in names if hasattr(relation, name)),
        *getattr(relation, "sources", ()),
    )


def _column(column: Column) -> str:
    owner = " owner" if column.owner else ""
    return f"{column.name or '_'}{owner}{_limits(column)}{'' if column.keys is None else ' keys'}"


def _limits(fact: Column | Expr) -> str:
    if fact.type in (Type.TEXT, Type.BOOLEAN) or fact.range == Range():
        return f" {fact.type}"
    return (
        f" {fact.type} "
        f"{_end(fact.type, fact.range.low)}..{_end(fact.type, fact.range.high)}"
    )


def _end(type_: Type, end: float | None) -> str:
    if end is None:
        return ""
    if type_ is Type.DATE:
        return str(day(int(end)))
    if type_ is Type.TIMESTAMP:
        return str(moment(int(end)))
    return f"{end:.6g}" if isinstance(end, float) else str(end)


def _summary(summary: Summary) -> str:
    return f"{summary.function}({'*' if summary.expr is None else _expr(summary.expr)})"


def _key(key: Key) -> str:
    if key.values is None:
        return f"{key.name} = {_expr(key.expr)}: private"
    more = ", …" if len(key.values) > SHOWN else ""
    shown = ", ".join(_value(value) for value in key.values[:SHOWN])
    return f"{key.name} = {_expr(key.expr)}: {len(key.values)} public ({shown}{more})"


def _aggregate(aggregate: Aggregate) -> str:
    level = "" if aggregate.level is None else f" at {aggregate.level:g}"
    args = ", ".join(f"{_expr(arg)}{_limits(arg)}" for arg in aggregate.args) or "*"
    return f"{aggregate.function}({args}){level}"


def _value(value: Any) -> str:
    return (
        "NULL"
        if value is None
        else f"'{value}'"
        if isinstance(value, str)
        else str(value)
    )


def _expr(expr: Expr, names: tuple[list[str], list[str]] = ([], [])) -> str:
    if isinstance(expr, Call):
        return _call(expr, names)
    if isinstance(expr, Ref):
        return expr.column.name or f"column {expr.index + 1}"
    if isinstance(expr, KeyLeaf):
        return names[0][expr.index]
    if isinstance(expr, AggregateLeaf):
        return names[1][expr.index]
    return _value(expr.value) if isinstance(expr, Literal) else type(expr).__name__


def _call(expr: Call, names: tuple[list[str], list[str]]) -> str:
    args = [_expr(arg, names) for arg in expr.args]
    sign = OPERATIONS[expr.op].sign
    if sign and len(args) > 1:
        return "(" + f" {sign} ".join(args) + ")"
    return f"{expr.op}({', '.join([*args, *(str(option) for option in expr.options if option is not None)])})"
