"""How fine maps are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.mechanisms import Gaussian, Laplace
from dither.science.maps import rules
from dither.science.maps.grids import MOST, Grid
from dither.science.maps.places import place_of

SQUARE = place_of((0, 0, 1, 1), None)
ONE = Laplace(sensitivity=1, epsilon=1)


def test_the_guideline_of_the_paper():
    assert rules.uniform(100_000, ONE, SQUARE) == Grid(100, 100)
    assert rules.first(100_000, ONE, SQUARE) == Grid(25, 25)
    assert rules.first(10_000, ONE, SQUARE) == Grid(10, 10)
    assert rules.first(1_000, ONE, SQUARE) == Grid(7, 7)


def test_few_points_get_few_cells():
    assert rules.first(60, ONE, SQUARE) == Grid(3, 3)
    for number in (0, -50, 1):
        assert rules.first(number, ONE, SQUARE) == Grid(1, 1)


def test_owners_and_gaussian_noise_count_by_their_variance():
    three = Laplace(sensitivity=3, epsilon=3)
    assert rules.uniform(100_000, three, SQUARE) == Grid(100, 100)
    wide = Gaussian(sensitivity=1, mu=1 / math.sqrt(2))
    assert rules.uniform(100_000, wide, SQUARE) == Grid(100, 100)


def test_parts():
    noisy = np.array([-20, 0, 6, 8, 63, 64, 10**15])
    sides = rules.part_sides(noisy, ONE, Grid(10, 10))
    assert sides[:6].tolist() == [1, 1, 1, 2, 3, 4]
    assert sides[6] ** 2 * 100 <= MOST


def test_no_map_is_too_large():
    assert rules.uniform(1e18, ONE, SQUARE).size <= MOST * 1.01
    assert rules.first(1e18, ONE, SQUARE).size <= rules.FIRST * 1.01


def test_an_outline_continues_its_cells_over_the_box():
    pytest.importorskip("shapely")
    outline = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1], [0, 0]]]}
    assert rules.uniform(100_000, ONE, place_of(outline, None)).size == pytest.approx(
        20_000, rel=0.01
    )


def test_declared_grids():
    assert rules.declared_grid((4, 3), SQUARE, 100) == Grid(4, 3)
    assert rules.declared_grid(100, place_of((0, 0, 4, 1), None), 100) == Grid(20, 5)
    for bad in (0, "4", (1,), (2, 0), 1.5, (50, 50)):
        with pytest.raises(ArgumentError, match="cells"):
            rules.declared_grid(bad, SQUARE, 100)


def test_the_parts_of_the_cost():
    assert sum(rules.ADAPTIVE) == pytest.approx(1)
    assert sum(rules.UNIFORM) == pytest.approx(1)
