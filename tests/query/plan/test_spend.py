"""What may be spent: parts never cost more than the whole, and a question costs at least
a public part of the account.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dither
from dither.cost import Cost
from dither.errors import ArgumentError
from dither.ledger import Ledger, Policy
from dither.ledger.shares import share_of
from dither.ledger.terms import Accounting, Terms
from dither.privacy import ApproxDP, GaussianDP, PureDP, gaussian_mu
from dither.query.plan.plan import Spend
from dither.query.plan.spend import afford, check_minimum, least_epsilon
from tests.attacks.analyst import log, row, visits
from tests.query.refusing import COUNT, refused

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
    laplace, gaussian = afford(Cost(epsilon=0.5), RENYI, keys=True)
    assert (laplace.gaussian, gaussian.gaussian) == (False, True)
    for way in (laplace, gaussian):
        assert way.delta == pytest.approx(1e-8)
        assert way.guarantee.epsilon_at(1e-6) <= 0.5
    assert RENYI.cost(laplace.guarantee).delta == RENYI.cost(gaussian.guarantee).delta
    (only,) = afford(Cost(rho=0.1), RENYI, keys=True)
    assert only.gaussian


def test_private_keys_need_a_delta() -> None:
    with pytest.raises(
        ArgumentError, match="not declared, and releasing private keys needs δ > 0"
    ):
        afford(Cost(epsilon=0.5), PURE, keys=True)


def test_rho_needs_an_account_with_delta() -> None:
    with pytest.raises(ArgumentError, match="rho needs Gaussian noise"):
        afford(Cost(rho=0.1), PURE, keys=False)


@pytest.mark.parametrize(
    "terms", [RENYI, Terms.of(Accounting.GDP, ApproxDP(3.0, 1e-6))]
)
def test_a_share_costs_that_part_of_the_account(terms: Terms) -> None:
    for way in afford(Cost(share=0.25), terms, keys=False):
        loss = terms.cost(way.guarantee).loss
        assert 0.249 * terms.loss_cap < loss <= 0.25 * terms.loss_cap
    ways = afford(Cost(share=0.25), terms, keys=True)
    assert [way.gaussian for way in ways] == [False, True]
    for way in ways:
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


ACCOUNTS = [
    PURE,
    *(
        Terms.of(kind, ApproxDP(3.0, 1e-6))
        for kind in (Accounting.RENYI, Accounting.GDP)
    ),
    Terms.of(Accounting.RENYI, ApproxDP(1e6, 1e-9)),
    Terms.of(Accounting.RENYI, ApproxDP(0.1, 1e-9)),
]
CODES = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"


def test_a_share_is_counted_the_way_that_leaves_more() -> None:
    terms = ACCOUNTS[1]
    cost = terms.cost(PureDP(0.001))
    assert (
        share_of(PureDP(0.001), terms)
        == Fraction(cost.loss, terms.loss_cap)
        < Fraction(cost.pure, terms.pure_cap)
    )
    assert share_of(PureDP(0.3), PURE) == Fraction(1, 10)


@pytest.mark.parametrize(
    "terms", ACCOUNTS, ids=lambda terms: f"{terms.accounting} {terms.total.epsilon:g}"
)
def test_the_named_epsilon_is_accepted_and_a_little_less_is_not(terms: Terms) -> None:
    least = least_epsilon(terms, 1e-6, keys=False)
    check_minimum(PureDP(least), Cost(epsilon=least), terms, 1e-6, keys=False)
    kinds = [PureDP(least * 0.85)]
    if terms.total.delta:
        check_minimum(
            GaussianDP(gaussian_mu(least, terms.total.delta)),
            Cost(epsilon=least),
            terms,
            1e-6,
            keys=False,
        )
        kinds.append(GaussianDP(gaussian_mu(least * 0.85, terms.total.delta)))
    assert any(share_of(kind, terms) < 1e-6 for kind in kinds)


@pytest.mark.parametrize("sql", [COUNT, CODES])
@pytest.mark.parametrize("cost", [{"epsilon": 1e-5}, {"rho": 1e-9}, {"share": 1e-7}])
def test_a_question_for_a_billionth_was_answered_for_ever(sql, cost) -> None:
    """Refused in every way to ask, for nothing; the message names what is accepted, and
    that is.
    """
    with visits([row()], budget=(3.0, 1e-6)) as database:
        message = refused(database, sql, ArgumentError, **cost, radius=1)
        (name,) = cost
        assert message.startswith(
            f"{name} is too small: each question must cost at least 1e-06 of the account"
        )
        least = float(message.partition(f"pass {name}=")[2].partition(" or more")[0])
        assert database.preview(sql, radius=1, **{name: least}).share >= 0.999e-6
        database.sql(sql, radius=1, **{name: least})
        assert [kind for kind, _ in log(database)].count("charge") == 1


def test_a_wide_error_is_answered_for_the_least_cost() -> None:
    with visits([row()], budget=(3.0, 1e-6)) as database:
        preview = database.preview(COUNT, error=1e9, radius=1)
        assert 1e-6 <= preview.share < 1e-4
        assert preview.columns[0].errors[0][1] < 1e9


def test_what_was_answered_before_is_answered_again(tmp_path) -> None:
    """A replay costs nothing, so no minimum holds for it."""
    book = Ledger.open(tmp_path / "book.db")
    account = book.account(
        "visits", epsilon=3.0, unit=dither.Unit("patient_id"), policy=Policy(minimum=0)
    )
    with visits([row()], budget=account) as database:
        first = database.sql(COUNT, epsilon=1e-8, radius=1)
        object.__setattr__(account, "policy", Policy())
        assert database.preview(COUNT, epsilon=1e-8, radius=1).replay
        assert database.sql(COUNT, epsilon=1e-8, radius=1).rows == first.rows
        assert "too small" in refused(
            database, COUNT, ArgumentError, epsilon=2e-8, radius=1
        )
