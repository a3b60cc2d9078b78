"""The public ground of a map: a box or a polygon, its coordinate system, its areas.

Longitudes and latitudes are laid out on the authalic sphere of WGS 84, where equal areas
on the ground are equal areas on paper. Other coordinate systems are asked through
pyproj; without any, coordinates are a plane.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.science.maps.outlines import is_outline, moved, read_outline

__all__ = ["Box", "Place", "System", "box_of", "place_of", "system_of"]

Reals = NDArray[np.float64]

LONGER = 6_378_137.0
"""Half the longer axis of the Earth (WGS 84), in metres."""
FLATTENING = 298.257223563
SQUARED = 0.00669437999014
"""The square of its eccentricity."""
TURN = 360.0
DEGREE = 111_195.0
"""Metres of a degree of latitude, about."""
NAMES = ("4326", "EPSG:4326", "OGC:CRS84", "WGS84", "WGS 84")
SHAPE = "pass (west, south, east, north)"
PUBLIC = "as public limits that are not read off the data"
SWAPPED = "coordinates are lon, lat: west and east are longitudes"
EQUAL_AREA = 6933
SMALLEST, LARGEST = 1e-100, 1e100
"""How wide a box may be, so that its area is a number."""


@dataclass(frozen=True)
class System:
    """A coordinate system: longitude and latitude, metres on some projection, or a
    plane without a place on Earth.
    """

    name: str
    lonlat: bool = False
    metres: float | None = None
    """How many metres one step of a projected coordinate is."""

    @property
    def plane(self) -> bool:
        """Whether it is a plane that lies nowhere on Earth."""
        return not self.lonlat and self.metres is None

    def moved(self, shape: Any, crs: Any) -> Any:
        """A shape of another system in this one. A plane takes what it is given."""
        if self.plane or crs is None or (self.lonlat and str(crs).upper() in NAMES):
            return shape
        from dither.science.maps.outlines import shapely

        def points(given: Reals) -> Reals:
            return np.stack(reprojected(crs, self.name, *given.T), axis=1)

        return shapely().transform(shape, points)

    def __str__(self) -> str:
        return self.name


def system_of(crs: Any) -> System:
    """The declared coordinate system: 4326, any that pyproj knows, or None for a plane."""
    if crs is None:
        return System("a plane")
    if isinstance(crs, System):
        return crs
    if not isinstance(crs, bool) and str(crs).upper() in NAMES:
        return System("EPSG:4326", lonlat=True)
    try:
        from pyproj import CRS
        from pyproj.exceptions import CRSError
    except ImportError:
        words = (
            "coordinate systems other than 4326 need the package pyproj, which is not "
            "installed; run pip install pyproj"
        )
        raise ArgumentError("crs", words) from None
    try:
        found = CRS.from_user_input(crs)
    except CRSError:
        words = (
            "is not a coordinate system; pass a code such as 4326, or None for a plane"
        )
        raise ArgumentError("crs", words) from None
    return _known(found)


def _known(crs: Any) -> System:
    """Degrees on the Earth's ellipsoid, or a projection; areas and distances are wrong
    on others.
    """
    name = crs.to_string()
    if crs.is_projected:
        return System(name, metres=float(crs.axis_info[0].unit_conversion_factor))
    round_one = crs.ellipsoid
    usual = (
        crs.is_geographic
        and crs.axis_info[0].unit_name == "degree"
        and crs.prime_meridian.longitude == 0
        and abs(round_one.semi_major_metre - LONGER) < 1
        and abs(round_one.inverse_flattening - FLATTENING) < 1e-3
    )
    if not usual:
        words = "must be a projection, or in degrees on the ellipsoid of WGS 84"
        raise ArgumentError("crs", f"{words}; convert the points to 4326 first")
    return System(name, lonlat=True)


@dataclass(frozen=True)
class Box:
    """West, south, east, north. `east` is above `west`, also across the antimeridian."""

    west: float
    south: float
    east: float
    north: float

    @property
    def width(self) -> float:
        return self.east - self.west

    @property
    def height(self) -> float:
        return self.north - self.south

    @property
    def middle(self) -> tuple[float, float]:
        return (self.west + self.east) / 2, (self.south + self.north) / 2


def box_of(bounds: Any, system: System, argument: str = "bounds") -> Box:
    """Public limits as a box, checked."""
    west, south, east, north = _four(bounds, argument)
    if not system.lonlat:
        if not (west < east and south < north):
            raise ArgumentError(
                argument, f"must have west < east and south < north; {SHAPE}"
            )
        return Box(west, south, east, north)
    if not -90 <= south < north <= 90:
        words = (
            f"must have latitudes from -90 to 90, with south < north ({SWAPPED}); {SHAPE}, "
            "or crs= if they are not in degrees"
        )
        raise ArgumentError(argument, words)
    if not (-TURN <= west <= TURN and -TURN <= east <= TURN) or west == east:
        raise ArgumentError(
            argument, f"must have two different longitudes within ±180; {SHAPE}"
        )
    east = east + TURN if east < west else east
    if east - west > TURN:
        raise ArgumentError(
            argument, f"must not go around the Earth more than once; {SHAPE}"
        )
    return Box(west, south, east, north)


def _four(bounds: Any, argument: str) -> tuple[float, float, float, float]:
    if bounds is None:
        raise ArgumentError(argument, f"must be declared; {SHAPE}, {PUBLIC}")
    try:
        found = tuple(float(one) for one in bounds)
    except (TypeError, ValueError, OverflowError):
        found = ()
    texts = isinstance(bounds, str | bytes)
    if texts or len(found) != 4 or not all(map(math.isfinite, found)):
        raise ArgumentError(
            argument, f"must be four finite numbers or a polygon; {SHAPE}, {PUBLIC}"
        )
    west, south, east, north = found
    for low, high in ((west, east), (south, north)):
        if low != high and not SMALLEST <= abs(high - low) <= LARGEST:
            raise ArgumentError(
                argument, f"must have sides from {SMALLEST:g} to {LARGEST:g}; {SHAPE}"
            )
    return west, south, east, north


@dataclass(frozen=True, eq=False)
class Place:
    """The ground that a map shows. `outline` is a shapely polygon inside the box, or
    None if the whole box counts.
    """

    box: Box
    system: System
    outline: Any = None

    @property
    def filled(self) -> float:
        """The part of the box that lies inside the outline."""
        if self.outline is None:
            return 1.0
        part = self.outline.area / (self.box.width * self.box.height)
        return float(min(max(part, 1e-3), 1.0))

    def turned(self, x: Reals) -> Reals:
        """Longitudes as the box counts them: one turn more or less where they would
        lie outside.
        """
        if not self.system.lonlat:
            return x
        low = np.where(x < self.box.west, x + TURN, x)
        return np.where(low > self.box.east, low - TURN, low)

    @property
    def size(self) -> str:
        """How wide and high the box is, in words."""
        wide, high = self.shape()
        if self.system.plane:
            return f"{wide:.4g} × {high:.4g}"
        unit = DEGREE if self.system.lonlat else self.system.metres or 1.0
        return f"{wide * unit / 1000:.3g} × {high * unit / 1000:.3g} km"

    def shape(self) -> tuple[float, float]:
        """How wide and high the box is on the ground, in its middle."""
        if not self.system.lonlat:
            return self.box.width, self.box.height
        across = math.cos(math.radians(self.box.middle[1]))
        return max(across, 1e-6) * self.box.width, self.box.height

    def flat(self, x: Any, y: Any) -> tuple[Reals, Reals]:
        """Coordinates on an equal-area plane: square metres where the place is on
        Earth.
        """
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        if self.system.lonlat:
            return authalic(x, y)
        if self.system.plane:
            return x, y
        return reprojected(self.system.name, EQUAL_AREA, x, y)

    def areas(self, west: Reals, south: Reals, east: Reals, north: Reals) -> Reals:
        """The areas of boxes inside the place's box, whatever the outline."""
        if self.system.lonlat or self.system.plane:
            left, low = self.flat(west, south)
            right, high = self.flat(east, north)
            found: Reals = (right - left) * (high - low)
            return found
        corners = ((west, south), (east, south), (east, north), (west, north))
        flat = [self.flat(*corner) for corner in corners]
        return _shoelace(flat)


