"""Pictures of maps: what they show, and that they can be drawn at all."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.picture import Line, Rect, Text, shade
from dither.science import maps
from dither.science.maps.layers import layers_of
from dither.science.maps.panels import HATCH
from dither.science.maps.pieces import MOST, SIDE, pieces_of
from tests.chance import chance
from tests.science.maps.support import UNIT, scattered

POINTS = scattered(3000)


def chart(points=POINTS, bounds=UNIT, crs=None, epsilon=1, **more):
    return maps.heatmap(points, bounds=bounds, crs=crs, epsilon=epsilon, **more)


def words(picture):
    return [shape.words for shape in picture.shapes if isinstance(shape, Text)]


def test_a_map_of_the_earth():
    picture = chart(bounds=(0, 0, 1, 1), crs=4326).plot(title="Sites")
    said = words(picture)
    assert {"Sites", "N", "20 km", "points per square km"} <= set(said)
    assert any("width of the 95 % intervals" in line for line in said)
    assert picture.svg().startswith("<svg")
    assert picture.png().startswith(b"\x89PNG")


def test_a_plane_has_no_north():
    said = words(chart().plot(0.9))
    assert "N" not in said
    assert "points per unit of area" in said
    assert any("90 %" in line for line in said)


@chance(1e-8)
def test_cells_that_may_be_empty_are_hatched():
    empty = chart(np.empty((0, 2)), method="uniform", cells=(3, 3)).plot()
    full = chart(
        np.repeat(
            np.array([[x, y] for x in (0.2, 0.8) for y in (0.2, 0.8)]), 500, axis=0
        ),
        method="uniform",
        cells=(2, 2),
    ).plot()
    hatched, plain = (
        sum(isinstance(one, Line) and one.width == 0.6 for one in picture.shapes)
        for picture in (empty, full)
    )
    assert hatched >= 330 / HATCH
    assert plain == 0


def test_the_hottest_cells_hold_together():
    """They were picked among all cells, so their intervals are wider than the cells'."""
    points = np.concatenate([POINTS, np.full((2000, 2), 0.123)])
    found = chart(points)
    listed = [line for line in words(found.plot()) if re.match(r"[\d,]+ \(", line)]
    assert "densest cells by lower end (95 % together)" in words(found.plot())
    low, high = (
        int(one.replace(",", "")) for one in re.findall(r"[\d,]+", listed[0])[1:]
    )
    place = int(np.argmax(found.value))
    each = found.interval()
    assert high - low > each[1][place] - each[0][place]
    nothing = chart(np.empty((0, 2)), epsilon=0.01)
    assert nothing.plot().shapes


def test_many_cells_are_drawn_as_a_raster():
    found = chart(method="uniform", cells=(100, 100))
    assert len(found) > MOST
    pieces = pieces_of(found, 0.95)
    assert pieces.west.size <= SIDE * SIDE
    ground = (pieces.east - pieces.west) * (pieces.north - pieces.south)
    assert ground.sum() == pytest.approx(1)
    rects = [one for one in found.plot().shapes if isinstance(one, Rect)]
    assert len(rects) < 2 * SIDE * SIDE + 200


def test_an_outline_is_drawn_with_its_holes():
    shapely = pytest.importorskip("shapely")
    ring = shapely.Point(0.5, 0.5).buffer(0.5) - shapely.Point(0.5, 0.5).buffer(0.2)
    small = chart(bounds=ring, crs=4326)
    large = chart(bounds=ring, crs=4326, method="uniform", cells=(90, 90))
    for found in (small, large):
        picture = found.plot()
        assert picture.png().startswith(b"\x89PNG")
        assert pieces_of(found, 0.95).area.min() > 0


def test_layers():
    shapely = pytest.importorskip("shapely")
    circle = shapely.Point(0.5, 0.5).buffer(0.1)
    line = shapely.LineString([(0, 0), (1, 1)])
    json = shapely.geometry.mapping(circle)
    collection = {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "geometry": json}],
    }
    place = chart().place
    for shape in (circle, json, collection, [circle], shapely.MultiPolygon([circle])):
        assert len(layers_of(shape, place)[0][1]) == 1
    both = layers_of({"birds": circle, "river": [line, line]}, place)
    assert [(name, len(lines)) for name, lines in both] == [("birds", 1), ("river", 2)]
    picture = chart().plot(overlay={"birds": circle, "river": line})
    assert {"birds", "river"} <= set(words(picture))
    assert layers_of(None, place) == []
    for bad in (5, "x", {"type": "x"}):
        with pytest.raises(ArgumentError, match="overlay"):
            layers_of(bad, place)


def test_layers_of_geopandas_are_moved_to_the_map():
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    frame = geopandas.GeoSeries([shapely.box(1, 1, 2, 2)], crs=4326).to_crs(3857)
    place = chart(bounds=(0, 0, 3, 3), crs=4326).place
    line = layers_of(frame.to_frame("geometry"), place)[0][1][0]
    assert line.max() == pytest.approx(2)


def test_shades_survive_black_and_white():
    grey = [sum(shade(step / 20)) for step in range(21)]
    assert grey == sorted(grey, reverse=True)
