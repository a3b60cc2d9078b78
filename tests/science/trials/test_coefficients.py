"""Coefficients of a noisy fit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.science.trials.coefficients import Fit
from dither.science.trials.gram import NoisyGram
from dither.science.trials.moments import Scale

SCALES = (Scale(0.0, 4.0), Scale(-10.0, 10.0))
EXACT = np.array([[100.0, 20.0, 10.0], [20.0, 40.0, 8.0], [10.0, 8.0, 12.0]])


def fit(sums: np.ndarray, scale: float, *, gaussian: bool = False) -> Fit:
    return Fit(NoisyGram(sums, np.full((3, 3), scale), gaussian), SCALES)


def test_coefficients_are_in_the_units_of_the_data() -> None:
    found = fit(EXACT, 1e-9)
    intercept, slope = np.linalg.solve(EXACT[:2, :2], EXACT[:2, 2])
    assert found.value[1] == pytest.approx(slope * 10 / 2)
    assert found.value[0] == pytest.approx(10 * (intercept - slope))  # where x is 0


@pytest.mark.parametrize("gaussian", [False, True])
def test_more_noise_makes_intervals_wider_until_they_open(gaussian: bool) -> None:
    widths = []
    for scale in (1e-9, 0.1, 1.0, 3.0, 100.0):
        low, high = fit(EXACT, scale, gaussian=gaussian).ends(0.95)
        widths.append(high[1] - low[1])
    assert widths == sorted(widths)
    assert widths[-1] == math.inf


def test_sums_that_no_data_has_say_nothing() -> None:
    for sums in (-EXACT, np.zeros((3, 3)), np.ones((3, 3))):
        found = fit(sums, 1.0)
        low, high = found.ends(0.95)
        assert (low == -math.inf).all()
        assert (high == math.inf).all()
        assert found.pvalue(1) == 1
        assert np.isfinite(found.value).all()


def test_p_values_fit_the_intervals() -> None:
    found = fit(EXACT, 0.4)
    pvalue = found.pvalue(1)
    low, high = found.ends(1 - pvalue)
    assert min(abs(low[1]), abs(high[1])) < 0.01


def test_intervals_about_these_people_are_shorter() -> None:
    found = fit(EXACT, 0.1)
    (low, high), (inner, outer) = found.ends(0.95), found.here.ends(0.95)
    assert (low < inner).all()
    assert (outer < high).all()
