"""A map as a picture: where points lie, how sure that is, and the hottest cells in
numbers.

The left panel shades points per area and hatches cells that may be empty; the right one
shades how wide the intervals are. Shades grow darker with their number, so that both can
be read in black and white.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.picture import (
    BLACK,
    DASHES,
    GREY,
    LINES,
    Area,
    Line,
    Picture,
    Rect,
    Shape,
    Text,
    shade,
)
from dither.science.maps.layers import Layer, layers_of
from dither.science.maps.panels import PANEL, TOP, WHITE, Panel
from dither.science.maps.pieces import Pieces, pieces_of
from dither.science.maps.places import DEGREE

if TYPE_CHECKING:
    from dither.science.maps.density import HeatMap

__all__ = ["draw"]

LEFT, BETWEEN = 16, 40
BAR, STEPS, TICKS = 150, 20, 4
KILOMETRES = ((1e6, "square km"), (1e4, "hectare"), (1.0, "square metre"))


def draw(
    release: HeatMap, confidence: float, overlay: Any, title: str | None, listed: int
) -> Picture:
    """The whole picture."""
    pieces = pieces_of(release, confidence)
    panels = [Panel.of(release.place, LEFT + i * (PANEL + BETWEEN)) for i in (0, 1)]
    layers = layers_of(overlay, release.place)
    named = title or "Density of points"
    bottom = panels[0].top + panels[0].height
    shapes = [
        Text(LEFT, 18, named, 15, bold=True),
        Text(LEFT, 34, str(release.guarantee), 10),
        *_first(release, panels[0], pieces),
        *_second(release, panels[1], pieces, confidence),
        *(shape for panel in panels for shape in _overlaid(panel, layers)),
        *_scale(panels[0]),
        *_legend(layers, confidence, bottom + 84),
        *_numbers(release, confidence, panels, listed),
    ]
    height = round(bottom + 84 + 20 * (max(listed, len(layers)) + 1))
    return Picture.of(round(LEFT * 2 + 2 * PANEL + BETWEEN), height, shapes, named)


def _first(release: HeatMap, panel: Panel, pieces: Pieces) -> Iterator[Shape]:
    unit, name = _unit(release)
    dense = np.maximum(pieces.counts, 0) / pieces.area * unit
    most = _above(float(dense.max(initial=0)))
    yield Text(panel.left, TOP - 12, f"points per {name}", bold=True)
    yield from panel.filled(pieces, np.sqrt(dense / most))
    yield from panel.hatched(pieces, pieces.low <= 0)
    yield from panel.framed()
    yield from _bar(panel, most)


def _second(
    release: HeatMap, panel: Panel, pieces: Pieces, confidence: float
) -> Iterator[Shape]:
    unit, name = _unit(release)
    wide = pieces.wide / pieces.area * unit
    most = _above(float(wide.max(initial=0)))
    words = f"width of the {100 * confidence:.4g} % intervals, per {name}"
    yield Text(panel.left, TOP - 12, words, bold=True)
    yield from panel.filled(pieces, np.sqrt(wide / most))
    yield from panel.framed()
    yield from _bar(panel, most)


def _unit(release: HeatMap) -> tuple[float, str]:
    """The area to count per, so that most figures have few digits."""
    if release.place.system.plane:
        return 1.0, "unit of area"
    typical = float(np.median(release.areas))
    return next((one for one in KILOMETRES if typical >= one[0] / 10), KILOMETRES[-1])


def _bar(panel: Panel, most: float) -> Iterator[Shape]:
    """The shades and their numbers, which grow with the square."""
    left, top = panel.left + panel.width - BAR, panel.top + panel.height + 12
    for step in range(STEPS):
        share, width = step / (STEPS - 1), BAR / STEPS
        yield Rect(left + step * width, top, width + 0.3, 10, shade(share))
    yield Rect(left, top, BAR, 10, None, BLACK)
    for tick in range(TICKS + 1):
        share = tick / TICKS
        x = left + share * BAR
        yield Line(((x, top + 10), (x, top + 14)))
        yield Text(x, top + 26, _short(most * share**2), 10, "middle")


def _overlaid(panel: Panel, layers: list[Layer]) -> Iterator[Shape]:
    for number, (_, lines) in enumerate(layers):
        style = _style(number)
        for line in lines:
            # White below, so that a line is seen on dark cells too.
            yield Line(panel.path(line), WHITE, 4)
            yield Line(panel.path(line), LINES[style], 1.8, DASHES[style])


def _style(number: int) -> int:
    return (number + 1) % len(LINES)


def _scale(panel: Panel) -> Iterator[Shape]:
    """A bar of a round length, and where north is."""
    wide, _ = panel.place.shape()
    system = panel.place.system
    metres = DEGREE if system.lonlat else system.metres or 1.0
    rough = wide * metres / 4
    length = _round(rough)
    across = length / (wide * metres) * panel.width
    top = panel.top + panel.height + 22
    yield Rect(panel.left, top - 4, across, 4, BLACK)
    yield Text(panel.left, top + 12, _distance(length, system.plane), 10)
    if not system.plane:
        x, y = panel.left + panel.width + BETWEEN / 2, panel.top + 4
        yield Area(((x, y), (x + 5, y + 14), (x - 5, y + 14)), BLACK)
        yield Text(x, y + 28, "N", anchor="middle", bold=True)


def _distance(length: float, plane: bool) -> str:
    if plane:
        return f"{length:g}"
    return f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"


def _above(most: float) -> float:
    """A round number that is not less."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return min(step * power for step in (1, 2, 4, 8, 10) if step * power >= most)


