"""Which points count, and where."""

from __future__ import annotations

import numpy as np
import pytest

from dither.science.maps.counting import CHUNK, held
from dither.science.maps.places import place_of
from dither.science.maps.reading import Points

UNIT = place_of((0, 0, 1, 1), None)


def points(rows, owners=None):
    x, y = np.array(rows, np.float64).reshape(-1, 2).T
    return Points(x, y, owners)


def test_points_outside_are_dropped_before_an_owners_are_chosen():
    """Of an owner whose first thousand points lie outside, those inside count."""
    rows = [(5.0, 5.0)] * 1000 + [(0.5, 0.5)] * 2
    found = held(points(rows, ["a"] * 1002), UNIT, 2)
    assert found.x.size == 2


def test_chunks_make_no_difference():
    random = np.random.default_rng(1)
    many = random.uniform(-0.1, 1.1, (CHUNK + 7, 2))
    whole = held(points(many), UNIT, 1)
    halves = [held(points(part), UNIT, 1) for part in (many[:1000], many[1000:])]
    assert (whole.x == np.concatenate([half.x for half in halves])).all()
    assert (whole.y == np.concatenate([half.y for half in halves])).all()


def test_ids_without_points_and_points_without_ids():
    assert held(points([(0.5, 0.5)] * 3, ["a", "b"]), UNIT, 1).x.size == 2
    assert held(points([(0.5, 0.5)], ["a", "b", "c"]), UNIT, 1).x.size == 1
    assert held(points([], []), UNIT, 1).x.size == 0


def test_an_outline_decides():
    shapely = pytest.importorskip("shapely")
    place = place_of(shapely.Polygon([(0, 0), (1, 0), (0, 1)]), None)
    rows = [(0.1, 0.1), (0.9, 0.9), (0.5, 0.5), (np.nan, 0.1), (0.2, 7)]
    assert held(points(rows), place, 1).x.size == 2  # the border counts
