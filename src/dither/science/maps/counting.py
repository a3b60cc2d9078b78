"""Points as places on the raster that count: inside the public ground, and at most so
many of each owner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.science.maps.grids import CHUNK, raster
from dither.science.maps.outlines import shapely
from dither.science.maps.places import Place
from dither.science.maps.reading import Points
from dither.science.owners import chosen, codes_of

__all__ = ["Held", "held"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


class Held(NamedTuple):
    """The places on the raster that count."""

    x: Integers
    y: Integers


def held(points: Points, place: Place, most: int) -> Held:
    """The places that count. Points outside are dropped before an owner's are chosen:
    that is a matter of each point alone.
    """
    x, y, inside = _placed(points.x, points.y, place)
    if points.owners is None:
        return Held(x[inside], y[inside]) if not inside.all() else Held(x, y)
    owners = codes_of(points.owners)
    both = min(owners.size, x.size)
    rows = np.flatnonzero(inside[:both])
    keep = rows[chosen(owners[rows], x[rows], y[rows], most)]
    return Held(x[keep], y[keep])


def _placed(
    x: Reals, y: Reals, place: Place
) -> tuple[Integers, Integers, NDArray[np.bool_]]:
    """Raster places, and which of them lie on the ground."""
    across, up = np.empty(x.size, np.int64), np.empty(x.size, np.int64)
    for start in range(0, x.size, CHUNK):
        some = slice(start, start + CHUNK)
        turned = place.turned(x[some])
        across[some] = raster(turned, place.box.west, place.box.east)
        up[some] = raster(y[some], place.box.south, place.box.north)
    inside = (across >= 0) & (up >= 0)
    if place.outline is not None:
        inside[inside] = _within(x[inside], y[inside], place)
    return across, up, inside


def _within(x: Reals, y: Reals, place: Place) -> NDArray[np.bool_]:
    """Whether points lie in the outline, its border included."""
    package = shapely()
    package.prepare(place.outline)
    found = package.intersects_xy(place.outline, place.turned(x), y)
    return np.asarray(found, np.bool_)
