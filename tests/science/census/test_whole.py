"""Whole counts: none below zero, all levels add up, exact totals hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dither.noise import rounded_gaussian
from dither.science.census.fitting import fit
from dither.science.census.shape import Tree
from dither.science.census.whole import whole
from tests.chance import chance
from tests.science.census.dense import Problem


def check(tree, found, exact):
    for level, cells in enumerate(found):
        assert cells.dtype == np.int64
        assert cells.shape[0] == tree.sizes[level]
        assert cells.min() >= 0
        if exact[level] is not None:
            assert np.array_equal(cells.sum(axis=1), exact[level])
        if level:
            assert np.array_equal(tree.gathered(level - 1, cells), found[level - 1])


@pytest.mark.parametrize("seed", range(150))
def test_random_censuses(seed):
    problem = Problem.some(np.random.default_rng(seed), most=60)
    check(problem.tree, whole(problem.fit(), problem.exact), problem.exact)


@pytest.mark.parametrize("scale", [0, 1, 10**6])
def test_exact_totals_of_every_level(scale):
    """Each block's total is exact, and so are the cells of each county above: units are
    moved between blocks until both hold.
    """
    random = np.random.default_rng(5)
    tree = Tree(([0], np.arange(4) * 0, np.repeat(np.arange(4), [1, 5, 9, 30])))
    truth = random.integers(0, 1 + scale, (45, 6))
    levels = tree.counts_up(truth)
    exact = [one.sum(axis=1) for one in levels]
    noisy = [(one + random.normal(size=one.shape) * 20,) for one in levels]
    found = fit(tree, (2, 3), [(0, 1)], noisy, [(400.0,)] * 3, exact)
    check(tree, whole(found, exact), exact)


def test_whole_counts_stay_as_they_are():
    random = np.random.default_rng(6)
    tree = Tree((np.zeros(2, int), [0, 0, 1], [0, 1, 1, 1, 2]))
    levels = tree.counts_up(random.integers(0, 50, (5, 4)))
    found = fit(tree, (4,), [(0,)], [[one] for one in levels], [(1.0,)] * 3)
    for one, two in zip(whole(found), levels, strict=True):
        assert np.array_equal(one, two)


def test_it_is_the_nearest_table_before_rounding():
    """Of all whole splits of 7 over three blocks none is nearer, to within what
    rounding by largest remainders does (none here: the best is found).
    """
    tree = Tree(([0], [0, 0, 0]))
    for values in itertools.product([-3.3, 0.4, 2.7, 5.1], repeat=3):
        noisy = [[[[7.0]]], [np.array(values)[:, None]]]
        exact = [np.array([7]), None]
        found = fit(tree, (), [()], noisy, [(1.0,), (1.0,)], exact)
        mine = whole(found, exact)[1].ravel()
        fitted = found.cells[1].ravel()
        best = min(
            ((fitted - np.array(one)) ** 2).sum()
            for one in itertools.product(range(8), repeat=3)
            if sum(one) == 7
        )
        assert ((fitted - mine) ** 2).sum() == pytest.approx(best)


def test_equal_remainders_go_to_the_first():
    tree = Tree(([0], [0, 0, 0]))
    noisy = [[[[2.0]]], [np.zeros((3, 1))]]
    exact = [np.array([2]), None]
    found = fit(tree, (), [()], noisy, [(1.0,), (1.0,)], exact)
    assert whole(found, exact)[1].ravel().tolist() == [1, 1, 0]


def test_less_than_nothing_is_nothing():
    tree = Tree(([0], [0, 0]))
    found = fit(tree, (2,), [(0,)], [[[[-5, -3]]], [[[-9, 2], [1, -8]]]], [[1.0]] * 2)
    assert not any(one.any() for one in whole(found))


@chance(1e-11)
def test_its_bias_is_what_the_page_says():
    """True zeros are pushed up and large blocks down, where fitted counts are right on
    average: 10,000 blocks, the means lie 7 standard errors apart.
    """
    counties, blocks, scale = 250, 40, 2.2
    tree = Tree((np.zeros(counties, int), np.repeat(np.arange(counties), blocks)))
    truth = np.where(np.arange(tree.leaves) % 4 == 0, 0, 40)[:, None]
    levels = tree.counts_up(truth)
    noisy = [[one + rounded_gaussian(scale, one.shape)] for one in levels]
    found = fit(tree, (), [()], noisy, [[scale**2 + 1 / 12]] * 2)
    fitted, shown = found.cells[1] - truth, whole(found)[1] - truth
    empty = truth == 0
    assert abs(fitted[empty].mean()) < 7 * scale / np.sqrt(empty.sum())
    assert shown[empty].mean() > 0.5
    assert shown[~empty].mean() < -0.1
    assert (found.cells[1] < 0).mean() > 0.05
