"""Survival curves as steps with their bands, and the numbers at risk below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dither.axes import Axes, Scale
from dither.picture import Line, Picture, Shape, Text

__all__ = ["curves", "steps"]

Reals = NDArray[np.float64]

LEFT, TOP, WIDE, HIGH, BELOW = 90, 48, 480, 280, 56
STYLES = 4
LONGEST = 12
NUMBERS = 7


def curves(
    edges: Sequence[float],
    arms: Sequence[str],
    value: Reals,
    ends: tuple[Reals, Reals],
    at_risk: Reals,
    confidence: float,
) -> Picture:
    """Up to four arms, each in its own style; those beyond are left out, and the title
    says so.
    """
    drawn = min(len(arms), STYLES)
    axes = Axes(LEFT, TOP, WIDE, HIGH, Scale(edges[0], edges[-1]), Scale(0, 1))
    bands, borders, lines = [], [], []
    for row in range(drawn):
        seen = int((~np.isnan(value[row])).sum())
        if not seen:
            continue
        xs, ys = steps(edges, value[row, :seen])
        lows, highs = (steps(edges, end[row, :seen])[1] for end in ends)
        bands.append(axes.band(xs, lows, highs, row))
        # a band that lies below another still shows its border
        borders += [_border(axes, xs, end, row) for end in (lows, highs)]
        lines.append(axes.line(xs, ys, row))
    frame = axes.frame("time", "survival")
    title = f"Survival, {100 * confidence:g} % intervals about the population"
    if drawn < len(arms):
        title += f"; {drawn} of {len(arms):,} arms"
    head = Text(LEFT, 18, title, bold=True)
    legend = _legend(arms[:drawn]) if len(arms) > 1 else ()
    below = _below(axes, edges, arms[:drawn], value, at_risk)
    shapes = [*bands, *borders, *frame, *lines, head, *legend, *below]
    size = LEFT + WIDE + 30, TOP + HIGH + BELOW + 22 + 18 * drawn
    return Picture.of(*size, shapes, title)


def steps(edges: Sequence[float], values: Reals) -> tuple[list[float], list[float]]:
    """The corners of a curve that starts at 1 and steps at the end of each bin."""
    xs, ys = [float(edges[0])], [1.0]
    for end, value in zip(edges[1:], values.tolist(), strict=False):
        xs += [float(end), float(end)]
        ys += [ys[-1], value]
    return xs, ys


def _border(axes: Axes, xs: list[float], ys: list[float], style: int) -> Line:
    return replace(axes.line(xs, ys, style), width=0.5)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _legend(arms: Sequence[str]) -> Iterator[Shape]:
    left = float(LEFT)
    for style, arm in enumerate(arms):
        mark = Axes(left, 24, 24, 16, Scale(0, 1), Scale(0, 1))
        yield mark.line((0, 1), (0.5, 0.5), style)
        yield Text(left + 30, 36, _short(arm))
        left += 48 + 7 * len(_short(arm))


def _below(
    axes: Axes,
    edges: Sequence[float],
    arms: Sequence[str],
    value: Reals,
    at_risk: Reals,
) -> Iterator[Shape]:
    """Noisy numbers at risk at the starts of some bins, while the curve is shown."""
    top = TOP + HIGH + BELOW + 8
    yield Text(LEFT, top - 4, "noisy number at risk", size=10)
    every = max(1, -(-len(edges[:-1]) // NUMBERS))
    for row, arm in enumerate(arms):
        down = top + 14 + 18 * row
        yield Text(LEFT - 26, down, _short(arm), size=10, anchor="end")
        for place in range(0, len(edges) - 1, every):
            if np.isnan(value[row, place]):
                break
            x, _ = axes.place(edges[place], 0)
            words = f"{at_risk[row, place]:,.0f}"
            yield Text(x, down, words, size=10, anchor="middle")
