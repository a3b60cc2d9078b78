"""A table of whole numbers, none below zero, that adds up over all levels.

From the top down: the totals of a node's children are the nearest to the fitted ones
that are not below zero and add up to its own, rounded by largest remainders; then the
same for their cells. It needs only the fit, so it costs nothing; but what was below
zero is pushed up and all else is pushed down for it, so it is biased, and no interval
around it is honest: tables show those of the fit (docs/proofs/census.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dither.science.census.fitting import Fit
from dither.science.census.shape import Tree

__all__ = ["whole"]

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

ROUNDS = 4
"""How often cells are pulled to the sums of their nodes and to those of the cells above.
What is then still missing is moved in whole units."""
ROUNDED = 1e-9
"""More than what floats make of a whole number on the way."""


class Groups(NamedTuple):
    """Entries that add up to one number: how to add them, how to give each entry the
    number of its group, and which group each is in.
    """

    gather: Callable[[Any], Any]
    scatter: Callable[[Any], Any]
    names: NDArray[np.intp]


def whole(fitted: Fit, exact: Sequence[Any] | None = None) -> tuple[Integers, ...]:
    """Whole counts of every cell of every node, level by level. `exact[level]` holds
    exact totals of that level's nodes, or None.
    """
    tree, held = (
        fitted.tree,
        exact if exact is not None else [None] * fitted.tree.levels,
    )
    totals = [_top_totals(fitted, held[0])]
    cells = [_by_row(fitted.cells[0], totals[0])]
    for level in range(1, tree.levels):
        totals.append(_totals(fitted, level, totals[-1], held[level]))
        cells.append(_cells(fitted, level, totals[-1], cells[-1]))
    return tuple(cells)


def _top_totals(fitted: Fit, exact: Any) -> Integers:
    if exact is not None:
        return np.asarray(exact, np.int64)
    total = fitted.cells[0].sum(axis=1)
    found: Integers = np.maximum(np.rint(total), 0).astype(np.int64)
    return found


def _totals(fitted: Fit, level: int, above: Integers, exact: Any) -> Integers:
    """The totals of a level: exact ones, or those nearest to the fitted ones."""
    if exact is not None:
        return np.asarray(exact, np.int64)
    columns = _columns(fitted.tree, level, 1)
    found = fitted.cells[level].sum(axis=1, keepdims=True)
    weight = _weight(fitted.variance(level, ()))
    near = _simplex(found, weight, above[:, None], columns)
    return _rounded(near, above[:, None], columns)[:, 0]


def _cells(fitted: Fit, level: int, totals: Integers, above: Integers) -> Integers:
    """The cells of a level: each node's add up to its total, and each cell's to that of
    the node above.
    """
    number = above.shape[1]
    if number == 1:
        return totals[:, None]
    rows, columns = _rows(totals.size, number), _columns(fitted.tree, level, number)
    weight, found = _weight(fitted.variance(level)), fitted.cells[level]
    for _ in range(ROUNDS):
        found = _simplex(found, 1.0, totals[:, None], rows)
        found = _simplex(found, weight, above, columns)
    return _moved(_rounded(found, above, columns), totals, columns)


def _by_row(values: Reals, totals: Integers) -> Integers:
    rows = _rows(*values.shape)
    return _rounded(_simplex(values, 1.0, totals[:, None], rows), totals[:, None], rows)


def _rows(nodes: int, cells: int) -> Groups:
    """The cells of each node."""
    names = np.repeat(np.arange(nodes), cells)
    return Groups(lambda x: x.sum(axis=1, keepdims=True), lambda x: x, names)


def _columns(tree: Tree, level: int, cells: int) -> Groups:
    """The children of each node, cell by cell."""
    names = tree.parents[level][:, None] * cells + np.arange(cells)
    return Groups(
        lambda x: tree.gathered(level - 1, x),
        lambda x: tree.scattered(level, x),
        names.reshape(-1),
    )


def _weight(variance: Reals) -> Reals:
    """Who gives way: nodes in proportion to their variances."""
    known = variance[np.isfinite(variance)]
    most = float(known.max(initial=0.0)) or 1.0
    filled = np.where(np.isfinite(variance), variance, most)
    return np.maximum(filled, 1e-6 * most)[:, None]


def _simplex(values: Reals, weight: Any, sums: Any, groups: Groups) -> Reals:
    """The nearest figures, none below zero, that add up to `sums` in each group.

    They are max(value − θ × weight, 0). Anyone who is below zero stays there as θ
    rises, so they are put at zero until none is left (Michelot 1986).
    """
    weights = np.broadcast_to(np.asarray(weight, np.float64), values.shape)
    inside = np.ones(values.shape, np.bool_)
    while True:
        kept, spread = np.where(inside, values, 0.0), np.where(inside, weights, 0.0)
        excess = groups.gather(kept) - sums
        theta = excess / np.maximum(groups.gather(spread), 1e-300)
        found = values - groups.scatter(theta) * weights
        out = inside & (found < 0)
        if not out.any():
            return np.where(inside, found, 0.0)
        inside &= ~out


def _rounded(values: Reals, sums: Any, groups: Groups) -> Integers:
    """Whole numbers with the same sums: rounded down, then one more for the largest
    remainders of each group; of equal ones the first.
    """
    floors = np.floor(values + ROUNDED)
    missing = np.asarray(sums) - groups.gather(floors)
    rest = np.round(values - floors, 9).reshape(-1)
    more = _ranks(rest, groups.names).reshape(values.shape) < groups.scatter(missing)
    found: Integers = (floors + more).astype(np.int64)
    return found


def _ranks(values: Reals, names: NDArray[np.intp]) -> NDArray[np.intp]:
    """The place of each entry within its group, from the largest down."""
    order = np.lexsort((-values, names))
    sizes = np.bincount(names)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = np.empty(names.size, np.intp)
    found[order] = np.arange(names.size) - starts
    return found


def _moved(cells: Integers, totals: Integers, columns: Groups) -> Integers:
    """The same with units moved between siblings, cell by cell, until each node's cells
    add up to its total.

    A node with too many gives some of each cell, and those with too few take them in
    turn.
    """
    own = cells.sum(axis=1)
    given, wanted = np.maximum(own - totals, 0), np.maximum(totals - own, 0)
    part = cells * (given / np.maximum(own, 1))[:, None]
    gone = _rounded(part, given[:, None], _rows(*cells.shape))
    found: Integers = cells - gone + _taken(columns.gather(gone), wanted, columns)
    return found


def _taken(offered: Integers, wanted: Integers, columns: Groups) -> Integers:
    """Who takes which units: takers stand in line among their siblings, and units in
    the order of the cells.
    """
    units = columns.scatter(offered)
    last_unit = columns.scatter(np.cumsum(offered, axis=1))
    want = wanted[:, None]
    sums = columns.gather(want)
    line = np.cumsum(want, axis=0) - columns.scatter(np.cumsum(sums, axis=0) - sums)
    first = np.maximum(line - want, last_unit - units)
    found: Integers = np.maximum(np.minimum(line, last_unit) - first, 0)
    return found
