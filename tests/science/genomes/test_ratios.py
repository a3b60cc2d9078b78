"""The interval of a ratio of noisy sums."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither import Gaussian, Laplace
from dither.science.genomes.ratios import (
    Ratio,
    shrunk,
    within,
)

LAPLACE = Laplace(sensitivity=100, epsilon=1)


def test_a_count_that_may_be_zero_says_nothing() -> None:
    ratio = Ratio(np.array([5.0, 400.0]), np.array([10.0, 1000.0]), LAPLACE, (1, 1))
    low, high = ratio.ends(0.95)
    assert (low[0], high[0]) == (-1, 1)
    assert -1 < low[1] < 0.4 < high[1] <= 1


def test_ends_solve_the_equation() -> None:
    gaussian = Gaussian(sensitivity=100, rho=0.5)
    ratio = Ratio(np.array([-300.0]), np.array([2000.0]), gaussian, (7, 5))
    low, high = ratio.ends(0.95)
    q = gaussian.law.pair_reach(0.95)
    for theta in (low[0], high[0]):
        left = abs(-300 - theta * 2000)
        right = q * math.hypot(1 / 7, theta / 5)
        assert left == pytest.approx(right)


def test_counts_move_towards_their_mean_as_far_as_they_are_noise() -> None:
    noisy = np.array([80.0, 100.0, 120.0])
    assert shrunk(noisy, 1e9, 200) == pytest.approx([100, 100, 100])
    assert shrunk(noisy, 0.0, 110) == pytest.approx([80, 100, 110])
    assert shrunk(np.array([-5.0]), 1.0, 10).tolist() == [1]


def test_an_interval_keeps_a_width_where_all_of_it_lies_beyond() -> None:
    low, high = within(np.array([-1.5, 0.9, -3.0]), np.array([-1.1, 1.3, 3.0]))
    assert low.tolist() == pytest.approx([-1, 0.8, -1])
    assert high.tolist() == pytest.approx([-0.8, 1, 1])
