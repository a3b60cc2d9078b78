"""Noisy tables of two columns shrunk towards what both columns alone suggest.

What is left of a table beyond its rows' and columns' sums is mostly noise where it has
many cells. Three ways to shrink it are tried: all of it by one factor, each cell by one
threshold (a few strong cells stay), and its singular values by one threshold (a smooth
pattern stays). Stein's formula estimates the error of each from the noisy table alone,
and the way with the least one is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["shrunk"]

Reals = NDArray[np.float64]

WIDEST = 512
"""The singular values of wider tables take too long."""


class Way(NamedTuple):
    """What is left after shrinking, and the estimated sum of its squared errors."""

    left: Reals
    risk: float


def shrunk(table: NDArray[np.int64], expected: Reals, variance: float) -> Reals:
    """A noisy table as expected from its columns, and what seems to be true beyond it.

    The sums of rows and columns are the expected ones.
    """
    away = centred(table - expected)
    if free_cells(away) <= 2:
        # No shrinking is better than none for every truth in so few dimensions.
        return expected + away
    ways = [by_factor(away, variance), by_cell(away, variance)]
    if min(away.shape) <= WIDEST:
        ways.append(by_singular_value(away, variance))
    return expected + min(ways, key=lambda way: way.risk).left


def centred(table: Reals) -> Reals:
    """The table less the means of its rows and columns."""
    rows, across = table.mean(axis=1)[:, None], table.mean(axis=0)
    found: Reals = table - rows - across + table.mean()
    return found


def free_cells(away: Reals) -> int:
    """In how many dimensions a centred table can vary."""
    return int((away.shape[0] - 1) * (away.shape[1] - 1))


def by_factor(away: Reals, variance: float) -> Way:
    """James & Stein 1961, clamped to 0."""
    free, norm = free_cells(away), float((away * away).sum())
    lost = min(1.0, (free - 2) * variance / norm) if norm > 0 else 1.0
    risk = lost**2 * (norm - free * variance) + (1 - lost) ** 2 * free * variance
    return Way((1 - lost) * away, risk)


def by_cell(away: Reals, variance: float) -> Way:
    """Soft thresholding at the size of some cell, or at 0 (Donoho & Johnstone 1995)."""
    each = variance * free_cells(away) / away.size
    size = np.sort(np.abs(away), axis=None)
    above = np.arange(size.size - 1, -1, -1)
    risks = np.cumsum(size * size) + above * (size * size + 2 * each)
    risks -= size.size * each
    best = int(np.argmin(risks))
    unshrunk = size.size * each
    if unshrunk <= risks[best]:
        return Way(away, unshrunk)
    left = np.sign(away) * np.maximum(np.abs(away) - size[best], 0.0)
    return Way(left, float(risks[best]))


def by_singular_value(away: Reals, variance: float) -> Way:
    """Soft thresholding of singular values (Candès, Sing-Long & Trzasko 2013)."""
    try:
        left, values, right = np.linalg.svd(away, full_matrices=False)
    except np.linalg.LinAlgError:
        return Way(away, np.inf)
    # A centred table has one singular value of 0, which is none of its own.
    kept = min(away.shape) - 1
    values = values[:kept]
    cuts = np.append(values, 0.0)
    risks = _risks(values, cuts, away.shape, variance)
    best = int(np.argmin(risks))
    shrunk_values = np.maximum(values - cuts[best], 0.0)
    return Way((left[:, :kept] * shrunk_values) @ right[:kept], float(risks[best]))


def _risks(
    values: Reals, cuts: Reals, shape: tuple[int, ...], variance: float
) -> Reals:
    """Stein's estimate for each cut: what is cut off, and the noise that stays by the
    divergence of the map.
    """
    rows, across = shape[0] - 1, shape[1] - 1
    squares = values * values
    gaps = squares[:, None] - squares
    gaps[gaps == 0] = np.inf
    # The three parts of the divergence: itself, the longer side, pairs of values.
    weight = 2 * (values[:, None] / gaps).sum(axis=1)
    weight += abs(rows - across) / np.where(values > 0, values, np.inf)
    left = np.maximum(values - cuts[:, None], 0.0)
    divergence = (left > 0).sum(axis=1) + left @ weight
    cut = np.minimum(cuts[:, None] ** 2, squares).sum(axis=1)
    found: Reals = cut + 2 * variance * divergence - rows * across * variance
    return found
