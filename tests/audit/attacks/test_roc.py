"""Areas under curves, their standard errors, and what guarantees allow."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from dither import ApproxDP, Composed, GaussianDP, PureDP, ZeroConcentratedDP
from dither.audit.attacks.roc import Allowed, Roc


def test_the_area_counts_pairs_and_halves_ties() -> None:
    roc = Roc(np.array([3.0, 2.0, 2.0]), np.array([1.0, 2.0]))
    assert roc.area == pytest.approx((2 + 1.5 + 1.5) / 6)
    assert roc.rate(0.0) == pytest.approx(1 / 3)
    assert roc.rate(1.0) == 1


def test_the_curve_has_the_area() -> None:
    source = np.random.default_rng(1)
    roc = Roc(source.normal(1, 1, 400), source.normal(0, 1, 300))
    false, true = roc.curve()
    assert np.trapezoid(true, false) == pytest.approx(roc.area)
    assert roc.area == pytest.approx(NormalDist().cdf(1 / math.sqrt(2)), abs=0.05)


def test_the_standard_error_is_that_of_many_trials() -> None:
    source = np.random.default_rng(2)
    rocs = [
        Roc(source.normal(0.5, 1, 80), source.normal(0, 1, 120)) for _ in range(400)
    ]
    spread = np.std([roc.area for roc in rocs])
    assert np.mean([roc.standard_error for roc in rocs]) == pytest.approx(
        spread, rel=0.2
    )


def test_the_largest_areas() -> None:
    assert Allowed(GaussianDP(1.0)).area == pytest.approx(
        NormalDist().cdf(1 / math.sqrt(2))
    )
    for epsilon in (0.1, 1.0, 3.0):
        exact = math.exp(epsilon) / (1 + math.exp(epsilon))
        assert exact <= Allowed(PureDP(epsilon)).area <= exact + 2e-3
    gaussian = Allowed(GaussianDP(1.0)).area
    for wider in (
        ZeroConcentratedDP(0.5),
        Composed([GaussianDP(0.6), GaussianDP(0.8)]),
        GaussianDP(1.0, 1e-9),
        ApproxDP(GaussianDP(1.0).epsilon_at(1e-6), 1e-6),
    ):
        assert gaussian - 1e-9 <= Allowed(wider).area <= 1


def test_pure_draws_reach_the_bound() -> None:
    """Randomized response is the best test's curve itself."""
    allowed = Allowed(PureDP(1.0))
    corner = 1 / (1 + math.e)
    assert allowed.power(corner) == pytest.approx(1 - corner)
    assert allowed.power(0.0) == 0
    assert allowed.power(1.0) == 1
