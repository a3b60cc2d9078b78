"""A question and its plan in words: one line for each node, key, aggregate and step after them.
For EXPLAIN and tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from dither.query.catalogue.calendar import day, moment
from dither.query.catalogue.types import Range, Type
from dither.query.operations.expressions import (
    AggregateLeaf,
    Call,
    ColumnType,
    Expr,
    KeyLeaf,
    Literal,
    Ref,
)
from dither.query.operations.record import OPERATIONS
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.vectors import Kind
from dither.query.sql.question import (
    Aggregate,
    Distinct,
    Filter,
    InPublic,
    Join,
    Key,
    Node,
    OfOwners,
    PerUnit,
    Project,
    Question,
    Scan,
    SemiJoin,
    Summary,
    Union,
)
from dither.text import quantity

__all__ = ["describe", "described"]

SHOWN = 6


def describe(question: Question) -> str:
    """The steps of a question, from the rows it reads to the answer."""
    names = (
        [key.name for key in question.keys],
        [aggregate.text for aggregate in question.aggregates],
    )
    lines = ["rows", *(f"  {line}" for line in _lines(question.rows))]
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


def _lines(node: Node) -> Iterator[str]:
    yield f"{_node(node)}{_facts(node)}"
    for below in _below(node):
        yield from (f"  {line}" for line in _lines(below))


def _facts(node: Node) -> str:
    most = "" if node.most is None else f", at most {node.most} a unit"
    return f" [{'private' if node.private else 'public'}{most}]"


def _node(node: Node) -> str:
    return NODES[type(node)](node)


def _project(node: Project) -> str:
    columns = zip(node.exprs, node.columns, strict=True)
    return "project " + ", ".join(
        f"{_expr(expr)} AS {_column(column)}" for expr, column in columns
    )


def _join(node: Join) -> str:
    on = "" if node.condition is None else f" on {_expr(node.condition)}"
    return f"{node.kind} join{on}"


def _semi_join(node: SemiJoin) -> str:
    on = "" if node.condition is None else f" on {_expr(node.condition)}"
    return f"rows {'without' if node.negated else 'with'} a partner{on}"


def _per_unit(node: PerUnit) -> str:
    keys = ", ".join(map(_expr, node.keys))
    summaries = zip(node.summaries, node.columns[len(node.keys) :], strict=True)
    return f"per unit by {keys}: " + (
        ", ".join(f"{_summary(one)}{_limits(fact)}" for one, fact in summaries) or "-"
    )


NODES: dict[type[Node], Callable[[Any], str]] = {
    Scan: lambda node: f"scan {node.table.name}",
    Filter: lambda node: f"filter {_expr(node.condition)}",
    Project: _project,
    Join: _join,
    OfOwners: lambda node: f"owners {'not ' if node.negated else ''}among",
    SemiJoin: _semi_join,
    InPublic: lambda node: f"{_expr(node.expr)} {'not ' if node.negated else ''}in",
    PerUnit: _per_unit,
    Distinct: lambda node: "distinct within a unit" if node.private else "distinct",
    Union: lambda node: f"union all of {', '.join(map(_column, node.columns))}",
}


def _below(node: Node) -> tuple[Node, ...]:
    names = ("source", "left", "right", "others", "values")
    return (
        *(getattr(node, name) for name in names if hasattr(node, name)),
        *getattr(node, "sources", ()),
    )


def _column(column: ColumnType) -> str:
    owner = " owner" if column.owner else ""
    return f"{column.name or '_'}{owner}{_limits(column)}{'' if column.keys is None else ' keys'}"


def _limits(fact: ColumnType | Expr) -> str:
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


def described(plan: Plan) -> list[str]:
    """The guarantee of the plan, its noise, its private keys, and for each measurement
    the part of the cost and the largest change that one unit can make.
    """
    lines = [
        f"guarantee: {plan.guarantee}",
        f"noise: {plan.noise_name}",
    ]
    if plan.keys is not None:
        few = (
            f" and at least {plan.keys.at_least:,} units have it"
            if plan.keys.at_least > 1
            else ""
        )
        lines.append(
            "keys: private; a key is released if its noisy number of units is at least "
            f"{plan.keys.threshold:,}{few}; each unit contributes to at most "
            f"{quantity(plan.keys.groups, 'key')}"
        )
    for vector in plan.counted:
        what = plan.question.aggregates[vector.aggregates[0]].text
        lines.append(f"{what}: the noisy number of units by which a key is released")
    for measurement in plan.measurements:
        what = (
            plan.question.aggregates[measurement.vector.aggregates[0]].text
            or measurement.vector.function
        )
        whole = measurement.whole
        part = f"{_part(whole)} of the cost; " if whole < 1 else ""
        lines.append(f"{what}: {part}{_bounded(plan, measurement)}")
    return lines


def _part(part: Fraction) -> str:
    """A part of the cost in percent, such as `44.2 %`."""
    return f"{round(float(100 * part), 1):g} %"


def _bounded(plan: Plan, measurement: Measurement) -> str:
    """The largest change that one unit can make, or how it is limited."""
    unit = f"one {plan.guarantee.unit.name}"
    tree = measurement.vector.kind in (Kind.TREE, Kind.DISTINCT)
    norm = "L1" if tree or not plan.spend.gaussian else "L2"
    radius: Any = measurement.radius
    if radius is None:
        most = (
            ""
            if measurement.cap is None
            else f" of at most {_size_in_words(measurement, measurement.cap)}"
        )
        hidden = (
            f"; what it cuts off is measured ({_part(measurement.hiding)} of the cost)"
            if measurement.hiding
            else ""
        )
        return (
            f"{unit} counts up to a radius{most} ({norm}), which is chosen privately "
            f"({_part(measurement.choosing)} of the cost){hidden}"
        )
    moved = _size_in_words(measurement, plan.sensitivity(radius))
    hidden = ""
    if measurement.hides(radius):
        cut = _size_in_words(
            measurement, plan.sensitivity(plan.hidden_radius(measurement, radius))
        )
        hidden = (
            f"; what clipping cuts off, at most {cut}, is measured "
            f"({_part(measurement.hiding)} of the cost)"
        )
    return f"{unit} changes it by at most {moved} ({norm}){hidden}"


def _size_in_words(measurement: Measurement, steps: int) -> str:
    if measurement.vector.kind is Kind.TOTAL:
        return _short(float(steps * measurement.vector.step))
    exact = steps / measurement.vector.row
    what = {Kind.UNITS: "group", Kind.DISTINCT: "value"}.get(
        measurement.vector.kind, "row"
    )
    size = _short(float(exact))
    return f"{size} {what}{'s' * (size != '1')}"


def _short(size: float) -> str:
    """A size without the billionths by which norms are rounded up."""
    return f"{float(f'{size:.8g}'):,.10g}"
