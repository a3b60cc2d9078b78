"""Characteristic functions, moments, and tails by inversion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.noise.inversion import (
    GAUSSIAN,
    LAPLACE,
    NORMAL,
    Part,
    farthest,
    lattice_quantile,
    log_moment,
    log_wave,
    smooth_quantile,
    smooth_tail,
)
from dither.noise.law import Law
from tests.noise.laws import Exact, chances

NOISES = [(LAPLACE, 2.0), (LAPLACE, 1 / 6), (GAUSSIAN, 3.2), (GAUSSIAN, 0.35)]


@pytest.mark.parametrize(("kind", "scale"), NOISES)
def test_waves_are_those_of_the_law(kind, scale):
    angles, k = np.linspace(-10, 10, 41), np.arange(-200, 201)
    plain = np.cos(angles[:, None] * k) @ chances(kind, scale, 200)
    assert np.exp(log_wave(kind, scale, angles)) == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize(("kind", "scale"), NOISES)
def test_moments_are_not_below_those_of_the_law(kind, scale):
    tilts = np.linspace(-1, 1, 21) * (0.45 if scale == 2.0 else 1.0)
    k = np.arange(-400, 401)
    with np.errstate(under="ignore"):
        plain = np.log(np.exp(tilts[:, None] * k) @ chances(kind, scale, 400))
    bound = log_moment(kind, scale, tilts)
    assert (bound >= plain - 1e-9).all()
    if kind == LAPLACE:
        assert bound == pytest.approx(plain, abs=1e-8)


def test_normal_numbers_are_not_rounded():
    assert log_wave(NORMAL, 2.0, np.array([1.0])) == pytest.approx(-2)
    assert log_moment(NORMAL, 2.0, np.array([1.0])) == pytest.approx(2)


CASES = [
    [Part(0.8, 1, LAPLACE, 2.0), Part(0.2, 4, LAPLACE, 2.0)],
    [Part(1, 6, LAPLACE, 0.2), Part(0.3, 2, LAPLACE, 0.2)],
    [Part(0.9, 1, GAUSSIAN, 3.2), Part(0.1, 8, GAUSSIAN, 3.2)],
    [Part(1, 3, GAUSSIAN, 0.4), Part(0.5, 1, GAUSSIAN, 0.4)],
    [Part(0.7, 2, LAPLACE, 2.0), Part(0.3, 2, GAUSSIAN, 3.2)],
]


@pytest.mark.parametrize("missed", [0.25, 0.025, 0.0005, 1e-12])
@pytest.mark.parametrize("parts", CASES)
def test_the_smooth_sum_misses_nothing(parts, missed):
    law = Law.of(parts)
    exact = Exact(law)
    q = smooth_quantile(law.parts, law.deviation, missed)
    assert exact.above(q) <= missed
    assert smooth_tail(law.parts, law.deviation, q) >= exact.from_(q)
    # a little less would not do, but for steps of the sum itself and rare misses
    if missed > 1e-9:
        steps = 1.0 if max(part.scale for part in parts) < 1 else 0.1
        shorter = q - 0.04 * law.deviation - steps
        assert shorter < 0 or exact.above(shorter) > missed
    far = farthest(law.parts, law.deviation, missed)
    assert q <= far
    assert exact.from_(far) <= missed


@pytest.mark.parametrize("missed", [0.25, 0.025, 1e-6])
@pytest.mark.parametrize("parts", CASES)
def test_a_lattice_is_exact(parts, missed):
    law = Law.of(part._replace(weight=round(10 * part.weight)) for part in parts)
    found = lattice_quantile(law.parts, law.deviation, missed)
    assert found == Exact(law, 1.0).quantile(missed)


def test_a_wide_lattice_and_rare_misses_are_left_to_others():
    wide = Law.laplace(1e4).copies(3)
    assert lattice_quantile(wide.parts, wide.deviation, 0.025) is None
    narrow = Law.laplace(2.0).copies(3)
    assert lattice_quantile(narrow.parts, narrow.deviation, 1e-12) is None
    assert math.isfinite(narrow.quantile(1e-12))
