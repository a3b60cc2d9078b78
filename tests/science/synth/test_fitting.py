"""Fits agree with themselves, whatever was measured, and with the truth where there is
no noise.
"""

from __future__ import annotations

import numpy as np
import pytest

from dither.science.synth.fitting import Fit, fitted, raked, simplex, total_of
from dither.science.synth.measuring import Measured


def drawn(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)  # allowed: test inputs, not noise


def check(fit: Fit) -> None:
    for one in fit.ones:
        assert (one >= 0).all()
        assert one.sum() == pytest.approx(1, abs=1e-9)
    for (i, j), two in fit.twos.items():
        assert (two >= 0).all()
        assert np.abs(two.sum(axis=1) - fit.ones[i]).max() < 1e-9
        assert np.abs(two.sum(axis=0) - fit.ones[j]).max() < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_simplex_is_reached_by_the_shortest_way(seed: int) -> None:
    values = drawn(seed).normal(size=7) * 10
    found = simplex(values, 5.0)
    assert found.sum() == pytest.approx(5.0)
    assert (found >= 0).all()
    # What stays was moved by one number, and nothing else by less (the conditions of
    # Karush, Kuhn & Tucker).
    moved = values - found
    cut = moved[found > 0]
    assert np.allclose(cut, cut[0])
    assert (moved[found == 0] <= cut[0] + 1e-12).all()


@pytest.mark.parametrize(
    "values", [[-5, -9, -5], [-(2**62)] * 3, [0, 0, 0], [2**62, -(2**62), 0], [1]]
)
def test_any_counts_become_shares(values: list[int]) -> None:
    for total in (1.0, 2.0**40):
        found = simplex(np.array(values), total)
        assert (found >= 0).all()
        assert found.sum() == pytest.approx(total)


def test_equal_counts_below_zero_become_equal_shares() -> None:
    assert np.allclose(simplex(np.full(4, -100), 2.0), 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_raking_reaches_both_margins(seed: int) -> None:
    source = drawn(seed)
    table = source.random((4, 6)) * (source.random((4, 6)) < 0.4)
    rows, across = source.dirichlet(np.ones(4)), source.dirichlet(np.ones(6))
    rows = np.where(rows < 0.1, 0.0, rows)
    rows /= rows.sum()
    found = raked(table, rows, across)
    assert (found >= 0).all()
    assert np.abs(found.sum(axis=1) - rows).max() < 1e-12
    assert np.abs(found.sum(axis=0) - across).max() < 1e-12


def test_raking_keeps_a_table_that_fits() -> None:
    table = drawn(1).random((4, 6))
    table /= table.sum()
    found = raked(table, table.sum(axis=1), table.sum(axis=0))
    assert np.abs(found - table).max() < 1e-8


def test_the_total_weighs_sums_by_their_variances() -> None:
    tables = (np.array([10, 20]), np.array([40]))
    assert total_of(Measured(tables, 1.0)) == pytest.approx((30 / 2 + 40) / 1.5)
    assert total_of(Measured((np.array([-50, 3]),), 1.0)) == 1.0
    assert total_of(Measured((np.array([2**62, 2**62]),), 1.0)) == 2.0**40


def test_counts_without_noise_are_fitted_exactly() -> None:
    joint = drawn(2).integers(1, 50, (3, 4, 5))
    ones = tuple(joint.sum(axis=axes) for axes in [(1, 2), (0, 2), (0, 1)])
    twos = (joint.sum(axis=2), joint.sum(axis=0))
    total = float(joint.sum())
    edges = [(0, 1), (1, 2)]
    fit = fitted(Measured(ones, 1e-9), edges, Measured(twos, 1e-9), total)
    check(fit)
    for edge, table in zip(edges, twos, strict=True):
        assert np.abs(fit.twos[edge] - table / total).max() < 1e-6


def test_columns_take_the_better_measurement() -> None:
    ones = (np.array([600, 400]), np.array([500, 500]))
    two = (np.array([[250, 250], [250, 250]]),)
    exact = fitted(Measured(ones, 1e9), [(0, 1)], Measured(two, 1e-3), 1000.0)
    assert np.allclose(exact.ones[0], [0.5, 0.5], atol=1e-6)
    noisy = fitted(Measured(ones, 1e-3), [(0, 1)], Measured(two, 1e9), 1000.0)
    assert np.allclose(noisy.ones[0], [0.6, 0.4], atol=1e-6)


@pytest.mark.parametrize("noise", [0, 10, 10**6, 2**61])
def test_every_measurement_is_fitted(noise: int) -> None:
    source = drawn(3)

    def counts(*shape: int) -> np.ndarray:
        return source.integers(-noise - 1, noise + 2, shape)

    ones = Measured((counts(3), counts(5), counts(2)), float(noise) ** 2 + 1)
    twos = Measured((counts(3, 5), counts(5, 2)), float(noise) ** 2 + 1)
    check(fitted(ones, [(0, 1), (1, 2)], twos, total_of(ones)))
