"""A model of a table from noisy counts: shares of each column, and of pairs of columns
along the edges of a forest, that agree with one another and are not negative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.synth.forest import Edge
from dither.science.synth.measuring import Measured
from dither.science.synth.shrinking import shrunk

__all__ = ["Fit", "fitted", "raked", "simplex", "total_of"]

Reals = NDArray[np.float64]

LARGEST = 2.0**40
ROUNDS = 60
CLOSE = 1e-9
FAINT = 1e-9
"""A share of the product of both columns that every pair of codes keeps, so that any
margins can be reached.
"""


@dataclass(frozen=True, eq=False)
class Fit:
    """Shares of the codes of each column, and of pairs of codes for each edge."""

    ones: tuple[Reals, ...]
    twos: Mapping[Edge, Reals]


def total_of(measured: Measured) -> float:
    """The number of rows, from the sums of tables weighted by the inverse of their
    variance. It is held between 1 and 2^40, whatever the noise is.
    """
    weights = np.array([1 / table.size for table in measured.tables])
    sums = np.array([table.sum(dtype=np.float64) for table in measured.tables])
    mean = float((weights * sums).sum() / weights.sum())
    return min(max(mean, 1.0), LARGEST)


def fitted(ones: Measured, edges: Sequence[Edge], twos: Measured, total: float) -> Fit:
    """The model that fits all counts."""
    margins = _margins(ones, edges, twos)
    shares = tuple(simplex(margin, total) / total for margin in margins)
    pairs = {}
    for (i, j), table in zip(edges, twos.tables, strict=True):
        expected = total * np.outer(shares[i], shares[j])
        found = simplex(shrunk(table, expected, twos.variance), total) / total
        pairs[i, j] = raked(found, shares[i], shares[j])
    return Fit(shares, pairs)


def _margins(ones: Measured, edges: Sequence[Edge], twos: Measured) -> list[Reals]:
    """Counts of each column from all that was measured of it, weighted by the inverse
    of their variance.
    """
    weight = np.full(len(ones.tables), 1 / max(ones.variance, 1e-300))
    found = [table * w for table, w in zip(ones.tables, weight, strict=True)]
    for edge, table in zip(edges, twos.tables, strict=True):
        for column, axis in zip(edge, (1, 0), strict=True):
            sums = table.sum(axis=axis, dtype=np.float64)
            own = 1 / max(twos.variance * table.shape[axis], 1e-300)
            found[column] = found[column] + own * sums
            weight[column] += own
    return [table / w for table, w in zip(found, weight, strict=True)]


def simplex(values: NDArray[Any], total: float) -> Reals:
    """The nearest numbers, in least squares, that are not negative and have this sum."""
    flat = values.reshape(-1).astype(np.float64)
    # The largest one becomes 0, so that no digits are lost where it counts.
    flat -= flat.max()
    down = np.sort(flat)[::-1]
    excess = (np.cumsum(down) - total) / np.arange(1, flat.size + 1)
    cut = excess[np.flatnonzero(down > excess)[-1]]
    found: Reals = np.maximum(flat - cut, 0.0)
    found *= total / max(float(found.sum()), 1e-300)
    return found.reshape(values.shape)


def raked(table: Reals, rows: Reals, across: Reals) -> Reals:
    """The table with rows and columns scaled in turn until their sums are these
    (iterative proportional fitting), and exactly these in the end.
    """
    product = np.outer(rows, across)
    found = table + FAINT * product
    for _ in range(ROUNDS):
        found *= _ratio(across, found.sum(axis=0))
        sums = found.sum(axis=1)
        if np.abs(sums - rows).sum() < CLOSE:
            break
        found *= _ratio(rows, sums)[:, None]
    found *= np.minimum(_ratio(rows, found.sum(axis=1)), 1.0)[:, None]
    found *= np.minimum(_ratio(across, found.sum(axis=0)), 1.0)
    # What is missing is spread as if both columns were independent.
    left = np.maximum(rows - found.sum(axis=1), 0.0)
    below = np.maximum(across - found.sum(axis=0), 0.0)
    missing = float(left.sum())
    return found + np.outer(left, below) / missing if missing > 0 else found


def _ratio(wanted: Reals, sums: Reals) -> Reals:
    return np.divide(wanted, sums, out=np.zeros_like(wanted), where=sums > 0)
