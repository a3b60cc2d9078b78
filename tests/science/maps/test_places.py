"""Boxes, coordinate systems and areas."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.science.maps.places import (
    Place,
    authalic,
    box_of,
    place_of,
    reprojected,
    system_of,
)


@pytest.mark.parametrize("crs", [4326, "4326", "EPSG:4326", "epsg:4326", "OGC:CRS84"])
def test_longitude_and_latitude_need_no_package(monkeypatch, crs):
    monkeypatch.setitem(sys.modules, "pyproj", None)
    assert system_of(crs).lonlat
    with pytest.raises(ArgumentError, match="pip install pyproj"):
        system_of(32633)


def test_other_systems():
    pytest.importorskip("pyproj")
    assert system_of(4269).lonlat
    assert system_of(32633).metres == 1.0
    assert system_of(2263).metres == pytest.approx(0.3048, rel=1e-5)  # feet
    assert system_of(None).plane
    assert str(system_of("EPSG:32633")) == "EPSG:32633"
    for bad in ("nowhere", 10**9, True, 1.5):
        with pytest.raises(ArgumentError, match="not a coordinate system"):
            system_of(bad)


@pytest.mark.parametrize("crs", [4807, "ESRI:104903", 4978, 4267])
def test_grads_moons_and_old_ellipsoids_are_refused(crs):
    pytest.importorskip("pyproj")
    with pytest.raises(ArgumentError, match="convert the points to 4326"):
        system_of(crs)


def test_boxes_across_the_antimeridian():
    lonlat = system_of(4326)
    assert box_of((170, -20, -170, -10), lonlat).east == 190
    assert box_of((-180, -90, 180, 90), lonlat).width == 360
    place = Place(box_of((170, -20, -170, -10), lonlat), lonlat)
    turned = place.turned(np.array([175.0, -175.0, 190.0, 0.0, np.nan]))
    assert turned[:3].tolist() == [175, 185, 190]
    assert not (170 <= turned[3] <= 190)
    assert np.isnan(turned[4])


def test_areas_are_those_of_the_ellipsoid():
    pyproj = pytest.importorskip("pyproj")
    geod = pyproj.Geod(ellps="WGS84")
    place = place_of((10, 40, 10.5, 40.25), 4326)
    side = np.linspace(10, 10.5, 200)
    along = np.concatenate([side, side[::-1]])
    up = np.repeat([40, 40.25], 200)
    exact = abs(geod.polygon_area_perimeter(along, up)[0])
    found = place.areas(*(np.array([one]) for one in (10, 40, 10.5, 40.25)))[0]
    # A parallel is not the shortest way: the polygon's edges are near it, not on it.
    assert found == pytest.approx(exact, rel=1e-6)


def test_the_whole_earth():
    _, high = authalic(np.float64(0), np.array([-90.0, 90.0]))
    wide, _ = authalic(np.array([-180.0, 180.0]), np.float64(0))
    area = (wide[1] - wide[0]) * (high[1] - high[0])
    assert area == pytest.approx(510_065_621_724_089, rel=1e-9)


def test_areas_of_a_projection():
    pytest.importorskip("pyproj")
    place = place_of((500_000, 5_000_000, 510_000, 5_010_000), 32633)
    corners = [np.array([one]) for one in (500_000, 5_000_000, 510_000, 5_010_000)]
    assert place.areas(*corners)[0] == pytest.approx(1e8 / 0.9996**2, rel=1e-3)


def test_a_plane_is_a_plane():
    place = place_of((0, 0, 4, 2), None)
    assert place.shape() == (4, 2)
    assert place.areas(*np.array([[0.0], [0.0], [4.0], [2.0]]))[0] == 8


def test_cells_are_square_on_the_ground():
    wide, high = place_of((0, 59, 2, 61), 4326).shape()
    assert wide / high == pytest.approx(0.5, rel=1e-3)


def test_points_without_an_image_are_infinite():
    pytest.importorskip("pyproj")
    x, y = reprojected(4326, 3857, np.array([0.0, 0.0]), np.array([0.0, 100.0]))
    assert np.isfinite([x[0], y[0]]).all()
    assert not np.isfinite(y[1])


@pytest.mark.parametrize(
    "bounds", [None, 5, "0011", (1, 2, 3), ("a", 1, 2, 3), [[1, 2]]]
)
def test_bounds_are_four_numbers(bounds):
    with pytest.raises(ArgumentError, match="not read off the data"):
        place_of(bounds, 4326)
