from __future__ import annotations

import pytest
from mpmath import mp, mpf

from dither.privacy.losses import (
    _log_moment_series,
    bounded_range_loss,
    gaussian_loss,
    pure_loss,
    sampled_gaussian_floor,
    sampled_gaussian_loss,
)
from dither.privacy.renyi import SAMPLED_ORDERS

from .support import (
    discrete_laplace,
    exponential_mechanism,
    randomized_response,
    renyi_divergence,
    true_sampled_gaussian_loss,
)

ORDERS = [1.0001, 1.1, 1.5, 2.0, 3.7, 16.0, 200.0, 1e5]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 0.1, 1.0, 5.0, 50.0])
def test_pure_loss_is_that_of_randomized_response(epsilon: float, order: float) -> None:
    truth = renyi_divergence(randomized_response(epsilon), order)
    assert (
        truth <= pure_loss(epsilon, order) <= min(truth * (1 + mpf(1e-9)), mpf(epsilon))
    )


@pytest.mark.parametrize("order", ORDERS[1:6])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_discrete_laplace_costs_no_more_than_pure_loss(
    epsilon: float, order: float
) -> None:
    assert renyi_divergence(discrete_laplace(epsilon), order) <= pure_loss(
        epsilon, order
    )


def worst_two_point(epsilon: float, order: float) -> mpf:
    """The largest loss of a likelihood ratio in {e^t, e^(t−ε)}, over a grid of t."""

    def loss(t: mpf) -> mpf:
        high = (1 - mp.e ** (t - epsilon)) / (mp.e**t - mp.e ** (t - epsilon))
        return mp.log(
            high * mp.e ** (order * t) + (1 - high) * mp.e ** (order * (t - epsilon))
        ) / (mpf(order) - 1)

    return max(loss(mpf(epsilon) * step / 400) for step in range(1, 400))


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 8.0, 60.0])
@pytest.mark.parametrize("epsilon", [1e-5, 0.01, 0.3, 1.0, 4.0, 20.0])
def test_bounded_range_loss_is_the_worst_two_point_ratio(
    epsilon: float, order: float
) -> None:
    truth = worst_two_point(epsilon, order)
    assert truth <= bounded_range_loss(epsilon, order) <= truth * mpf("1.001")


@pytest.mark.parametrize("order", [1.2, 2.0, 10.0])
@pytest.mark.parametrize("scores", [[0, 0, 0], [1, 0, 3], [5, 5, -5]])
def test_exponential_mechanism_is_within_its_bounded_range(
    scores: list[float], order: float
) -> None:
    """Scores that move by up to ½ in either direction change log-likelihoods by a range
    of 1.
    """
    moved = [
        score + shift for score, shift in zip(scores, (0.5, -0.5, 0.2), strict=True)
    ]
    pair = exponential_mechanism(scores, moved)
    assert (
        renyi_divergence(pair, order)
        <= bounded_range_loss(1.0, order)
        < pure_loss(1.0, order)
    )


@pytest.mark.parametrize(
    "order",
    [
        *(1.05, 16.0),
        *(pytest.param(x, marks=pytest.mark.full) for x in (1.5, 2.0, 2.5, 5.0, 7.3)),
    ],
)
@pytest.mark.parametrize(
    ("mu", "rate"), [(1.0, 0.01), (0.5, 0.1), (2.0, 0.001), (1.0, 0.7), (0.1, 0.3)]
)
def test_sampled_gaussian_loss_against_integration(
    mu: float, rate: float, order: float
) -> None:
    truth = true_sampled_gaussian_loss(mu, rate, order)
    found = sampled_gaussian_loss(mu, rate, order)
    assert truth * (1 - mpf(1e-12)) <= found <= truth * (1 + mpf(1e-6)) + mpf(1e-9)


def test_the_series_agrees_with_the_whole_orders() -> None:
    just_above = _log_moment_series(1.0, 0.01, 8.0 + 1e-9)
    assert just_above == pytest.approx(
        7 * sampled_gaussian_loss(1.0, 0.01, 8.0), rel=1e-6
    )


def test_sampling_everyone_is_the_plain_gaussian() -> None:
    assert (
        sampled_gaussian_loss(0.7, 1.0, 3.0)
        == gaussian_loss(0.7, 3.0)
        == pytest.approx(3 * 0.49 / 2)
    )


@pytest.mark.parametrize("order", [1.5, 2.0, 10.5, 64.0, 1024.0])
def test_losses_survive_extremes(order: float) -> None:
    assert sampled_gaussian_loss(100.0, 0.5, order) <= gaussian_loss(100.0, order) * (
        1 + 1e-6
    )
    assert 0.0 < sampled_gaussian_loss(1e-6, 1e-9, order) < 1e-12 * order


def test_dp_accounting_agrees_and_is_never_sharper() -> None:
    from dp_accounting.rdp import rdp_privacy_accountant as theirs

    orders = [1.3, 2.0, 4.5, 20.0, 63.0]
    found = theirs._compute_rdp_poisson_subsampled_gaussian(0.02, 1.3, orders)
    for order, loss in zip(orders, found, strict=True):
        ours = sampled_gaussian_loss(1 / 1.3, 0.02, order)
        assert ours <= loss * (1 + 1e-6)
        assert order % 1 or ours == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize("rate", [1e-5, 0.004, 0.2, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("mu", [1e-3, 0.04, 0.5, 1.5, 20.0])
def test_the_floor_is_below_the_loss_and_near_it(mu: float, rate: float) -> None:
    orders = [order for order in SAMPLED_ORDERS[::3] if order < 600]
    for order in orders:
        loss = sampled_gaussian_loss(mu, rate, order)
        floor = sampled_gaussian_floor(mu, rate, order)
        assert 0.0 <= floor <= loss
        if 4.0 < order <= 64.0 and mu < 0.1:
            assert floor >= 0.8 * loss
