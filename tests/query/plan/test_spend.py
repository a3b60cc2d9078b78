"""What may be spent, and that its parts never cost more than the whole."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.cost import Cost
from dither.errors import ArgumentError
from dither.ledger.terms import Accounting, Terms
from dither.privacy import ApproxDP, GaussianDP, PureDP
from dither.query.plan.spend import Spend, afford

RENYI = Terms.of(Accounting.RENYI, ApproxDP(3.0, 1e-6))
PURE = Terms.of(Accounting.PURE, ApproxDP(3.0, 0.0))


def test_a_pure_account_spends_laplace_noise_only() -> None:
    (way,) = afford(Cost(epsilon=0.5), PURE, keys=False)
    assert not way.gaussian
    assert way.guarantee == PureDP(0.5)


def test_an_account_with_delta_can_spend_either_way() -> None:
    laplace, gaussian = afford(Cost(epsilon=0.5), RENYI, keys=False)
    assert not laplace.gaussian
    assert gaussian.guarantee.epsilon_at(1e-6) == pytest.approx(0.5, rel=1e-9)


def test_private_keys_carry_a_delta_and_stay_within_the_stated_epsilon() -> None:
    (way,) = afford(Cost(epsilon=0.5), RENYI, keys=True)
    assert way.delta == pytest.approx(1e-8)
    assert way.guarantee.epsilon_at(1e-6) <= 0.5


def test_private_keys_need_a_delta() -> None:
    with pytest.raises(
        ArgumentError, match="keys: are private here, and naming them needs a δ"
    ):
        afford(Cost(epsilon=0.5), PURE, keys=True)


def test_rho_needs_an_account_with_delta() -> None:
    with pytest.raises(ArgumentError, match="rho: needs Gaussian noise"):
        afford(Cost(rho=0.1), PURE, keys=False)


@pytest.mark.parametrize(
    "terms", [RENYI, Terms.of(Accounting.GDP, ApproxDP(3.0, 1e-6))]
)
def test_a_share_costs_that_part_of_the_account(terms: Terms) -> None:
    for way in afford(Cost(share=0.25), terms, keys=False):
        loss = terms.cost(way.guarantee).loss
        assert 0.249 * terms.loss_cap < loss <= 0.25 * terms.loss_cap
    (way,) = afford(Cost(share=0.25), terms, keys=True)
    cost = terms.cost(way.guarantee)
    assert cost.loss <= 0.25 * terms.loss_cap
    assert cost.delta <= 0.25 * terms.delta_cap


def test_a_share_of_a_pure_account_is_a_share_of_epsilon() -> None:
    assert afford(Cost(share=0.25), PURE, keys=False)[0].guarantee == PureDP(0.75)


WEIGHTS = st.lists(st.integers(1, 10**6), min_size=1, max_size=8).map(
    lambda w: [Fraction(x, sum(w)) for x in w]
)


@given(WEIGHTS, st.floats(1e-6, 50))
def test_parts_of_epsilon_add_up_to_no_more(
    weights: list[Fraction], epsilon: float
) -> None:
    spend = Spend(False, epsilon, 0.0, PureDP(epsilon))
    assert sum(Fraction(spend.part(weight)) for weight in weights) <= Fraction(epsilon)


@given(WEIGHTS, st.floats(1e-6, 50))
def test_squares_of_parts_of_mu_add_up_to_no_more(
    weights: list[Fraction], mu: float
) -> None:
    spend = Spend(True, mu, 0.0, GaussianDP(mu))
    assert (
        sum(Fraction(spend.part(weight)) ** 2 for weight in weights)
        <= Fraction(mu) ** 2
    )
