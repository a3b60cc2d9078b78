"""Figures of noise that many rooms use."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from dither.mechanisms import Gaussian, Laplace
from dither.mechanisms.sums import noise_variance, root_up


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


def test_roots_are_never_too_small():
    for count in [*range(1, 200), 10**12]:
        assert root_up(count) ** 2 >= count
        assert float(root_up(count)) == pytest.approx(math.sqrt(count), rel=1e-9)
    assert root_up(4) == 2
