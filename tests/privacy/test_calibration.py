from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dither.errors import ArgumentError, NoConversion, UnitMismatch
from dither.privacy import (
    ROW,
    ApproxDP,
    Composed,
    GaussianDP,
    Guarantee,
    PoissonSampled,
    PureDP,
    ZeroConcentratedDP,
    calibrate,
    compose,
    epsilon_for_error,
    gaussian_sigma,
    laplace_epsilon,
    laplace_scale,
    mu_for_error,
    rho_for_error,
)

from .support import true_gaussian_delta


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_laplace_scale_is_the_smallest_float_that_is_enough(
    sensitivity: float, epsilon: float
) -> None:
    scale = Fraction(laplace_scale(sensitivity, epsilon))
    assert scale * Fraction(epsilon) >= Fraction(sensitivity)
    assert Fraction(math.nextafter(float(scale), 0.0)) * Fraction(epsilon) < Fraction(
        sensitivity
    )
    assert Fraction(laplace_epsilon(sensitivity, float(scale))) * scale >= Fraction(
        sensitivity
    )


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 50.0), st.floats(-12.0, -1.0))
def test_gaussian_sigma_holds_and_is_tight(
    sensitivity: float, epsilon: float, power: float
) -> None:
    sigma = gaussian_sigma(sensitivity, epsilon=epsilon, delta=10.0**power)
    assert true_gaussian_delta(mpf(sensitivity) / mpf(sigma), epsilon) <= mpf(
        10.0**power
    )
    assert true_gaussian_delta(sensitivity / sigma * (1 + 1e-6), epsilon) > 10.0**power


def test_gaussian_sigma_for_rho_and_mu() -> None:
    assert gaussian_sigma(3, mu=0.5) == 6.0
    assert gaussian_sigma(3, rho=0.125) == pytest.approx(6.0)
    assert Fraction(9) / Fraction(gaussian_sigma(3, rho=0.125)) ** 2 / 2 <= Fraction(
        0.125
    )


@pytest.mark.parametrize(
    "wanted",
    [{}, {"epsilon": 1}, {"delta": 1e-6}, {"mu": 1, "rho": 1}, {"epsilon": 1, "mu": 1}],
)
def test_gaussian_sigma_needs_one_wish(wanted: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"exactly one of"):
        gaussian_sigma(1, **wanted)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 1e4), st.floats(0.01, 0.999999), st.floats(0.1, 100.0))
def test_laplace_error_is_met(
    error: float, confidence: float, sensitivity: float
) -> None:
    epsilon = epsilon_for_error(error, confidence, sensitivity)

    def outside(e: float) -> mpf:
        return mp.e ** (-mpf(error) * mpf(e) / mpf(sensitivity))

    assert outside(epsilon) <= 1 - mpf(confidence) < outside(epsilon * (1 - 1e-9))


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 1e3), st.floats(0.01, 0.999999), st.integers(1, 5))
def test_integer_error_is_met(
    error: float, confidence: float, sensitivity: int
) -> None:
    epsilon = epsilon_for_error(error, confidence, sensitivity, integer=True)

    def outside(e: float) -> mpf:
        q = mp.e ** (-mpf(e) / sensitivity)
        return 2 * q ** (math.floor(error) + 1) / (1 + q)

    assert outside(epsilon) <= 1 - mpf(confidence) < outside(epsilon * (1 - 1e-9))


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 1e4), st.floats(0.01, 0.999999999), st.floats(0.1, 100.0))
def test_gaussian_error_is_met(
    error: float, confidence: float, sensitivity: float
) -> None:
    mu = mu_for_error(error, confidence, sensitivity)

    def outside(m: float) -> mpf:
        return mp.erfc(mpf(error) * mpf(m) / mpf(sensitivity) / mp.sqrt(2))

    assert outside(mu) <= 1 - mpf(confidence) < outside(mu * (1 - 1e-9))
    assert rho_for_error(error, confidence, sensitivity) >= mu * mu / 2


def test_an_integer_count_needs_less_than_a_real_one() -> None:
    assert (
        epsilon_for_error(8, 0.999, 1, integer=True)
        < epsilon_for_error(8, 0.999, 1)
        < 1
    )


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1"])
def test_bad_numbers_are_named(bad: Any) -> None:
    for call, argument in (
        (lambda: laplace_scale(bad, 1), "sensitivity"),
        (lambda: laplace_scale(1, bad), "epsilon"),
        (lambda: laplace_epsilon(1, bad), "scale"),
        (lambda: gaussian_sigma(bad, mu=1), "sensitivity"),
        (lambda: gaussian_sigma(1, rho=bad), "rho"),
        (lambda: gaussian_sigma(1, mu=bad), "mu"),
        (lambda: epsilon_for_error(bad, 0.9, 1), "error"),
        (lambda: mu_for_error(1, bad, 1), "confidence"),
        (lambda: rho_for_error(1, 0.9, bad), "sensitivity"),
    ):
        with pytest.raises(ArgumentError, match=r"pass") as caught:
            call()
        assert caught.value.argument == argument


def test_calibrating_plain_gaussians_matches_the_closed_form() -> None:
    sigma = calibrate(
        lambda s: Composed([GaussianDP(1 / s)] * 10), ApproxDP(1.0, 1e-6), 0.1, 1000.0
    )
    exact = gaussian_sigma(1, epsilon=1.0, delta=1e-6) * math.sqrt(10)
    assert exact * (1 - 1e-9) <= sigma <= exact * 1.001


def test_calibrating_sampled_steps() -> None:
    def make(sigma: float) -> Guarantee:
        return PoissonSampled(0.01, GaussianDP(1 / sigma), 1000)

    sigma = calibrate(make, ApproxDP(2.1245, 1e-6), 0.3, 30.0)
    assert sigma == pytest.approx(1.0, rel=2e-3)
    assert compose([make(sigma)], 1e-6).epsilon <= 2.1245
    assert calibrate(make, ApproxDP(2.1245, 1e-6), 0.3, 30.0, tight=False) > sigma


def test_calibrating_a_pure_scale() -> None:
    scale = calibrate(
        lambda b: Composed([PureDP(1 / b)] * 3), PureDP(1.5), 0.1, 100.0, tolerance=1e-6
    )
    assert 2.0 <= scale <= 2.00001


def test_calibration_at_the_ends() -> None:
    assert calibrate(lambda b: PureDP(1 / b), PureDP(100.0), 1.0, 10.0) == 1.0
    with pytest.raises(
        ArgumentError,
        match=r"^high is too small: noise of scale 10 does not give ε = 0.01",
    ):
        calibrate(lambda b: PureDP(1 / b), PureDP(0.01), 1.0, 10.0)
    with pytest.raises(ArgumentError, match=r"^high must be above low"):
        calibrate(lambda b: PureDP(1 / b), PureDP(1.0), 10.0, 1.0)
    with pytest.raises(NoConversion, match=r"^wanted "):
        calibrate(lambda b: PureDP(1 / b), ZeroConcentratedDP(1.0), 1.0, 10.0)  # type: ignore[arg-type]
    with pytest.raises(UnitMismatch, match=r"cannot be added up"):
        calibrate(lambda b: PureDP(1 / b), PureDP(1.0, unit=ROW.replacing()), 1.0, 10.0)
    with pytest.raises(ArgumentError, match=r"^high is too small"):
        calibrate(lambda b: ApproxDP(1 / b, 1e-5), ApproxDP(1.0, 1e-6), 1.0, 10.0)
