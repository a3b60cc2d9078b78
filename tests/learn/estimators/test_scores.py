"""Classes are sorted, as scikit-learn's scores and tools take for granted."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer

from dither import ArgumentError, Budget
from dither.learn import (
    ExplainableBoostingClassifier,
    GaussianNB,
    GridSearch,
    LogisticRegression,
    RandomForestClassifier,
    StandardScaler,
    make_pipeline,
)
from dither.learn.estimators.base import labels, sorted_places
from dither.learn.estimators.data import source_of
from tests.chance import chance
from tests.learn.estimators.data import classified

X, Y = classified(400, 2)
NAMES = np.array(["a", "b"])[Y]
BOTH: dict[str, Any] = {"epsilon": 1e4, "delta": 1e-6, "bounds": (-3, 3)}
KINDS = {
    "logistic": LogisticRegression,
    "bayes": GaussianNB,
    "forest": RandomForestClassifier,
    "boosting": ExplainableBoostingClassifier,
}


def made(kind: str, classes: Any, **more: Any) -> Any:
    words = BOTH | {"classes": classes} | more
    if kind == "search":
        plain = made("logistic", classes, epsilon=None, delta=None)
        return GridSearch(plain, {"max_iter": [20]}, epsilon=1e4, delta=1e-6)
    if kind == "pipeline":
        return make_pipeline(
            StandardScaler(**BOTH), made("logistic", classes, bounds=None)
        )
    return KINDS[kind](**words)


@chance(1e-9)
@pytest.mark.parametrize("kind", [*KINDS, "search", "pipeline"])
def test_scores_by_scikit_learn_are_of_the_right_class(kind: str) -> None:
    """In the declared order an area of nearly 1 was one of nearly 0."""
    found = made(kind, ["b", "a"]).fit(X, NAMES)
    assert found.classes_.tolist() == ["a", "b"]
    assert is_classifier(found)
    assert get_scorer("roc_auc")(found, X, NAMES) > 0.9
    assert get_scorer("neg_log_loss")(found, X, NAMES) > -0.6
    assert get_scorer("accuracy")(found, X, NAMES) > 0.8
    chances = found.predict_proba(X)
    assert (found.classes_[chances.argmax(axis=1)] == found.predict(X)).all()
    assert np.log(chances) == pytest.approx(found.predict_log_proba(X))
    if hasattr(found, "decision_function"):
        second = found.decision_function(X) > 0
        assert (found.classes_[second.astype(int)] == found.predict(X)).all()


@chance(1e-9)
def test_calibration_of_a_fitted_model_is_of_the_right_class() -> None:
    one = made("logistic", ["b", "a"]).fit(X, NAMES)
    curve = CalibratedClassifierCV(FrozenEstimator(one)).fit(X, NAMES)
    assert get_scorer("roc_auc")(curve, X, NAMES) > 0.9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pure", [True, False])
def test_every_classifier_has_sorted_classes(kind: str, pure: bool) -> None:
    delta = None if pure else 1e-6
    inputs, three = classified(60, 3)
    found = made(kind, (2, 0, 1), epsilon=1.0, delta=delta).fit(inputs, three)
    assert found.classes_.tolist() == [0, 1, 2]
    assert found.declared_.classes == (0, 1, 2)
    assert found.predict_proba(inputs).shape == (60, 3)


@chance(1e-9)
def test_attributes_follow_the_sorted_classes() -> None:
    turned = made("bayes", ["b", "a"]).fit(X, NAMES)
    assert turned.class_count_ == pytest.approx([(Y == 0).sum(), (Y == 1).sum()], abs=5)
    straight = made("logistic", ["a", "b"]).fit(X, NAMES)
    other = made("logistic", ["b", "a"]).fit(X, NAMES)
    assert (np.sign(straight.coef_) == np.sign(other.coef_)).all()


def test_priors_are_in_the_order_that_was_declared() -> None:
    words: dict[str, Any] = {"epsilon": 1.0, "bounds": (-3, 3)}
    for classes, wanted in ((["b", "a"], [0.1, 0.9]), (["a", "b"], [0.9, 0.1])):
        found = GaussianNB(classes=classes, priors=[0.9, 0.1], **words).fit(X, NAMES)
        assert found.class_prior_.tolist() == wanted
    three = GaussianNB(classes=[2, 0, 1], priors=[0.5, 0.3, 0.2], **words)
    assert three.fit(X, Y).class_prior_.tolist() == [0.3, 0.2, 0.5]


@pytest.mark.parametrize(
    ("classes", "wanted"),
    [
        ((10, 9, -1), (-1, 9, 10)),
        (("10", "9", "B", "a", "ä"), ("10", "9", "B", "a", "ä")),
        ((True, False), (False, True)),
        ((2, True), (True, 2)),
        ((0.5, -0.5), (-0.5, 0.5)),
        ((10**30, 3), (3, 10**30)),
        (("b", 10, 9, "a"), (9, 10, "a", "b")),
        (("x", True), (True, "x")),
        (
            (datetime.date(2026, 1, 2), datetime.date(2026, 1, 1)),
            (datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)),
        ),
        (("x", datetime.date(2026, 1, 1)), (datetime.date(2026, 1, 1), "x")),
        (("x", (1, 2), 10**400), (10**400, "x", (1, 2))),
        (((3, 4), (1,)), ((1,), (3, 4))),
    ],
    ids=str,
)
def test_labels_of_all_types_have_one_order(classes: Any, wanted: Any) -> None:
    found = tuple(classes[place] for place in sorted_places(classes))
    assert found == wanted
    assert tuple(found[place] for place in sorted_places(found)) == wanted
    kinds = {isinstance(one, str) for one in classes}
    if len(kinds) == 1:  # scikit-learn cannot compare strings with other labels
        assert (np.unique(labels(classes)) == labels(found)).all()


def test_strings_beside_numbers_stay_what_they_are() -> None:
    model = made("logistic", ("x", 1), epsilon=1.0)
    source = source_of([[0.0], [1.0], [2.0]], ["x", 1, "1"], None)
    found = model._asked(source)
    assert found.declared.classes == (1, "x")
    assert source.read(None, found.declared).targets.tolist() == [1, 0, 0]
    model.fit([[0.0], [1.0], [2.0]], ["x", 1, "1"])
    assert set(model.predict([[0.0], [2.0]])) <= {1, "x"}


@pytest.mark.parametrize(
    "classes", [(1, 1.0), (1, True), ("1", 1), ("true", True), ("a", "a")], ids=str
)
def test_a_label_in_two_types_is_listed_once(classes: Any) -> None:
    account = Budget(3.0, 1e-6)
    with pytest.raises(ArgumentError, match="different labels"):
        made("bayes", classes, delta=None, budget=account).fit(X, Y)
    assert account.charges == 0
