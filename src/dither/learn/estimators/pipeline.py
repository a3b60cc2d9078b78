"""`make_pipeline`: steps that are fitted one after the other, each of them privately or
not at all.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import Binarizer, Normalizer
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from dither.errors import ArgumentError, BudgetExceeded
from dither.learn.estimators.base import Asked, PrivateEstimator, check_there
from dither.learn.estimators.data import Integers, Reals, Source, source_of
from dither.learn.estimators.several import check_stated
from dither.ledger import Account, Receipt
from dither.privacy import Composed
from dither.release import Release

__all__ = ["PrivatePipeline", "make_pipeline"]


ROW_BY_ROW = (Normalizer, Binarizer)
"""Steps of scikit-learn that learn nothing and look at each row by itself. That a step
says it needs no fit is not enough: FunctionTransformer may compare rows.
"""


def make_pipeline(*steps: Any, several_fits: bool = False) -> PrivatePipeline:
    """Steps of which all but the last transform rows: `make_pipeline(StandardScaler(
    epsilon=0.2, bounds=(0, 16), budget=account), LogisticRegression(epsilon=0.8,
    classes=range(10), budget=account)).fit(X, y, owner=ids)`.

    Steps are estimators of `dither.learn`, and scikit-learn's Normalizer and Binarizer,
    which learn nothing and look at each row by itself. A step after a private one needs
    no `bounds`: they follow from the step before. If `several_fits` is True, tools
    of scikit-learn may fit the steps several times, and each fit is charged.

    Guarantee: those of the private steps together; each charges its own cost, and none
    does where an account cannot pay for all of its steps.
    Why: what a step has released is public for the next one.
    Assumes: what each step assumes.
    """
    return PrivatePipeline(list(steps), several_fits=several_fits)


def _last(self: Any) -> Any:
    return self.steps[-1]


def _has(name: str) -> Any:
    """A method is there if the last step has it."""
    return available_if(lambda self: hasattr(_last(self), name))


class PrivatePipeline(BaseEstimator):  # type: ignore[misc]
    """Steps in their order; `make_pipeline` makes one."""

    def __init__(self, steps: list[Any], several_fits: bool = False) -> None:
        self.steps = steps
        self.several_fits = several_fits
        _check(steps)

    def fit(self, X: Any, y: Any = None, *, owner: Any = None) -> Self:
        """Fit all steps. What any of them would refuse is refused before any charge, and
        so are steps that an account cannot pay for together.
        """
        check_stated(self.several_fits)
        for step in self.steps:
            if isinstance(step, PrivateEstimator):
                step._check_fits(several_fits=self.several_fits)
        check_there(self._target, y)
        return self._learn(source_of(X, y if self._target else None, owner))

    @property
    def _target(self) -> str | None:
        found: str | None = getattr(self.steps[-1], "_target", None)
        return found

    def _learn(self, source: Source) -> Self:
        _check(self.steps)
        self._rehearse(source)
        for step in self.steps:
            if isinstance(step, PrivateEstimator):
                step._learn(source if step._target else _untargeted(source))
            source = _after(step, source)
        self.n_features_in_ = getattr(self.steps[0], "n_features_in_", source.width)
        return self

    def _rehearse(self, source: Source) -> None:
        """Settle every step as far as its bounds are known, so that what a later one
        refuses, or what steps cost together, is known before the first one is charged.
        """
        asked = []
        for step in self.steps:
            if isinstance(step, PrivateEstimator):
                held = source if step._target else _untargeted(source)
                asked.append(step._asked(held))
            source = _unfitted(step, source)
        for steps in _by_payer(asked):
            _check_together(steps)

    def __sklearn_clone__(self) -> Self:
        """Fresh steps with the same parameters."""
        several = self.several_fits
        steps = [
            step._clone(several_fits=several)
            if isinstance(step, PrivateEstimator)
            else clone(step)
            for step in self.steps
        ]
        return type(self)(steps, several_fits=several)

    def __sklearn_tags__(self) -> Any:
        tags, last = super().__sklearn_tags__(), get_tags(_last(self))
        tags.estimator_type = last.estimator_type
        tags.classifier_tags = last.classifier_tags
        tags.regressor_tags = last.regressor_tags
        return tags

    @property
    def classes_(self) -> Any:
        """The declared classes of the last step, sorted."""
        return _last(self).classes_

    @property
    def releases_(self) -> tuple[Release, ...]:
        """The releases of the private steps."""
        held = (step for step in self.steps if isinstance(step, PrivateEstimator))
        return tuple(step.release_ for step in held)

    def transform(self, X: Any) -> Any:
        """Rows after all steps but the last."""
        for step in self.steps[:-1]:
            X = step.transform(X)
        return X

    @_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """What the last step predicts."""
        return _last(self).predict(self.transform(X))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities that the last step gives."""
        return _last(self).predict_proba(self.transform(X))

    @_has("predict_log_proba")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Their logarithms."""
        return _last(self).predict_log_proba(self.transform(X))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The scores that the last step gives."""
        return _last(self).decision_function(self.transform(X))

    @_has("score")  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any) -> float:
        """The score of the last step, on public rows."""
        return float(_last(self).score(self.transform(X), y))


