"""Weighted sums of noise, against the inverted characteristic function and against
draws.
"""

import math

import numpy as np
import pytest
from scipy.stats import laplace, norm

from dither.mechanisms import Gaussian, Laplace
from dither.mechanisms.sums import (
    noise_variance,
    pair_tail,
    reach,
    reaches,
    root_up,
    stays_within,
)

LAPLACE, GAUSSIAN = (
    Laplace(sensitivity=2**20, epsilon=1),
    Gaussian(sensitivity=2**20, mu=1),
)


def tail(weights, x):
    """P(|Σ wL| > x) for standard Laplace variables (Gil-Pelaez)."""
    s = (np.arange(400_000) + 0.5) * 0.01
    transform = np.prod([1 / (1 + (w * s) ** 2) for w in weights], axis=0)
    return 1 - 2 / math.pi * np.sum(np.sin(s * x) / s * transform) * 0.01


@pytest.mark.parametrize(
    "weights", [(1,), (1, 0.3), (1, 1, 1), (1, -0.7, 0.2), (1,) * 9, (1,) + (0.2,) * 8]
)
@pytest.mark.parametrize(
    ("confidence", "off"), [(0.5, 0.02), (0.8, 0.006), (0.95, 0.003), (0.99, 0.001)]
)
def test_laplace_sums_cover_what_they_say(weights, confidence, off):
    assert 1 - tail(
        weights, reach(LAPLACE, weights, confidence) / 2**20
    ) == pytest.approx(confidence, abs=off)


def test_one_laplace_variable_and_any_gaussian_are_exact():
    assert reach(LAPLACE, [-3], 0.95) == pytest.approx(
        3 * LAPLACE.scale * math.log(20), rel=1e-6
    )
    assert reach(GAUSSIAN, [3, 4], 0.99) == pytest.approx(
        5 * GAUSSIAN.scale * norm.ppf(0.995), rel=1e-9
    )
    assert reach(GAUSSIAN, [0, 0], 0.95) == reach(LAPLACE, [0, 0], 0.95) == 0


@pytest.mark.parametrize("second", [0, 1e-9, 0.2, 0.999, 1 - 1e-6, 1, 1.5])
@pytest.mark.parametrize("x", [0.1, 1, 5, 12])
def test_two_laplace_variables_have_a_closed_form(second, x):
    assert pair_tail(1, second, x) == pytest.approx(tail([1, second], x), abs=2e-6)
    assert pair_tail(second, 1, x) == pair_tail(1, second, x)


def test_two_weights_are_judged_exactly():
    x = 3.0
    confidence = 1 - pair_tail(1, 0.5, x)
    for side in (-1, 1):
        assert stays_within(
            LAPLACE, [1, -0.5], side * (x - 1e-6) * LAPLACE.scale, confidence
        )
        assert not stays_within(
            LAPLACE, [1, -0.5], side * (x + 1e-6) * LAPLACE.scale, confidence
        )
    assert pair_tail(0, 0, 0) == 1
    assert pair_tail(0, 0, 1) == 0


def test_many_sums_at_once_agree_with_one():
    for mechanism in (LAPLACE, GAUSSIAN):
        weights = np.array([[1, 0.5, 0.2], [1, 1, 1], [1, 0, 0]])
        together = reaches(mechanism, (weights**2).sum(1), (weights**4).sum(1), 0.9)
        assert together == pytest.approx(
            [reach(mechanism, list(row), 0.9) for row in weights], rel=1e-9
        )


@pytest.mark.parametrize("scale", [0.3, 1, 2.5, 100])
def test_variance_of_integer_noise(scale):
    """Discrete Laplace exactly; the rounded Gaussian from its masses."""
    k = np.arange(-3000, 3001)
    masses = np.exp(-np.abs(k) / scale)
    assert noise_variance(Laplace(sensitivity=scale, epsilon=1)) == pytest.approx(
        (k**2 * masses).sum() / masses.sum(), rel=1e-9
    )
    masses = norm.cdf((k + 0.5) / scale) - norm.cdf((k - 0.5) / scale)
    exact, said = (
        (k**2 * masses).sum(),
        noise_variance(Gaussian(sensitivity=scale, mu=1)),
    )
    assert said >= exact if scale < 1 else said == pytest.approx(exact, rel=1e-6)


def test_far_ends_stay_finite():
    for confidence in (1e-9, 1 - 1e-9):
        assert math.isfinite(reach(LAPLACE, [1, 2, 3], confidence))
    assert reach(LAPLACE, [1, 1, 1], 1 - 1e-9) > reach(GAUSSIAN, [1, 1, 1], 1 - 1e-9)
    assert reach(LAPLACE, [1], 1 - 1e-9) == pytest.approx(
        laplace.isf(0.5e-9) * LAPLACE.scale, rel=1e-6
    )


def test_roots_are_never_too_small():
    for count in [*range(1, 200), 10**12]:
        assert root_up(count) ** 2 >= count
        assert float(root_up(count)) == pytest.approx(math.sqrt(count), rel=1e-9)
    assert root_up(4) == 2
