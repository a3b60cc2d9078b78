"""Attacks that worked on maps: sizes and boxes that were read off the data, rounding of
coordinates, owners who count twice.
"""

from __future__ import annotations

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.science import maps
from tests.chance import chance

UNIT = (0.0, 0.0, 1.0, 1.0)
INSIDE = np.random.default_rng(1).random((1001, 2))


def shape(points: np.ndarray) -> tuple[int, int]:
    grid = maps.heatmap(points, bounds=UNIT, crs=None, epsilon=1).partition.grid
    return grid.across, grid.up


@chance(1e-15)
def test_the_size_of_the_grid_does_not_tell_the_number_of_points() -> None:
    """A published adaptive grid took ⌈√(Nε/10)⌉ of the exact N: 1,000 points have
    another grid than 1,001. Here both have both (all but 2^-79 of the time).
    """
    for number in (1000, 1001):
        assert len({shape(INSIDE[:number]) for _ in range(80)}) > 1


def test_a_box_is_never_read_off_the_points() -> None:
    """The outermost point would lie on its border."""
    with pytest.raises(ArgumentError, match="not read off the data"):
        maps.heatmap(INSIDE, epsilon=1)
    with pytest.raises(ArgumentError, match="not read off the data"):
        maps.blur(INSIDE, epsilon=1, radius=10)


@pytest.mark.parametrize("odd", [np.nan, np.inf, 1e308, None, "x"])
def test_one_odd_point_changes_nothing_but_counts(odd: object) -> None:
    """Histograms of other libraries fail on NaN, which tells that there is one."""
    points = [*INSIDE[:50].tolist(), (odd, 0.5)]
    found = maps.heatmap(points, bounds=UNIT, crs=None, epsilon=1, cells=(3, 3))
    assert len(found) >= 9


def test_an_owner_of_many_ids_forms_is_one() -> None:
    """1, "1" and 1.0 are one owner, who counts once."""
    ids = [1, "1", 1.0, np.int64(1)]
    points = [(0.5, 0.5)] * 4
    found = maps.heatmap(
        points,
        bounds=UNIT,
        crs=None,
        owner=ids,
        rows=1,
        epsilon=1e5,
        cells=1,
        method="uniform",
    )
    assert found.value.tolist() == [1]


def test_two_points_are_rows_and_not_columns() -> None:
    """A tuple of two points was once taken as two columns, so that one point more or
    less changed what all others were.
    """
    two, three = [(0.1, 0.2), (0.3, 0.4)], [(0.1, 0.2), (0.3, 0.4), (0.5, 0.6)]
    for points, number in ((two, 2), (three, 3)):
        found = maps.heatmap(
            points, bounds=UNIT, crs=None, epsilon=1e5, cells=1, method="uniform"
        )
        assert found.value.tolist() == [number]
    with pytest.raises(ArgumentError, match="two columns"):
        maps.heatmap(tuple(three), bounds=UNIT, crs=None, epsilon=1)
