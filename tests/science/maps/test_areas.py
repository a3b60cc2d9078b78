"""How much of a cell lies inside a polygon."""

from __future__ import annotations

import numpy as np
import pytest

from dither.science.maps.areas import overlap
from dither.science.maps.grids import Grid, Partition
from dither.science.maps.places import place_of

shapely = pytest.importorskip("shapely")


def grid(bounds, crs, across=4):
    return Partition(
        place_of(bounds, crs), Grid(across, across), np.ones(across**2, int)
    )


def test_a_plane():
    cells = grid((0, 0, 4, 4), None)
    found = overlap(cells.place, cells.borders, shapely.box(0.5, 1, 2, 2))
    assert found.reshape(4, 4)[1].tolist() == [0.5, 1, 0, 0]
    assert found.sum() == 1.5


@pytest.mark.parametrize("crs", [4326, 32633])
def test_parts_add_up_to_the_whole(crs):
    bounds = (14, 45, 16, 47) if crs == 4326 else (4e5, 5e6, 6e5, 5.2e6)
    if crs != 4326:
        pytest.importorskip("pyproj")
    cells = grid(bounds, crs)
    west, south, east, north = bounds
    slanted = shapely.Polygon([(west, south), (east, south), (west, north)])
    other = shapely.Polygon([(east, north), (west, north), (east, south)])
    parts = overlap(cells.place, cells.borders, slanted)
    rest = overlap(cells.place, cells.borders, other)
    assert parts + rest == pytest.approx(cells.areas, rel=1e-4)
    assert 0.45 < parts.sum() / cells.areas.sum() < 0.55


def test_the_ground_counts_and_not_degrees():
    """The southern half of a box has more ground than the northern one."""
    cells = grid((0, 40, 10, 60), 4326, across=1)
    part = overlap(cells.place, cells.borders, shapely.box(0, 40, 10, 50))
    share = part[0] / cells.areas[0]
    sines = np.sin(np.radians([40, 50, 60]))
    assert share == pytest.approx(
        (sines[1] - sines[0]) / (sines[2] - sines[0]), rel=2e-3
    )
