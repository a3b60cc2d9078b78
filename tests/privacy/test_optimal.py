from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dither.privacy.optimal import repeated_delta, repeated_epsilon

from .support import EXACT, hockey_stick, randomized_response, together


def exact_delta(epsilon: float, times: int, wanted: float) -> mpf:
    """The binomial sum with many digits."""
    e, w = mpf(epsilon), mpf(wanted)
    truth = 1 / (1 + mp.e**-e)
    total = mpf(0)
    for lies in range(times + 1):
        loss = (times - 2 * lies) * e
        if loss <= w:
            break
        total += (
            mp.binomial(times, lies)
            * truth ** (times - lies)
            * (1 - truth) ** lies
            * (1 - mp.e ** (w - loss))
        )
    return total


@settings(max_examples=60, deadline=None)
@given(st.floats(0.001, 3.0), st.integers(1, 60), st.floats(-14.0, -0.1))
def test_epsilon_is_exact_and_safe(epsilon: float, times: int, power: float) -> None:
    delta = 10.0**power
    found = repeated_epsilon(epsilon, times, delta)
    assert exact_delta(epsilon, times, found) <= delta
    if found > 1e-9:
        assert exact_delta(epsilon, times, found * (1 - 1e-8) - 1e-9) > delta


@settings(max_examples=60, deadline=None)
@given(st.floats(0.001, 3.0), st.integers(1, 60), st.floats(0.0, 1.1))
def test_delta_is_exact_and_safe(epsilon: float, times: int, share: float) -> None:
    wanted = epsilon * times * share
    truth, found = (
        exact_delta(epsilon, times, wanted),
        repeated_delta(epsilon, times, wanted),
    )
    assert truth <= found + EXACT
    assert found <= truth * (1 + mpf(1e-9)) + mpf(1e-13)


def test_the_formula_is_that_of_composed_responses() -> None:
    pair = together(*[randomized_response(0.625)] * 6)
    for wanted in (0.0, 0.5, 1.25, 3.0):
        assert abs(exact_delta(0.625, 6, wanted) - hockey_stick(pair, wanted)) < EXACT


@pytest.mark.parametrize(("epsilon", "times"), [(0.01, 1000), (1 / 300, 10_000)])
def test_many_parts(epsilon: float, times: int) -> None:
    found = repeated_epsilon(epsilon, times, 1e-6)
    assert (
        exact_delta(epsilon, times, found)
        <= 1e-6
        < exact_delta(epsilon, times, found * (1 - 1e-7))
    )


def test_tiny_delta_and_far_tails_stay_safe() -> None:
    found = repeated_epsilon(0.5, 3000, 1e-200)
    assert exact_delta(0.5, 3000, found) <= mpf(1e-200)
    assert repeated_epsilon(0.5, 20_000, 1e-300) <= 10_000.0
    assert repeated_epsilon(0.1, 3, 0.9) == 0.0


@pytest.mark.parametrize(
    ("epsilon", "times"),
    [
        (2.0, 20_000),
        (1.0, 1_000_000),
        (5.0, 1_000_000),
        (0.1, 1_000_000),
        (30.0, 3_000),
    ],
)
def test_many_large_parts_cost_at_least_their_mean_loss(
    epsilon: float, times: int
) -> None:
    mean = times * epsilon * math.tanh(epsilon / 2)
    assert (
        mean * (1 - 1e-3) <= repeated_epsilon(epsilon, times, 1e-6) <= times * epsilon
    )
    assert repeated_delta(epsilon, times, 0.9 * mean) > 0.9


@pytest.mark.parametrize(
    ("epsilon", "times", "share"),
    [(0.01, 3000, 0.25), (0.5, 400, 0.8), (0.01, 3000, 0.9)],
)
def test_delta_far_out_in_the_tail(epsilon: float, times: int, share: float) -> None:
    """Where every weight is below e^−700 the answer once was 0."""
    wanted = epsilon * times * share
    truth, found = (
        exact_delta(epsilon, times, wanted),
        repeated_delta(epsilon, times, wanted),
    )
    assert truth <= found <= truth * (1 + mpf(1e-7)) + mpf(1e-322)


def test_the_tail_at_the_end_of_the_floats() -> None:
    found = repeated_epsilon(0.1, 3000, 1e-300)
    assert (
        exact_delta(0.1, 3000, found)
        <= mpf(10) ** -300
        < exact_delta(0.1, 3000, found * (1 - 1e-7))
    )
