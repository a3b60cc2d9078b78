"""Scores by name, as scikit-learn names them. No code of the caller's runs, so nothing can
count the runs of a search.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils.metaestimators import available_if

from dither.errors import ArgumentError
from dither.learn.estimators.data import Declared
from dither.learn.silence import silently

__all__ = ["in_order", "named"]


def named(
    name: str, inputs: Any, targets: Any, declared: Declared
) -> Callable[..., Any]:
    """The score of a name. It is tried before the charge, with a made-up model that is
    right about every public row.
    """
    known = get_scorer_names()
    if name not in known:
        near = get_close_matches(name, known, 1) or ["accuracy"]
        raise ArgumentError(
            "scoring", f"{name!r:.60} is no score; did you mean {near[0]!r}"
        )
    scorer = in_order(get_scorer(name), declared)
    try:
        with silently():
            found = float(scorer(_perfect(targets, declared), inputs, targets))
    except Exception as error:
        raise ArgumentError(
            "scoring",
            f"{name!r} cannot be computed of these public rows ({error!s:.120}); pass "
            "another name, or more rows",
        ) from None
    if np.isnan(found):
        raise ArgumentError("scoring", f"{name!r} is no number on these public rows")
    return scorer


def in_order(scorer: Callable[..., Any], declared: Declared) -> Callable[..., Any]:
    """The same score of a model whose classes are sorted, as scikit-learn takes for
    granted: of declared classes in another order it scores one by another's
    probability.
    """
    if declared.classes is None:
        return scorer
    return lambda model, *rows: scorer(Sorted(model), *rows)


class Sorted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with its classes in sorted order."""

    def __init__(self, model: Any = None) -> None:
        self.model = model
        self.order = np.argsort(model.classes_, kind="stable")
        self.classes_ = model.classes_[self.order]

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)

    @available_if(lambda self: hasattr(self.model, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(X)[:, self.order]

    @available_if(lambda self: hasattr(self.model, "decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        found = self.model.decision_function(X)
        if found.ndim > 1:
            return found[:, self.order]
        return found if self.order[0] == 0 else -found  # of the later of two classes


class Right(BaseEstimator):  # type: ignore[misc]
    """A made-up model that knows the targets."""

    def __init__(self, targets: Any = None, classes: Any = None) -> None:
        self.targets = targets
        self.classes = classes
        self.n_features_in_ = 0
        if classes is not None:
            self.classes_ = np.asarray(classes)

    def predict(self, _: Any) -> Any:
        return self.targets


class Labels(ClassifierMixin, Right):  # type: ignore[misc]
    """The same for classes."""

    def predict_proba(self, _: Any) -> Any:
        found = (self.targets[:, None] == self.classes_).astype(float)
        return found / found.sum(axis=1, keepdims=True)


class Numbers(RegressorMixin, Right):  # type: ignore[misc]
    """The same for numbers."""


def _perfect(targets: Any, declared: Declared) -> Right:
    if declared.classes is not None:
        return Labels(targets, declared.classes)
    return Numbers(targets)
