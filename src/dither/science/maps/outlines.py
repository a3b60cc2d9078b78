"""Polygons, from shapely or GeoJSON. shapely is imported only if there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dither.errors import ArgumentError

__all__ = ["is_frame", "is_outline", "moved", "read_outline", "shapely"]

KINDS = ("Polygon", "MultiPolygon")
TURN = 360.0
LONLAT = 4326
WAY_OUT = "pass a polygon of shapely or GeoJSON, or (west, south, east, north)"


def shapely() -> Any:
    """The package, where it is installed."""
    try:
        import shapely as found
        import shapely.affinity
        import shapely.geometry
    except ImportError:
        words = (
            "polygons need the package shapely, which is not installed; run pip install "
            "shapely, or pass a box (west, south, east, north)"
        )
        raise ArgumentError("polygon", words) from None
    return found


def is_outline(given: Any) -> bool:
    """Whether something is a shape rather than four numbers."""
    return isinstance(given, Mapping) or hasattr(given, "geom_type") or is_frame(given)


def is_frame(given: Any) -> bool:
    """Whether it is a GeoDataFrame or a GeoSeries."""
    return hasattr(given, "geometry") and hasattr(given, "crs")


def read_outline(given: Any, argument: str, move: Callable[[Any, Any], Any]) -> Any:
    """A polygon or several, valid and not empty. `move` takes a shape of a coordinate
    system to that of the map; GeoJSON is in longitude and latitude.
    """
    if is_frame(given):
        found = move(shapely().union_all(list(given.geometry)), given.crs)
    elif isinstance(given, Mapping):
        found = move(_from_json(given, argument), LONLAT)
    else:
        found = given
    if getattr(found, "geom_type", None) not in KINDS:
        raise ArgumentError(argument, f"must be a polygon; {WAY_OUT}")
    if found.is_empty or not found.is_valid or found.area <= 0:
        words = "must be a valid polygon, and this one is empty or crosses itself"
        raise ArgumentError(argument, f"{words}; repair it with shapely.make_valid")
    return found


def _from_json(given: Mapping[str, Any], argument: str) -> Any:
    """A geometry, the geometry of a feature, or of all features together."""
    package = shapely()
    try:
        if given.get("type") == "FeatureCollection":
            parts = [_from_json(one, argument) for one in given["features"]]
            return package.union_all(parts)
        geometry = given.get("geometry") if given.get("type") == "Feature" else given
        return package.geometry.shape(geometry)
    except Exception:
        raise ArgumentError(argument, f"cannot be read as GeoJSON; {WAY_OUT}") from None


def moved(outline: Any) -> Any:
    """Parts in the west moved by a turn where the whole is narrower then: an outline
    that GeoJSON cut at the antimeridian comes together again.
    """
    package = shapely()
    parts = list(getattr(outline, "geoms", [outline]))
    if not any(part.bounds[0] < 0 for part in parts) or len(parts) == 1:
        return outline
    turned = [
        package.affinity.translate(part, TURN) if part.bounds[2] <= 0 else part
        for part in parts
    ]
    joined = package.union_all(turned)
    west, _, east, _ = joined.bounds
    wide = outline.bounds[2] - outline.bounds[0]
    return joined if east - west < wide else outline
