"""Sums over any leaves and cells, and their variances, beside dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from dither.science.census.fitting import spreads_of
from dither.science.census.shape import Tree
from dither.science.census.unions import leaves_of, total, variance
from tests.science.census.dense import Problem

TREE = Tree(([0, 0], [0, 0, 1], [0, 1, 1, 1, 2]))


def test_leaves_of_nodes_of_several_levels():
    found = leaves_of(TREE, [(0, np.array([1])), (2, np.array([0, 4]))])
    assert found.tolist() == [True, False, False, False, True]


def test_leaves_of_nodes_that_overlap_count_once():
    found = leaves_of(TREE, [(1, np.array([1])), (2, np.array([2]))])
    assert found.tolist() == [False, True, True, True, False]


def test_no_nodes_have_no_leaves():
    assert not leaves_of(TREE, [(1, np.array([], int))]).any()


@pytest.mark.parametrize("seed", range(40))
def test_random_unions_are_as_by_dense_least_squares(seed):
    random = np.random.default_rng(seed)
    problem = Problem.some(random)
    found, tree, number = problem.fit(), problem.tree, problem.effects.cells
    for _ in range(6):
        level = int(random.integers(0, tree.levels))
        nodes = np.flatnonzero(random.random(tree.sizes[level]) < 0.6)
        others = np.flatnonzero(random.random(tree.leaves) < 0.2)
        leaves = leaves_of(tree, [(level, nodes), (tree.levels - 1, others)])
        cells = random.choice([np.ones(number), random.random(number) < 0.6])
        asked = np.kron(leaves.astype(float), cells)[None]
        value, spread = problem.best(asked)
        assert variance(found.spreads, leaves, cells) == pytest.approx(
            spread[0], rel=1e-9, abs=1e-9
        )
        if np.isfinite(spread[0]):
            own = total(found, leaves, cells)
            assert own == pytest.approx(value[0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_unequal_weights_are_as_by_dense_least_squares(seed):
    random = np.random.default_rng(seed)
    problem = Problem.some(random)
    found = problem.fit()
    leaves = random.normal(size=problem.tree.leaves)
    cells = random.normal(size=problem.effects.cells)
    value, spread = problem.best(np.kron(leaves, cells)[None])
    assert variance(found.spreads, leaves, cells) == pytest.approx(
        spread[0], rel=1e-9, abs=1e-9
    )
    if np.isfinite(spread[0]):
        assert total(found, leaves, cells) == pytest.approx(value[0], abs=1e-9)


def test_all_leaves_of_exact_nodes_have_no_variance():
    spreads = spreads_of(TREE, (2,), [(), (0,)], [(2.0, 3.0)] * 3, [True, False, False])
    assert variance(spreads, np.ones(5)) == pytest.approx(0, abs=1e-20)
    assert variance(spreads, [1, 1, 1, 1, 0]) == pytest.approx(0, abs=1e-20)
    assert variance(spreads, [1, 1, 1, 0, 0]) > 0.1
    assert variance(spreads, np.ones(5), [1, 0]) > 0.1


def test_nothing_has_no_variance():
    spreads = spreads_of(TREE, (2,), [(0,)], [(3.0,)] * 3, [False] * 3)
    assert variance(spreads, np.zeros(5)) == 0
    assert variance(spreads, np.ones(5), [0, 0]) == 0
