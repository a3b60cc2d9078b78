"""A map as a picture: where points lie, how sure that is, and the hottest cells in
numbers.

The left panel shades points per area and hatches cells that may be empty; the right one
shades how wide the intervals are. Shades grow darker with their number, so that both can
be read in black and white.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.picture import (
    BLACK,
    DASHES,
    GREY,
    LINES,
    Area,
    Colour,
    Line,
    Picture,
    Rect,
    Shape,
    Text,
    shade,
)
from dither.science.maps.layers import Layer, layers_of
from dither.science.maps.pieces import Pieces, pieces_of
from dither.science.maps.places import Place

if TYPE_CHECKING:
    from dither.science.maps.density import HeatMap

__all__ = ["draw"]

Reals = NDArray[np.float64]

PANEL, TOP, LEFT, BETWEEN = 330, 62, 16, 40
BAR, STEPS, TICKS = 150, 20, 4
HATCH = 12
METRES = 111_195.0
"""Of a degree of latitude, about."""
KILOMETRES = ((1e6, "square km"), (1e4, "hectare"), (1.0, "square metre"))
WHITE = (255, 255, 255)


@dataclass(frozen=True)
class Panel:
    """Where on the picture a map is drawn."""

    place: Place
    left: float
    top: float
    width: float
    height: float

    @classmethod
    def of(cls, place: Place, left: float) -> Panel:
        wide, high = place.shape()
        ratio = min(max(high / wide, 0.3), 1.6)
        return cls(place, left, TOP, PANEL, round(PANEL * ratio))

    def at(self, x: Any, y: Any) -> tuple[Any, Any]:
        box = self.place.box
        across = self.left + (x - box.west) / box.width * self.width
        return across, self.top + (box.north - y) / box.height * self.height

    def filled(self, pieces: Pieces, shares: Reals) -> Iterator[Shape]:
        """The cells in their shades; neighbours of one shade are one box."""
        left, top = self.at(pieces.west, pieces.north)
        right, low = self.at(pieces.east, pieces.south)
        sides = np.round(np.column_stack([top, low, left, right]), 1).tolist()
        boxes: list[tuple[list[float], Colour]] = []
        for box, share in sorted(zip(sides, shares.tolist(), strict=True)):
            colour = shade(share)
            last = boxes[-1] if boxes else None
            if (
                last
                and last[1] == colour
                and last[0][:2] == box[:2]
                and last[0][3] == box[2]
            ):
                last[0][3] = box[3]
            else:
                boxes.append((box, colour))
        for (up, down, first, end), colour in boxes:
            yield Rect(first, up, end - first + 0.2, down - up + 0.2, colour)

    def framed(self) -> Iterator[Shape]:
        """What lies outside of the outline is white, and so are its holes."""
        yield from self._outline()
        yield Rect(self.left, self.top, self.width, self.height, None, BLACK)

    def _outline(self) -> Iterator[Shape]:
        outline = self.place.outline
        if outline is None:
            return
        parts = list(getattr(outline, "geoms", [outline]))
        yield Area(self._around(parts), WHITE)
        for part in parts:
            yield Line(self._ring(part.exterior), BLACK, 1.4)
            for hole in part.interiors:
                yield Area(self._ring(hole), WHITE, BLACK)

    def _around(self, parts: list[Any]) -> tuple[tuple[float, float], ...]:
        """The frame with the parts cut out: one path that goes to each of them from a
        corner and back, around them the other way.
        """
        left, top = self.left, self.top
        right, low = left + self.width, top + self.height
        corner = (left, top)
        found = [corner, (right, top), (right, low), (left, low), corner]
        for part in parts:
            ring = self._ring(part.exterior)
            # What turns left on the ground turns left on paper, too.
            inner = ring[:-1] if part.exterior.is_ccw else ring[:0:-1]
            # The way there must not cross what it goes around.
            near = min(range(len(inner)), key=lambda i: math.dist(inner[i], corner))
            found += [*inner[near:], *inner[: near + 1], corner]
        return tuple(found)

    def _ring(self, ring: Any) -> tuple[tuple[float, float], ...]:
        return self.path(np.asarray(ring.coords)[:, :2])

    def path(self, line: Reals) -> tuple[tuple[float, float], ...]:
        across, down = self.at(line[:, 0], line[:, 1])
        held = np.clip(across, self.left, self.left + self.width)
        low = np.clip(down, self.top, self.top + self.height)
        return tuple(zip(held.tolist(), low.tolist(), strict=True))

    def hatched(self, pieces: Pieces, some: NDArray[np.bool_]) -> Iterator[Shape]:
        """Slanted lines over the cells that may be empty, joined across cells."""
        left, top = self.at(pieces.west[some], pieces.north[some])
        right, low = self.at(pieces.east[some], pieces.south[some])
        found: dict[float, list[tuple[float, float]]] = {}
        for x0, y0, x1, y1 in zip(left, top, right, low, strict=True):
            first = math.ceil((x0 + y0) / HATCH) * HATCH
            for line in np.arange(first, x1 + y1, HATCH).tolist():
                ends = (max(x0, line - y1), min(x1, line - y0))
                found.setdefault(line, []).append(ends)
        for line, parts in found.items():
            for start, end in _joined(parts):
                yield Line(((start, line - start), (end, line - end)), GREY, 0.6)


def _joined(parts: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Stretches of a line, those that touch as one."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(parts):
        if found and start <= found[-1][1] + 0.1:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def draw(
    release: HeatMap, confidence: float, overlay: Any, title: str | None, listed: int
) -> Picture:
    """The whole picture."""
    pieces = pieces_of(release, confidence)
    panels = [Panel.of(release.place, LEFT + i * (PANEL + BETWEEN)) for i in (0, 1)]
    layers = layers_of(overlay, release.place)
    named = title or "How many points lie where"
    bottom = panels[0].top + panels[0].height
    shapes = [
        Text(LEFT, 22, named, 15, bold=True),
        *_first(release, panels[0], pieces),
        *_second(release, panels[1], pieces, confidence),
        *(shape for panel in panels for shape in _overlaid(panel, layers)),
        *_scale(panels[0]),
        *_legend(layers, confidence, bottom + 84),
        *_numbers(release, confidence, bottom + 84, panels[1].left, listed),
    ]
    height = round(bottom + 84 + 20 * (max(listed, len(layers)) + 1))
    return Picture.of(round(LEFT * 2 + 2 * PANEL + BETWEEN), height, shapes, named)


def _first(release: HeatMap, panel: Panel, pieces: Pieces) -> Iterator[Shape]:
    unit, name = _unit(release)
    dense = np.maximum(pieces.counts, 0) / pieces.area * unit
    most = float(dense.max(initial=0)) or 1.0
    yield Text(panel.left, TOP - 12, f"points per {name}", bold=True)
    yield from panel.filled(pieces, np.sqrt(dense / most))
    yield from panel.hatched(pieces, pieces.low <= 0)
    yield from panel.framed()
    yield from _bar(panel, most)


def _second(
    release: HeatMap, panel: Panel, pieces: Pieces, confidence: float
) -> Iterator[Shape]:
    unit, name = _unit(release)
    wide = (pieces.high - pieces.low) / pieces.area * unit
    most = float(wide.max(initial=0)) or 1.0
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
    metres = METRES if system.lonlat else system.metres or 1.0
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
    release: HeatMap, confidence: float, top: float, left: float, listed: int
) -> Iterator[Shape]:
    """The cells with the highest densities that are sure. As they were picked among all
    cells, their intervals hold together.
    """
    if not listed:
        return
    together = 1 - (1 - confidence) / len(release)
    low, high = release.interval(min(together, 1 - 1e-9))
    order = np.argsort(-low / release.areas, kind="stable")[:listed]
    sure = [int(place) for place in order if low[place] > 0]
    west, south, east, north = release.partition.borders
    words = "surest hot cells" if sure else "no single cell surely holds a point"
    note = f" ({100 * confidence:.4g} % together)"
    yield Text(left, top, words + (note if sure else ""), bold=True)
    digits = [max(0, 2 - math.floor(math.log10(side))) for side in _least(release)]
    for line, place in enumerate(sure):
        x, y = (west[place] + east[place]) / 2, (south[place] + north[place]) / 2
        count = f"{release.value[place]:,.0f} ({low[place]:,.0f} to {high[place]:,.0f})"
        down = top + 18 * (line + 1)
        yield Text(left, down, f"at {x:.{digits[0]}f}, {y:.{digits[1]}f}")
        yield Text(left + 150, down, count)


def _least(release: HeatMap) -> tuple[float, float]:
    """The narrowest and the lowest cell."""
    west, south, east, north = release.partition.borders
    return float(np.min(east - west)), float(np.min(north - south))


def _short(value: float) -> str:
    if value >= 1e5 or 0 < value < 1e-3:
        return f"{value:.1e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
