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

from dither.errors import ArgumentError
from dither.noise import Law
from dither.release import Release
from dither.science.maps.areas import overlap
from dither.science.maps.fitting import Noises, whole_ends
from dither.science.maps.grids import Cells
from dither.science.maps.outlines import is_outline, moved, read_outline, shapely
from dither.science.maps.places import TURN, Box, Place, box_of

if TYPE_CHECKING:
    from dither.science.maps.density import HeatMap

__all__ = ["RegionSpread", "reached", "shares", "whole", "within"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
Truths = NDArray[np.bool_]

SLACK = 1e-10
"""A cell is inside up to this part of its area, and not touched up to this part of its
own and of the region's: borders that are the same on paper differ by this in floats.
"""


def within(release: HeatMap, region: Any) -> Release:
    """The points of a region."""
    partition = release.partition
    shape, size = _shape(partition.place, region)
    part = _parts(partition, shape)
    # Which cells are cut is decided in the map's own coordinates, where borders are
    # straight and no projection is in the way.
    own = partition.unprojected
    shares_there = _parts(own, shape)
    covered = float(shares_there @ own.areas) / size
    _check_touched(partition.place, covered)
    # Points beyond the map were not counted, and nothing is known about them.
    on_map = covered >= 1 - 1e-6
    what = (
        "points in the region" if on_map else "points in the region's part on the map"
    )
    return summed(release, part, reached(shares_there, own.areas), what)


def _check_touched(place: Place, covered: float) -> None:
    if covered > 0:
        return
    box = place.box
    raise ArgumentError(
        "region",
        f"must overlap the map, which goes from {box.west:g}, {box.south:g} to "
        f"{box.east:g}, {box.north:g} in {place.system}; pass a region within it",
    )


def whole(release: HeatMap) -> Release:
    """The points of the map."""
    every = np.ones(len(release), np.bool_)
    return summed(release, np.ones(len(release)), (every, every), "points on the map")


def reached(part: Reals, areas: Reals) -> tuple[Truths, Truths]:
    """The cells inside of a region, and those that it touches."""
    shared = part * areas
    least = SLACK * np.minimum(areas, np.sum(shared))
    inside = part >= 1 - SLACK
    # A cell that only touches the outline has no area, and still may hold a point.
    return inside, inside | (shared > least) | (areas <= 0)


def summed(
    release: HeatMap, part: Reals, decided: tuple[Truths, Truths], what: str
) -> Release:
    """The points of given parts of all cells."""
    inside, touched = decided
    spread = RegionSpread(
        (float(np.sum(release.value[inside])), float(np.sum(release.value[touched]))),
        (selected(release.partition, inside), selected(release.partition, touched)),
        release.noises,
    )
    # More digits would be those of the noise.
    value = round(float(part @ release.value), 1)
    return Release(what, value, release.sources, spread, notes=release.notes)


def shares(partition: Cells, region: Any) -> Reals:
    """The part of each cell's ground that lies in a region."""
    return _parts(partition, _shape(partition.place, region)[0])


def _shape(place: Place, region: Any) -> tuple[Any, float]:
    """A region as the map counts longitudes (boxes, or a polygon), and how large it is
    with what lies beyond the map.
    """
    if is_outline(region):
        given = read_outline(region, "region", place.system.moved)
        shape, size = _turned(place, given), float(given.area)
    else:
        boxes = _boxes(place, region)
        size = boxes[0].width * boxes[0].height
        if place.outline is None:
            return boxes, size
        package = shapely()
        shape = package.union_all([package.box(*vars(box).values()) for box in boxes])
    if place.outline is not None:
        shape = shape.intersection(place.outline)
    return shape, size


def _parts(partition: Cells, shape: Any) -> Reals:
    if isinstance(shape, list):
        zero = np.zeros(partition.size)
        total = sum((_box_shares(partition, box) for box in shape), start=zero)
        return np.minimum(total, 1)
    shared = overlap(partition.place, partition.borders, shape)
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


def _box_shares(partition: Cells, box: Box) -> Reals:
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


def selected(partition: Cells, chosen: NDArray[np.bool_]) -> Integers:
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
        inside, touched = (self._law(kinds).reach(confidence) for kinds in self.kinds)
        low, high = whole_ends(self.sums[0] - inside, self.sums[1] + touched)
        return float(low), float(high)

    def _law(self, kinds: Integers) -> Law:
        return Law.of(
            part
            for siblings, chosen, times in kinds.tolist()
            for part in self.noises.of_sum(siblings, chosen, times).parts
        )
