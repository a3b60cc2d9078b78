"""Noise made continuous, and binomial counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dither.mechanisms import Gaussian, Laplace
from dither.science.trials.null import Law
from dither.science.trials.tulap import Binomial, Tulap, bisect, uniform
from tests.chance import chance


def laplace(epsilon: float) -> Law:
    return Law.of(Laplace(sensitivity=1, epsilon=epsilon))


def published(x: float, b: float) -> float:
    """The Tulap law as Awan & Slavković write it, without truncation."""
    nearest = math.floor(x + 0.5)
    if x <= 0:
        return b**-nearest / (1 + b) * (b + (x - nearest + 0.5) * (1 - b))
    return 1 - b**nearest / (1 + b) * (b + (nearest - x + 0.5) * (1 - b))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_it_is_the_published_law(epsilon: float) -> None:
    at = np.linspace(-9.3, 9.3, 187)
    wanted = [published(x, math.exp(-epsilon)) for x in at]
    assert Tulap(laplace(epsilon)).below(at) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("law", [laplace(0.5), Law.of(Gaussian(sensitivity=1, rho=1))])
def test_it_is_the_integral_of_noise_and_a_uniform_number(law: Law) -> None:
    noise = np.arange(-200, 201)
    for x in (-3.7, -0.5, 0.0, 0.2, 2.5, 4.9):
        parts = np.clip(x - noise + 0.5, 0, 1)
        assert Tulap(law).below(x) == pytest.approx(law.pmf(noise) @ parts, abs=1e-12)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0, 2000.0])
def test_small_tails_keep_their_digits(epsilon: float) -> None:
    tulap = Tulap(laplace(epsilon))
    far = tulap.below(np.array([-1e7, -1e3, -10.0, 0.0, 10.0, 1e3, 1e7]))
    assert ((far >= 0) & (far <= 1)).all()
    assert (np.diff(far) >= 0).all()
    assert far[3] == pytest.approx(0.5)
    tail = tulap.below(-10.0)
    assert tail == pytest.approx(published(-10.0, math.exp(-epsilon)), rel=1e-9)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (50, 0.5), (1000, 1e-5), (10**6, 0.3), (10**6, 1 - 1e-6)]
)
def test_binomial_counts_are_scipys(n: int, p: float) -> None:
    found = Binomial(n, p)
    wanted = stats.binom.pmf(found.values, n, p)
    assert found.weights == pytest.approx(wanted, abs=1e-14)
    assert found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_counts(p: float) -> None:
    assert Binomial(7, p).values.tolist() == [7 * p]


@chance(1e-20)
def test_uniform_numbers_lie_around_zero() -> None:
    found = [uniform() for _ in range(2000)]
    assert -0.5 < min(found) < -0.45
    assert 0.45 < max(found) < 0.5


def test_halving() -> None:
    assert bisect(lambda x: x**2 >= 2, 0, 2) == pytest.approx(math.sqrt(2))
