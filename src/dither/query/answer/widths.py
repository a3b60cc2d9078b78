"""How far off an answer will be, from public facts alone: no data, and nothing that was not stated (rule R2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dither.query.answer.assemble import MOMENTS
from dither.query.answer.estimates import Sums
from dither.query.answer.measures import Kind
from dither.query.answer.plan import Item, Plan, used
from dither.query.answer.quantiles import extreme, quantile
from dither.query.sql.expressions import AggregateLeaf
from dither.query.sql.question import Output

__all__ = ["widths"]

GROUPS = (100, 1_000, 10_000)
RADII = (1, 10, 100)

Widths = tuple[tuple[str, float | str | None], ...]


def widths(plan: Plan, output: Output, confidence: float = 0.95) -> Widths:
    """The ± of a column of the answer, each with the condition under which it holds; empty for keys."""
    needed = used(output.expr)
    if not needed:
        return ()
    if not isinstance(output.expr, AggregateLeaf):
        return (("", "follows from the ± of its parts"),)
    item = next(item for item in plan.items if output.expr.index in item.measure.aggregates)
    return tuple(_of_item(plan, item, output.expr.index, confidence))


def _of_item(plan: Plan, item: Item, index: int, confidence: float) -> Iterator[tuple[str, float]]:
    radii = _radii(item)
    if item.measure.kind not in (Kind.MOMENTS, Kind.TREE):
        for when, radius in radii:
            yield when, plan.additive(item, radius).error(confidence, integer=True) * float(item.measure.step)
        return
    when, radius = radii[0] if len(radii) == 1 else radii[1]
    sizes = GROUPS if plan.asked.expect is None else (plan.asked.expect,)
    for rows in sizes:
        about = f"for groups of {rows:,} rows" + (f", {when}" if when else "")
        yield about, _half(plan, item, index, radius, rows, confidence)


def _radii(item: Item) -> list[tuple[str, int]]:
    """The radius, or a few that may be chosen, with the words that say so."""
    if item.radius is not None:
        return [("", item.radius)]
    one = "group" if item.measure.kind is Kind.UNITS else "row"
    sizes = [rows for rows in RADII if rows == 1 or rows <= item.largest]
    return [(f"if a unit counts for {n} {one}{'s' * (n > 1)} at most", n * item.measure.row) for n in sizes]


def _half(plan: Plan, item: Item, index: int, radius: int, rows: int, confidence: float) -> float:
    """Half the interval's width for rows spread evenly between the bounds."""
    aggregate = plan.question.aggregates[index]
    if item.measure.kind is Kind.MOMENTS:
        sums = Sums(item.measure.moments, item.measure.moments.expected(rows), plan.additive(item, radius))
        low, high = MOMENTS[aggregate.function](sums).ends(confidence)
        return float(high - low) / 2
    mechanism, leaves = plan.tree(item, radius), item.measure.leaves
    counts = np.full(leaves.count, rows * item.measure.row / leaves.count)
    if aggregate.function == "quantile":
        low, high = quantile(counts, aggregate.level or 0.0, leaves, mechanism, item.measure.row).ends(confidence)
    else:
        largest = aggregate.function == "max"
        low, high = extreme(counts, leaves, mechanism, item.measure.row, largest=largest).ends(confidence)
    return float(high - low) / 2
