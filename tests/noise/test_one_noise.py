"""The exact laws of one noise, and of two."""

import numpy as np
import pytest

from dither.noise import Law
from dither.noise.one_noise import moved_of
from tests.noise.laws import Exact

LAPLACE, GAUSSIAN = Law.laplace(2.0), Law.gaussian(3.0)
MISSED = (0.3, 0.05, 0.025, 0.005, 1e-4, 1e-6)


@pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN, Law.gaussian(0.3)], ids=repr)
def test_one_noise_has_its_own_law(law):
    exact = Exact(law, 1.0)
    for missed in MISSED:
        assert law.quantile(missed) == exact.quantile(missed)
        least = 2.5 * exact.quantile(missed)
        assert least <= (2.5 * law).quantile(missed) <= least * (1 + 1e-10)
    for k in range(-4, 12):
        assert law.tail(k) == pytest.approx(exact.from_(k), rel=1e-9)
        assert law.tail(k - 0.5) == law.tail(k)


@pytest.mark.parametrize("scales", [(2.0, 2.0), (2.0, 2.00001), (1.0, 5.0), (0.3, 4.0)])
def test_two_laplace_noises_have_their_own_law(scales):
    law = Law.laplace(scales[0]) + Law.laplace(scales[1])
    exact = Exact(law, 1.0)
    for missed in MISSED:
        assert law.quantile(missed) == exact.quantile(missed)
    for k in range(1, 30):
        assert law.tail(k) == pytest.approx(exact.from_(k), rel=1e-4)
        assert law.tail(k) >= exact.from_(k) * (1 - 1e-12)


def test_variances_are_exact():
    for law in (Law.laplace(0.4), Law.laplace(7.0), Law.gaussian(0.3), GAUSSIAN):
        exact = Exact(law, 1.0)
        chances = -np.diff(exact.beyond)
        assert law.variance == pytest.approx(exact.values**2 @ chances, rel=1e-9)


def test_discrete_noise_stays_near_the_line():
    """By 1 − κ of the sampler at most: ½, and a little for small scales."""
    assert moved_of(1e-3) == pytest.approx(1, abs=1e-2)
    assert moved_of(1.0) == pytest.approx(0.62, abs=1e-3)
    for scale in (10.0, 499.0, 501.0, 1e9, 1e17):
        assert moved_of(scale) == pytest.approx(0.5 + 0.125 / scale, rel=1e-4)
