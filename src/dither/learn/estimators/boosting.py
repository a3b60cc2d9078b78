"""`ExplainableBoostingClassifier`: a sum of one curve for each column, grown in rounds
from noisy histograms of what is still wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from dither.errors import ArgumentError
from dither.learn.estimators.base import Plan, PrivateEstimator
from dither.learn.estimators.data import Declared, Reals
from dither.learn.estimators.likelihoods import Likelihoods
from dither.learn.estimators.rounds import Boosting, places_of
from dither.learn.estimators.spending import Spending
from dither.privacy.numbers import whole

__all__ = ["ExplainableBoostingClassifier"]

BINS, MANY_BINS, MANY_ROUNDS = 8, 256, 1000


class ExplainableBoostingClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A sum of curves, one for each column, which can be drawn and read:
    `ExplainableBoostingClassifier(epsilon=1, bounds=(0, 16), classes=range(10),
    budget=account).fit(X, y, owner=ids)`.

    Each column is cut into `max_bins` equal parts of its bounds. In each of
    `max_rounds` rounds the difference between what is predicted and what is true is
    summed up by bin, with noise, and the curves move against it. How far they move
    follows from the noise. Where the cost is pure ε, one round of noisy counts is made
    instead, unless `max_rounds` is stated, on a random choice of the columns where they
    are many.

    `term_scores_[j]` has a line for each bin of a column, with a number for each class
    (one where there are two); `bins_[j]` has the ends of the bins, and `intercept_`
    what all rows share.

    Guarantee: the stated cost, for one unit with all of its rows, under add/remove; pure
    where the cost is.
    Why: a row is in one bin of each of d columns, with a difference of at most 1 (√2
    with more than two classes, 2 in L1): so a unit moves a round's sums by √d times
    that in L2, and d times in L1. Rounds compose: T Gaussian ones of μ/√T are exactly
    μ-GDP together, and ε of pure ones add up. Sums are of whole numbers. Of counts by
    bin and class, a unit moves one in each column, by 1.
    Assumes: bounds and classes are public, not read off the data.
    """

    _what = "boosting"
    _target = "classes"

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        bounds: Any = None,
        classes: Any = None,
        units: int | None = None,
        rows: int | None = None,
        max_bins: int = BINS,
        max_rounds: int | None = None,
        budget: Any = None,
        by: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.rho = rho
        self.share = share
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.units = units
        self.rows = rows
        self.max_bins = max_bins
        self.max_rounds = max_rounds
        self.budget = budget
        self.by = by

    def _plan(self, declared: Declared, spending: Spending) -> Plan:
        bins = whole("max_bins", self.max_bins, "pass a number such as 8")
        if not 2 <= bins <= MANY_BINS:
            raise ArgumentError(
                "max_bins", f"must be from 2 to {MANY_BINS}; pass one such as 8"
            )
        rounds = self.max_rounds
        if rounds is not None:
            rounds = whole("max_rounds", rounds, "pass a number such as 30")
            if rounds > MANY_ROUNDS:
                raise ArgumentError(
                    "max_rounds", f"must be at most {MANY_ROUNDS:,}; more do not help"
                )
        boosting = Boosting.of(declared, spending, bins, rounds)
        once = rounds is None and not spending.gaussian
        return Likelihoods(boosting) if once else boosting

    def decision_function(self, X: Any) -> Reals:
        """Scores: of the second class where there are two, else one for each."""
        shares = self.declared_.shares(self._read(X))
        scores = np.tile(self.intercept_, (len(shares), 1))
        for column, curve in enumerate(self.term_scores_):
            scores += curve[places_of(shares[:, column], len(curve))]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of each row."""
        scores = self.decision_function(X)
        places = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(int)
        found: NDArray[Any] = self.classes_[places]
        return found

    def predict_proba(self, X: Any) -> Reals:
        """Probabilities of the classes."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Reals:
        """Their logarithms."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        scores = scores - scores.max(axis=1, keepdims=True)
        found: Reals = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return found
