"""Laplace losses on a grid: nothing is lost, and little is added."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.privacy.laplace_grid import laplace_losses


@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 1.0, 3.3, 40.0])
@pytest.mark.parametrize("cells", [0.3, 1.0, 7.7, 64.0, 1000.0])
def test_the_grid_covers_the_exact_divergence(epsilon: float, cells: float) -> None:
    step = epsilon / cells
    grid = laplace_losses(epsilon, step)
    losses = grid.places * step + grid.shift
    total = float(grid.masses.sum())
    assert 1.0 <= total <= 1.0 + 1e-9
    for part in np.linspace(-1.3, 1.3, 53):
        at = part * epsilon
        over = losses > at
        found = float(np.sum(grid.masses[over] * -np.expm1(at - losses[over])))
        true = -math.expm1(min((at - epsilon) / 2, 0.0))
        true = -math.expm1(at) if at < -epsilon else true
        assert true <= found * (1 + 1e-12) + 1e-300
        # The half of all mass that loses ε is split over the ends of its cell
        assert found <= true + 0.3 * step + 1e-12


def test_no_loss_is_beyond_epsilon_by_more_than_a_cell() -> None:
    grid = laplace_losses(1.0, 0.01)
    places = np.flatnonzero(grid.masses) + grid.first
    assert places.max() <= 101
    assert places.min() >= -101
    assert grid.endless == 0.0
