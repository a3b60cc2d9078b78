"""The interval of a ratio of noisy sums."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither import Gaussian, Laplace
from dither.science.genomes.ratios import (
    MARGIN,
    Ratio,
    _quantile,
    _tail,
    reach,
    shrunk,
    within,
)

LAPLACE = Laplace(sensitivity=100, epsilon=1)


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.8, 0.9, 0.93, 0.95, 0.99, 1 - 1e-8])
def test_the_reach_covers_every_ratio_of_laplace_noise(confidence: float) -> None:
    """Between the points of the grid too."""
    most = reach(LAPLACE, confidence)
    for ratio in np.linspace(0.001, 0.999, 997):
        exact = _quantile(1 - confidence, float(ratio)) / math.hypot(1, ratio)
        assert exact <= most
    assert most <= 1.36 * MARGIN * -math.log(1 - confidence)


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.9999, 1.0])
def test_the_tail_is_that_of_two_laplace_variables(ratio: float) -> None:
    """A numerical convolution, at three places."""
    grid = np.linspace(-60, 60, 240_001)
    density = np.exp(-abs(grid)) / 2
    for t in (0.5, 2.0, 6.0):
        if not ratio:
            assert _tail(t, ratio) == pytest.approx(math.exp(-t))
            continue
        # P(X > t - ratio·y), averaged over y, and the other side alike
        over = t - ratio * grid
        above = np.where(over > 0, np.exp(-abs(over)) / 2, 1 - np.exp(-abs(over)) / 2)
        area = np.trapezoid(above * density, grid)
        assert _tail(t, ratio) == pytest.approx(2 * area, rel=1e-3)


def test_gaussian_noise_has_its_own_quantile() -> None:
    assert reach(Gaussian(sensitivity=1, rho=1), 0.95) == pytest.approx(
        1.95996, abs=1e-4
    )


def test_a_count_that_may_be_zero_says_nothing() -> None:
    ratio = Ratio(np.array([5.0, 400.0]), np.array([10.0, 1000.0]), LAPLACE, (1, 1))
    low, high = ratio.ends(0.95)
    assert (low[0], high[0]) == (-1, 1)
    assert -1 < low[1] < 0.4 < high[1] <= 1


def test_ends_solve_the_equation() -> None:
    gaussian = Gaussian(sensitivity=100, rho=0.5)
    ratio = Ratio(np.array([-300.0]), np.array([2000.0]), gaussian, (7, 5))
    low, high = ratio.ends(0.95)
    q = reach(gaussian, 0.95) + math.sqrt(2) * 0.5 / gaussian.scale
    for theta in (low[0], high[0]):
        left = abs(-300 - theta * 2000)
        right = q * gaussian.scale * math.hypot(1 / 7, theta / 5)
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
