"""Sums over regions: exact where cells lie inside, and always between their ends."""

from __future__ import annotations

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.science import maps
from dither.science.maps.regions import shares
from tests.chance import chance
from tests.science.maps.support import UNIT, scattered, without_noise

POINTS = scattered(4000)


def chart(points=POINTS, bounds=UNIT, crs=None, **more):
    return maps.heatmap(points, bounds=bounds, crs=crs, epsilon=1, **more)


def count(points, west, south, east, north):
    return int(
        np.sum(((points >= (west, south)) & (points < (east, north))).all(axis=1))
    )


def test_boxes_along_cells_are_exact(monkeypatch):
    without_noise(monkeypatch)
    found = chart(method="uniform", cells=(10, 10)).within((0.2, 0.1, 0.7, 0.9))
    assert found.value == count(POINTS, 0.2, 0.1, 0.7, 0.9)
    inside, touched = found.spread.sums
    assert inside == touched == found.value


def test_ends_hold_the_truth_without_noise(monkeypatch):
    without_noise(monkeypatch)
    found = chart()
    random = np.random.default_rng(4)
    for low, high in np.sort(random.random((30, 2, 2)), axis=1):
        region = found.within((*low, *high))
        inside, touched = region.spread.sums
        exact = count(POINTS, *low, *high)
        assert inside - 1e-9 <= exact <= touched + 1e-9
        assert inside - 1e-9 <= region.value <= touched + 1e-9


def test_polygons_are_what_geopandas_counts(monkeypatch):
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    without_noise(monkeypatch)
    circle = shapely.Point(0.5, 0.5).buffer(0.3)
    region = chart().within(circle)
    exact = geopandas.GeoSeries.from_xy(*POINTS.T).within(circle).sum()
    inside, touched = region.spread.sums
    assert inside <= exact <= touched
    assert region.value == pytest.approx(exact, rel=0.05)
    json = shapely.geometry.mapping(circle)
    assert chart().within(json).value == pytest.approx(region.value, rel=0.01)


def test_the_noise_is_that_of_the_sum():
    """Much less than the sum of all cells' intervals, and not less than it should be."""
    found = chart()
    total = found.total()
    low, high = total.interval()
    cells = found.interval()
    assert high - low < 0.05 * np.sum(cells[1] - cells[0])
    law = total.spread._law(total.spread.kinds[0])
    assert high - low == pytest.approx(2 * law.reach(0.95), abs=2)
    assert 1.9 * law.deviation < law.reach(0.95) < 2.1 * law.deviation


def test_a_box_and_its_polygon_agree():
    shapely = pytest.importorskip("shapely")
    for bounds, crs, box in (
        (UNIT, None, (0.13, 0.2, 0.77, 0.61)),
        ((130, -14, 131, -13), 4326, (130.13, -13.9, 130.77, -13.2)),
    ):
        found = chart(np.zeros((0, 2)), bounds, crs, expect=50_000)
        flat = shares(found.partition, box)
        shape = shares(found.partition, shapely.box(*box))
        assert shape == pytest.approx(flat, abs=1e-6)


def test_a_region_beyond_the_map_is_cut():
    found = chart()
    wide = found.within((-5, -5, 5, 5))
    assert wide.value == pytest.approx(found.total().value)
    assert "the region's part on the map" in str(wide)
    assert "part" not in str(found.within((0, 0, 0.5, 0.5)))


def test_a_region_beside_the_map_is_refused():
    """Points there were not counted: 0 would be a false certainty."""
    shapely = pytest.importorskip("shapely")
    for region in ((5, 5, 6, 6), (1, 0, 2, 1), shapely.box(9, 53, 10, 54)):
        with pytest.raises(ArgumentError, match="must overlap the map"):
            chart().within(region)


def test_a_map_understands_its_own_geojson():
    pytest.importorskip("pyproj")
    box = (550_000, 5_920_000, 580_000, 5_950_000)
    points = POINTS * 30_000 + (550_000, 5_920_000)
    found = chart(points, box, 25832, method="uniform", cells=(6, 6))
    first = found.within(found.to_geojson()["features"][0])
    assert first.value == pytest.approx(found.value[0], abs=2)


