from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import NoConversion
from dither.privacy.losses import pure_loss
from dither.privacy.renyi import (
    SAMPLED_ORDERS,
    WIDE_ORDERS,
    best_delta,
    best_epsilon,
    delta_from_loss,
    epsilon_from_loss,
    interpolated,
)

from .support import (
    discrete_laplace,
    hockey_stick,
    randomized_response,
    renyi_divergence,
    together,
    true_gaussian_delta,
)


@settings(max_examples=80, deadline=None)
@given(st.floats(0.05, 3.0), st.floats(1.05, 60.0), st.floats(-12.0, -0.2))
def test_conversion_holds_on_exact_mechanisms(
    epsilon: float, order: float, power: float
) -> None:
    delta = 10.0**power
    for pair in (
        randomized_response(epsilon),
        together(*[randomized_response(epsilon)] * 4),
    ):
        found = epsilon_from_loss(
            order, float(renyi_divergence(pair, order)) * (1 + 1e-12), delta
        )
        assert hockey_stick(pair, found) <= delta * (1 + 1e-9)


def test_conversion_holds_on_the_discrete_laplace_and_the_gaussian() -> None:
    pair = discrete_laplace(0.7)
    for order in (1.5, 4.0, 30.0):
        loss = float(renyi_divergence(pair, order)) * (1 + 1e-12)
        for epsilon in (0.1, 0.4, 0.65):
            assert hockey_stick(pair, epsilon) <= delta_from_loss(order, loss, epsilon)
            assert true_gaussian_delta(0.5, epsilon) <= delta_from_loss(
                order, order * 0.125, epsilon
            )


def test_epsilon_and_delta_are_inverse() -> None:
    for order, loss, delta in ((2.0, 0.3, 1e-3), (17.0, 1.5, 1e-9), (1.2, 0.1, 1e-2)):
        assert delta_from_loss(
            order, loss, epsilon_from_loss(order, loss, delta)
        ) == pytest.approx(delta, rel=1e-9)


def test_tight_conversion_beats_the_original_one() -> None:
    for order in (2.0, 8.0, 40.0):
        assert epsilon_from_loss(order, 0.5, 1e-6) < 0.5 + math.log(1e6) / (order - 1)


def test_no_epsilon_is_needed_where_delta_covers_all() -> None:
    assert epsilon_from_loss(2.0, 1e-8, 1e-3) == 0.0
    assert delta_from_loss(2.0, 5.0, 0.0) == 1.0


@pytest.mark.parametrize("rho", [1e-10, 1e-4, 0.1, 10.0, 1e4])
def test_the_grid_loses_nothing_against_a_fine_search(rho: float) -> None:
    fine = min(
        epsilon_from_loss(1 + 10 ** (i / 400), rho * (1 + 10 ** (i / 400)), 1e-6)
        for i in range(-1600, 4000)
    )
    assert best_epsilon(lambda order: rho * order, 1e-6) <= fine * (1 + 1e-6)


def test_orders_cover_those_of_dp_accounting() -> None:
    from dp_accounting.rdp.rdp_privacy_accountant import DEFAULT_RDP_ORDERS

    assert set(map(float, DEFAULT_RDP_ORDERS)) <= set(SAMPLED_ORDERS)
    assert list(SAMPLED_ORDERS) == sorted(set(SAMPLED_ORDERS))
    assert WIDE_ORDERS[0] > 1.0


def test_best_delta_is_valid_for_randomized_response() -> None:
    for wanted in (0.0, 0.3, 0.9):
        assert hockey_stick(randomized_response(1.0), wanted) <= best_delta(
            lambda order: pure_loss(1.0, order), wanted
        )


def test_interpolation_lies_above_the_curve() -> None:
    listed = [(order, pure_loss(1.0, order)) for order in (1.5, 2.0, 4.0, 10.0)]
    for order in (1.2, 1.5, 1.7, 3.0, 9.9, 10.0):
        assert interpolated(listed, order) >= pure_loss(1.0, order) * (1 - 1e-12)
    with pytest.raises(NoConversion, match=r"at most 10"):
        interpolated(listed, 11.0)
