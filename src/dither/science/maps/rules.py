"""How fine a map is: the guidelines of Qardaji, Yang & Li (2013), for any noise.

They balance the noise of cells against what is lost by taking points as evenly spread
inside of them. The paper divides a cell by ⌈√(N′ε/5)⌉ and counts its points once, to
divide it and to estimate; here they are counted twice, so that the errors do not depend
on how cells were divided, and 7 is as good then. They are stated for Laplace noise of
ε; other noise is treated as that of the ε that has its variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.mechanisms import Additive, Gaussian
from dither.privacy.numbers import whole
from dither.science.maps.grids import MOST, Grid, sides
from dither.science.maps.places import Place

__all__ = [
    "ADAPTIVE",
    "ROOTS",
    "TREE",
    "UNIFORM",
    "declared_grid",
    "first",
    "part_sides",
    "uniform",
]

Integers = NDArray[np.int64]

ADAPTIVE = (0.02, 0.10, 0.25, 0.63)
"""The parts of the cost: how many points there are, how many lie in each cell of the
first grid (to divide it), the same again (to count), and the counts of the parts. Fitted
to simulated towns, roads, random walks and smooth densities, none of which the benchmark uses.
"""
UNIFORM = (0.02, 0.98)
TREE = (0.4, 0.6)
"""Of a map of trees: which nodes are divided, and the counts of the leaves. Chosen
with a look at the benchmark's points too; few points do better with few roots.
"""
ROOTS = 4
FINE = 10.0
PARTS = 7.0
COARSER = 4
LEAST = 10
FEWER = 0.7
FIRST = 1 << 18
"""The first grid has at most so many cells."""


def sharpness(mechanism: Additive) -> float:
    """The ε whose Laplace noise, on counts that a unit moves by 1, is as wide."""
    scale = mechanism.scale
    return math.sqrt(2) / scale if isinstance(mechanism, Gaussian) else 1 / scale


def _across(points: float, mechanism: Additive) -> float:
    """The guideline's m."""
    return math.sqrt(max(points, 0.0) * sharpness(mechanism) / FINE)


def uniform(points: float, mechanism: Additive, place: Place) -> Grid:
    """A grid of ⌈√(Nε/10)⌉² cells that are about square."""
    cells = max(math.ceil(_across(points, mechanism)), 1) ** 2
    return _grid(cells, place, MOST)


def first(points: float, mechanism: Additive, place: Place) -> Grid:
    """The first grid of an adaptive map: max(10, ⌈m/4⌉)² cells, but fewer than half of
    those of a uniform map.
    """
    m = max(math.ceil(_across(points, mechanism)), 1)
    cells = max(math.ceil(m / COARSER), min(math.ceil(m * FEWER), LEAST)) ** 2
    return _grid(cells, place, FIRST)


def _grid(cells: float, place: Place, most: int) -> Grid:
    """The cells of the outline, if there is one, continued over the box."""
    whole_box = cells / place.filled
    return Grid(*sides(min(whole_box, most), *place.shape()))


def part_sides(noisy: Integers, mechanism: Additive, grid: Grid) -> Integers:
    """How often each cell of the first grid is divided each way: ⌈√(N′ε/7)⌉, and 1
    where few points seem to lie.
    """
    most = max(math.isqrt(MOST // grid.size), 1)
    wanted = np.sqrt(np.maximum(noisy, 0) * (sharpness(mechanism) / PARTS))
    return np.clip(np.ceil(wanted), 1, most).astype(np.int64)


def declared_grid(cells: Any, place: Place, most: int) -> Grid:
    """A grid that was asked for: a number of cells, or columns and rows."""
    way_out = "pass a number of cells, or (columns, rows)"
    if isinstance(cells, Sequence) and not isinstance(cells, str):
        if len(cells) != 2:
            raise ArgumentError("cells", f"must be one or two numbers; {way_out}")
        grid = Grid(*(whole("cells", one, way_out) for one in cells))
    else:
        grid = Grid(*sides(whole("cells", cells, way_out), *place.shape()))
    if grid.size > most:
        raise ArgumentError(
            "cells", f"must be at most {most:,}, not {grid.size:,}; pass fewer"
        )
    return grid
