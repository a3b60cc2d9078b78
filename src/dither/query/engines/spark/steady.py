"""What a Spark data frame computes when it is read: whether it is the same rows every
time.

A question reads a table several times over, and bounds what a unit contributes by what
it saw before. So views with functions that give another value each time are refused, as
are functions of the curator's own, which Spark cannot look into, and rows that are cut
off or sampled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["plain_files", "unsteady"]

NODES = {
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Limit", "Offset", "Tail"), "LIMIT"),
    "Sample": "TABLESAMPLE",
    **dict.fromkeys(
        ("MapPartitions", "MapElements", "FlatMapGroupsInPandas", "MapInPandas"),
        "a user-defined function",
    ),
    **dict.fromkeys(
        ("MapInArrow", "FlatMapGroupsInArrow", "ScriptTransformation"),
        "a user-defined function",
    ),
    **dict.fromkeys(
        ("TypedFilter", "MapGroups", "CoGroup", "PythonUDTF"), "a user-defined function"
    ),
}
MOMENTS = (
    "CurrentTimestamp",
    "CurrentDate",
    "Now",
    "LocalTimestamp",
    "CurrentTime",
    "CurrentBatchTimestamp",
)
OWN = (
    "UDF",
    "UDAF",
    "UDTF",
    "UserDefined",
    "HiveGeneric",
    "HiveSimple",
    "ScalaAggregator",
    "CallMethodViaReflection",
)
QUERIES = (
    "ListQuery",
    "ScalarSubquery",
    "Exists",
    "LateralSubquery",
    "FunctionTableSubqueryArgumentExpression",
)
BY_ORDER = (
    "First",
    "Last",
    "AnyValue",
    "CollectList",
    "CollectSet",
    "ApproximatePercentile",
    "HistogramNumeric",
)
"""Aggregates whose value depends on the order in which rows come."""
DEEPEST = 400
ROW_BY_ROW = (
    "LogicalRelation",
    "Relation",
    "SubqueryAlias",
    "View",
    "Project",
    "Filter",
)


def unsteady(frame: Any) -> str | None:
    """The first thing in a data frame's plan that may give other rows the next time, in
    words; or None.
    """
    plan = frame._jdf.queryExecution().analyzed()
    found = next((found for node in _nodes(plan, 0) for found in _of_node(node)), None)
    return found or (
        None
        if plan.deterministic()
        else "a function that may give another value each time"
    )


def plain_files(frame: Any) -> bool:
    """Whether each row of a data frame is one row of its files."""
    nodes = [
        node.nodeName().split(" ")[0]
        for node in _nodes(frame._jdf.queryExecution().analyzed(), 0)
    ]
    return "_metadata" not in frame.columns and all(
        name in ROW_BY_ROW for name in nodes
    )


def _of_node(node: Any) -> Iterator[str]:
    name = node.nodeName()
    if name in NODES:
        yield NODES[name]
    if "UDF" in name or "Pandas" in name:
        yield "a user-defined function"
    for expression in _sequence(node.expressions()):
        yield from _of_expression(expression, 0)


def _of_expression(expression: Any, depth: int) -> Iterator[str]:
    kind = expression.getClass().getSimpleName()
    if kind in QUERIES:
        for node in _nodes(expression.plan(), 0):
            yield from _of_node(node)
    if kind in MOMENTS:
        yield f"{expression.prettyName()}()"
    elif any(word in kind for word in OWN):
        yield "a user-defined function"
    elif kind in BY_ORDER or _volatile(expression):
        yield f"{expression.prettyName()}()"
    if depth < DEEPEST:
        for child in _sequence(expression.children()):
            yield from _of_expression(child, depth + 1)


def _volatile(expression: Any) -> bool:
    """Whether an expression gives another value each time, though its parts do not."""
    return not expression.deterministic() and all(
        child.deterministic() for child in _sequence(expression.children())
    )


def _nodes(plan: Any, depth: int) -> Iterator[Any]:
    yield plan
    if depth < DEEPEST:
        for child in _sequence(plan.children()):
            yield from _nodes(child, depth + 1)


def _sequence(values: Any) -> list[Any]:
    return [values.apply(i) for i in range(values.length())]
