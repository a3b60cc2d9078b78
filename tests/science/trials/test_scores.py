"""Scores of the log-rank test: their noise, and what censoring within bins allows."""

import numpy as np
import pytest

from dither.science.trials.curve import LifeTable
from dither.science.trials.scores import Scores, nearest, quadratic, reachable


def table_of(cells, known=False, before=0.0):
    return LifeTable(cells[:, :4], cells[:, 4:8], cells[:, 8], 1e-9, known, before)


@pytest.mark.parametrize("before", [0.0, np.array([1.0, 0.0, 0.4])])
@pytest.mark.parametrize("known", [False, True])
def test_noise_of_the_scores_against_differences(known, before):
    """The linearised covariance, with each cell moved by itself."""
    rng = np.random.default_rng(4)
    cells = rng.uniform(20, 40, (3, 9))
    rows = []
    for arm in range(3):
        for place in range(9):
            step = np.zeros((3, 9))
            step[arm, place] = 1e-4
            up, down = (
                Scores.of(table_of(cells + side * step, False, before)).values
                for side in (1, -1)
            )
            rows.append((up - down) / 2e-4)
    jacobian = np.array(rows).reshape(3, 9, 3)
    projection = np.eye(9) - (1 / 10 if known else 0)
    expected = sum(one.T @ projection @ one for one in jacobian)
    found = Scores.of(table_of(cells, known, before)).noise
    np.testing.assert_allclose(found / 1e-9, expected, atol=1e-5)


def test_nobody_left_at_risk_divides_nothing():
    """Noise may make it so where people are taken to have left early."""
    nobody = LifeTable(np.zeros((2, 1)), np.ones((2, 1)), np.array([3.0, -3.0]), 1.0)
    scores = Scores(nobody.leaving(1.0), np.array([True]))
    assert scores.pooled.tolist() == [0.0]
    assert np.isfinite(scores.values).all()
    assert np.isfinite(scores.noise).all()
    assert np.isfinite(scores.sampling).all()


def test_reachable_scores_hold_all_places_of_censoring():
    """All corners, and points between, of when the censored of each arm left."""
    rng = np.random.default_rng(5)
    base = table_of(rng.uniform(20, 40, (3, 9)))
    scores = Scores.of(base)
    low, high = reachable(scores)
    for _ in range(200):
        before = rng.choice([0.0, 0.5, 1.0], 3)
        values = Scores(base.leaving(before), scores.used).values
        assert (low - 1e-9 <= values).all()
        assert (values <= high + 1e-9).all()
    assert (low < scores.values).all()
    assert (scores.values < high).all()


def test_the_nearest_values_are_least_far_from_0():
    """Against a fine grid."""
    low, high = np.array([1.0, -3.0, -9.0]), np.array([2.0, -1.0, 9.0])
    covariance = np.array([[2.0, 0.8, 0], [0.8, 1.0, 0], [0, 0, 1.0]])
    found = quadratic(nearest(low, high, covariance), covariance)
    grid = np.stack(np.meshgrid(np.linspace(1, 2, 101), np.linspace(-3, -1, 201)), -1)
    inverse = np.linalg.inv(covariance[:2, :2])
    best = np.einsum("...i,ij,...j", grid, inverse, grid).min()
    assert found == pytest.approx(best, rel=1e-3)
    two = nearest(np.array([-1.0, -2.0]), np.array([2.0, 1.0]), np.eye(2))
    assert two.tolist() == [0.0, 0.0]
