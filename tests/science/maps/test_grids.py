"""Every place of the raster lies in exactly one cell, where its borders say."""

from __future__ import annotations

import numpy as np
import pytest

from dither.science.maps.grids import MASK, STEPS, Grid, Partition, raster, sides
from dither.science.maps.places import place_of
from tests.science.maps.support import UNIT

PLANE = place_of(UNIT, None)


def test_the_raster_holds_its_borders():
    values = np.array([0.0, 1.0, 0.5, -1e-300, np.nextafter(1, 2), np.nan, np.inf])
    found = raster(values, 0.0, 1.0)
    assert found.tolist() == [0, MASK, STEPS // 2, -1, -1, -1, -1]


def test_values_beyond_all_floats_do_not_warn():
    assert raster(np.array([1e308, -1e308]), -1e300, 1e300).tolist() == [-1, -1]


@pytest.mark.parametrize("across", [1, 2, 3, 7, 1000])
def test_cells_are_half_open(across):
    """A point on a border lies in the cell to the east of it."""
    grid = Grid(across, 1)
    edges = [-(-i * STEPS // across) for i in range(across)]
    x = np.array([*edges, MASK, *[edge - 1 for edge in edges[1:]]])
    cells = grid.cells(x, np.zeros_like(x)).tolist()
    assert cells[:across] == list(range(across))
    assert cells[across] == across - 1
    assert cells[across + 1 :] == list(range(across - 1))


@pytest.mark.parametrize("across", [3, 7, 10, 1000])
@pytest.mark.parametrize(("low", "high"), [(0.0, 10.0), (-180.0, 180.0), (2.2, 2.5)])
def test_round_numbers_on_borders_lie_to_their_east(across, low, high):
    """As in numpy's histograms: data in round numbers is the usual case."""
    x = np.array([low + (high - low) * k / across for k in range(across)])
    cells = Grid(across, 1).cells(raster(x, low, high), np.zeros(across, np.int64))
    assert cells.tolist() == list(range(across))
    divided = Partition(PLANE, Grid(across, 1), np.full(across, 3))
    parts = divided.parts(raster(x, low, high), np.zeros(across, np.int64))
    assert parts.tolist() == [9 * k for k in range(across)]


def test_parts_refine_the_grid():
    random = np.random.default_rng(3)
    grid = Grid(5, 3)
    partition = Partition(PLANE, grid, random.integers(1, 6, grid.size))
    x, y = random.integers(0, STEPS, (2, 20_000))
    parts = partition.parts(x, y)
    assert (partition.parent[parts] == grid.cells(x, y)).all()
    west, south, east, north = (side[parts] for side in partition.borders)
    slack = 2 / STEPS
    assert ((x / STEPS >= west - slack) & (x / STEPS < east + slack)).all()
    assert ((y / STEPS >= south - slack) & (y / STEPS < north + slack)).all()
    assert np.isclose(partition.areas.sum(), 1)
    assert partition.counts(x, y).sum() == x.size


def test_neighbours_share_their_border():
    partition = Partition(PLANE, Grid(3, 1), np.array([3, 3, 3]))
    west, _, east, _ = partition.borders
    row = np.argsort(west[:3].tolist() + west[9:12].tolist())
    joined = np.unique(np.concatenate([west, east]))
    assert row.size == 6
    assert joined.size == 10


def test_sides_are_about_square():
    assert sides(100, 1, 1) == (10, 10)
    assert sides(100, 4, 1) == (20, 5)
    assert sides(0, 1, 1) == (1, 1)
    assert sides(10, 1e9, 1) == (100_000, 1)


def test_an_outline_keeps_the_cells_that_touch_it():
    outline = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}
    partition = Partition(place_of(outline, None), Grid(4, 4), np.ones(16, np.int64))
    assert partition.size == 13  # 10 with ground inside, 3 on the slope's corners
    assert np.isclose(partition.areas.sum(), 0.5)
    assert partition.siblings.sum() == 13
