"""Sums over regions of a map, with the interval of the sum rather than the sum of
intervals.

Counts are not negative, so the points of a region are at least those of the cells inside
and at most those of all cells that it touches. The noise of both sums is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.release import Release
from dither.science.maps.areas import overlap
from dither.science.maps.fitting import Noises
from dither.science.maps.grids import Partition
from dither.science.maps.intervals import Part, reach
from dither.science.maps.outlines import is_outline, moved, read_outline, shapely
from dither.science.maps.places import TURN, Box, Place, box_of

if TYPE_CHECKING:
    from dither.science.maps.density import HeatMap

__all__ = ["RegionSpread", "shares", "summed", "within"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

SLACK = 1e-10
"""A cell is inside up to this part of its area, and not touched up to this part of its
own and of the region's: borders that are the same on paper differ by this in floats.
"""


def within(release: HeatMap, region: Any) -> Release:
    """The points of a region."""
    return summed(
        release, shares(release.partition, region), "points of the map in the region"
    )


def summed(release: HeatMap, part: Reals, what: str) -> Release:
    """The points of given parts of all cells."""
    value = float(part @ release.value)
    shared = part * release.areas
    least = SLACK * np.minimum(release.areas, np.sum(shared))
    inside = part >= 1 - SLACK
    # A cell that only touches the outline has no area, and still may hold a point.
    touched = inside | (shared > least) | (release.areas <= 0)
    spread = RegionSpread(
        (float(np.sum(release.value[inside])), float(np.sum(release.value[touched]))),
        (selected(release.partition, inside), selected(release.partition, touched)),
        release.noises,
    )
    return Release(what, value, release.sources, spread, notes=release.notes)


def shares(partition: Partition, region: Any) -> Reals:
    """The part of each cell's ground that lies in a region."""
    place, zero = partition.place, np.zeros(partition.size)
    if is_outline(region):
        shape = _turned(place, read_outline(region, "region"))
    else:
        boxes = _boxes(place, region)
        if place.outline is None:
            total = sum((_box_shares(partition, box) for box in boxes), start=zero)
            return np.minimum(total, 1)
        package = shapely()
        shape = package.union_all([package.box(*vars(box).values()) for box in boxes])
    if place.outline is not None:
        shape = shape.intersection(place.outline)
    shared = overlap(place, partition.borders, shape)
    found: Reals = np.clip(shared / np.maximum(partition.areas, 1e-300), 0, 1)
    return found


def _boxes(place: Place, region: Any) -> list[Box]:
    """A box, and the same one turn further each way: a map may show it twice."""
    box = box_of(region, place.system, "region")
    turns = (0.0, TURN, -TURN) if place.system.lonlat else (0.0,)
    return [Box(box.west + t, box.south, box.east + t, box.north) for t in turns]


def _turned(place: Place, shape: Any) -> Any:
    """A polygon where the box counts its longitudes."""
    if not place.system.lonlat:
        return shape
    package, joined = shapely(), moved(shape)
    box = package.box(
        *(getattr(place.box, s) for s in ("west", "south", "east", "north"))
    )
    turns = [package.affinity.translate(joined, turn) for turn in (0.0, TURN, -TURN)]
    return package.union_all([one.intersection(box) for one in turns])


def _box_shares(partition: Partition, box: Box) -> Reals:
    """Of a box: on the cylinder of equal areas it is a rectangle, as cells are."""
    west, south, east, north = partition.borders
    place = partition.place
    left, right = np.maximum(west, box.west), np.minimum(east, box.east)
    low, high = np.maximum(south, box.south), np.minimum(north, box.north)
    some = (right > left) & (high > low)
    found = np.zeros(partition.size)
    cut = place.areas(left[some], low[some], right[some], high[some])
    found[some] = cut / partition.areas[some]
    return np.clip(found, 0, 1)


def selected(partition: Partition, chosen: NDArray[np.bool_]) -> Integers:
    """For each cell of the grid of which some parts were chosen: how many parts it has
    and how many of them; alike ones together, with how often.
    """
    number = np.bincount(partition.parent[chosen], minlength=partition.grid.size)
    some = number > 0
    pairs = np.stack([partition.siblings[some], number[some]], axis=1)
    kinds, times = np.unique(pairs.reshape(-1, 2), axis=0, return_counts=True)
    return np.column_stack([kinds, times])


@dataclass(frozen=True, eq=False)
class RegionSpread:
    """Where the points of a region lie: from the sum of the cells inside to that of the
    cells touched, with the noise of each.
    """

    sums: tuple[float, float]
    kinds: tuple[Integers, Integers]
    noises: Noises

    def ends(self, confidence: float) -> tuple[float, float]:
        inside, touched = (
            reach(self._parts(kinds), confidence) for kinds in self.kinds
        )
        low, high = self.sums[0] - inside, self.sums[1] + touched
        return max(low, 0.0), max(high, 0.0)

    def _parts(self, kinds: Integers) -> list[Part]:
        return [
            part
            for siblings, chosen, times in kinds.tolist()
            for part in self.noises.of_sum(siblings, chosen, times)
        ]
