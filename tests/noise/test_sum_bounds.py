"""Closed forms for searches and for many sums at once: never too narrow."""

import math

import numpy as np
import pytest

from dither.noise import Law
from dither.noise.sum_bounds import NUMBERS, _lost_laplace
from tests.noise.laws import Exact

LAPLACE, GAUSSIAN = Law.laplace(2.0), Law.gaussian(3.0)
SCALES = (0.2, 0.5, 1.0, 1.6, 3.0, 6.0)
WEIGHTS = (0.1, 0.3, 0.5, 0.7, 1.0, 2.0)


# Searches


def test_a_no_is_certain():
    random = np.random.default_rng(7)
    for _ in range(60):
        one = (Law.laplace, Law.gaussian)[random.integers(2)]
        weights = random.choice(WEIGHTS, random.integers(1, 7)).tolist()
        law = one(float(random.choice(SCALES)))
        others = [(0.5,), (0.5, -0.3)][random.integers(2)]
        beside = (others, one(2.0)) if random.integers(2) else None
        total = law.weighed(weights)
        total += beside[1].weighed(others) if beside else Law()
        exact = Exact(total)
        for confidence in (0.5, 0.95, 0.9999):
            x = random.uniform(0.5, 1.2) * total.reach(confidence)
            if not law.allows(weights, -x, confidence, beside):
                assert exact.from_(x) <= (1 - confidence) / 2 * (1 + 1e-9)
        assert law.allows(weights, 0.0, 0.95, beside)


@pytest.mark.parametrize("make", [Law.laplace, Law.gaussian])
@pytest.mark.parametrize("number", range(1, 10))
def test_closed_forms_of_wide_noise_are_near(make, number):
    law, weights = make(1e6), np.random.default_rng(number).normal(size=number).tolist()
    for others in ((), (0.7,), (0.7, -0.4)):
        beside = (others, make(2e6)) if others else None
        total = law.weighed(weights) + make(2e6).weighed(others)
        for confidence in (0.5, 0.95, 0.999):
            width = total.reach(confidence)
            wide = 1.25 if len(total.parts) > 4 else 1.005
            assert not law.allows(weights, wide * width, confidence, beside)
            assert law.allows(weights, 0.98 * width, confidence, beside)


def test_what_has_no_noise_is_judged():
    for law in (LAPLACE, Law.laplace(1e6), GAUSSIAN):
        assert law.allows([0.0, 0.0], 0.0, 0.9)
        assert not law.allows([0.0, 0.0], 2.0, 0.9)


# Many sums at once


@pytest.mark.parametrize("scale", [0.1, 0.3, 0.5, 0.9, 1.6, 3.0, 20.0])
@pytest.mark.parametrize("make", [Law.laplace, Law.gaussian])
def test_many_sums_at_once_are_never_too_narrow(make, scale):
    random, law = np.random.default_rng(9), make(scale)
    numbers = (2, 3, 5, 12) if scale < 10 else (2, 3)
    for number in numbers:
        weights = np.round(random.choice([0.1, 0.2, 0.6, 0.9, 1.0], number), 1)
        exact = Exact(law.weighed(weights))
        powers = [np.array([(weights**power).sum()]) for power in (2, 4)]
        for missed in (0.3, 0.1, 0.025, 0.005, 1e-4, 1e-6):
            (width,) = law.reaches(*powers, 1 - 2 * missed)
            assert exact.above(width) <= missed * (1 + 1e-9), (weights, missed)


@pytest.mark.parametrize(
    ("make", "scale", "wide"),
    [
        (Law.laplace, 4.0, 1.09),
        (Law.laplace, 40.0, 1.02),
        (Law.gaussian, 4.0, 1.03),
        (Law.gaussian, 40.0, 1.005),
    ],
)
def test_many_sums_at_once_are_near(make, scale, wide):
    law, random = make(scale), np.random.default_rng(3)
    weights = random.normal(size=(5, 40))
    found = law.reaches((weights**2).sum(1), (weights**4).sum(1), 0.95)
    for row, width in zip(weights, found, strict=True):
        assert 0.99 <= width / law.weighed(row).reach(0.95) <= wide


def test_one_weight_and_none():
    for law in (LAPLACE, GAUSSIAN):
        found = law.reaches(np.array([9.0, 0.0]), np.array([81.0, 0.0]), 0.95)
        assert found[0] == pytest.approx((3 * law).reach(0.95), rel=1e-4)
        assert found[0] >= (3 * law).reach(0.95)
        assert found[1] == 0
    assert Law.laplace(1e-3).reaches(np.ones(1), np.ones(1), 0.95).tolist() == [0]


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.8, 0.93, 0.95, 0.99, 1 - 1e-8])
@pytest.mark.parametrize("make", [Law.laplace, Law.gaussian])
def test_a_pair_of_any_weights_stays_within_its_reach(make, confidence):
    law = make(1000.0)
    most = law.pair_reach(confidence)
    for ratio in np.linspace(0.003, 0.997, 60):
        width = (law + ratio * law).reach(confidence)
        assert width <= (most + 1) * math.hypot(1, ratio)
    assert most <= 1.5 * max(law.reach(confidence), 200)


@pytest.mark.parametrize("scale", [1.0, 4.0, 30.0])
def test_what_the_proof_loses(scale):
    """By the integral itself, for weights that are equal."""
    u = (np.arange(40_000) + 0.5) * (8 * np.pi / 40_000)
    variance = LAPLACE.laplace(scale).variance
    discrete = 1 / (1 + 2 * variance * np.sin(u / 2) ** 2)
    line = 1 / (1 + variance * u**2 / 2)
    first = 1 / (1 + (scale * u) ** 2)
    for number, lost in zip(NUMBERS.tolist(), _lost_laplace(scale), strict=True):
        for others in {max(round(number), 1), round(number) + 1, round(number) + 7}:
            if others >= number:
                moved = first * (discrete**others - line**others) / u
                assert moved.sum() * u[0] * 2 / np.pi <= lost
    assert max(_lost_laplace(scale)) <= 0.035 / scale**2
