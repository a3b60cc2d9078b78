"""A partition of a public box into cells: a grid, each cell of which may be divided once
more.

Points lie on a raster of 2⁴² × 2⁴² steps over the box, and which cell a point lies in is
decided in integers: every point is in exactly one cell, whatever floats do. A cell holds
its western and southern borders; the outer borders in the east and north belong to the
last cells. A point is known to one step of the raster, 10 micrometres of the whole Earth:
one that is nearer than that to a border may count on either side of it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.maps.areas import overlap
from dither.science.maps.outlines import shapely
from dither.science.maps.places import Place, System

__all__ = [
    "BITS",
    "CHUNK",
    "MOST",
    "STEPS",
    "WIDEST",
    "Cells",
    "Grid",
    "Partition",
    "raster",
    "sides",
]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

BITS = 42
STEPS = 1 << BITS
MASK = STEPS - 1
MOST = 1 << 22
"""No map has more cells."""
CHUNK = 1 << 15
"""So many points at a time: all steps of a chunk happen in the cache."""
WIDEST = 1 << 20
"""No grid has more columns or rows, so that a place times them fits 64 bits."""


def raster(values: Reals, low: float, high: float) -> Integers:
    """The steps of values between low and high; -1 for all others, NaN among them."""
    with np.errstate(invalid="ignore", over="ignore"):
        inside = (values >= low) & (values <= high)
        steps = (np.where(inside, values, low) - low) * (STEPS / (high - low))
    # Up, so that a point on a border lies to the east of it also where the border is
    # between two steps.
    found: Integers = np.minimum(np.ceil(steps).astype(np.int64), MASK)
    return np.where(inside, found, -1)


def sides(cells: float, width: float, height: float) -> tuple[int, int]:
    """Columns and rows of about so many cells that are about square."""
    most = max(float(cells), 1.0)
    across = min(max(round(math.sqrt(most * width / height)), 1), WIDEST)
    return across, min(max(round(most / across), 1), WIDEST)


@dataclass(frozen=True)
class Grid:
    """Columns and rows over the box."""

    across: int
    up: int

    @property
    def size(self) -> int:
        return self.across * self.up

    def cells(self, x: Integers, y: Integers) -> Integers:
        """The cell of each place of the raster, row by row from the south."""
        return ((y * self.up) >> BITS) * self.across + ((x * self.across) >> BITS)


@dataclass(frozen=True, eq=False)
class Cells(ABC):
    """The cells of a map: parts of the cells of a grid, in the grid's order. If the
    place has an outline, cells that do not touch it are left out.
    """

    place: Place
    grid: Grid

    @cached_property
    @abstractmethod
    def begins(self) -> Integers:
        """The first part of each cell of the grid, and the number of all parts."""

    @abstractmethod
    def parts(self, x: Integers, y: Integers) -> Integers:
        """The part that each place of the raster lies in."""

    @cached_property
    @abstractmethod
    def _all(self) -> tuple[Integers, tuple[Reals, Reals, Reals, Reals]]:
        """The grid's cell and the borders of every part."""

    def counts(self, x: Integers, y: Integers) -> Integers:
        """How many places lie in each cell of the map."""
        parts = np.empty(x.size, np.int64)
        for start in range(0, x.size, CHUNK):
            some = slice(start, start + CHUNK)
            parts[some] = self.parts(x[some], y[some])
        found = np.bincount(parts, minlength=int(self.begins[-1]))
        return found if self.kept is None else found[self.kept]

    @cached_property
    def kept(self) -> Integers | None:
        """The parts that touch the outline; None if there is none."""
        if self.place.outline is None:
            return None
        package = shapely()
        package.prepare(self.place.outline)
        touched = package.intersects(self.place.outline, package.box(*self._all[1]))
        return np.flatnonzero(touched)

    @cached_property
    def parent(self) -> Integers:
        """The grid's cell that each cell of the map is a part of."""
        found: Integers = self._pick(self._all[0])
        return found

    @cached_property
    def places(self) -> Integers:
        """Which part of its cell of the grid each cell of the map is, row by row."""
        parent = self._all[0]
        found: Integers = self._pick(np.arange(parent.size) - self.begins[parent])
        return found

    @cached_property
    def borders(self) -> tuple[Reals, Reals, Reals, Reals]:
        """West, south, east and north of each cell of the map."""
        west, south, east, north = map(self._pick, self._all[1])
        return west, south, east, north

    def _pick(self, values: Any) -> Any:
        return values if self.kept is None else values[self.kept]

    @cached_property
    def siblings(self) -> Integers:
        """How many cells of the map each cell of the grid has."""
        return np.bincount(self.parent, minlength=self.grid.size)

    @property
    def size(self) -> int:
        return int(self.parent.size)

    @cached_property
    def unprojected(self) -> Cells:
        """The same cells, their coordinates taken as a plane."""
        if self.place.system.plane:
            return self
        plane = replace(self.place, system=System("a plane"))
        return replace(self, place=plane)

    @cached_property
    def areas(self) -> Reals:
        """The ground that each cell covers, inside the outline."""
        if self.place.outline is None:
            return self.place.areas(*self.borders)
        return overlap(self.place, self.borders, self.place.outline)


@dataclass(frozen=True, eq=False)
class Partition(Cells):
    """Of each cell of the grid, `sides` × `sides` parts."""

    sides: Integers

    @cached_property
    def begins(self) -> Integers:
        return np.concatenate([[0], np.cumsum(self.sides * self.sides)])

    def parts(self, x: Integers, y: Integers) -> Integers:
        right, high = x * self.grid.across, y * self.grid.up
        cell = (high >> BITS) * self.grid.across + (right >> BITS)
        n = self.sides[cell]
        column, row = ((right & MASK) * n) >> BITS, ((high & MASK) * n) >> BITS
        found: Integers = self.begins[cell] + row * n + column
        return found

    @cached_property
    def _all(self) -> tuple[Integers, tuple[Reals, Reals, Reals, Reals]]:
        parent = np.repeat(np.arange(self.grid.size), self.sides * self.sides)
        n = self.sides[parent]
        place = np.arange(parent.size) - self.begins[parent]
        row, column = np.divmod(parent, self.grid.across)
        box = self.place.box
        # Both ends by the same formula, so that neighbours share their border.
        west, east = (
            box.west
            + box.width * ((column * n + place % n + end) / (n * self.grid.across))
            for end in (0, 1)
        )
        south, north = (
            box.south + box.height * ((row * n + place // n + end) / (n * self.grid.up))
            for end in (0, 1)
        )
        return parent, (west, south, east, north)
