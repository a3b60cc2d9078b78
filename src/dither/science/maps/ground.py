"""A local plane on which distances are never above those on the ground.

For longitude and latitude it counts too few metres rather than too many: noise for a
distance on this plane is enough for the distance on the ground.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.maps.places import LONGER, SQUARED, TURN, Place, System

__all__ = ["Ground", "ground_of"]

Reals = NDArray[np.float64]

WIDEST = 60.0
"""Degrees of longitude that a local plane may span."""
HIGHEST = 85.0
MARGIN = 0.02
"""Degrees: an ellipsoid's shortest lines reach hardly farther north than a sphere's."""


@dataclass(frozen=True)
class Ground:
    """Metres east and north of the middle of a box, `scales` for each step of its
    coordinates.
    """

    system: System
    name: str
    metric: str
    scales: tuple[float, float]
    middle: tuple[float, float]
    diagonal: float
    latitudes: tuple[float, float] = (0.0, 0.0)

    def flat(self, x: Reals, y: Reals, place: Place) -> Reals:
        """Places on the plane: outside of the box at its nearest border, and in its
        middle if there is none.
        """
        box = place.box
        across = self._unrolled(x)
        there = ~(np.isnan(across) | np.isnan(y))
        east = np.where(there, np.clip(across, box.west, box.east), self.middle[0])
        north = np.where(there, np.clip(y, box.south, box.north), self.middle[1])
        return np.column_stack(
            [
                (east - self.middle[0]) * self.scales[0],
                (north - self.middle[1]) * self.scales[1],
            ]
        )

    def _unrolled(self, x: Reals) -> Reals:
        """Longitudes within half a turn of the middle, so that the nearest border of a
        place outside is on its own side.
        """
        if not self.system.lonlat:
            return x
        with np.errstate(invalid="ignore"):
            away = (x - self.middle[0] + TURN / 2) % TURN - TURN / 2
        # What lies within the box stays as it is, to the last bit.
        return np.where(
            np.abs(x - self.middle[0]) <= TURN / 2, x, self.middle[0] + away
        )

    def stretch(self, metres: float) -> float:
        """How many metres on the ground one on the plane can be, within so many metres
        of the box.
        """
        if not self.system.lonlat:
            return 1.0
        more = metres / self.scales[1]
        low, high = self.latitudes[0] - more, self.latitudes[1] + more
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        farthest = min(max(abs(low), abs(high)), 90.0)
        bent: float = 1 - SQUARED * math.sin(math.radians(farthest)) ** 2
        degree = math.pi / 180 * LONGER
        across = degree * math.cos(math.radians(nearest)) / math.sqrt(bent)
        up = 1 / (bent * math.sqrt(bent))
        return max(across / self.scales[0], up)

    def back(self, flat: Reals) -> Reals:
        """Coordinates of places on the plane. Longitudes go on beyond ±180, as the box
        counts them, so that intervals around them are plain.
        """
        found: Reals = flat / np.array(self.scales) + np.array(self.middle)
        if self.system.lonlat:
            found[:, 1] = np.clip(found[:, 1], -90, 90)
        return found


def ground_of(place: Place) -> Ground:
    """The plane around the middle of the box. Places are held within the box, also if
    there is an outline inside.
    """
    if place.outline is not None:
        raise ArgumentError(
            "bounds",
            "must be a box, not a polygon; pass (west, south, east, north) of the polygon",
        )
    system, box = place.system, place.box
    if system.lonlat:
        scales, name, metric = _degrees(place), "metre", "on the ground (WGS 84)"
    elif system.plane:
        scales, name, metric = (1.0, 1.0), "unit", "in the plane"
    else:
        unit = system.metres or 1.0
        # Not the ground's: far from its line, a projection's metres are others.
        scales, name, metric = (unit, unit), f"{system} metre", f"in {system}"
    diagonal = math.hypot(box.width * scales[0], box.height * scales[1])
    up = math.nextafter(diagonal * (1 + 1e-9), math.inf)
    latitudes = (box.south, box.north)
    return Ground(system, name, metric, scales, box.middle, up, latitudes)


def _degrees(place: Place) -> tuple[float, float]:
    """Metres of a degree, at least: of longitude where the shortest line between two
    places of the box comes nearest to a pole, of latitude at the equator.
    """
    box = place.box
    far = math.radians(max(abs(box.south), abs(box.north)))
    half = math.radians(box.width * 1.01 / 2)
    if box.width > WIDEST or far > math.radians(HIGHEST):
        raise ArgumentError(
            "bounds",
            f"are too large to measure distances on a plane: the limits are {WIDEST:g} "
            f"degrees of longitude and latitudes within ±{HIGHEST:g}; pass smaller bounds",
        )
    peak = math.atan(math.tan(far) / math.cos(half)) + math.radians(MARGIN)
    degree = math.pi / 180
    return LONGER * math.cos(peak) * degree, LONGER * (1 - SQUARED) * degree
