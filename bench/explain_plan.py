"""The variance of a count's noise against ε: what the law of a plan is drawn over."""

from __future__ import annotations

import numpy as np

from bench.harness import Report, Row, at_most, versions
from dither.explain.plan_picture import GRID, exact_variance
from dither.mechanisms import Laplace

DRAWS = 1_000_000
NOTES = (f"{DRAWS:,} draws of Laplace(sensitivity=1) on integers at each ε",)


def measured(epsilon: float) -> float:
    """The mean square of the noise, whose mean is 0."""
    mechanism = Laplace(sensitivity=1, epsilon=epsilon)
    noise = mechanism.release(np.zeros(DRAWS, np.int64))
    return float(np.mean(np.asarray(noise, np.float64) ** 2))


def run() -> Report:
    rows, worst = [], 0.0
    for epsilon in GRID:
        found, law = measured(epsilon), exact_variance(epsilon)
        case = f"epsilon {epsilon:g}"
        rows += [Row(case, "measured", "variance", found)]
        rows += [Row(case, "closed form", "variance", law)]
        worst = max(worst, abs(found / law - 1))
    goal = at_most("farthest from the closed form, as a part of it", 0.02, worst)
    return Report(tuple(rows), (goal,), NOTES, versions("dither"))
