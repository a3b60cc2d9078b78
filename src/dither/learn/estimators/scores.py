"""Classes and probabilities from scores: what all classifiers share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from dither.learn.estimators.base import PrivateEstimator
from dither.learn.estimators.data import Reals

__all__ = ["Scored", "paired"]


class Scored(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A classifier that has a score of each class for each row."""

    _target = "classes"

    @abstractmethod
    def _scores(self, X: Any) -> Reals:
        """The logarithm of each class's probability, except for what all classes share."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        likeliest = self._scores(X).argmax(axis=1)
        found: NDArray[Any] = self.classes_[likeliest]
        return found

    def predict_proba(self, X: Any) -> Reals:
        """Each class's probability."""
        found: Reals = np.exp(self.predict_log_proba(X))
        return found

    def predict_log_proba(self, X: Any) -> Reals:
        """The logarithm of each class's probability."""
        scores = self._scores(X)
        scores = scores - scores.max(axis=1, keepdims=True)
        found: Reals = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return found


def paired(scores: Reals) -> Reals:
    """A score for each class, where one of two classes has them all."""
    if scores.ndim > 1:
        return scores
    return np.stack([np.zeros_like(scores), scores], axis=1)
