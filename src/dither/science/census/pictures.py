"""A picture of the error by level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from dither.axes import Axes, Scale
from dither.picture import Picture, Shape, Text

__all__ = ["error_by_level"]

WIDTH, HEIGHT = 520, 340
LEFT, TOP = 70, 40
LETTER = 7
EXACT = 1e-6
TITLE = "Error of a place's total by level"


def error_by_level(
    levels: Sequence[str],
    alone: Mapping[int, float],
    fitted: Mapping[str, float],
    confidence: float,
) -> Picture:
    """Lines of the ± of totals: each level's own measurement, and the fit of all. An
    exact level has no error, and a logarithmic axis has no 0: it is written as exact.
    """
    best = {level: fitted[name] for level, name in enumerate(levels)}
    shown = [_finite(alone), _finite(best)]
    both = [one for points in shown for one in points.values()]
    low, high = min(both, default=1.0), max(both, default=10.0)
    axes = Axes(
        LEFT,
        TOP,
        WIDTH - LEFT - 20,
        HEIGHT - TOP - 60,
        Scale(-0.5, len(levels) - 0.5),
        # Whole powers of ten, so that there are ticks; above is room for the legend.
        Scale(10 ** _power(low * 0.8), 10 ** -_power(0.25 / high), log=True),
    )
    across = int(axes.width / len(levels) / LETTER)
    names = {float(level): _cut(name, across) for level, name in enumerate(levels)}
    shapes: list[Shape] = [*axes.frame("level", f"± at {100 * confidence:g} %", names)]
    for style, points in enumerate(shown):
        shapes.append(axes.line(points, points.values(), style))
        shapes += [axes.dot(x, y, style) for x, y in points.items()]
    shapes += _exact(axes, best)
    shapes += axes.legend(("each level by itself", "all levels fitted together"))
    shapes.append(Text(LEFT, 24, TITLE, 14, bold=True))
    return Picture.of(WIDTH, HEIGHT, shapes, TITLE)


def _finite(errors: Mapping[int, float]) -> dict[int, float]:
    """The errors that have a place on the axis."""
    return {level: one for level, one in errors.items() if EXACT < one < math.inf}


def _power(value: float) -> float:
    return float(math.floor(math.log10(value)))


def _exact(axes: Axes, errors: Mapping[int, float]) -> Iterator[Shape]:
    for level, one in errors.items():
        if one <= EXACT:
            across, down = axes.place(level, axes.y.low)
            yield Text(across, down - 8, "exact", anchor="middle")


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: max(most - 1, 0)]}…"
