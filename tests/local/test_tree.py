"""The tree's two passes against least squares written out as matrices."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dither.local.tree import Tree

Reals = NDArray[np.float64]

SHAPES = [(1, 2), (2, 2), (5, 2), (7, 3), (9, 3), (10, 4), (13, 2), (6, 8)]
"""Leaves, and how many nodes of a level make one of the level above."""


def sizes(leaves: int, branching: int) -> list[int]:
    found = [leaves]
    while -(-found[0] // branching) > 1:
        found.insert(0, -(-found[0] // branching))
    return found


def made(leaves: int, branching: int, outside: bool = False) -> Tree:
    random = np.random.default_rng(leaves * branching)
    levels = sizes(leaves, branching)
    values = [random.normal(1 / size, 0.2, size) for size in levels]
    variances = [random.uniform(0.5, 3, size) for size in levels]
    return Tree(values, variances, branching, (0.2, 0.7) if outside else None)


def solved(tree: Tree) -> tuple[Reals, Reals]:
    """The leaves' shares by weighted least squares, and their covariance: each node is
    the sum of its leaves, and all leaves make one, or one less what is outside.
    """
    leaves = len(tree.values[-1])
    rows, seen, doubts = [], [], []
    for level, value in enumerate(tree.values):
        width = tree.branching ** (len(tree.values) - 1 - level)
        for node in range(len(value)):
            row = np.zeros(leaves)
            row[node * width : (node + 1) * width] = 1
            rows.append(row)
        seen += value.tolist()
        doubts += tree.variances[level].tolist()
    if tree.outside is not None:
        rows.append(np.ones(leaves))
        seen.append(1 - tree.outside[0])
        doubts.append(tree.outside[1])
    design, weights = np.array(rows), 1 / np.sqrt(np.array(doubts))
    target = np.array(seen)
    if tree.outside is None:
        return constrained(design, target, weights)
    scaled = design * weights[:, None]
    found = np.linalg.lstsq(scaled, target * weights, rcond=None)[0]
    return found, np.linalg.inv(scaled.T @ scaled)


def constrained(design: Reals, target: Reals, weights: Reals) -> tuple[Reals, Reals]:
    """The last leaf is one less the others."""
    leaves = design.shape[1]
    free = np.vstack([np.eye(leaves - 1), -np.ones(leaves - 1)])
    fixed = np.append(np.zeros(leaves - 1), 1.0)
    scaled = (design @ free) * weights[:, None]
    rest = (target - design @ fixed) * weights
    found = np.linalg.lstsq(scaled, rest, rcond=None)[0]
    covariance = np.linalg.inv(scaled.T @ scaled) if leaves > 1 else np.zeros((0, 0))
    return free @ found + fixed, free @ covariance @ free.T


def values_of(tree: Tree, *, sums: bool) -> tuple[Reals, Reals]:
    found, (root, doubt) = tree.sums() if sums else tree.leaves(), tree.root
    value = found.start + found.share * root
    return value, found.variance + found.share**2 * doubt


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize(("leaves", "branching"), SHAPES)
def test_two_passes_are_least_squares(
    leaves: int, branching: int, outside: bool
) -> None:
    tree = made(leaves, branching, outside)
    value, covariance = solved(tree)
    shares, variances = values_of(tree, sums=False)
    assert shares == pytest.approx(value, abs=1e-9)
    assert variances == pytest.approx(np.diag(covariance), abs=1e-9)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize(("leaves", "branching"), SHAPES)
def test_sums_from_the_left_have_the_variance_of_the_covariance(
    leaves: int, branching: int, outside: bool
) -> None:
    tree = made(leaves, branching, outside)
    value, covariance = solved(tree)
    before = np.tril(np.ones((leaves, leaves)))
    sums, variances = values_of(tree, sums=True)
    assert sums == pytest.approx(np.cumsum(value), abs=1e-9)
    assert variances == pytest.approx(np.diag(before @ covariance @ before.T), abs=1e-9)


@pytest.mark.parametrize(("leaves", "branching"), SHAPES)
def test_all_leaves_make_the_root(leaves: int, branching: int) -> None:
    for outside in (False, True):
        tree = made(leaves, branching, outside)
        sums, variances = values_of(tree, sums=True)
        assert sums[-1] == pytest.approx(tree.root[0])
        assert variances[-1] == pytest.approx(tree.root[1], abs=1e-12)
