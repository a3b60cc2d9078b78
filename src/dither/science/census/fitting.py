"""Least squares over all levels at once: noisy marginals of every node become counts
that agree with each other.

Effects do not mix, and each is a problem on the tree with one number for each node. Two
passes solve it (Hay, Rastogi, Miklau & Suciu 2010; Honaker 2015): upwards every node's
own figure is averaged with the sum of those below, weighted by their variances;
downwards what is still missing is shared out (docs/proofs/census.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.science.census.effects import Effects, Marginal
from dither.science.census.shape import Tree

__all__ = ["Fit", "Spreads", "fit", "spreads_of"]

Reals = NDArray[np.float64]
Measured = Sequence[Sequence[Any]]

LEAST = 1e-12
"""The least variance of a measurement, so that one without noise has a precision."""


@dataclass(frozen=True, eq=False)
class Spreads:
    """The variances of a fit, which depend on public facts alone: for each level, and
    each node and kind of effect in it, `below` is that of the best figure from the node
    itself and below, and `fitted` that of the figure from everything. Both are infinite
    if nothing was measured.

    `shares[l]` says how what is missing in a node above is shared out to level l.
    """

    tree: Tree
    effects: Effects
    below: tuple[Reals, ...]
    shares: tuple[Reals, ...]
    fitted: tuple[Reals, ...]

    def variance(self, level: int, marginal: Marginal | None = None) -> Reals:
        """For each node of a level, the variance of one cell of a marginal (of the
        whole cross unless said otherwise); all of its cells have the same.
        """
        everything = tuple(range(len(self.effects.sizes)))
        share = self.effects.share(everything if marginal is None else marginal)
        used = share > 0
        found: Reals = self.fitted[level][:, used] @ share[used]
        return found


@dataclass(frozen=True, eq=False)
class Fit:
    """Counts of every cell of every node, `cells[level][node, cell]`: unbiased, and the
    counts of a node's children add up to its own.

    An effect that nothing measures is put at zero, and its variance is infinite.
    """

    spreads: Spreads
    cells: tuple[Reals, ...]

    @property
    def tree(self) -> Tree:
        return self.spreads.tree

    @property
    def effects(self) -> Effects:
        return self.spreads.effects

    def variance(self, level: int, marginal: Marginal | None = None) -> Reals:
        """The variance of each node's cells of a marginal, as in `Spreads`."""
        return self.spreads.variance(level, marginal)

    def marginal(self, level: int, marginal: Marginal) -> Reals:
        """A marginal of every node of a level."""
        found: Reals = self.effects.marginal(marginal, self.cells[level])
        return found


def fit(
    tree: Tree,
    sizes: Sequence[int],
    workload: Sequence[Marginal],
    measured: Measured,
    variances: Sequence[Sequence[float]],
    exact: Sequence[Any] | None = None,
) -> Fit:
    """The counts that fit all measurements best.

    `sizes` are the numbers of categories of the attributes, and `workload` lists
    marginals as tuples of their places; () is the total. `measured[level][marginal]` is
    an array [nodes, cells of the marginal], and `variances[level][marginal]` the
    variance of its noise; infinite where it was not measured, and then the array may be
    None. `exact[level]` holds exact totals of that level's nodes, or None.
    """
    held = exact if exact is not None else [None] * tree.levels
    known = [one is not None for one in held]
    spreads = spreads_of(tree, sizes, workload, variances, known)
    effects = spreads.effects
    best: list[Reals] = []
    for level in range(tree.levels - 1, -1, -1):
        news = _news(effects, workload, measured[level], variances[level])
        if news is None:
            news = np.zeros((tree.sizes[level], effects.cells))
        precision = _precision(effects, workload, variances[level])
        figures = _upwards(spreads, level, news, precision, best)
        if held[level] is not None:
            figures[:, 0] = np.asarray(held[level]) / math.sqrt(effects.cells)
        best.insert(0, figures)
    found = _downwards(spreads, best)
    return Fit(spreads, tuple(effects.to_cells(one) for one in found))


def _news(
    effects: Effects,
    workload: Sequence[Marginal],
    measured: Sequence[Any],
    variances: Sequence[float],
) -> Reals | None:
    """What the measurements of one level say, weighted by their precisions."""
    found: Reals | None = None
    for marginal, values, variance in zip(workload, measured, variances, strict=True):
        if math.isinf(variance):
            continue
        part = effects.spread_out(tuple(marginal), values) / max(variance, LEAST)
        found = part if found is None else found + part
    return found


