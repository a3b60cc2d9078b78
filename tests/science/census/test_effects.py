"""Effects: an orthonormal basis in which every marginal is diagonal."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.science.census import effects as module
from dither.science.census.effects import Effects, basis
from tests.science.census.dense import marginals

CROSSES = [(), (1,), (3,), (2, 3), (1, 4), (2, 1, 3), (3, 2, 2)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_the_basis_is_orthonormal_and_starts_with_the_constant(size):
    found = basis(size)
    assert found.T @ found == pytest.approx(np.eye(size))
    assert found[:, 0] == pytest.approx(1 / math.sqrt(size))


@pytest.mark.parametrize("sizes", CROSSES)
@pytest.mark.parametrize("small", [0, 10**6])
def test_effects_and_cells_turn_into_each_other(sizes, small, monkeypatch):
    monkeypatch.setattr(module, "SMALL", small)
    effects = Effects(sizes)
    cells = np.random.default_rng(1).normal(size=(4, effects.cells))
    turned = effects.of_cells(cells)
    assert effects.to_cells(turned) == pytest.approx(cells)
    assert (turned**2).sum() == pytest.approx((cells**2).sum())
    assert turned[:, 0] == pytest.approx(cells.sum(axis=1) / math.sqrt(effects.cells))


@pytest.mark.parametrize("sizes", CROSSES)
def test_every_marginal_is_diagonal_with_its_precisions(sizes):
    effects = Effects(sizes)
    eye = effects.to_cells(np.eye(effects.cells))
    for marginal in marginals(len(sizes)):
        matrix = effects.marginal(marginal, eye)
        wanted = np.diag(effects.precision(marginal)[effects.kind_of])
        assert matrix @ matrix.T == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("sizes", CROSSES)
def test_spreading_out_is_the_transpose_of_a_marginal(sizes):
    effects, random = Effects(sizes), np.random.default_rng(2)
    for marginal in marginals(len(sizes)):
        cells = random.normal(size=(2, effects.cells))
        table = random.normal(size=(2, math.prod(effects.shape(marginal))))
        one = (effects.marginal(marginal, cells) * table).sum()
        two = (effects.of_cells(cells) * effects.spread_out(marginal, table)).sum()
        assert one == pytest.approx(two)


def test_a_marginal_keeps_the_order_of_its_attributes():
    cells = np.arange(24).reshape(1, -1)
    table = cells.reshape(2, 3, 4)
    effects = Effects((2, 3, 4))
    assert np.array_equal(
        effects.marginal((2, 0), cells)[0], table.sum(axis=1).T.ravel()
    )
    assert effects.marginal((), cells).tolist() == [[276]]
    assert effects.marginal((), cells).dtype.kind == "i"


@pytest.mark.parametrize("sizes", CROSSES)
def test_shares_are_the_variance_of_one_cell(sizes):
    effects, random = Effects(sizes), np.random.default_rng(3)
    by_kind = random.uniform(0.5, 2, len(effects.kinds))
    eye = effects.to_cells(np.eye(effects.cells))
    for marginal in marginals(len(sizes)):
        matrix = effects.marginal(marginal, eye)
        covariance = matrix.T @ np.diag(by_kind[effects.kind_of]) @ matrix
        assert np.diag(covariance) == pytest.approx(effects.share(marginal) @ by_kind)


def test_weights_are_squared_lengths_by_kind():
    effects = Effects((2, 3))
    found = effects.weights(np.ones(6))
    assert found == pytest.approx([6, 0, 0, 0], abs=1e-12)
    assert effects.weights(np.arange(6)).sum() == pytest.approx(55)


@pytest.mark.parametrize("sizes", [(129,), (3, 200), (200, 3), (2, 150, 2)])
def test_large_bases_are_cumulative_sums(sizes):
    """The same as products with their matrix, which would not fit into memory."""
    cells = np.random.default_rng(5).normal(size=(4, math.prod(sizes)))
    matrix = np.ones((1, 1))
    for size in sizes:
        matrix = np.kron(matrix, basis(size))
    effects = Effects(sizes)
    assert np.allclose(effects.of_cells(cells), cells @ matrix, atol=1e-9)
    assert np.allclose(effects.to_cells(cells), cells @ matrix.T, atol=1e-9)