def _shoelace(corners: list[tuple[Reals, Reals]]) -> Reals:
    twice = sum(
        (x * below - right * y)
        for (x, y), (right, below) in zip(
            corners, corners[1:] + corners[:1], strict=True
        )
    )
    return np.asarray(np.abs(twice) / 2)


def authalic(lon: Reals, lat: Reals) -> tuple[Reals, Reals]:
    """Longitude and latitude on the cylinder of equal areas around the authalic sphere,
    in metres (Snyder 1987, equations 3-11 to 3-13 and 10-1).
    """
    pole = _parallel(np.float64(90.0))
    radius = LONGER * math.sqrt(pole / 2)
    return radius * np.radians(lon), radius * _parallel(lat) / pole


def _parallel(lat: Any) -> Any:
    """Snyder's q."""
    sine, e = np.sin(np.radians(lat)), math.sqrt(SQUARED)
    ratio = np.log((1 - e * sine) / (1 + e * sine)) / (2 * e)
    return (1 - SQUARED) * (sine / (1 - SQUARED * sine * sine) - ratio)


def reprojected(source: Any, target: Any, x: Reals, y: Reals) -> tuple[Reals, Reals]:
    """Coordinates of one system in another, x before y; what has none is infinite."""
    from pyproj import Transformer

    change = Transformer.from_crs(source, target, always_xy=True)
    found = change.transform(x, y, errcheck=False)
    return np.asarray(found[0], np.float64), np.asarray(found[1], np.float64)


def place_of(bounds: Any, crs: Any) -> Place:
    """The public ground from its declared limits: a box, or a polygon of shapely or
    GeoJSON.
    """
    system = system_of(crs)
    if not is_outline(bounds):
        return Place(box_of(bounds, system), system)
    outline = read_outline(bounds, "bounds", system.moved)
    if system.lonlat:
        outline = moved(outline)
    box = box_of(outline.bounds, system)
    return Place(box, system, outline)
