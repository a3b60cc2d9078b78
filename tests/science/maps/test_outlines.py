"""Polygons from shapely and GeoJSON."""

from __future__ import annotations

import sys

import pytest

from dither.errors import ArgumentError
from dither.science.maps.outlines import is_outline, moved, read_outline
from dither.science.maps.places import place_of

shapely = pytest.importorskip("shapely")


def same(shape, _):
    return shape


TRIANGLE = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [0, 2], [0, 0]]]}
FEATURE = {"type": "Feature", "geometry": TRIANGLE, "properties": {}}


COLLECTION = {"type": "FeatureCollection", "features": [FEATURE]}


@pytest.mark.parametrize(
    "given", [TRIANGLE, FEATURE, COLLECTION, shapely.geometry.shape(TRIANGLE)]
)
def test_shapes_are_read(given):
    assert is_outline(given)
    assert read_outline(given, "bounds", same).area == 2
    place = place_of(given, 4326)
    assert (place.box.west, place.box.north) == (0, 2)
    assert place.filled == 0.5


BOW = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}


@pytest.mark.parametrize(
    "given",
    [
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "nothing"},
        {},
        BOW,
        shapely.Polygon(),
        shapely.LineString([(0, 0), (1, 1)]),
        {"type": "Feature", "geometry": None},
    ],
)
def test_what_is_no_polygon_is_refused(given):
    with pytest.raises(ArgumentError, match=r"region (must be|cannot be read)"):
        read_outline(given, "region", same)


def test_an_outline_that_was_cut_at_the_antimeridian_comes_together():
    east, west = shapely.box(170, 0, 180, 5), shapely.box(-180, 0, -170, 5)
    joined = moved(shapely.MultiPolygon([east, west]))
    assert joined.bounds == (170, 0, 190, 5)
    place = place_of(shapely.MultiPolygon([east, west]), 4326)
    assert place.box.width == 20
    apart = shapely.MultiPolygon(
        [shapely.box(-20, 0, -10, 5), shapely.box(10, 0, 20, 5)]
    )
    assert moved(apart).equals(apart)


def test_frames_are_moved_to_the_system_of_the_map():
    """A border as most people hold it."""
    geopandas = pytest.importorskip("geopandas")
    halves = [shapely.box(9, 53, 10, 54), shapely.box(10, 53, 11, 54)]
    frame = geopandas.GeoDataFrame(geometry=halves, crs=4326)
    for given in (frame, frame.geometry, frame.to_crs(25832)):
        assert place_of(given, 4326).box.east == pytest.approx(11)
    projected = place_of(frame, 25832)
    assert 6e5 < projected.box.east < 7e5
    json = shapely.geometry.mapping(halves[0])
    assert 5e5 < place_of(json, 25832).box.east < 6e5  # GeoJSON is lon, lat


def test_swapped_polygons_are_refused():
    with pytest.raises(ArgumentError, match="lon, lat"):
        place_of(shapely.box(40, 100, 41, 101), 4326)


def test_without_shapely_boxes_still_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "shapely", None)
    assert place_of((0, 0, 1, 1), 4326).outline is None
    with pytest.raises(ArgumentError, match="pip install shapely"):
        place_of(TRIANGLE, 4326)
