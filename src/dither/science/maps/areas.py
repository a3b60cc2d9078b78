"""How much of each cell lies inside a polygon, on an equal-area plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.maps.outlines import shapely
from dither.science.maps.places import Place

__all__ = ["flattened", "overlap"]

Reals = NDArray[np.float64]
Borders = tuple[Reals, Reals, Reals, Reals]

PIECES = 512
"""A border is cut into pieces of this part of the box before it is laid out flat, where
straight lines bend.
"""


def overlap(place: Place, borders: Borders, outline: Any) -> Reals:
    """The area that each cell shares with a polygon."""
    package = shapely()
    package.prepare(outline)
    boxes = package.box(*borders)
    touched = package.intersects(outline, boxes)
    inside = touched & package.contains_properly(outline, boxes)
    found = np.zeros(len(boxes))
    found[inside] = place.areas(*(side[inside] for side in borders))
    cut = np.flatnonzero(touched & ~inside)
    if cut.size:
        flat = flattened(place, outline)
        pieces = flattened(place, boxes[cut])
        found[cut] = package.area(package.intersection(pieces, flat))
    return found


def flattened(place: Place, shapes: Any) -> Any:
    """Polygons on the equal-area plane."""
    if place.system.plane:
        return shapes
    package = shapely()
    longest = max(place.box.width, place.box.height) / PIECES
    fine = package.segmentize(shapes, longest)
    return package.transform(
        fine, lambda points: np.stack(place.flat(*points.T), axis=1)
    )
