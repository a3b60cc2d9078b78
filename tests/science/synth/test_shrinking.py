"""Shrinking: estimated errors are right on average, and what is noise goes away."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dither.science.synth.shrinking import (
    Way,
    _risks,
    by_cell,
    by_factor,
    by_singular_value,
    centred,
    shrunk,
)


def drawn(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)  # allowed: test inputs, not noise


def smooth(rows: int, across: int) -> np.ndarray:
    wave = np.outer(np.sin(np.linspace(0, 6, rows)), np.cos(np.linspace(0, 5, across)))
    return centred(40 * wave)


def sparse(rows: int, across: int) -> np.ndarray:
    return centred(300.0 * np.eye(rows, across))


@pytest.mark.parametrize("truth", [smooth(8, 6), sparse(8, 6), np.zeros((8, 6))])
@pytest.mark.parametrize("way", [by_factor, by_cell, by_singular_value])
def test_errors_are_estimated_well_enough_to_choose(
    truth: np.ndarray, way: Callable[[np.ndarray, float], Way]
) -> None:
    source, times, variance = drawn(1), 400, 100.0
    found, risks = [], []
    for _ in range(times):
        noisy = centred(truth + 10 * source.normal(size=truth.shape))
        left, risk = way(noisy, variance)
        found.append(float(((left - truth) ** 2).sum()))
        risks.append(risk)
    # A threshold that is chosen by the estimate makes it a little low.
    unshrunk = 35 * variance
    assert abs(np.mean(found) - np.mean(risks)) < 0.35 * unshrunk
    assert np.mean(found) < 1.1 * unshrunk


@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (7, 3)])
def test_the_divergence_is_that_of_finite_differences(shape: tuple[int, int]) -> None:
    """At a fixed cut: Stein's estimate from the derivative of each entry, on a table
    without the centring.
    """
    table, variance, step = drawn(2).normal(size=shape) * 5, 2.0, 1e-5
    values = np.linalg.svd(table, compute_uv=False)
    cut = float(values[1] * 0.6)

    def soft(one: np.ndarray) -> np.ndarray:
        left, s, right = np.linalg.svd(one, full_matrices=False)
        return (left * np.maximum(s - cut, 0)) @ right

    slope = 0.0
    for place in np.ndindex(shape):
        moved = np.zeros(shape)
        moved[place] = step
        slope += (soft(table + moved)[place] - soft(table - moved)[place]) / (2 * step)
    expected = ((soft(table) - table) ** 2).sum() - table.size * variance
    expected += 2 * variance * slope
    # _risks takes the shape of a table that was centred, which has one more.
    whole = (shape[0] + 1, shape[1] + 1)
    found = _risks(values, np.array([cut]), whole, variance)[0]
    assert found == pytest.approx(expected, rel=1e-4)


def test_a_table_of_noise_is_left_as_expected() -> None:
    expected = np.outer(np.arange(1.0, 21), np.arange(1.0, 31))
    noisy = np.rint(expected + drawn(3).normal(size=(20, 30)) * 50).astype(np.int64)
    found = shrunk(noisy, expected, 2500.0)
    left = ((found - expected) ** 2).sum()
    assert left < 0.1 * 600 * 2500


@pytest.mark.parametrize("pattern", [smooth, sparse])
def test_patterns_stay(pattern: Callable[[int, int], np.ndarray]) -> None:
    expected = np.full((20, 30), 400.0)
    truth = expected + pattern(20, 30)
    noisy = np.rint(truth + drawn(4).normal(size=(20, 30)) * 10).astype(np.int64)
    found = shrunk(noisy, expected, 100.0)
    off, raw = ((found - truth) ** 2).sum(), ((noisy - truth) ** 2).sum()
    assert off < 0.8 * raw


def test_the_sums_of_rows_and_columns_are_the_expected_ones() -> None:
    for shape in [(2, 2), (2, 3), (5, 4), (30, 3)]:
        expected = np.outer(np.arange(1.0, shape[0] + 1), np.ones(shape[1]))
        noisy = np.rint(drawn(5).normal(size=shape) * 9).astype(np.int64)
        found = shrunk(noisy, expected, 1e-9)
        assert np.allclose(found.sum(), expected.sum())


@pytest.mark.parametrize("variance", [0.0, 1e-300, 1.0, 1e30])
def test_odd_tables_and_variances_do_not_fail(variance: float) -> None:
    for table in (np.zeros((4, 5), np.int64), np.full((4, 5), 2**62)):
        found = shrunk(table, np.zeros((4, 5)), variance)
        assert np.isfinite(found).all()
