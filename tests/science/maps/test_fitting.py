"""Counts that agree with both noisy figures, and what is noise in them."""

from __future__ import annotations

import numpy as np
import pytest

from dither.noise import Law
from dither.science.maps.fitting import CellSpread, Noises, fitted, whole_ends

NOISES = Noises(Law.laplace(4.0), Law.laplace(1 / 0.7))
PARENT = np.repeat([0, 1, 2], [1, 4, 9])


def design():
    """What each figure measures: three cells, then their parts."""
    above = (np.arange(3)[:, None] == PARENT).astype(float)
    return np.concatenate([above, np.eye(PARENT.size)])


def weights():
    first, parts = NOISES.first.variance, NOISES.parts.variance
    return 1 / np.array([first] * 3 + [parts] * PARENT.size)


def test_it_is_weighted_least_squares():
    random = np.random.default_rng(2)
    first, parts = random.integers(-5, 90, 3), random.integers(-5, 30, PARENT.size)
    matrix, w = design(), weights()[:, None]
    both = np.concatenate([first, parts])
    normal = matrix.T @ (w * matrix)
    best = np.linalg.solve(normal, matrix.T @ (w[:, 0] * both))
    assert fitted(first, parts, PARENT, NOISES) == pytest.approx(best)


@pytest.mark.parametrize(("cell", "chosen"), [(0, 1), (1, 1), (1, 3), (2, 4), (2, 9)])
def test_what_is_noise_in_a_sum(cell, chosen):
    """Σw²·variance over the parts of a sum is its variance in least squares."""
    own = np.flatnonzero(cell == PARENT)
    picked = np.zeros(PARENT.size)
    picked[own[:chosen]] = 1
    matrix, w = design(), weights()[:, None]
    exact = picked @ np.linalg.solve(matrix.T @ (w * matrix), picked)
    assert NOISES.of_sum(own.size, chosen).variance == pytest.approx(exact)


def test_without_a_first_grid_parts_stand_alone():
    alone = Noises(None, NOISES.parts)
    parts = np.array([3, 4])
    zero = np.zeros(2, np.int64)
    assert fitted(zero, parts, np.array([0, 1]), alone).tolist() == [3, 4]
    assert alone.of_sum(1, 1) == NOISES.parts


def test_without_noise_nothing_breaks():
    none = Law.laplace(1e-6)
    quiet = Noises(none, none)
    parts = np.array([1, 2, 3, 4])
    found = fitted(np.array([10]), parts, np.zeros(4, np.int64), quiet)
    assert found == pytest.approx(parts)
    spread = CellSpread(found, np.full(4, 4), quiet)
    assert spread.reaches(0.95).tolist() == [0] * 4


def test_intervals_do_not_go_below_zero():
    spread = CellSpread(np.array([-30.0, 0.0, 40.0]), np.array([1, 4, 4]), NOISES)
    low, high = spread.ends(0.9)
    assert low[:2].tolist() == [0, 0]
    assert high[0] == 1  # never "surely 0"
    assert high[1] == high[2] - 40 == 40 - low[2]


def test_ends_are_whole_and_lose_nothing():
    """A count between two ends is between the whole numbers between them."""
    low, high = whole_ends(
        np.array([2.2, 3.0, 2.9999999, 4.4]), np.array([5.9, 3, 3, 4.6])
    )
    assert low.tolist() == [3, 3, 3, 4]
    assert high.tolist() == [5, 3, 3, 5]
