"""The picture of a plan: privacy against accuracy, and the law behind it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dither.explain import words
from dither.explain.picture import Panel, document, logarithmic

if TYPE_CHECKING:
    from dither.explain.planning import Plan

__all__ = ["MEASURED", "draw", "exact_variance"]

SIZE = (760, 420)
GRID = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
MEASURED: tuple[tuple[float, float], ...] = (
    (0.05, 797.19),
    (0.1, 200.18),
    (0.2, 49.915),
    (0.5, 7.8251),
    (1.0, 1.8398),
    (2.0, 0.3602),
    (4.0, 0.038349),
)
"""ε and the variance of a million draws of `Laplace(sensitivity=1)` on integers, as
bench/explain_plan.py measured them (bench/results/explain_plan.json).
"""


def exact_variance(epsilon: float) -> float:
    """Variance of integer Laplace noise: 2q/(1 − q)² with q = e^(−ε), just below 2/ε²."""
    return 2.0 * math.exp(-epsilon) / math.expm1(-epsilon) ** 2


def draw(plan: Plan) -> str:
    """The error against ε for these questions, with the plan on it; and the variance of
    one count against ε.
    """
    return document(plan.title, " ".join(plan.sentences), SIZE, [_curve(plan), _law()])


def _curve(plan: Plan) -> Panel:
    points = [(epsilon, 100 * error) for epsilon, error in plan.curve]
    across = logarithmic("ε of the account", [epsilon for epsilon, _ in points])
    upwards = logarithmic(
        f"± in percent {plan.asked.of}", [share for _, share in points]
    )
    panel = Panel(60, 34, 290, 270, across, upwards).line(points, accent=True)
    for point in points:
        panel = panel.ring(point)
    level = words.share(plan.asked.confidence)
    many = f"{plan.questions:,} questions" if plan.questions > 1 else "one question"
    panel = panel.dot((plan.epsilon, 100 * plan.error), accent=False)
    panel = panel.legend(f"{many}, {level} of the time", accent=True)
    own = f"ε = {words.plain(plan.epsilon)}, ±{words.at_most(plan.error)}"
    return panel.remark(f"black dot: the plan, {own}")


def _law() -> Panel:
    """2/ε² with what was measured on it."""
    low, high = GRID[0], GRID[-1]
    fine = [low * (high / low) ** (i / 40) for i in range(41)]
    text = [(epsilon, 2.0 / epsilon**2) for epsilon in fine]
    exact = [(epsilon, exact_variance(epsilon)) for epsilon in fine]
    panel = Panel(
        430,
        34,
        290,
        270,
        logarithmic("ε of one count", [low, high]),
        logarithmic("variance of its noise", [one for _, one in (*text, *exact)]),
    )
    panel = panel.line(text, dashed=True).line(exact, accent=True)
    for point in MEASURED:
        panel = panel.dot(point, accent=False)
    panel = panel.legend("2/ε², of Laplace noise on reals", dashed=True)
    panel = panel.legend("2q/(1 − q)², q = e^(−ε), on integers", accent=True)
    return panel.remark("black dots: measured, a million draws each")
