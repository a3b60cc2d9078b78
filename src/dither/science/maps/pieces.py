"""What of a map is drawn: its cells, or, where they are many, a raster of them; of trees,
nodes that can be seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.science.maps.fitting import SumSpread
from dither.science.maps.grids import STEPS
from dither.science.maps.quadtrees import Quadtrees

if TYPE_CHECKING:
    from dither.science.maps.density import HeatMap

__all__ = ["Pieces", "pieces_of"]

Reals = NDArray[np.float64]

MOST = 3600
LEAST = 0.3
FINEST = 128
"""Of trees, so many columns and rows are drawn."""
SIDE = 90
"""A map of more cells is drawn as so many columns and rows, each from the cell in its
middle.
"""


class Pieces(NamedTuple):
    """Borders, and the figures of the cell that each piece shows."""

    west: Reals
    south: Reals
    east: Reals
    north: Reals
    counts: Reals
    low: Reals
    wide: Reals
    area: Reals


def pieces_of(release: HeatMap, confidence: float) -> Pieces:
    if isinstance(release.partition, Quadtrees):
        release = _seen(release, release.partition)
    low, _ = release.interval(confidence)
    # Of the noise, before it is cut at 0: no cell is known better for being negative.
    wide = 2 * release.spread.reaches(confidence)  # type: ignore[union-attr]
    borders = release.partition.borders
    # Slivers at the outline count as a part of a cell, or their shades would be the
    # darkest.
    areas = np.maximum(release.areas, LEAST * release.place.areas(*borders))
    figures = (np.asarray(release.value, np.float64), low, wide, areas)
    if len(release) <= MOST:
        return Pieces(*borders, *figures)
    return _rastered(release, figures)


def _seen(release: HeatMap, trees: Quadtrees) -> HeatMap:
    """The same counts in nodes that are large enough to be seen. Smaller leaves, with
    hardly more than noise, would be the darkest spots of a picture.
    """
    coarse = trees.cut(FINEST)
    box = release.bounds
    west, south, east, north = trees.borders
    x = ((west + east) / 2 - box.west) / box.width * STEPS
    y = ((south + north) / 2 - box.south) / box.height * STEPS
    node = coarse.parts(x.astype(np.int64), y.astype(np.int64))
    if coarse.kept is not None:
        # A leaf touches the outline only if its node does, up to floats.
        node = np.minimum(np.searchsorted(coarse.kept, node), coarse.size - 1)
    value = np.bincount(node, release.value, coarse.size)
    leaves = np.maximum(np.bincount(node, minlength=coarse.size), 1)
    spread = SumSpread(value, leaves, release.noises)
    return replace(release, partition=coarse, value=value, spread=spread)


def _rastered(release: HeatMap, figures: tuple[Reals, ...]) -> Pieces:
    """The cell in the middle of each piece; neighbours of one cell are one piece."""
    box, partition = release.bounds, release.partition
    row, column = np.divmod(np.arange(SIDE * SIDE), SIDE)
    x, y = ((2 * at + 1) * STEPS // (2 * SIDE) for at in (column, row))
    parts = partition.parts(x, y)
    if partition.kept is not None:
        there = np.isin(parts, partition.kept)
        row, column = row[there], column[there]
        parts = np.searchsorted(partition.kept, parts[there])
    new = (np.diff(parts) != 0) | (np.diff(row) != 0) | (np.diff(column) != 1)
    first = np.append(0, np.flatnonzero(new) + 1)
    last = np.append(first[1:], parts.size) - 1
    west = box.west + box.width * column[first] / SIDE
    east = box.west + box.width * (column[last] + 1) / SIDE
    south, north = (
        box.south + box.height * (row[first] + end) / SIDE for end in (0, 1)
    )
    return Pieces(west, south, east, north, *(one[parts[first]] for one in figures))
