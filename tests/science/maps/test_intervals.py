"""The ± of weighted sums of noise: never too small, and hardly ever too large."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.science.maps.intervals import Law, Part, reach

LAPLACE = Law(Laplace(sensitivity=1, epsilon=0.5))
NARROW = Law(Laplace(sensitivity=1, epsilon=6))
WIDE = Law(Laplace(sensitivity=3, epsilon=0.001))
NORMAL = Law(Gaussian(sensitivity=1, rho=0.05))
SMALL = Law(Gaussian(sensitivity=1, rho=4))


def chances(law, most):
    """The law's probabilities on −most … most."""
    k = np.arange(-most, most + 1)
    if law.gaussian:
        normal = NormalDist(0, law.scale)
        upper = np.array([normal.cdf(-(abs(one) - 0.5)) for one in k])
        lower = np.array([normal.cdf(-(abs(one) + 0.5)) for one in k])
        middle = 1 - 2 * normal.cdf(-0.5)
        return np.where(k == 0, middle, upper - lower)
    q = math.exp(-1 / law.scale)
    return (1 - q) / (1 + q) * q ** np.abs(k)


def tail(parts, x, unit, most):
    """P(sum > x) by convolution, for weights that are multiples of a unit."""
    total = np.ones(1)
    for weight, count, law in parts:
        step, one = round(abs(weight) / unit), chances(law, most)
        spaced = np.zeros((one.size - 1) * step + 1)
        spaced[::step] = one
        for _ in range(count):
            total = np.convolve(total, spaced)
    values = (np.arange(total.size) - total.size // 2) * unit
    return float(total[values > x + 1e-9].sum())


CASES = [
    [Part(0.8, 1, LAPLACE), Part(-0.2, 3, LAPLACE), Part(0.2, 1, LAPLACE)],
    [Part(0.5, 1, LAPLACE), Part(0.5, 1, LAPLACE)],
    [Part(1, 6, NARROW), Part(0.3, 2, NARROW)],
    [Part(0.9, 1, NORMAL), Part(0.1, 8, NORMAL), Part(0.4, 1, NORMAL)],
    [Part(1, 3, SMALL), Part(0.5, 1, SMALL)],
    [Part(0.7, 2, LAPLACE), Part(0.3, 2, NORMAL)],
]


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("parts", CASES)
def test_no_side_is_missed_too_often(parts, confidence):
    width = reach(parts, confidence)
    missed = (1 - confidence) / 2
    assert tail(parts, width, 0.1, 80) <= missed
    deviation = math.sqrt(sum(w * w * n * law.variance for w, n, law in parts))
    # A little less would not do, but for steps of the sum itself.
    steps = 1.0 if max(law.scale for _, _, law in parts) < 1 else 0.1
    shorter = width - 0.06 * deviation - steps
    assert shorter < 0 or tail(parts, shorter, 0.1, 80) > missed


def test_one_noise_has_its_own_quantile():
    assert reach([Part(1, 1, LAPLACE)], 0.95) == LAPLACE.mechanism.error(
        0.95, integer=True
    )


def test_many_noises_are_nearly_normal():
    width = reach([Part(1, 10_000, WIDE)], 0.95)
    normal = 1.959964 * math.sqrt(10_000 * WIDE.variance)
    assert normal <= width <= 1.03 * normal


def test_wide_noise_keeps_the_shape_of_narrow_noise():
    """Scales do not matter, but for the integers: e^(−x)·(1 + x/2) is 0.05 at 4.11."""
    pair = [reach([Part(0.5, 2, law)], 0.95) / law.scale for law in (WIDE, LAPLACE)]
    assert pair[0] == pytest.approx(pair[1], rel=0.04)
    assert 4.11 / 2 <= pair[0] <= 1.03 * 4.11 / 2


def test_signs_and_order_do_not_matter():
    forth = reach(CASES[0], 0.9)
    back = reach([Part(-w, n, law) for w, n, law in reversed(CASES[0])], 0.9)
    assert forth == pytest.approx(back, rel=1e-12)


def test_no_noise_has_no_width():
    none = Law(Laplace(sensitivity=1, epsilon=1e5))
    assert reach([], 0.95) == 0
    assert reach([Part(0, 5, LAPLACE)], 0.95) == 0
    assert reach([Part(0.5, 2, none)], 0.95) == 0


@pytest.mark.parametrize("law", [LAPLACE, NARROW, NORMAL, SMALL])
def test_waves_are_those_of_the_law(law):
    angles = np.linspace(-10, 10, 41)
    k = np.arange(-200, 201)
    plain = np.cos(angles[:, None] * k) @ chances(law, 200)
    assert np.exp(law.log_wave(angles)) == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("law", [LAPLACE, NARROW, NORMAL, SMALL])
def test_moments_are_not_below_those_of_the_law(law):
    tilts = np.linspace(-1, 1, 21) * (0.45 if law is LAPLACE else 1.0)
    k = np.arange(-400, 401)
    with np.errstate(under="ignore"):
        plain = np.log(np.exp(tilts[:, None] * k) @ chances(law, 400))
    bound = law.log_moment(tilts)
    assert (bound >= plain - 1e-9).all()
    if not law.gaussian:
        assert bound == pytest.approx(plain, abs=1e-8)
