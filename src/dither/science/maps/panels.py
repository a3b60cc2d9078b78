"""One panel of a picture: a map in shades, hatched, with its outline."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.picture import BLACK, GREY, Area, Colour, Line, Rect, Shape, shade
from dither.science.maps.pieces import Pieces
from dither.science.maps.places import Place

__all__ = ["HATCH", "PANEL", "TOP", "WHITE", "Panel"]

Reals = NDArray[np.float64]

PANEL, TOP, HATCH = 330, 62, 12
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
