"""χ² of noisy tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials import squares
from dither.science.trials.null import Law
from dither.science.trials.squares import (
    Axis,
    GoodnessOfFit,
    Independence,
    pvalue,
    sized,
    with_noise,
)
from tests.chance import at_most, chance

NOISELESS = Law.of(Laplace(sensitivity=1, epsilon=1e4))


def table(seed: int, shape: tuple[int, int]) -> Any:
    source = np.random.default_rng(seed)  # allowed: test inputs, not noise
    return source.integers(1, 40, shape).astype(float)


@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (5, 2), (7, 9)])
def test_without_noise_it_is_pearsons(shape: tuple[int, int]) -> None:
    cells = table(3, shape)
    wanted = stats.chi2_contingency(cells, correction=False).statistic
    free = Independence(NOISELESS, 0.0)
    assert free.statistics(cells) == pytest.approx(wanted, rel=1e-12)
    rows = tuple(cells.sum(axis=1).astype(int).tolist())
    known = Independence(NOISELESS, 0.0, rows)
    assert known.statistics(cells) == pytest.approx(wanted, rel=1e-12)


def test_without_noise_goodness_of_fit_is_pearsons() -> None:
    cells = table(4, (1, 6))
    shares = np.arange(1, 7) / 21
    wanted = stats.chisquare(cells[0], cells.sum() * shares).statistic
    found = GoodnessOfFit(NOISELESS, 0.0, Axis(shares)).statistics(cells)
    assert found == pytest.approx(wanted, rel=1e-12)


def test_deviations_have_the_variance_that_they_are_divided_by() -> None:
    """Sampling and Gaussian noise together make the statistic a χ²."""
    law = Law.of(Gaussian(sensitivity=1, rho=0.01))
    source = np.random.default_rng(6)  # allowed: test inputs, not noise
    cells = np.outer([0.2, 0.3, 0.5], [0.1, 0.3, 0.6])
    drawn = source.multinomial(4000, cells.ravel(), 4000).reshape(-1, 3, 3)
    noisy = drawn + np.rint(source.normal(0, law.scale, drawn.shape))
    found = Independence(law, law.variance).statistics(noisy)
    assert found.mean() == pytest.approx(4, abs=0.25)
    assert (found > stats.chi2.isf(0.05, 4)).mean() == pytest.approx(0.05, abs=0.02)


def test_many_tables_at_once_are_each_by_itself() -> None:
    cells = np.stack([table(seed, (3, 4)) for seed in range(5)])
    tested = Independence(NOISELESS, 2.5)
    found = tested.statistics(cells)
    assert found == pytest.approx([float(tested.statistics(one)) for one in cells])


@pytest.mark.parametrize("sizes", [None, (4, 9)])
@pytest.mark.parametrize(
    "cells",
    [
        np.zeros((2, 3)),
        np.full((2, 3), -5.0),
        np.array([[0.0, 0, 0], [0, 0, 9]]),
        np.array([[-3.0, 2, 1], [8, -9, 1]]),
    ],
)
def test_odd_tables_have_a_statistic(cells: Any, sizes: Any) -> None:
    law = Law.of(Laplace(sensitivity=2, epsilon=1))
    tested = Independence(law, law.variance, sizes)
    noisy = cells if sizes is None else sized(cells, sizes)
    seen = float(tested.statistics(noisy))
    assert seen >= 0
    assert 0 < pvalue(tested, noisy, seen) <= 1
    flat = GoodnessOfFit(law, law.variance, Axis(np.full(3, 1 / 3)))
    assert 0 < pvalue(flat, cells[:1], float(flat.statistics(cells[:1]))) <= 1


def test_rows_and_columns_that_noise_could_have_filled_may_be_empty() -> None:
    law = Law.of(Laplace(sensitivity=2, epsilon=1))
    tested = Independence(law, law.variance)
    full = np.array([[90.0, 80.0], [70.0, 60.0]])
    assert len(tested.alike(full)) == 1
    sparse = np.array([[90.0, 3.0], [70.0, -2.0]])
    first, second = tested.alike(sparse)
    assert first is sparse
    assert second[:, 1].tolist() == [0, 0]
    assert second.sum() == pytest.approx(sparse.sum())


def test_noise_keeps_the_sizes_of_rows() -> None:
    law = Law.of(Laplace(sensitivity=2, epsilon=0.3))
    for columns in (2, 4):
        exact = np.full((50, 3, columns), 6)
        sizes = (6 * columns,) * 3
        assert with_noise(exact, law, sizes).sum(axis=-1) == pytest.approx(6 * columns)


def rejected(shares: Any, columns: Any, n: int, epsilon: float, runs: int) -> float:
    """How often a true null is rejected at 5 %, with noise from a seed."""
    source = np.random.default_rng(11)  # allowed: test inputs, not noise
    law = Law.of(Laplace(sensitivity=2, epsilon=epsilon))
    tested = Independence(law, law.variance)
    cells = np.outer(shares, columns)
    stop = 1 - np.exp(-1 / law.scale)
    found = 0
    for _ in range(runs):
        noise = source.geometric(stop, cells.shape) - source.geometric(
            stop, cells.shape
        )
        noisy = source.multinomial(n, cells.ravel()).reshape(cells.shape) + noise
        seen = float(tested.statistics(noisy.astype(float)))
        found += pvalue(tested, noisy.astype(float), seen) <= 0.05
    return found / runs


NULLS = [
    ([0.5, 0.5], [0.3, 0.7]),
    ([0.5, 0.5], [0.0, 1.0]),
    ([0.0, 1.0], [0.0, 1.0]),
    ([0.6, 0.2, 0.2], [0.9, 0.1, 0.0]),
]


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A p-value holds with any number of simulated tables."""
    monkeypatch.setattr(squares, "DRAWS", 199)
    monkeypatch.setattr(squares, "FEWEST", 199)


@chance(1e-8)
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize(("rows", "columns"), NULLS)
def test_a_true_null_is_seldom_rejected(rows: Any, columns: Any) -> None:
    assert rejected(rows, columns, 100, 0.3, 120) <= at_most(120, 0.05, 1e-8) / 120


@chance(1e-8)
@pytest.mark.full
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize(("rows", "columns"), NULLS)
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_the_level_holds(rows: Any, columns: Any, epsilon: float) -> None:
    assert rejected(rows, columns, 100, epsilon, 600) <= at_most(600, 0.05, 1e-8) / 600
