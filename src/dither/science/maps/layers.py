"""Public layers that are drawn over a map: outlines and lines, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.maps.outlines import LONLAT, shapely
from dither.science.maps.places import Place

__all__ = ["Layer", "layers_of"]

Reals = NDArray[np.float64]
Layer = tuple[str, list[Reals]]

WAY_OUT = (
    "pass shapes of shapely or GeoJSON, a GeoDataFrame, or a mapping of names to shapes"
)


def layers_of(overlay: Any, place: Place) -> list[Layer]:
    """Names and the lines of each layer, in the map's coordinates."""
    if overlay is None:
        return []
    named = isinstance(overlay, Mapping) and "type" not in overlay
    items = overlay.items() if named else [("overlay", overlay)]
    return [(str(name), _lines(shape, place)) for name, shape in items]


def _lines(shape: Any, place: Place) -> list[Reals]:
    try:
        return [
            np.column_stack([place.turned(line[:, 0]), line[:, 1]])
            for one in _shapes(shape, place)
            for line in _rings(one)
        ]
    except Exception:  # whatever shapely says about what is no shape
        raise ArgumentError(
            "overlay", f"cannot be drawn as shapes; {WAY_OUT}"
        ) from None


def _shapes(shape: Any, place: Place) -> Iterator[Any]:
    """The plain shapes of a geometry, a collection, a list or a frame."""
    if hasattr(shape, "geometry") and hasattr(shape, "crs"):
        same = shape.crs is None or place.system.plane
        frame = shape if same else shape.to_crs(place.system.name)
        yield from frame.geometry
    elif isinstance(shape, Mapping) and shape["type"] == "FeatureCollection":
        for feature in shape["features"]:
            yield from _shapes(feature, place)
    elif isinstance(shape, Mapping):
        geometry = shape["geometry"] if shape["type"] == "Feature" else shape
        found = shapely().geometry.shape(geometry)
        yield place.system.moved(found, LONLAT)
    elif isinstance(shape, list | tuple):
        for one in shape:
            yield from _shapes(one, place)
    else:
        yield shape


def _rings(shape: Any) -> Iterator[Reals]:
    for part in getattr(shape, "geoms", [shape]):
        if hasattr(part, "geoms"):
            yield from _rings(part)
        elif part.geom_type == "Polygon":
            for ring in (part.exterior, *part.interiors):
                yield np.asarray(ring.coords)[:, :2]
        else:
            yield np.asarray(part.coords)[:, :2]
