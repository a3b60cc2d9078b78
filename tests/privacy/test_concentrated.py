from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.errors import ArgumentError, NoConversion
from dither.privacy import ROW, GaussianDP, Guarantee, RenyiDP, ZeroConcentratedDP

from .support import (
    discrete_laplace,
    hockey_stick,
    renyi_divergence,
    together,
    true_gaussian_delta,
)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 5.0), st.floats(-15.0, -1.0))
def test_all_curves_cover_the_gaussian(mu: float, power: float) -> None:
    """The Gaussian is μ-GDP, μ²/2-zCDP, and has the Rényi losses αμ²/2."""
    delta = 10.0**power
    curves: list[Guarantee] = [
        GaussianDP(mu),
        ZeroConcentratedDP(mu * mu / 2 * (1 + 1e-15)),
        RenyiDP(
            {order: order * mu * mu / 2 * (1 + 1e-15) for order in (1.5, 2, 4, 8, 32)}
        ),
    ]
    exact, concentrated, listed = (curve.epsilon_at(delta) for curve in curves)
    assert exact <= concentrated <= listed * (1 + 1e-12)
    for epsilon in (exact, concentrated, listed):
        assert true_gaussian_delta(mu, epsilon) <= delta
    for curve in curves:
        assert true_gaussian_delta(mu, 0.7) <= curve.delta_at(0.7)


@pytest.mark.parametrize("carried", [1e-7, 1e-6])
def test_a_carried_delta_is_set_apart(carried: float) -> None:
    for with_delta, without in (
        (GaussianDP(0.5, carried), GaussianDP(0.5)),
        (ZeroConcentratedDP(0.125, carried), ZeroConcentratedDP(0.125)),
        (RenyiDP({8: 1.0}, carried), RenyiDP({8: 1.0})),
    ):
        assert with_delta.delta_part == carried
        assert with_delta.renyi(4) == without.renyi(4)
        assert with_delta.epsilon_at(3e-6) >= without.epsilon_at(3e-6 - carried)
        assert with_delta.delta_at(2.0) >= without.delta_at(2.0) + carried
        with pytest.raises(NoConversion, match=r"pass a larger delta"):
            with_delta.epsilon_at(carried / 2)
        with pytest.raises(NoConversion, match=r"\.approx\(delta\)"):
            with_delta.for_group(2)


def test_groups() -> None:
    assert GaussianDP(0.5).for_group(3) == GaussianDP(1.5)
    assert ZeroConcentratedDP(0.5).for_group(3) == ZeroConcentratedDP(4.5)
    assert GaussianDP(0.5).for_replacement() == GaussianDP(1.0, unit=ROW.replacing())
    assert ZeroConcentratedDP(0.5).for_replacement() == ZeroConcentratedDP(
        2.0, unit=ROW.replacing()
    )


def test_renyi_groups_hold_on_the_discrete_laplace() -> None:
    one = discrete_laplace(0.5)
    losses = RenyiDP(
        {
            order: float(renyi_divergence(one, order)) * (1 + 1e-12)
            for order in (3, 4, 8, 16)
        }
    )
    # The noise on 0 and on 2
    q_pair = [(one[i][0], one[i - 1][1]) for i in range(2, len(one) - 1)]
    pair = losses.for_group(2)
    assert isinstance(pair, RenyiDP)
    for order in pair.orders:
        assert renyi_divergence(q_pair, order) <= pair.renyi(order)


def test_renyi_groups_need_high_orders() -> None:
    with pytest.raises(NoConversion, match=r"higher orders"):
        RenyiDP({2: 0.1, 4: 0.2}).for_group(4)


def test_renyi_answers_between_orders_but_not_above() -> None:
    listed = RenyiDP([(2, 0.1), (8, 0.5)])
    assert listed.renyi(1.5) == 0.1
    assert 0.1 < listed.renyi(4) < 0.5
    with pytest.raises(NoConversion, match=r"at most 8"):
        listed.renyi(9)


def test_composed_responses_stay_below_their_zcdp() -> None:
    from dither.privacy import PureDP

    from .support import randomized_response

    pair = together(*[randomized_response(0.8)] * 5)
    rho = 5 * PureDP(0.8).to(ZeroConcentratedDP).rho
    for delta in (1e-1, 1e-2, 1e-4):
        assert hockey_stick(pair, ZeroConcentratedDP(rho).epsilon_at(delta)) <= delta


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "x"])
def test_bad_parameters_are_named(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^rho .*pass a finite ρ"):
        ZeroConcentratedDP(bad)
    with pytest.raises(ArgumentError, match=r"^mu .*pass sensitivity"):
        GaussianDP(bad)


@pytest.mark.parametrize(
    "bad", [{}, [], {2: -1}, {2: float("nan")}, [(2, 0.1), (2, 0.2)], [3], 7]
)
def test_bad_losses_are_named(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^losses .*pass"):
        RenyiDP(bad)
    with pytest.raises(ArgumentError, match=r"^order "):
        RenyiDP({1: 0.1})


@pytest.mark.parametrize("bad", [-0.1, 1, float("nan")])
def test_bad_delta_is_named(bad: Any) -> None:
    for call in (
        lambda: GaussianDP(1, bad),
        lambda: ZeroConcentratedDP(1, bad),
        lambda: RenyiDP({2: 0.1}, bad),
    ):
        with pytest.raises(ArgumentError, match=r"^delta "):
            call()


def test_no_epsilon_without_delta() -> None:
    for guarantee in (GaussianDP(1), ZeroConcentratedDP(1), RenyiDP({2: 0.1})):
        with pytest.raises(NoConversion, match=r"^delta .*such as 1e-6"):
            guarantee.epsilon_at(0)


def test_words_and_values() -> None:
    assert (
        str(ZeroConcentratedDP(0.1)) == "ρ = 0.1 (zCDP), protects one row (add/remove)"
    )
    assert (
        str(GaussianDP(0.5, 1e-7))
        == "μ = 0.5 (Gaussian), δ = 1e-07, protects one row (add/remove)"
    )
    assert str(RenyiDP({2: 0.1, 3: 0.2, 4: 0.3, 5: 0.4})).endswith(
        "0.3 at order 4 and 1 more, protects one row (add/remove)"
    )
    for guarantee in (
        GaussianDP(1),
        RenyiDP({4: 1, 2: 0.1}, 1e-9, unit=ROW.replacing()),
    ):
        assert pickle.loads(pickle.dumps(guarantee)) == guarantee
        assert len({guarantee, pickle.loads(pickle.dumps(guarantee))}) == 1
