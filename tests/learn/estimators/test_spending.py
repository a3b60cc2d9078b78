"""What a fit may spend: pure or Gaussian noise by what each costs the account."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dither import Budget, BudgetExceeded
from dither.learn import (
    PCA,
    ExplainableBoostingClassifier,
    GaussianNB,
    KMeans,
    LinearRegression,
    LogisticRegression,
    RandomForestClassifier,
    Ridge,
    StandardScaler,
)
from dither.learn.estimators.data import source_of
from dither.learn.estimators.spending import Spending, question_of
from dither.ledger.shares import mu_of
from dither.privacy import ROW, GaussianDP, PureDP
from tests.learn.estimators.data import classified

X, Y = classified(60)
ROWS = source_of(X, None, None)
CLASSES: dict[str, Any] = {"classes": range(3)}
EVERY: list[tuple[Any, dict[str, Any]]] = [
    (LogisticRegression, CLASSES),
    (LinearRegression, {"y_bounds": (0, 2)}),
    (Ridge, {"y_bounds": (0, 2)}),
    (GaussianNB, CLASSES),
    (KMeans, {"n_clusters": 2}),
    (PCA, {}),
    (RandomForestClassifier, CLASSES),
    (ExplainableBoostingClassifier, CLASSES),
    (StandardScaler, {}),
]


def fitted(kind: Any, more: dict[str, Any], **cost: Any) -> Any:
    model = kind(**{"bounds": (-3, 3)} | more | cost)
    return model.fit(X, Y if model._target else None).release_


@pytest.mark.parametrize(("kind", "more"), EVERY)
def test_an_account_is_not_spent_on_pure_noise_that_is_dear(
    kind: Any, more: dict[str, Any]
) -> None:
    """Ten fits fit the account, as ten Gaussian ones do: five pure ones would not."""
    account = Budget(4.0, 1e-6, accounting="gdp")
    for _ in range(10):
        found = fitted(kind, more, epsilon=0.8, budget=account)
        assert isinstance(found.guarantee, GaussianDP)


def test_alone_the_same_fit_has_pure_noise() -> None:
    found = fitted(GaussianNB, CLASSES, epsilon=0.8, delta=1e-6)
    assert found.guarantee == PureDP(0.8)


@pytest.mark.parametrize(("kind", "more"), EVERY)
def test_the_other_noise_is_taken_where_only_that_is_left(
    kind: Any, more: dict[str, Any]
) -> None:
    account = Budget(1.0, 1e-6)
    found = fitted(kind, more, epsilon=1.0, budget=account)
    assert found.guarantee == PureDP(1.0)
    with pytest.raises(BudgetExceeded):
        fitted(kind, more, epsilon=0.1, budget=account)


def test_equal_costs_are_compared() -> None:
    account = Budget(3.0, 1e-6)
    cost = {"epsilon": 1.0, "budget": account}
    spending = Spending.of(question_of("fit", ROWS, cost), None)
    terms = account.terms
    pure = Fraction(terms.cost(PureDP(1.0)).loss, terms.loss_cap)
    equal = spending.equal or 0.0
    assert equal == pytest.approx(mu_of(pure, terms), rel=1e-4)

    def blur(way: Spending) -> float:
        """Pure noise that is less than Gaussian noise of the same ε, not of this."""
        return 1.2 if way.mu is None else (spending.mu or 0.0) / way.mu * 1.5

    assert spending.choose(blur).gaussian
    # without an account, or for a share of one, either costs as much as is stated
    stated = Spending.of(question_of("fit", ROWS, {"epsilon": 1.0}), 1e-6)
    assert stated.equal is None
    assert not stated.choose(blur).gaussian
    share = question_of("fit", ROWS, {"share": 0.1, "budget": account})
    assert Spending.of(share, None).equal is None


def test_no_way_costs_more_than_stated() -> None:
    both = Spending(ROW, 0.3, 1.0, equal=0.5)
    assert both.choose(lambda way: way.mu or 0.0).guarantee == PureDP(1.0)
    assert both.choose(lambda way: way.epsilon or 0.0).guarantee == GaussianDP(0.3)
