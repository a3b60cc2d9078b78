"""Pictures of what was released: frequencies with their intervals, and the variants
that were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.axes import Axes, Scale
from dither.picture import BLACK, Line, Picture, Shape, Text

__all__ = ["frequencies", "manhattan", "ranking"]

Reals = NDArray[np.float64]

LEFT, TOP, HIGH, BELOW = 64, 48, 280, 50
NAMED = 48
STYLES = 4
LONGEST = 16


def frequencies(
    panel: Sequence[str], clusters: Sequence[str], value: Reals, low: Reals, high: Reals
) -> Picture:
    """Whiskers for up to 48 variants; beyond, the ordered frequencies and a band."""
    shown = list(clusters[:STYLES])
    few = len(panel) <= NAMED
    width = max(360, 18 * len(panel) * min(len(shown), 2)) if few else 640
    across = Scale(0, len(panel)) if few else Scale(0, max(len(panel) - 1, 1))
    axes = Axes(LEFT, TOP, width, HIGH, across, Scale(0, 1))
    body = (
        list(_whiskers(axes, panel, value, low, high, len(shown)))
        if few
        else list(_bands(axes, value, low, high, len(shown)))
    )
    told = list(_legend(axes, shown)) if len(clusters) > 1 else []
    title = f"Allele frequencies of {len(panel):,} variants, 95 % intervals"
    if len(clusters) > len(shown):
        title += f"; {len(shown)} of {len(clusters):,} clusters"
    head = Text(LEFT, 18, title, bold=True)
    size = LEFT + width + 24, TOP + HIGH + (_below(panel) if few else BELOW)
    return Picture.of(*size, [*body, head, *told], title)


def _whiskers(
    axes: Axes, panel: Sequence[str], value: Reals, low: Reals, high: Reals, shown: int
) -> Iterator[Shape]:
    yield from _named_frame(axes, panel, "frequency")
    for row in range(shown):
        for column in range(len(panel)):
            x = column + (row + 1) / (shown + 1)
            yield axes.whisker(x, low[row, column], high[row, column], row)
            yield axes.dot(x, value[row, column], row)


def _bands(
    axes: Axes, value: Reals, low: Reals, high: Reals, shown: int
) -> Iterator[Shape]:
    """Ordered by each cluster's own frequencies; at most 400 points are drawn."""
    places = np.unique(np.linspace(0, value.shape[1] - 1, 400).astype(int))
    xs = [float(at) for at in places]
    bands, lines = [], []
    for row in range(shown):
        order = np.argsort(value[row], kind="stable")[places]
        bands.append(axes.band(xs, low[row, order], high[row, order], row))
        lines.append(axes.line(xs, value[row, order], row))
    yield from bands
    yield from axes.frame("variants in the order of their frequency", "frequency")
    yield from lines


def _named_frame(axes: Axes, names: Sequence[str], y: str) -> Iterator[Shape]:
    """A frame with the variants' names below it."""
    for shape in axes.frame("", y):
        if isinstance(shape, Text) and shape.y > axes.top + axes.height + 8:
            continue  # numbers of variants say nothing here
        if isinstance(shape, Line) and shape.points[0][0] == shape.points[1][0]:
            continue
        yield shape
    bottom = axes.top + axes.height
    for number, name in enumerate(names):
        x, _ = axes.place(number + 0.5, axes.y.low)
        short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        yield Text(x + 4, bottom + 8, short, size=10, anchor="end", turned=True)


def _legend(axes: Axes, names: Sequence[str]) -> Iterator[Shape]:
    """Names above the frame, with the marks they stand for."""
    left = axes.left
    for style, name in enumerate(names):
        short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        dot = Axes(left, 24, 20, 16, Scale(0, 1), Scale(0, 1))
        yield dot.line((0, 1), (0.5, 0.5), style)
        yield dot.dot(0.5, 0.5, style)
        yield Text(left + 26, 36, short)
        left += 44 + 7 * len(short)


def manhattan(
    names: Sequence[str], low: Any, high: Any, line: float | None = None
) -> Picture:
    """Where -log10 of the exact p-values lies, as geneticists show them; `line` is the
    level of significance. There are no points: the p-value of a noisy statistic as if
    it had no noise would mislead.
    """
    width = max(360, 22 * len(names))
    tallest = max(float(np.max(high)), 1.0, line or 0.0)
    axes = Axes(LEFT, TOP, width, HIGH, Scale(0, len(names)), Scale(0, 1.05 * tallest))
    title = f"Exact p-values of {len(names):,} variants lie within (95 %)"
    shapes = list(_named_frame(axes, names, "−log10 p"))
    if line is not None:
        shapes.append(axes.line((0, len(names)), (line, line), 1))
        x, y = axes.place(len(names), line)
        shapes.append(Text(x - 4, y - 4, "genome-wide level", anchor="end", size=10))
    for at in range(len(names)):
        ends = axes.place(at + 0.5, low[at]), axes.place(at + 0.5, high[at])
        shapes.append(Line(ends, BLACK, 5))
    head = Text(LEFT, 18, title, bold=True)
    size = LEFT + width + 24, TOP + HIGH + _below(names)
    return Picture.of(*size, [*shapes, head], title)


def _below(names: Sequence[str]) -> int:
    """Room for names that are written upwards."""
    return 20 + 6 * min(max(map(len, names)), LONGEST)


def ranking(title: str, names: Sequence[str]) -> Picture:
    """Names below each other with their ranks."""
    words = [f"{rank}. {name}" for rank, name in enumerate(names, 1)]
    rows = [Text(12, 44 + 20 * at, word) for at, word in enumerate(words)]
    width = max(240, 24 + 8 * max(map(len, words)))
    head = Text(12, 20, title, bold=True)
    return Picture.of(width, 52 + 20 * len(names), [head, *rows], title)
