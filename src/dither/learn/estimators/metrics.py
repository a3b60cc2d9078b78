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

from dither.errors import ArgumentError
from dither.learn.estimators.base import labels
from dither.learn.estimators.data import Declared
from dither.learn.silence import silently

__all__ = ["named"]


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
            "scoring",
            f"{name!r:.60} is not a score of scikit-learn; did you mean {near[0]!r}?",
        )
    scorer: Callable[..., Any] = get_scorer(name)
    try:
        with silently():
            found = float(scorer(_perfect(targets, declared), inputs, targets))
    except Exception as error:
        raise ArgumentError(
            "scoring",
            f"the score {name!r} cannot be computed from these public rows "
            f"({error!s:.120}); pass another name, or more rows",
        ) from None
    if np.isnan(found):
        raise ArgumentError(
            "scoring",
            f"the score {name!r} is not a number on these public rows; pass another "
            "name, or more rows",
        )
    return scorer


class Right(BaseEstimator):  # type: ignore[misc]
    """A made-up model that knows the targets."""

    def __init__(self, targets: Any = None, classes: Any = None) -> None:
        self.targets = targets
        self.classes = classes
        self.n_features_in_ = 0
        if classes is not None:
            self.classes_ = labels(classes)

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
