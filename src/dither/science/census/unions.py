"""Sums over any set of leaves and cells, and their exact variances.

A query has a weight for each leaf and one for each cell; what a node adds to the
variance is known once its children have handed their weights up, so one pass over the
tree is enough (docs/proofs/census.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.census.fitting import Fit, Spreads
from dither.science.census.shape import Tree

__all__ = ["leaves_of", "total", "variance"]

Reals = NDArray[np.float64]

ROUNDED = 1e-9
"""More than what floats make of equal weights on the way up."""


def leaves_of(
    tree: Tree, parts: Iterable[tuple[int, NDArray[np.intp]]]
) -> NDArray[np.bool_]:
    """Which leaves lie in a union of nodes, given as (level, places in it). Nodes may
    overlap; each leaf counts once.
    """
    found = np.zeros(tree.leaves, np.bool_)
    for level, places in parts:
        chosen = np.zeros(tree.sizes[level], np.bool_)
        chosen[np.asarray(places, np.intp)] = True
        found |= tree.leaves_under(level, chosen)
    return found


def total(fitted: Fit, leaves: Any, cells: Any = None) -> float:
    """The fitted sum over leaves and cells, each with its weight; cells all have one
    unless said otherwise.
    """
    by_cell = np.asarray(leaves, np.float64) @ fitted.cells[-1]
    weights = np.ones(fitted.effects.cells) if cells is None else cells
    return float(by_cell @ np.asarray(weights, np.float64))


def variance(spreads: Spreads, leaves: Any, cells: Any = None) -> float:
    """The variance of `total`; infinite where nothing measured what it asks for."""
    effects = spreads.effects
    weights = np.ones(effects.cells) if cells is None else cells
    squares = effects.weights(weights)
    used = squares > ROUNDED**2 * squares.max(initial=0.0)
    if not used.any():
        return 0.0
    return float(
        _by_kind(spreads, np.asarray(leaves, np.float64), used) @ squares[used]
    )


def _by_kind(spreads: Spreads, leaves: Reals, used: NDArray[np.bool_]) -> Reals:
    """The variance of a weighted sum of the leaves' effects, for each used kind.

    In terms of their parent, children are w·x = r + a·x with a = Σ share × w, and r is
    uncorrelated with everything above.
    """
    tree = spreads.tree
    handed = np.repeat(leaves[:, None], np.count_nonzero(used), axis=1)
    largest = np.abs(leaves).max(initial=0.0)
    found = np.zeros(handed.shape[1])
    for level in range(tree.levels - 1, 0, -1):
        share = spreads.shares[level][:, used]
        above = tree.gathered(level - 1, share * handed)
        apart = handed - tree.scattered(level, above)
        found += _added(spreads.below[level][:, used], apart, largest)
        handed = above
    return found + _added(spreads.below[0][:, used], handed, largest)


def _added(below: Reals, apart: Reals, largest: float) -> Reals:
    """Σ V × weight² over nodes; what was never measured may only have weight 0."""
    unknown = np.isinf(below)
    if not unknown.any():
        found: Reals = np.einsum("ij,ij,ij->j", below, apart, apart)
        return found
    known = np.where(unknown, 0.0, below)
    found = np.einsum("ij,ij,ij->j", known, apart, apart)
    asked = (unknown & (np.abs(apart) > ROUNDED * largest)).any(axis=0)
    return np.where(asked, np.inf, found)
