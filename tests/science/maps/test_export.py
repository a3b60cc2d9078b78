"""Maps in the forms of the field: they come back as they went."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.frames import NotInstalled
from dither.science import maps
from tests.science.maps.support import UNIT, scattered

POINTS = scattered(2000)


def test_geopandas_round_trip(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    points = geopandas.GeoDataFrame(
        {"band": np.arange(2000) % 40},
        geometry=geopandas.points_from_xy(*(POINTS * 0.1 + (10, 50)).T),
        crs=4326,
    )
    found = maps.heatmap(
        points, bounds=(10, 50, 10.1, 50.1), owner="band", rows=60, epsilon=30
    )
    frame = found.to_geopandas()
    assert frame.crs == 4326
    flat = frame.to_crs(6933).area.to_numpy()
    assert frame["area"].to_numpy() == pytest.approx(flat, rel=1e-6)
    assert list(frame["count"]) == list(found.value)
    frame.to_file(tmp_path / "map.geojson", driver="GeoJSON")
    back = geopandas.read_file(tmp_path / "map.geojson")
    assert back["count"].to_numpy() == pytest.approx(found.value)
    ours = geopandas.GeoDataFrame.from_features(found.to_geojson(), crs=4326)
    assert ours.bounds.to_numpy() == pytest.approx(back.bounds.to_numpy())
    assert ours["low"].to_numpy() == pytest.approx(found.interval()[0], abs=0.005)


def test_geojson_is_json(tmp_path):
    found = maps.heatmap(POINTS, bounds=UNIT, epsilon=1)
    data = json.loads(json.dumps(found.to_geojson(confidence=0.9)))
    assert data["type"] == "FeatureCollection"
    assert data["confidence"] == 0.9
    assert data["guarantee"] == "ε = 1 (pure), protects one site (add/remove)"
    ring = data["features"][0]["geometry"]["coordinates"][0]
    assert ring[0] == ring[-1] == [0.0, 0.0]
    assert found.to_geojson(tmp_path / "map.geojson") is None
    read = json.loads((tmp_path / "map.geojson").read_text(encoding="utf-8"))
    assert read == found.to_geojson()


def test_geojson_of_a_projection():
    pytest.importorskip("pyproj")
    box = (500_000, 5_000_000, 501_000, 5_001_000)
    found = maps.heatmap(POINTS, bounds=box, crs=32633, epsilon=1, expect=1000)
    ring = found.to_geojson()["features"][0]["geometry"]["coordinates"][0]
    assert ring[0] == pytest.approx([15.0, 45.15], abs=0.01)


def test_geojson_is_cut_at_the_antimeridian():
    found = maps.heatmap(
        POINTS, bounds=(175, 0, -175, 10), epsilon=1, method="uniform", cells=(3, 1)
    )
    kinds = [one["geometry"]["type"] for one in found.to_geojson()["features"]]
    assert kinds == ["Polygon", "MultiPolygon", "Polygon"]
    for feature in found.to_geojson()["features"]:
        flat = np.array(feature["geometry"]["coordinates"], object).ravel()
        lons = list(_numbers(flat.tolist()))
        assert max(map(abs, lons)) <= 180


def _numbers(nested):
    for one in nested:
        if isinstance(one, list | np.ndarray):
            yield from _numbers(one)
        else:
            yield one


def test_a_plane_is_no_place_on_earth():
    found = maps.heatmap(POINTS, bounds=UNIT, crs=None, epsilon=1)
    with pytest.raises(ArgumentError, match="needs longitudes and latitudes"):
        found.to_geojson()
    pytest.importorskip("geopandas")
    assert found.to_geopandas().crs is None


def test_cells_are_cut_to_the_outline():
    shapely = pytest.importorskip("shapely")
    pytest.importorskip("geopandas")
    triangle = shapely.Polygon([(0, 0), (1, 0), (0, 1)])
    found = maps.heatmap(POINTS, bounds=triangle, crs=None, epsilon=1)
    assert found.to_geopandas().area.sum() == pytest.approx(0.5)


@pytest.mark.parametrize("crs", [4326, 32633])
def test_geojson_is_cut_to_the_outline_and_at_the_antimeridian(crs):
    shapely = pytest.importorskip("shapely")
    pytest.importorskip("pyproj")
    middle = (180.0, 10.0) if crs == 4326 else (500_000.0, 5_000_000.0)
    radius = 2.0 if crs == 4326 else 200_000.0
    outline = shapely.Point(middle).buffer(radius)
    found = maps.heatmap(POINTS, bounds=outline, crs=crs, epsilon=1, expect=5000)
    shapes = [
        shapely.geometry.shape(one["geometry"])
        for one in found.to_geojson()["features"]
    ]
    assert len(shapes) == len(found)
    whole = shapely.union_all(shapes)
    if crs == 4326:
        assert whole.area == pytest.approx(outline.area, rel=1e-6)
        assert whole.bounds == pytest.approx((-180, 8, 180, 12))
    else:
        assert whole.contains(shapely.Point(15, 45.1))


def test_a_missing_package_is_named(monkeypatch):
    found = maps.heatmap(POINTS, bounds=UNIT, crs=None, epsilon=1)
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(NotInstalled, match="pip install geopandas"):
        found.to_geopandas()
