"""Maps as GeoJSON and as GeoDataFrames."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.frames import package
from dither.release import Release
from dither.science.maps.outlines import shapely
from dither.science.maps.places import TURN, System, reprojected

if TYPE_CHECKING:
    from dither.science.maps.density import HeatMap

__all__ = ["points_frame", "points_json", "to_geojson", "to_geopandas", "written"]

Reals = NDArray[np.float64]
Ring = list[list[float]]

HALF = TURN / 2
LONLAT = 4326


def to_geojson(release: HeatMap, confidence: float) -> dict[str, Any]:
    """A collection of cells as RFC 7946 wants it: longitude and latitude, cut at the
    antimeridian, counter-clockwise.
    """
    system = release.place.system
    if system.plane:
        raise ArgumentError(
            "crs",
            "GeoJSON needs longitudes and latitudes, and this map has no coordinate "
            "system; call .to_pandas() instead",
        )
    columns = {
        name: np.asarray(one) for name, one in release.columns(confidence).items()
    }
    numbers = {
        name: np.round(columns[name], 2).tolist()
        for name in ("count", "low", "high", "area")
    }
    features = []
    for place, shape in enumerate(_shapes(release)):
        facts = {name: column[place] for name, column in numbers.items()}
        feature = {"type": "Feature", "geometry": shape, "properties": facts}
        features.append(feature)
    return {
        "type": "FeatureCollection",
        "features": features,
        "confidence": confidence,
        "guarantee": str(release.guarantee),
        "notes": list(release.notes),
    }


def points_json(points: Reals, system: System, about: Release) -> dict[str, Any]:
    """Points as a collection, in longitude and latitude."""
    if system.plane:
        raise ArgumentError(
            "crs",
            "GeoJSON needs longitudes and latitudes, and these places have no coordinate "
            "system; call .to_pandas() instead",
        )
    x, y = points.T
    if not system.lonlat:
        x, y = reprojected(system.name, LONLAT, x, y)
    turned = np.round(np.column_stack([(x + HALF) % TURN - HALF, y]), 7).tolist()
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": one},
            "properties": {},
        }
        for one in turned
    ]
    return {
        "type": "FeatureCollection",
        "features": features,
        "guarantee": str(about.guarantee),
        "notes": list(about.notes),
    }


def written(data: dict[str, Any], path: str | Path | None) -> dict[str, Any] | None:
    """The data, or None if it was written to a file."""
    if path is None:
        return data
    Path(path).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return None


def _shapes(release: HeatMap) -> Iterator[dict[str, Any]]:
    if release.place.outline is not None:
        yield from map(shapely().geometry.mapping, _cut(release))
        return
    if release.place.system.lonlat:
        for west, south, east, north in zip(*_lists(release), strict=True):
            yield _lonlat(west, south, east, north)
        return
    west, south, east, north = release.partition.borders
    corners = [(west, south), (east, south), (east, north), (west, north)]
    turned = [
        reprojected(release.place.system.name, LONLAT, *corner) for corner in corners
    ]
    rings = np.stack([np.stack(corner, axis=1) for corner in turned], axis=1).tolist()
    for ring in rings:
        yield {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}


def _cut(release: HeatMap) -> Any:
    """Cells cut to the outline, in longitude and latitude within ±180."""
    package, system = shapely(), release.place.system
    shapes = _cells(release)
    if not system.lonlat:

        def turned(points: Reals) -> Reals:
            return np.stack(reprojected(system.name, LONLAT, *points.T), axis=1)

        return package.transform(shapes, turned)
    sides = [
        package.box(HALF * turn, -90, HALF * (turn + 2), 90) for turn in (-3, -1, 1)
    ]
    moved = [
        package.transform(package.intersection(shapes, side), _shifted(shift))
        for side, shift in zip(sides, (TURN, 0.0, -TURN), strict=True)
    ]
    return package.union(package.union(moved[0], moved[1]), moved[2])


def _shifted(turn: float) -> Any:
    return lambda points: points + np.array([turn, 0.0])


def _cells(release: HeatMap) -> Any:
    """Cells as polygons, cut to the outline if there is one."""
    shapes = shapely().box(*release.partition.borders)
    if release.place.outline is None:
        return shapes
    return shapely().intersection(shapes, release.place.outline)


def _lists(release: HeatMap) -> list[list[float]]:
    return [side.tolist() for side in release.partition.borders]


def _lonlat(west: float, south: float, east: float, north: float) -> dict[str, Any]:
    """A cell within ±180; one that crosses the antimeridian is cut there."""
    if west < HALF < east:
        parts = [(west, HALF), (-HALF, east - TURN)]
        rings = [[_ring(left, south, right, north)] for left, right in parts]
        return {"type": "MultiPolygon", "coordinates": rings}
    shift = TURN if west >= HALF else 0.0 if east > -HALF else -TURN
    ring = _ring(west - shift, south, east - shift, north)
    return {"type": "Polygon", "coordinates": [ring]}


def _ring(west: float, south: float, east: float, north: float) -> Ring:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def to_geopandas(release: HeatMap, confidence: float) -> Any:
    """Cells as polygons, cut to the outline if there is one, in the map's own
    coordinates.
    """
    geopandas = package("geopandas")
    shapes = _cells(release)
    columns = release.columns(confidence)
    kept = {name: columns[name] for name in ("count", "low", "high", "area")}
    system = release.place.system
    crs = None if system.plane else system.name
    return geopandas.GeoDataFrame(kept, geometry=shapes, crs=crs)


def points_frame(points: Reals, system: System) -> Any:
    """Points as a GeoDataFrame."""
    geopandas = package("geopandas")
    x, y = points.T
    if system.lonlat:
        x = (x + HALF) % TURN - HALF
    shapes = geopandas.points_from_xy(x, y)
    crs = None if system.plane else system.name
    return geopandas.GeoDataFrame(geometry=shapes, crs=crs)
