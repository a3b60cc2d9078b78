"""Steps that are fitted one after the other, each of them privately or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer

from dither import ArgumentError, Budget, PureDP
from dither.learn import LogisticRegression, StandardScaler, make_pipeline
from tests.learn.estimators.data import classified

X, Y = classified(2000)


def steps(budget: Any = None) -> tuple[Any, Any]:
    return (
        StandardScaler(epsilon=1.0, bounds=(-3, 3), budget=budget),
        LogisticRegression(epsilon=2.0, classes=range(3), budget=budget),
    )


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


def test_rows_may_be_transformed_one_by_one() -> None:
    last = LogisticRegression(epsilon=9.0, bounds=(-1, 1), classes=range(3))
    strange = X.copy()
    strange[::50] = np.nan
    strange[1::50] = np.inf
    found = make_pipeline(Normalizer(), last).fit(strange, Y)
    assert found.score(X, Y) > 0.7
    make_pipeline(Normalizer(), clone(last)).fit(X[:0], Y[:0])


def test_a_clone_pays_from_the_same_account() -> None:
    budget = Budget(6.0)
    found = clone(make_pipeline(*steps(budget)).fit(X, Y))
    assert not hasattr(found.steps[0], "release_")
    found.fit(X, Y)
    assert not budget.affords(PureDP(0.1))


@pytest.mark.filterwarnings("error")
def test_a_huge_value_does_not_warn() -> None:
    strange = X.copy()
    strange[7] = 1.7e308
    make_pipeline(*steps()).fit(strange, Y)