def _round(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return max(step * power for step in (1, 2, 5) if step * power <= rough)


def _legend(layers: list[Layer], confidence: float, top: float) -> Iterator[Shape]:
    yield Rect(LEFT, top - 10, 24, 12, shade(0), GREY)
    for x in (LEFT + 2, LEFT + 9, LEFT + 16):
        yield Line(((x, top + 2), (x + 8, top - 10)), GREY, 0.8)
    words = f"may be empty: the {100 * confidence:.4g} % interval begins at 0"
    yield Text(LEFT + 32, top, words)
    for number, (name, _) in enumerate(layers):
        style, down = _style(number), top + 20 * (number + 1)
        yield Line(
            ((LEFT, down - 4), (LEFT + 24, down - 4)), LINES[style], 1.8, DASHES[style]
        )
        yield Text(LEFT + 32, down, name)


def _numbers(
    release: HeatMap, confidence: float, panels: list[Panel], listed: int
) -> Iterator[Shape]:
    """The cells with the highest densities that are sure. As they were picked among all
    cells, their intervals hold together.
    """
    if not listed:
        return
    panel, left = panels[0], panels[1].left
    top = panel.top + panel.height + 84
    together = 1 - (1 - confidence) / len(release)
    low, high = release.interval(min(together, 1 - 1e-9))
    areas = np.maximum(release.areas, np.max(release.areas) * 1e-9)
    order = np.argsort(-low / areas, kind="stable")[:listed]
    sure = [int(place) for place in order if low[place] > 0]
    west, south, east, north = release.partition.borders
    words = "densest cells by lower end" if sure else "each single cell may be empty"
    note = f" ({100 * confidence:.4g} % together)"
    yield Text(left, top, words + (note if sure else ""), bold=True)
    digits = [max(0, 2 - math.floor(math.log10(side))) for side in _least(release)]
    for line, place in enumerate(sure):
        x, y = (west[place] + east[place]) / 2, (south[place] + north[place]) / 2
        count = f"{release.value[place]:,.0f} ({low[place]:,.0f} to {high[place]:,.0f})"
        down = top + 18 * (line + 1)
        words = f"{line + 1}: at {x:.{digits[0]}f}, {y:.{digits[1]}f}"
        yield Text(left, down, words)
        yield Text(left + 170, down, count)
        yield from _mark(panel, x, y, str(line + 1))


def _mark(panel: Panel, x: float, y: float, words: str) -> Iterator[Shape]:
    """The number of a listed cell, on the map."""
    across, down = panel.at(x, y)
    yield Rect(across - 4, down - 5.5, 8, 11, WHITE)
    yield Text(across, down + 3.5, words, 9, "middle")


def _least(release: HeatMap) -> tuple[float, float]:
    """The narrowest and the lowest cell."""
    west, south, east, north = release.partition.borders
    return float(np.min(east - west)), float(np.min(north - south))


def _short(value: float) -> str:
    if value >= 1e5 or 0 < value < 1e-3:
        return f"{value:.1e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
