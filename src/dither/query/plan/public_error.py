"""The public error by which the plans of a question are compared: from the noise that
its cost buys and from what was declared, without data (rules R2 and R16).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from dither.query.plan.plan import Measurement, Plan
from dither.query.plan.vectors import Kind

__all__ = ["log_error"]

LONGER = 2.0
"""Ratio of the norm in L1 to that in L2 that a unit in several groups is taken to have."""


def log_error(plan: Plan) -> float:
    """The geometric mean, over all measurements, of the noise of a figure and of the half
    width of its interval, on a logarithmic scale.

    A smaller radius makes a figure nearer and its interval wider, so neither of them
    alone would do. If the radius is chosen privately, it may be as small as that of a
    unit with one row and as large as the cap, and both count.
    """
    errors = [_of_measurement(plan, one) for one in plan.measurements]
    if plan.keys is not None:
        # The threshold of private keys, and the noise of each number that names them
        noise = math.log(plan.keys.noise.integer_variance) / 2
        errors += [math.log(plan.keys.threshold), *[noise] * len(plan.counted)]
    return sum(errors) / max(len(errors), 1)


def _of_measurement(plan: Plan, measurement: Measurement) -> float:
    logs = [
        math.log(error / measurement.vector.row)
        for radius in _radii(plan, measurement)
        for error in _errors(plan, measurement, radius)
    ]
    return sum(logs) / len(logs)


def _errors(plan: Plan, measurement: Measurement, radius: int) -> Iterator[float]:
    """The noise of a figure at a radius, and with it the noise of what clipping hid."""
    part, levels = measurement.part(radius), measurement.vector.levels
    noise = radius * plan.deviation(part, levels)
    yield noise
    hidden = 0.0
    if measurement.hides(radius) and measurement.cap is not None:
        hidden = (measurement.cap - radius) * plan.deviation(measurement.hiding)
    yield math.hypot(noise, hidden)


def _radii(plan: Plan, measurement: Measurement) -> list[int]:
    """The radius, or the smallest and the largest that may be chosen."""
    if measurement.radius is not None:
        return [measurement.radius]
    small, cap = _small(plan, measurement), measurement.cap
    return [small] if cap is None else [min(small, cap), cap]


def _small(plan: Plan, measurement: Measurement) -> int:
    """The radius of a light unit: its rows lie in several groups and its parts of a mean
    are several numbers, so its norm is larger in L1 than in L2. The leaves of a tree are
    clipped in L1 with either noise.
    """
    vector = measurement.vector
    if plan.spend.gaussian or vector.kind is Kind.TREE:
        return vector.row
    groups = LONGER if plan.question.keys else 1.0
    return math.ceil(vector.row * max(groups, math.sqrt(vector.size)))
