"""Steps that are fitted one after the other, each of them privately or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer

from dither import ArgumentError, Budget, BudgetExceeded, PureDP, Unit
from dither.learn import (
    GridSearch,
    LogisticRegression,
    StandardScaler,
    make_pipeline,
)
from tests.chance import chance
from tests.learn.estimators.data import classified

X, Y = classified(2000)


def steps(budget: Any = None) -> tuple[Any, Any]:
    return (
        StandardScaler(epsilon=1.0, bounds=(-3, 3), budget=budget),
        LogisticRegression(epsilon=2.0, classes=range(3), budget=budget),
    )


@chance(1e-9)
def test_each_step_is_charged_and_bounds_go_on() -> None:
    budget = Budget(3.5)
    found = make_pipeline(*steps(budget)).fit(X, Y)
    assert [one.guarantee for one in found.releases_] == [PureDP(1.0), PureDP(2.0)]
    assert all(budget.holds(one.receipt) for one in found.releases_)
    first, last = found.steps
    assert last.declared_.low == pytest.approx((-3 - first.mean_) / first.scale_)
    assert found.score(X, Y) > 0.7
    assert found.predict_proba(X).shape == (2000, 3)
    assert found.predict(X).shape == (2000,)


def test_owners_go_through_all_steps() -> None:
    found = make_pipeline(*steps()).fit(X, Y, owner=np.arange(2000) // 2)
    assert {one.guarantee.unit.name for one in found.releases_} == {"owner"}


@pytest.mark.parametrize(
    "step",
    [MinMaxScaler(), FunctionTransformer(lambda x: x - x.mean()), object(), None],
    ids=["fitted", "any function", "object", "none"],
)
def test_steps_without_privacy_are_refused(step: Any) -> None:
    budget = Budget(3.0)
    with pytest.raises(ArgumentError, match="without privacy"):
        make_pipeline(step, *steps(budget))
    assert budget.affords(PureDP(3.0))


def test_no_steps_are_refused() -> None:
    with pytest.raises(ArgumentError, match="missing"):
        make_pipeline()


def test_what_a_later_step_refuses_is_refused_first() -> None:
    budget = Budget(9.0)
    first, last = steps(budget)
    for bad in ({"classes": None}, {"epsilon": None}, {"max_iter": -1}):
        later = clone(last).set_params(**bad)
        with pytest.raises(ArgumentError):
            make_pipeline(first, later).fit(X, Y)
    with pytest.raises(ArgumentError, match="put it last"):
        make_pipeline(last, first)
    assert budget.affords(PureDP(9.0))


@pytest.mark.parametrize(
    "account", [Budget(2.9), Budget(1.2, 1e-6), Budget(1.2, 1e-6, accounting="gdp")]
)
def test_steps_that_do_not_fit_together_cost_nothing(account: Any) -> None:
    """Each would fit by itself."""
    costs = [1.0, 2.0] if account.epsilon > 2 else [0.8, 0.9]
    scaler, model = steps(account)
    scaler.epsilon, model.epsilon = costs
    assert all(account.affords(PureDP(one)) for one in costs)
    with pytest.raises(BudgetExceeded, match="Nothing was spent"):
        make_pipeline(scaler, model).fit(X, Y)
    assert account.charges == 0


def test_steps_that_just_fit_together_are_fitted() -> None:
    account = Budget(3.0)
    make_pipeline(*steps(account)).fit(X, Y)
    assert account.charges == 2


def test_a_search_fits_beside_a_step_where_units_are_replaced() -> None:
    """The search's charge is stated for them, and the scaler's is converted."""
    account = Budget(9.0, 1e-6, unit=Unit("row", "replace"))  # type: ignore[arg-type]
    scaler, model = steps(account)
    found = GridSearch(
        model.set_params(epsilon=None, budget=None),
        {"max_iter": [5, 10, 20, 40]},
        epsilon=1.0,
        validation=0.25,
        repetitions=8,
        budget=account,
    )
    held = make_pipeline(scaler, found).fit(X, Y)
    assert all(account.holds(one.receipt) for one in held.releases_)


def test_public_rows_do_not_score_a_later_step() -> None:
    """They are as the first step sees rows, and the search is of rows after it."""
    account = Budget(9.0, 1e-6)
    scaler, model = steps(account)
    plain, grid = model.set_params(epsilon=None, budget=None), {"max_iter": [5, 10]}
    more: dict[str, Any] = {"epsilon": 1.0, "public": (X[:50], Y[:50])}
    search = GridSearch(plain, grid, budget=account, **more)
    with pytest.raises(ArgumentError, match="before the search"):
        make_pipeline(scaler, search).fit(X, Y)
    assert account.affords(PureDP(9.0))


def test_a_later_step_with_another_account_is_checked_first() -> None:
    first, other = Budget(3.0), Budget(1.0)
    scaler, model = steps(first)
    with pytest.raises(BudgetExceeded):
        make_pipeline(scaler, model.set_params(budget=other)).fit(X, Y)
    assert first.charges == other.charges == 0


def test_a_missing_target_is_refused_first() -> None:
    account = Budget(3.0)
    with pytest.raises(ArgumentError, match="y is None"):
        make_pipeline(*steps(account)).fit(X)
    assert account.charges == 0


@chance(1e-9)
def test_rows_may_be_transformed_one_by_one() -> None:
    last = LogisticRegression(epsilon=9.0, bounds=(-1, 1), classes=range(3))
    strange = X.copy()
    strange[::50] = np.nan
    strange[1::50] = np.inf
    found = make_pipeline(Normalizer(), last).fit(strange, Y)
    assert found.score(X, Y) > 0.7
    make_pipeline(Normalizer(), clone(last)).fit(X[:0], Y[:0])


def test_a_clone_pays_from_the_same_account_if_told_so() -> None:
    budget = Budget(6.0)
    found = clone(make_pipeline(*steps(budget), several_fits=True).fit(X, Y))
    assert not hasattr(found.steps[0], "release_")
    found.fit(X, Y)
    assert not budget.affords(PureDP(0.1))


@pytest.mark.filterwarnings("error")
def test_a_huge_value_does_not_warn() -> None:
    strange = X.copy()
    strange[7] = 1.7e308
    make_pipeline(*steps()).fit(strange, Y)
