"""The least that a question costs."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dither
from dither.cost import Cost
from dither.errors import ArgumentError
from dither.ledger import Ledger, Policy
from dither.ledger.terms import Accounting, Terms
from dither.privacy import ApproxDP, GaussianDP, PureDP, gaussian_mu
from dither.query.plan.minimum import check_minimum, least_epsilon, share_of
from tests.attacks.analyst import log, row, visits
from tests.query.refusing import COUNT, refused

PURE = Terms.of(Accounting.PURE, ApproxDP(3.0, 0.0))
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
            f"{name}: is too small: a question costs at least 1e-06 of the account"
        )
        least = float(message.partition(f"ask for {name}=")[2].partition(" or more")[0])
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