def _check(steps: Any) -> None:
    if not isinstance(steps, list | tuple) or not steps:
        raise ArgumentError("steps", "are missing; pass one estimator or more")
    for step in steps:
        if not isinstance(step, PrivateEstimator) and type(step) not in ROW_BY_ROW:
            raise ArgumentError(
                "steps",
                f"the step {type(step).__name__} may combine several rows without "
                "privacy; use an estimator of dither.learn instead, or leave it out",
            )
    for step in steps[:-1]:
        if not hasattr(step, "transform"):
            raise ArgumentError(
                "steps",
                f"the step {type(step).__name__} does not transform rows; put it last",
            )


def _by_payer(asked: list[Asked]) -> list[list[Asked]]:
    """Steps that one account pays for, on behalf of one analyst."""
    found: dict[Any, list[Asked]] = {}
    for one in asked:
        payer = id(one.question.account), one.question.by
        found.setdefault(payer, []).append(one)
    return list(found.values())


def _check_together(steps: list[Asked]) -> None:
    """Refuse steps of which an account pays for some only."""
    question = steps[0].question
    # a search may promise for units that are replaced, where the account is about them
    total = Composed(one.question.owed(one.plan.guarantee) for one in steps)
    for one in steps:
        one.question.affordable(one.plan.guarantee)  # what is too little is refused
    account = question.account
    if question.affordable(total) or not isinstance(account, Account):
        return
    left = account.remaining_for(question.by)
    raise BudgetExceeded(left.refusal(question.owed(total)))


def _untargeted(source: Source) -> Source:
    def columns(receipt: Receipt | None) -> tuple[Reals, Any, Integers | None]:
        inputs, _, owners = source.columns(receipt)
        return inputs, None, owners

    return replace(source, columns=columns)


def _after(step: Any, source: Source) -> Source:
    """The rows after a fitted step."""

    def columns(receipt: Receipt | None) -> tuple[Reals, Any, Integers | None]:
        inputs, target, owners = source.columns(receipt)
        return _transformed(step, inputs), target, owners

    return replace(_unfitted(step, source), columns=columns, bounds=_bounds(step))


def _transformed(step: Any, inputs: Reals) -> Reals:
    """Rows after a step. scikit-learn's own refuse rows that have odd values, and whole
    tables without rows.
    """
    if not isinstance(step, PrivateEstimator):
        inputs = np.where(np.isfinite(inputs), inputs, 0.0)
    if not len(inputs):
        return inputs if not hasattr(step, "_width_out") else _no_rows(step, inputs)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # odd values must not warn (rule R1), nor that these rows have no names
        warnings.simplefilter("ignore")
        return np.asarray(step.transform(inputs), np.float64)


def _no_rows(step: Any, inputs: Reals) -> Reals:
    return np.zeros((0, step._width_out(inputs.shape[1])))


def _unfitted(step: Any, source: Source) -> Source:
    """What is known of the rows after a step that is not fitted yet: made-up bounds."""
    width = getattr(step, "_width_out", lambda width: width)(source.width)
    known = [(0.0, 1.0)] * width if hasattr(type(step), "output_bounds_") else None
    return replace(
        source, width=width, names=None, bounds=known, derived=True, reading=None
    )


def _bounds(step: Any) -> Any:
    return getattr(step, "output_bounds_", None)
