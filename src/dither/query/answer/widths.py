"""Expected error of an answer, from public facts alone: no data, and nothing that was
not stated (rule R2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from dither.mechanisms import KeyThreshold
from dither.query.operations.expressions import AggregateLeaf
from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.vectors import Kind
from dither.query.sql.question import Aggregate, Output
from dither.query.statistics.estimates import figures
from dither.query.statistics.intervals import NOTHING, OPEN, Hidden, one_sided
from dither.query.statistics.quantiles import Lost, extreme, quantile
from dither.query.statistics.totals import (
    Estimate,
    Total,
)

__all__ = ["UNTOLD", "widths"]

UNTOLD = "not enough rows"
AT_CAP = "at radius = cap"
NEARER = "a smaller radius gives a nearer number and, where it cuts off little, about"

GROUPS = (100, 1_000, 10_000)
RADII = (1, 10, 100)
NAMED = 100
"""Number of private keys that are assumed to be named if intervals have to hold for all
of them.
"""

Widths = tuple[tuple[str, float | str | None], ...]


def widths(plan: Plan, output: Output, confidence: float = 0.95) -> Widths:
    """The ± of a column of the answer, each with the condition under which it holds;
    empty for keys.
    """
    needed = output.needs
    if not needed:
        return ()
    if not isinstance(output.expr, AggregateLeaf):
        return (("", "follows from the ± of its parts"),)
    groups = (plan.groups or NAMED) if plan.question.selects else 1
    found = _found(plan, output.expr.index, 1 - (1 - confidence) / groups)
    named = (
        f"if {NAMED} keys are released"
        if plan.question.selects and plan.groups is None
        else ""
    )
    return tuple(
        (", ".join(filter(None, (when, named))), width) for when, width in found
    )


def _found(
    plan: Plan, index: int, confidence: float
) -> Iterator[tuple[str, float | str]]:
    if plan.keys is not None and plan.is_counted(index):
        return _of_keys(plan, plan.keys, confidence)
    measurement = next(
        measurement
        for measurement in plan.measurements
        if index in measurement.vector.aggregates
    )
    return _of_item(plan, measurement, index, confidence)


def _of_keys(
    plan: Plan, keys: KeyThreshold, confidence: float
) -> Iterator[tuple[str, float | str]]:
    """Half the width of a number that named its key, and so many units from the
    threshold on that naming does not make it wider.
    """
    side = one_sided(confidence) if plan.gives_up_keys else confidence
    far = math.ceil(keys.threshold + 2 * keys.error(side))
    when = f"for keys of {far:,} units or more"
    if plan.gives_up_keys:
        rows = plan.counted_rows
        way = f"groups={rows}" if rows else "declare rows"
        when = f"downwards, unknown upwards ({way}), {when}"
    yield when, keys.error(side)


def _of_item(
    plan: Plan, measurement: Measurement, index: int, confidence: float
) -> Iterator[tuple[str, float | str]]:
    radii = _radii(plan, measurement, confidence)
    if measurement.vector.kind not in (Kind.MOMENTS, Kind.TREE):
        for when, radius in radii:
            yield (
                _said(measurement, radius, when),
                _half_of_total(plan, measurement, radius, confidence),
            )
        return
    when, radius = radii[0 if len(radii) == 1 else 1]
    sizes = GROUPS if plan.request.expect is None else (plan.request.expect,)
    for rows in sizes:
        about = f"for groups of {rows:,} rows" + (f", {when}" if when else "")
        when, _, _ = when.partition(";")  # what follows is said once
        yield (
            _said(measurement, radius, about),
            _half(plan, measurement, index, radius, rows, confidence),
        )


def _radii(
    plan: Plan, measurement: Measurement, confidence: float
) -> list[tuple[str, int]]:
    """The radius, or a few that may be chosen, with the words that say so; of what is
    declared to have an end, that end.
    """
    if measurement.radius is not None:
        return [("", measurement.radius)]
    cap = measurement.cap
    if cap is not None:
        times = _times_as_wide(plan, measurement, cap, confidence)
        return [(f"{AT_CAP}; {NEARER} {times:g} × that width", cap)]
    row = measurement.vector.row
    one = "group" if measurement.vector.kind is Kind.UNITS else "row"
    sizes = [rows for rows in RADII if rows == 1 or rows <= measurement.largest]
    return [
        (f"if units count with up to {n} {one}{'s' * (n > 1)}", n * row) for n in sizes
    ]


def _times_as_wide(
    plan: Plan, measurement: Measurement, cap: int, confidence: float
) -> float:
    """Width of an interval at the smallest radius, as a multiple of the one at radius =
    cap: it follows from the shares of the cost. Rounded up.
    """
    radius, vector = min(measurement.bins.edges[0], cap - 1), measurement.vector
    noise = plan.noise(measurement, radius)
    total = Total(0, noise, 1.0, vector.sign, _hidden(plan, measurement, radius))
    if vector.kind in (Kind.MOMENTS, Kind.TREE):
        total = replace(total, sign=0)
    low, high = total.sides(confidence)
    beside = plan.noise(measurement, cap).error(confidence, integer=True)
    return max(math.ceil(10 * float(high - low) / 2 / beside) / 10, 1.0)


def _said(measurement: Measurement, radius: int, when: str) -> str:
    """The condition, and what the ± leaves out: if the number of rows per unit is not
    declared, clipping may hide more.
    """
    if not measurement.clips(radius) or measurement.hides(radius):
        return when
    way = "raise values" if measurement.vector.kind is Kind.DISTINCT else "declare rows"
    sides = {
        1: f"downwards, unknown upwards ({way})",
        -1: f"upwards, unknown downwards ({way})",
    }
    if (
        measurement.vector.kind in (Kind.MOMENTS, Kind.TREE)
        or not measurement.vector.sign
    ):
        alone = "for the noise alone, without clipping (declare rows)"
        return ", ".join(filter(None, (alone, when)))
    return ", ".join(filter(None, (sides[measurement.vector.sign], when)))


def _half_of_total(
    plan: Plan, measurement: Measurement, radius: int, confidence: float
) -> float:
    """Half the interval's width where little is hidden; of an open one, how far its
    known end lies away.
    """
    step, mechanism = float(measurement.vector.step), plan.additive(measurement, radius)
    total = Total(
        0, mechanism, step, measurement.vector.sign, _hidden(plan, measurement, radius)
    )
    if total.hidden.open:
        return (
            mechanism.error(
                one_sided(confidence) if measurement.vector.sign else confidence,
                integer=True,
            )
            * step
            + measurement.vector.rounding
        )
    low, high = total.sides(confidence)
    return float(high - low) / 2 * step + measurement.vector.rounding


def _hidden(plan: Plan, measurement: Measurement, radius: int) -> Hidden:
    if measurement.hides(radius):
        law = plan.hidden(measurement, radius).law
        return Hidden(0.0, law, parts=(0,) * measurement.vector.size)
    return OPEN if measurement.clips(radius) else NOTHING


def _half(
    plan: Plan,
    measurement: Measurement,
    index: int,
    radius: int,
    rows: int,
    confidence: float,
) -> float | str:
    """Half the interval's width for rows spread evenly between the bounds; without a
    cap, that of the noise alone. In words if noise hides an extreme.
    """
    estimate = _expected(
        plan, measurement, plan.question.aggregates[index], radius, rows
    )
    if estimate.value is None:
        return UNTOLD
    low, high = estimate.ends(confidence, noise=not measurement.hides(radius))
    return float(high - low) / 2


def _expected(
    plan: Plan, measurement: Measurement, aggregate: Aggregate, radius: int, rows: int
) -> Estimate:
    measure, hidden = measurement.vector, _hidden(plan, measurement, radius)
    if measure.kind is Kind.MOMENTS:
        (found,) = figures(
            aggregate.function,
            measure.moments,
            [measure.moments.expected(rows)],
            plan.additive(measurement, radius),
            [hidden],
        )
        return found
    mechanism, leaves = plan.tree(measurement, radius), measure.leaves
    counts = leaves.shares() * (rows * measure.row)
    if aggregate.largest is None:
        lost = None
        if measurement.hides(radius):
            lost = Lost(0 * counts, plan.hidden_tree(measurement, radius))
        level = aggregate.level or 0.0
        return quantile(counts, level, leaves, mechanism, measure.row, lost)
    return extreme(counts, leaves, mechanism, measure.row, largest=aggregate.largest)
