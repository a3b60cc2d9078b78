"""scikit-learn's tools fit copies again and again, or after steps that are not private:
an estimator with a budget refuses them, unless it says that each fit is charged.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler as PlainScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from dither import ArgumentError, Budget
from dither.learn import (
    GridSearch,
    LogisticRegression,
    Ridge,
    StandardScaler,
    make_pipeline,
)
from tests.each import each
from tests.learn.estimators.data import classified
from tests.learn.estimators.test_spending import EVERY

X, Y = classified(90, 2)
GRID: dict[str, Any] = {"max_iter": [2, 3]}
Fit = Callable[[Any], Any]


def model(**more: Any) -> LogisticRegression:
    words: dict[str, Any] = {"epsilon": 1.0, "bounds": (-3, 3), "classes": (0, 1)}
    return LogisticRegression(**(words | {"max_iter": 2} | more))


def scaler(**more: Any) -> StandardScaler:
    return StandardScaler(epsilon=1.0, bounds=(-3, 3), **more)


def own_search(one: Any, **more: Any) -> GridSearch:
    return GridSearch(one, GRID, epsilon=1.0, repetitions="each", **more)


def fitted(wrap: Callable[[Any], Any]) -> Fit:
    return lambda one: wrap(one).fit(X, Y)


def foreign(one: Any) -> Pipeline:
    return Pipeline([("scale", PlainScaler()), ("model", one)])


TOOLS: dict[str, tuple[Fit, int]] = {
    "cross_val_score": (lambda one: cross_val_score(one, X, Y, cv=3), 3),
    "cross_validate": (lambda one: cross_validate(one, X, Y, cv=3), 3),
    "cross_val_predict": (lambda one: cross_val_predict(one, X, Y, cv=3), 3),
    "learning_curve": (
        lambda one: learning_curve(one, X, Y, cv=2, train_sizes=[0.5, 1.0]),
        4,
    ),
    "validation_curve": (
        lambda one: validation_curve(
            one, X, Y, param_name="max_iter", param_range=[2, 3], cv=2
        ),
        4,
    ),
    "permutation_test_score": (
        lambda one: permutation_test_score(one, X, Y, cv=2, n_permutations=1),
        4,
    ),
    "GridSearchCV": (fitted(lambda one: GridSearchCV(one, GRID, cv=3)), 7),
    "RandomizedSearchCV": (
        fitted(lambda one: RandomizedSearchCV(one, GRID, n_iter=2, cv=2)),
        5,
    ),
    "HalvingGridSearchCV": (
        fitted(lambda one: HalvingGridSearchCV(one, GRID, cv=2, factor=2)),
        0,
    ),
    "CalibratedClassifierCV": (
        fitted(lambda one: CalibratedClassifierCV(one, cv=2, ensemble=True)),
        2,
    ),
    "BaggingClassifier": (fitted(lambda one: BaggingClassifier(one, 2)), 2),
    "OneVsRestClassifier": (fitted(OneVsRestClassifier), 1),
    "OneVsOneClassifier": (fitted(OneVsOneClassifier), 1),
    "SelfTrainingClassifier": (
        fitted(lambda one: SelfTrainingClassifier(one, max_iter=1)),
        1,
    ),
    "VotingClassifier": (fitted(lambda one: VotingClassifier([("a", one)])), 1),
    "StackingClassifier": (
        fitted(lambda one: StackingClassifier([("a", one)], Plain(), cv=2)),
        3,
    ),
    "RFE": (fitted(lambda one: RFE(one, n_features_to_select=3)), 2),
    "SequentialFeatureSelector": (
        fitted(
            lambda one: SequentialFeatureSelector(one, n_features_to_select=1, cv=2)
        ),
        8,
    ),
    "SelectFromModel": (fitted(SelectFromModel), 1),
    "Pipeline": (fitted(foreign), 1),
    "a pipeline in a search": (lambda one: cross_val_score(foreign(one), X, Y), 5),
    "our pipeline in a search": (
        lambda one: cross_val_score(make_pipeline(one), X, Y, cv=3),
        3,
    ),
    "clone": (fitted(clone), 1),
    "a clone of a clone": (fitted(lambda one: clone(clone(one))), 1),
}
"""How a tool is used, and how often it fits; 0 if that depends on its scores."""
STEPS: dict[str, Callable[[Any], Any]] = {
    "Pipeline": lambda one: Pipeline([("scale", one), ("model", Plain())]),
    "FeatureUnion": lambda one: FeatureUnion([("scale", one)]),
    "ColumnTransformer": lambda one: ColumnTransformer([("a", one, [0, 1, 2, 3])]),
}


def refused(fit: Fit, make: Callable[..., Any]) -> str:
    account = Budget(100.0, 1e-6)
    with pytest.raises(ArgumentError) as caught:
        fit(make(budget=account))
    assert account.charges == 0
    assert account.spent == 0
    assert caught.value.argument == "budget"
    return str(caught.value)


def check_refused(case: tuple[Fit, int]) -> None:
    said = refused(case[0], model)
    assert "learn.GridSearch" in said
    assert "learn.make_pipeline" in said
    assert "several_fits=True" in said
    assert "private numbers" in said


def test_tools_are_refused_before_the_charge() -> None:
    each(TOOLS.items(), check_refused)


def test_the_message_names_the_tool() -> None:
    assert "scikit-learn's cross_val_score" in refused(
        TOOLS["cross_val_score"][0], model
    )
    assert "scikit-learn's GridSearchCV" in refused(TOOLS["GridSearchCV"][0], model)
    assert "scikit-learn's Pipeline" in refused(TOOLS["Pipeline"][0], model)


def check_charged(case: tuple[Fit, int]) -> None:
    account, (fit, times) = Budget(100.0, 1e-6), case
    fit(model(budget=account, several_fits=True))
    assert account.charges == times or (not times and account.charges > 2)


@pytest.mark.filterwarnings("ignore")
def test_each_fit_is_charged_if_the_estimator_says_so() -> None:
    each(TOOLS.items(), check_charged)


def test_tools_that_transform_are_refused_too() -> None:
    each(STEPS.items(), lambda wrap: refused(fitted(wrap), scaler))
    for wrap in STEPS.values():
        account = Budget(9.0, 1e-6)
        fitted(wrap)(scaler(budget=account, several_fits=True))
        assert account.charges == 1


def test_a_release_says_that_other_steps_are_not_covered() -> None:
    account = Budget(9.0, 1e-6)
    one = model(budget=account, several_fits=True)
    foreign(one).fit(X, Y)
    assert "fitted by scikit-learn's Pipeline" in str(one.release_)
    assert "does not cover steps of scikit-learn" in str(one.release_)
    assert "scikit-learn" not in str(one.fit(X, Y).release_)


def test_a_tool_for_numbers_is_refused() -> None:
    def line(**more: Any) -> Ridge:
        return Ridge(epsilon=1.0, bounds=(-3, 3), y_bounds=(0, 2), **more)

    said = refused(fitted(TransformedTargetRegressor), line)
    assert "TransformedTargetRegressor" in said


@pytest.mark.filterwarnings("ignore")
def test_without_a_budget_tools_fit_as_ever() -> None:
    each(TOOLS.items(), lambda case: case[0](model()))
    each(STEPS.items(), lambda wrap: fitted(wrap)(scaler()))


@pytest.mark.parametrize(("kind", "more"), EVERY)
def test_every_estimator_has_the_parameter(kind: Any, more: dict[str, Any]) -> None:
    account = Budget(9.0, 1e-6)
    words: dict[str, Any] = {"epsilon": 1.0, "bounds": (-3, 3), "budget": account}
    one = kind(**(words | more))
    assert one.get_params()["several_fits"] is False
    with pytest.raises(ArgumentError, match="several_fits=True"):
        clone(one).fit(X, Y)
    assert account.charges == 0
    clone(one.set_params(several_fits=True)).fit(X, Y)
    assert account.charges == 1


@pytest.mark.parametrize("value", [None, 1, "no", np.True_])
def test_it_is_a_boolean(value: Any) -> None:
    account = Budget(9.0, 1e-6)
    with pytest.raises(ArgumentError, match="several_fits must be True or False"):
        model(budget=account, several_fits=value).fit(X, Y)
    steps = make_pipeline(model(budget=account), several_fits=value)
    with pytest.raises(ArgumentError, match="several_fits must be True or False"):
        steps.fit(X, Y)
    assert account.charges == 0


# Our own searches and pipelines


def test_our_own_search_and_pipeline_fit() -> None:
    account = Budget(30.0, 1e-6)
    plain = model(epsilon=None)
    found = own_search(plain, budget=account).fit(X, Y)
    assert account.holds(found.release_.receipt)
    steps = make_pipeline(scaler(budget=account), model(bounds=None, budget=account))
    steps.fit(X, Y)
    assert account.charges == 3
    again = own_search(model(epsilon=None, bounds=None), budget=account)
    make_pipeline(scaler(budget=account), again).fit(X, Y)
    assert account.charges == 5


def test_copies_of_our_own_search_and_pipeline_are_refused() -> None:
    account = Budget(30.0, 1e-6)
    found = own_search(model(epsilon=None), budget=account)
    steps = make_pipeline(scaler(budget=account), model(bounds=None, budget=account))
    for one in (found, steps):
        with pytest.raises(ArgumentError, match="a clone made by scikit-learn"):
            clone(one).fit(X, Y)
        with pytest.raises(ArgumentError, match="cross_val_score"):
            cross_val_score(one, X, Y, cv=2)
    assert account.charges == 0


def test_several_fits_of_our_own_are_charged() -> None:
    account = Budget(30.0, 1e-6)
    found = own_search(model(epsilon=None), budget=account, several_fits=True)
    cross_val_score(found, X, Y, cv=2)
    assert account.charges == 2
    pair = scaler(budget=account), model(bounds=None, budget=account)
    cross_val_score(make_pipeline(*pair, several_fits=True), X, Y, cv=2)
    assert account.charges == 6
    assert not any(step.several_fits for step in pair)


def test_one_step_does_not_speak_for_another() -> None:
    account = Budget(30.0, 1e-6)
    steps = make_pipeline(
        scaler(budget=account, several_fits=True), model(bounds=None, budget=account)
    )
    with pytest.raises(ArgumentError, match="several_fits=True"):
        cross_val_score(steps, X, Y, cv=2)
    assert account.charges == 0


def test_a_search_shares_the_word() -> None:
    account = Budget(30.0, 1e-6)
    grid = {"several_fits": [True, False]}
    with pytest.raises(ArgumentError, match="the same for all"):
        GridSearch(model(epsilon=None), grid, epsilon=1.0, budget=account).fit(X, Y)
    assert account.charges == 0


# Copies


def test_a_clone_whose_budget_is_stated_is_fitted() -> None:
    account = Budget(9.0, 1e-6)
    plain = clone(model()).set_params(budget=account)
    stated = clone(model(budget=account)).set_params(budget=account)
    for one in (plain, stated):
        one.fit(X, Y)
    assert account.charges == 2
    with pytest.raises(ArgumentError, match="several_fits=True"):
        clone(stated).fit(X, Y)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_other_copies_have_no_account_and_stay_clones(copied: Any) -> None:
    account = Budget(9.0, 1e-6)
    with pytest.raises(ArgumentError, match="n_jobs=1"):
        copied(model(budget=account, several_fits=True)).fit(X, Y)
    held = copied(clone(model(budget=account)))
    with pytest.raises(ArgumentError, match="several_fits=True"):
        held.fit(X, Y)
    assert account.charges == 0
    held.set_params(budget=account).fit(X, Y)
    assert account.charges == 1


def test_subclasses_are_refused() -> None:
    class Own(LogisticRegression):
        def __init__(self, *, budget: Any = None) -> None:
            super().__init__(epsilon=1.0, bounds=(-3, 3), classes=(0, 1), budget=budget)

    refused(TOOLS["cross_val_score"][0], Own)
    refused(TOOLS["clone"][0], Own)
    account = Budget(9.0, 1e-6)
    Own(budget=account).fit(X, Y)
    assert account.charges == 1


def test_threads_are_refused() -> None:
    union = fitted(
        lambda one: FeatureUnion([("a", one), ("b", PlainScaler())], n_jobs=2)
    )
    with joblib.parallel_backend("threading"):
        refused(union, scaler)
        refused(lambda one: cross_val_score(one, X, Y, cv=2, n_jobs=2), model)


# What is no tool


def test_a_fit_that_transforms_is_one_fit() -> None:
    account = Budget(9.0, 1e-6)
    assert scaler(budget=account).fit_transform(X).shape == X.shape
    framed = scaler(budget=account).set_output(transform="pandas").fit_transform(X)
    assert framed.shape == X.shape
    assert account.charges == 2


def test_a_fitted_estimator_is_used_by_tools() -> None:
    account = Budget(9.0, 1e-6)
    one = model(budget=account).fit(X, Y)
    curve = CalibratedClassifierCV(FrozenEstimator(one)).fit(X, Y)
    assert curve.predict_proba(X).shape == (90, 2)
    assert account.charges == 1