def test_a_rectangle_and_its_polygon_have_one_interval():
    shapely = pytest.importorskip("shapely")
    pytest.importorskip("pyproj")
    box = (550_000, 5_920_000, 580_000, 5_950_000)
    points = POINTS * 30_000 + (550_000, 5_920_000)
    found = chart(points, box, 25832, method="uniform", cells=(6, 6))
    region = (560_000, 5_930_000, 570_000, 5_940_000)
    plain, shape = found.within(region), found.within(shapely.box(*region))
    assert plain.interval() == shape.interval()
    assert plain.value == pytest.approx(shape.value)


def test_regions_across_the_antimeridian():
    shapely = pytest.importorskip("shapely")
    found = chart(np.zeros((0, 2)), (170, -10, -170, 10), 4326, expect=10_000)
    plain = shares(found.partition, (175, -5, -175, 5))
    assert plain.sum() > 0
    for shape in (
        shapely.box(175, -5, 185, 5),
        shapely.box(-185, -5, -175, 5),
        shapely.MultiPolygon(
            [shapely.box(175, -5, 180, 5), shapely.box(-180, -5, -175, 5)]
        ),
    ):
        assert shares(found.partition, shape) == pytest.approx(plain, abs=1e-6)
    assert shares(found.partition, (-175, -5, -172, 5)).sum() > 0
    assert shares(found.partition, (160, -10, 171, 10)).sum() > 0


@chance(2e-8)
def test_a_small_region_is_not_surely_empty():
    paris = np.tile([[2.31, 48.81]], (1000, 1))
    found = chart(paris, (-180, -90, 180, 90), 4326, method="uniform", cells=(10, 10))
    region = found.within((2.3099, 48.8099, 2.3101, 48.8101))
    low, high = region.interval(1 - 1e-8)
    assert low <= 1000 <= high


def test_a_region_that_a_world_map_shows_on_both_sides(monkeypatch):
    shapely = pytest.importorskip("shapely")
    without_noise(monkeypatch)
    points = np.concatenate([np.tile([[-175.0, 0.0]], (100, 1)), [[175.0, 0.0]]])
    found = chart(points, (-180, -90, 180, 90), 4326, method="uniform", cells=(36, 18))
    assert found.within((170, -10, -170, 10)).value == 101
    assert found.within(shapely.box(170, -10, 190, 10)).value == pytest.approx(101)


def test_a_slanted_border_cuts_the_cells_that_it_cuts(monkeypatch):
    """Points close to a long slanted border, on both sides: their cells are neither
    inside nor out of reach, though on the equal-area plane that border is bent.
    """
    shapely = pytest.importorskip("shapely")
    without_noise(monkeypatch)
    bounds = (0, 40, 20, 60)
    triangle = shapely.Polygon([(0, 40), (20, 40), (20, 60)])
    along = np.linspace(0.001, 19.999, 5000)
    for side in (-1e-7, 1e-7):
        points = np.column_stack([along - side, along + 40 + side])
        found = chart(points, bounds, 4326, method="uniform", cells=(61, 57))
        exact = int(shapely.contains_xy(triangle, *points.T).sum())
        inside, touched = found.within(triangle).spread.sums
        assert inside <= exact <= touched
        assert exact in (0, 5000)


def test_regions_beside_longitudes_of_another_turn():
    shapely = pytest.importorskip("shapely")
    found = chart(np.zeros((0, 2)), (170, -10, -170, 10), 4326, expect=10_000)
    region = found.within(shapely.box(-178, -5, -175, 5))
    assert region.spread.kinds[0].size > 0


def test_an_outline_is_the_ground(monkeypatch):
    shapely = pytest.importorskip("shapely")
    without_noise(monkeypatch)
    triangle = shapely.Polygon([(0, 0), (1, 0), (0, 1)])
    found = chart(bounds=triangle)
    inside = count(POINTS[POINTS.sum(axis=1) <= 1], 0, 0, 1, 1)
    assert found.total().value == pytest.approx(inside)
    assert found.within(UNIT).value == pytest.approx(inside, rel=1e-6)
    assert found.within(triangle).value == pytest.approx(inside, rel=1e-6)
    with pytest.raises(ArgumentError, match="must overlap"):
        found.within((0.6, 0.6, 1, 1))


def test_what_comes_out_is_a_plain_release():
    found = chart()
    region = found.within((0, 0, 0.5, 1))
    assert region.sources == found.sources
    rest = found.total() - region
    assert rest.sources == found.sources
    assert "points in the region" in str(region)


@pytest.mark.parametrize("region", [None, (0, 0, 1), (1, 0, 0, 1), "everywhere", {}])
def test_bad_regions(region):
    with pytest.raises(ArgumentError, match="region"):
        chart().within(region)
