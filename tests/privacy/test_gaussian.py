from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dither.errors import ArgumentError
from dither.privacy.gaussian import (
    _mills,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    log_tail,
    pure_mu,
)

from .support import normal_tail, true_gaussian_delta


def random_points(count: int) -> list[tuple[float, float]]:
    """(μ, ε) with ε/μ − μ/2 anywhere that δ is a float above 0, from the left tail to
    the right.
    """
    drawn, points = random.Random(11), []
    while len(points) < count:
        mu = 10 ** drawn.uniform(-9, 1.7)
        epsilon = mu * (drawn.uniform(-38, 38) + mu / 2)
        if epsilon >= 0:
            points.append((mu, epsilon))
    return points


def test_delta_is_an_upper_bound_and_a_close_one() -> None:
    for mu, epsilon in random_points(1500):
        truth = true_gaussian_delta(mu, epsilon)
        assert (
            truth
            <= gaussian_delta(mu, epsilon)
            <= truth * (1 + mpf(2e-6)) + mpf(1e-322)
        ), (mu, epsilon)


@pytest.mark.parametrize(
    ("mu", "epsilon"),
    [(1e-300, 1.0), (1e-9, 1e3), (1.0, 1e6), (1e-5, 0.0), (50.0, 0.0), (1e3, 1.0)],
)
def test_delta_at_the_edges_of_floats(mu: float, epsilon: float) -> None:
    assert 0.0 < gaussian_delta(mu, epsilon) <= 1.0
    if mu * mu < 1e-9:
        assert gaussian_delta(mu, epsilon) < 1e-5


def test_mills_ratio_by_its_continued_fraction() -> None:
    for x in (4.0, 4.5, 5.0, 7.3, 12.0, 25.0, 36.0, 90.0, 400.0):
        truth = normal_tail(mpf(x)) / mp.npdf(mpf(x))
        ratio, slope = _mills(x)
        assert abs(ratio / truth - 1) < 2.0**-49
        assert abs(slope / (1 - x * truth) - 1) < 2.0**-48


def test_log_tail_stays_within_its_margin() -> None:
    for x in (-9.0, -1.0, 0.0, 2.0, 3.999, 4.0, 30.0, 300.0):
        assert abs(mpf(log_tail(x)) - mp.log(normal_tail(mpf(x)))) <= 16 * 2.0**-46 * (
            1 + x * x
        )


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-100, 1e-20, 1e-6, 0.1, 0.9])
def test_mu_is_the_largest_that_holds(epsilon: float, delta: float) -> None:
    mu = gaussian_mu(epsilon, delta)
    assert true_gaussian_delta(mu, epsilon) <= delta
    assert true_gaussian_delta(mu * (1 + 1e-6), epsilon) > delta


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-7, 60.0), st.floats(-290.0, -0.1))
def test_epsilon_holds_and_is_the_smallest(mu: float, power: float) -> None:
    delta = 10.0**power
    epsilon = gaussian_epsilon(mu, delta)
    assert true_gaussian_delta(mu, epsilon) <= delta
    if epsilon > 1e-9:
        assert true_gaussian_delta(mu, epsilon * (1 - 1e-5) - 1e-9 * mu) > delta


def test_epsilon_is_zero_where_delta_covers_the_total_variation() -> None:
    assert gaussian_epsilon(0.1, 0.5) == 0.0


def test_the_classical_formula_is_violated_at_epsilon_10_and_wasteful_at_a_tenth() -> (
    None
):
    classical = math.sqrt(2 * math.log(1.25 / 1e-5))
    assert gaussian_delta(10 / classical, 10.0) == pytest.approx(2.27e-5, rel=5e-3)
    assert gaussian_delta(20 / classical, 20.0) == pytest.approx(1.53e-3, rel=5e-3)
    assert classical / 0.1 * gaussian_mu(0.1, 1e-5) == pytest.approx(1.58, abs=5e-3)


@pytest.mark.parametrize(
    ("mu", "epsilon"), [(0.5, 2.2541), (1.0, 4.8866), (2.0, 10.9972)]
)
def test_known_values(mu: float, epsilon: float) -> None:
    assert gaussian_epsilon(mu, 1e-6) == pytest.approx(epsilon, abs=1e-4)


@pytest.mark.parametrize(
    "epsilon", [1e-9, 1e-3, 0.5, 0.999, 1.0, 5.0, 50.0, 1000.0, 1e6]
)
def test_pure_mu_separates_enough(epsilon: float) -> None:
    mu = pure_mu(epsilon)
    assert (
        normal_tail(mpf(mu) / 2)
        <= 1 / (1 + mp.e ** mpf(epsilon))
        < normal_tail(mpf(mu) / 2 * (1 - mpf(1e-9)))
    )


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "1", None])
def test_bad_input_is_named(bad: Any) -> None:
    for call, argument in (
        (lambda: gaussian_delta(bad, 1), "mu"),
        (lambda: gaussian_epsilon(bad, 1e-6), "mu"),
        (lambda: gaussian_epsilon(1, bad), "delta"),
        (lambda: gaussian_mu(bad, 1e-6), "epsilon"),
        (lambda: gaussian_mu(1, bad), "delta"),
    ):
        with pytest.raises(ArgumentError, match=r"pass") as caught:
            call()
        assert caught.value.argument == argument


def test_out_of_float_range_is_said_clearly() -> None:
    with pytest.raises(ArgumentError, match=r"pass a smaller mu"):
        gaussian_epsilon(1e200, 1e-6)