def _upwards(
    spreads: Spreads, level: int, news: Reals, precision: Reals, best: list[Reals]
) -> Reals:
    """The best figures of a level from itself and below."""
    kind = spreads.effects.kind_of
    if not best:
        return news * _inverse(precision)[kind]
    gathered: Reals = spreads.tree.gathered(level, best[0])
    spread = spreads.tree.gathered(level, spreads.below[level + 1])
    open_ = np.isinf(spread)
    held = np.where(open_, 0.0, 1 / (1 + precision * np.where(open_, 0.0, spread)))
    own = np.where(open_, _inverse(precision), held * np.where(open_, 0.0, spread))
    found: Reals = gathered * held[:, kind] + news * own[:, kind]
    return found


def _downwards(spreads: Spreads, best: list[Reals]) -> list[Reals]:
    """The figures from everything, level by level."""
    tree, kind = spreads.tree, spreads.effects.kind_of
    found = [best[0]]
    for level in range(1, tree.levels):
        missing = found[-1] - tree.gathered(level - 1, best[level])
        shared = tree.scattered(level, missing)
        shared *= spreads.shares[level][:, kind]
        shared += best[level]
        found.append(shared)
    return found


def spreads_of(
    tree: Tree,
    sizes: Sequence[int],
    workload: Sequence[Marginal],
    variances: Sequence[Sequence[float]],
    exact: Sequence[bool],
) -> Spreads:
    """The variances of a fit; no data is needed. `exact[level]` says whether the totals
    of that level are given.
    """
    effects = Effects(tuple(int(size) for size in sizes))
    below: list[Reals] = []
    for level in range(tree.levels - 1, -1, -1):
        precision = _precision(effects, workload, variances[level])
        spread = _spread(tree, level, precision, below)
        if exact[level]:
            spread[:, 0] = 0.0
        below.insert(0, spread)
    shares = [np.ones_like(below[0])]
    shares += [_shares(tree, level, below[level]) for level in range(1, tree.levels)]
    fitted = [below[0]]
    for level in range(1, tree.levels):
        fitted.append(_fitted(tree, level, below[level], shares[level], fitted[-1]))
    return Spreads(tree, effects, tuple(below), tuple(shares), tuple(fitted))


def _precision(
    effects: Effects, workload: Sequence[Marginal], variances: Sequence[float]
) -> Reals:
    """How sharply one level measures its own effects, by kind."""
    found = np.zeros(len(effects.kinds))
    for marginal, variance in zip(workload, variances, strict=True):
        found += effects.precision(tuple(marginal)) / max(variance, LEAST)
    return found


def _inverse(precision: Reals) -> Reals:
    """1 / precision, or 0 if there is none: what was not measured is put at zero."""
    found: Reals = np.zeros_like(precision)
    np.divide(1.0, precision, out=found, where=precision > 0)
    return found


def _spread(tree: Tree, level: int, precision: Reals, below: list[Reals]) -> Reals:
    with np.errstate(divide="ignore"):
        own = 1 / precision
    if not below:
        return np.tile(own, (tree.leaves, 1))
    gathered = tree.gathered(level, below[0])
    open_ = np.isinf(gathered)
    finite = np.where(open_, 0.0, gathered)
    found: Reals = np.where(open_, own, finite / (1 + precision * finite))
    return found


def _shares(tree: Tree, level: int, below: Reals) -> Reals:
    """V / ΣV among siblings. If some are unknown, they share what is missing; if all
    are exact, nothing is.
    """
    weight = np.where(np.isinf(below), 1.0, 0.0)
    unknown = tree.gathered(level - 1, weight) > 0
    finite = np.where(np.isinf(below), 0.0, below)
    weight = np.where(tree.scattered(level, unknown), weight, finite)
    total = tree.scattered(level, tree.gathered(level - 1, weight))
    found: Reals = np.zeros_like(weight)
    np.divide(weight, total, out=found, where=total > 0)
    return found


def _fitted(tree: Tree, level: int, below: Reals, shares: Reals, above: Reals) -> Reals:
    """Variances from everything: what siblings leave open, and what is passed down."""
    infinite = np.isinf(below)
    finite = np.where(infinite, 0.0, below)
    others = tree.scattered(level, tree.gathered(level - 1, finite)) - finite
    passed = shares > 0
    found: Reals = finite * (1 - shares) ** 2
    found += shares**2 * np.maximum(others, 0.0)
    found += shares**2 * np.where(passed, tree.scattered(level, above), 0.0)
    found[infinite & (shares < 1)] = np.inf
    return found
