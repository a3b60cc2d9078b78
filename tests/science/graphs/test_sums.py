"""Sums of noises stay within their margins: against exact convolutions."""

import math

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.science.graphs.sums import sum_margin


def law(mechanism):
    """The chance of each whole number, far beyond all that matters."""
    scale = mechanism.scale
    far = math.ceil(60 * scale) + 4
    places = np.arange(-far, far + 1)
    if isinstance(mechanism, Laplace):
        return math.tanh(0.5 / scale) * np.exp(-np.abs(places) / scale)
    edges = (np.arange(-far, far + 2) - 0.5) / scale / math.sqrt(2)
    return np.diff([math.erf(edge) for edge in edges]) / 2


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(sensitivity=2, epsilon=0.5),
        Laplace(sensitivity=1, epsilon=3.0),
        Gaussian(sensitivity=1, rho=0.02),
        Gaussian(sensitivity=1, rho=2.0),
        Gaussian(sensitivity=1, rho=0.1),
        Gaussian(sensitivity=1, rho=1e4),
    ],
    ids=repr,
)
@pytest.mark.parametrize("terms", [1, 2, 5, 16])
def test_a_sum_stays_within_its_margin(mechanism, terms):
    one = law(mechanism)
    total = one
    for _ in range(terms - 1):
        total = np.convolve(total, one)
    middle = total.size // 2
    places = np.arange(total.size) - middle
    for missed in (0.2, 0.025, 1e-4, 1e-7):
        margin = sum_margin(mechanism, terms, missed)
        assert total[places > margin].sum() <= missed
        assert total[places < -margin].sum() <= missed
        # and it is not much too wide, where misses are to be rare
        assert missed > 0.1 or margin < 3 or total[places > margin / 2].sum() > missed


def test_a_mean_of_many_narrows():
    noise = Laplace(sensitivity=2, epsilon=1.0)
    widths = [sum_margin(noise, terms, 1e-3) / terms for terms in (1, 16, 256, 4096)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < widths[0] / 50
