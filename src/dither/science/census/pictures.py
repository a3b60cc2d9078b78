"""A picture of the error by level."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dither.axes import Axes, Scale
from dither.picture import Picture, Shape, Text

__all__ = ["error_by_level"]

WIDTH, HEIGHT = 520, 340
LEFT, TOP = 70, 40
LEAST = 0.1


def error_by_level(
    levels: Sequence[str],
    alone: Mapping[int, float],
    fitted: Mapping[str, float],
    confidence: float,
) -> Picture:
    """Lines of the ± of totals: each level's own measurement, and the fit of all."""
    both = [*alone.values(), *fitted.values()]
    finite = [max(one, LEAST) for one in both if math.isfinite(one)]
    low, high = min(finite, default=1.0), max(finite, default=10.0)
    places = range(1, len(levels) + 1)
    axes = Axes(
        LEFT,
        TOP,
        WIDTH - LEFT - 20,
        HEIGHT - TOP - 60,
        Scale(0.5, len(levels) + 0.5),
        Scale(low / 2, high * 4, log=True),
    )
    named = ", ".join(
        f"{place} {name}" for place, name in zip(places, levels, strict=True)
    )
    shapes: list[Shape] = [
        *axes.frame(f"level: {named}", f"± at {100 * confidence:g} %")
    ]
    measured = {level + 1: one for level, one in alone.items()}
    best = dict(zip(places, (fitted[name] for name in levels), strict=True))
    for style, points in enumerate((measured, best)):
        known = {x: max(y, LEAST) for x, y in points.items() if math.isfinite(y)}
        shapes.append(axes.line(known, known.values(), style))
        shapes += [axes.dot(x, y, style) for x, y in known.items()]
    shapes += axes.legend(("each level by itself", "all levels fitted together"))
    title = "Error of a place's total by level"
    shapes.append(Text(LEFT, 24, title, 14, bold=True))
    return Picture.of(WIDTH, HEIGHT, shapes, title)
