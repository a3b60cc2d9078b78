"""Fitted counts are those of dense least squares, and so are their variances."""

from __future__ import annotations

import numpy as np
import pytest

from dither.noise import rounded_gaussian
from dither.science.census.fitting import fit
from dither.science.census.shape import Tree
from tests.chance import chance
from tests.science.census.dense import Problem, marginals


def check(problem: Problem) -> None:
    found = problem.fit()
    for level in range(problem.tree.levels):
        for marginal in marginals(len(problem.sizes)):
            value, variance = problem.best(problem.asked(level, marginal))
            own = found.variance(level, marginal).repeat(
                value.size // found.tree.sizes[level]
            )
            known = np.isfinite(variance)
            assert np.array_equal(np.isfinite(own), known)
            assert own[known] == pytest.approx(variance[known], rel=1e-9, abs=1e-9)
            fitted = found.marginal(level, marginal).ravel()
            assert fitted[known] == pytest.approx(value[known], rel=1e-9, abs=1e-9)


def check_sums(problem: Problem) -> None:
    found, tree = problem.fit(), problem.tree
    for level, exact in enumerate(problem.exact):
        assert np.isfinite(found.cells[level]).all()
        if exact is not None:
            assert found.cells[level].sum(axis=1) == pytest.approx(exact, abs=1e-9)
            assert found.variance(level, ()) == pytest.approx(0, abs=1e-15)
        if level:
            gathered = tree.gathered(level - 1, found.cells[level])
            assert gathered == pytest.approx(found.cells[level - 1], abs=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_random_censuses_are_fitted_as_by_dense_least_squares(seed):
    check(Problem.some(np.random.default_rng(seed)))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 1500))
def test_many_more_random_censuses(seed):
    check(Problem.some(np.random.default_rng(seed), most=18))


@pytest.mark.parametrize("seed", range(200))
def test_levels_add_up_and_exact_totals_hold(seed):
    check_sums(Problem.some(np.random.default_rng(seed), most=60))


def test_two_levels_by_hand():
    """A root with 9 measured and two leaves with 4 and 2: of the 3 that are missing the
    leaves get one each, and the root loses one, if all are equally noisy.
    """
    tree = Tree(([0], [0, 0]))
    found = fit(tree, (), [()], [[[[9]]], [[[4], [2]]]], [[1.0], [1.0]])
    assert found.cells[0].tolist() == [[pytest.approx(8)]]
    assert found.cells[1].ravel() == pytest.approx([5, 3])
    assert found.variance(0) == pytest.approx([2 / 3])
    assert found.variance(1) == pytest.approx([2 / 3] * 2)


def test_one_level_alone_stays_as_it_is():
    tree = Tree(([0, 0],))
    found = fit(tree, (2,), [(0,)], [[[[1, 2], [3, -4]]]], [[2.5]])
    assert found.cells[0] == pytest.approx(np.array([[1, 2], [3, -4]]))
    assert found.variance(0) == pytest.approx([2.5, 2.5])


def test_what_was_not_measured_is_zero_and_unknown():
    """Only the total of two sexes was measured: halves are a guess."""
    found = fit(Tree(([0],)), (2,), [()], [[[[10]]]], [[1.0]])
    assert found.cells[0] == pytest.approx(np.array([[5.0, 5.0]]))
    assert np.isinf(found.variance(0)).all()
    assert found.variance(0, ()) == pytest.approx([1.0])


def test_a_measurement_without_noise_is_taken_as_it_is():
    tree = Tree(([0], [0, 0]))
    found = fit(tree, (), [()], [[[[9]]], [[[4], [2]]]], [[0.0], [1.0]])
    assert found.cells[1].ravel() == pytest.approx([5.5, 3.5])


@chance(1e-9)
def test_counts_are_unbiased_and_as_far_off_as_they_say():
    """Errors of 4,000 trees in one forest over their stated deviations: their mean and
    mean square are within 7 standard errors of 0 and 1.
    """
    copies = 4000
    top = np.zeros(copies, int)
    middle = np.repeat(np.arange(copies), 2)
    last = np.repeat(np.arange(2 * copies), np.tile([1, 3], copies))
    tree = Tree((top, middle, last))
    scale, cells = 3.0, 4
    levels = tree.counts_up(np.full((tree.leaves, cells), 5))
    noisy = [one + rounded_gaussian(scale, one.shape) for one in levels]
    totals = [one.sum(axis=1, keepdims=True) for one in levels]
    also = [one + rounded_gaussian(scale, one.shape) for one in totals]
    each = scale**2 + 1 / 12
    measured = list(zip(noisy, also, strict=True))
    found = fit(tree, (2, 2), [(0, 1), ()], measured, [(each, each)] * 3)
    for level in range(3):
        off = found.cells[level] - levels[level]
        off /= np.sqrt(found.variance(level))[:, None]
        # Nodes of a tree share noise; trees do not.
        by_tree = off.reshape(copies, -1)
        for figures in (by_tree, by_tree**2 - 1):
            means = figures.mean(axis=1)
            assert abs(means.mean()) < 7 * means.std() / np.sqrt(copies)
