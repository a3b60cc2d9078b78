"""How candidates of a search are scored: on public rows, or by a noisy count on units
that are set aside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.learn.estimators.base import labels
from dither.learn.estimators.data import (
    Declared,
    Integers,
    Reals,
    Rows,
    Target,
    source_of,
)
from dither.learn.estimators.metrics import named
from dither.learn.estimators.spending import Spending
from dither.learn.failures import attempted
from dither.learn.silence import muted
from dither.mechanisms import Additive
from dither.noise import bernoulli, uniform_integers
from dither.privacy import Guarantee

__all__ = ["Aside", "Public", "Score", "in_places"]

STEPS = 1 << 10
"""A squared error of one row, as a share of what it can be, is counted in such steps."""
PLACES = 128


@dataclass(frozen=True)
class Score:
    """The score by which runs are ranked, and the bound that the best of them is said
    to reach.
    """

    rank: float
    value: float


@dataclass(frozen=True)
class Public:
    """Scores on public rows: they cost nothing."""

    inputs: Any
    targets: Any
    scoring: Callable[..., Any] | None
    foreign: bool = False
    """Whether a function of the caller's scores, which sees every run."""
    guarantee: Guarantee | None = None

    @classmethod
    def of(cls, public: Any, declared: Declared, scoring: Any) -> Public:
        """Rows are checked before the charge. Targets are read as private ones are, and
        rows without one do not count.
        """
        width = declared.width
        target = declared.classes is not None or declared.target is not None
        way_out = "pass public rows as (X, y)" if target else "pass public rows X"
        foreign = scoring is not None and not isinstance(scoring, str)
        if foreign and not callable(scoring):
            raise ArgumentError(
                "scoring",
                'must be a name such as "balanced_accuracy", a function of (estimator, '
                "X, y), or left out",
            )
        if target:
            if not isinstance(public, tuple) or len(public) != 2:
                raise ArgumentError("public", f"must be a pair; {way_out}")
            inputs, targets = public
        else:
            inputs, targets = public, None
        reading = declared.reading
        if reading is not None and reading.holds(inputs):
            inputs = reading.of(inputs)
        source = source_of(inputs, targets, None)
        _check_names(source.names, declared.names)
        inputs, targets, _ = source.columns(None)
        if source.width != width or not len(inputs):
            raise ArgumentError(
                "public", f"must have one row or more, of {width} columns; {way_out}"
            )
        if target:
            there, targets = _read(targets, declared)
            inputs, targets = inputs[there], targets[there]
            if not len(inputs):
                raise ArgumentError(
                    "public", "has no row with a declared target; check its labels"
                )
        found = cls(inputs, targets, scoring, foreign)
        if isinstance(scoring, str):
            found = replace(found, scoring=named(scoring, inputs, targets, declared))
        return found

    def split(self, rows: Rows) -> tuple[Rows, Rows | None]:
        return rows, None

    def score(self, estimator: Any, _: Rows | None) -> Score:
        """A score that fails or is not a number is the worst there is: what one model
        does must not end the search. Nothing that scoring prints, logs or warns is
        shown: a line for each run would tell how many there are.
        """
        found = attempted(lambda: self._value(estimator))[0]
        value = -math.inf if found is None or math.isnan(found) else found
        return Score(value, value)

    def _value(self, estimator: Any) -> float:
        with muted():
            if self.scoring is None:
                return float(estimator.score(self.inputs, self.targets))
            return float(self.scoring(estimator, self.inputs, self.targets))


@dataclass(frozen=True)
class Aside:
    """A noisy score on a share of the units, which the fit does not see.

    Guarantee: what its spending promises; with a fit on the other units, the larger of
    both costs, as each unit is on one side by its own coin.
    Why: one unit adds at most `whole` to what was right and what was wrong together.
    """

    declared: Declared
    spending: Spending
    share: float

    @property
    def most(self) -> int:
        return 1 if self.declared.classes is not None else STEPS

    @property
    def noise(self) -> Additive:
        moved = float(self.most * self.declared.whole)
        return self.spending.noise(moved, moved)

    @property
    def guarantee(self) -> Guarantee:
        return self.spending.guarantee

    def split(self, rows: Rows) -> tuple[Rows, Rows | None]:
        """Each unit is set aside by a coin of its own."""
        if rows.owners is None:
            aside = bernoulli(self.share, len(rows))
        else:
            many = int(rows.owners.max(initial=-1)) + 1
            aside = bernoulli(self.share, many)[rows.owners]
        return _part(rows, ~aside), _part(rows, aside)

    def score(self, estimator: Any, rows: Rows | None) -> Score:
        assert rows is not None
        right, wrong = self.noise.release(self.exact(estimator, rows)).tolist()
        value = min(max(right / max(right + wrong, 1), 0.0), 1.0)
        # of the same units, so their difference ranks with less noise than either
        return Score(float(right - wrong), value)

    def exact(self, estimator: Any, rows: Rows) -> Integers:
        """The amounts that were right and wrong."""
        declared = self.declared
        raw = declared.low + rows.inputs * declared.span
        good = self._good(in_places(estimator.predict, raw), rows.targets)
        right = good @ rows.weights
        return np.array([right, self.most * rows.weights.sum() - right], np.int64)

    def _good(self, predicted: NDArray[Any], targets: Any) -> Integers:
        declared = self.declared
        if declared.classes is not None:
            known = labels(declared.classes)
            found: Integers = (predicted == known[targets]).astype(np.int64)
            return found
        assert declared.target is not None
        low, high = declared.target
        with np.errstate(all="ignore"):
            error = np.clip((predicted - low) / (high - low), 0.0, 1.0) - targets
        error = np.where(np.isnan(error), 1.0, error)
        return np.asarray(np.rint(STEPS * (1 - error * error)), np.int64)


def _check_names(public: tuple[str, ...] | None, known: tuple[str, ...] | None) -> None:
    """Refuse a frame whose columns are others, or in another order: scores would be of
    numbers that stand in the wrong place.
    """
    if public is not None and known is not None and public != known:
        listed = ", ".join(known[:12])
        raise ArgumentError(
            "public",
            f"must have the columns of the fit, in the same order; pass {listed}",
        )


def _read(column: Any, declared: Declared) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Which public targets count, and targets as a fitted estimator gives them."""
    found = Target(declared.classes, declared.target).read(column)
    if declared.classes is not None:
        return found >= 0, labels(declared.classes)[found]
    assert declared.target is not None
    low, high = declared.target
    return found >= 0, low + found * (high - low)


def _part(rows: Rows, keep: NDArray[np.bool_]) -> Rows:
    return replace(
        rows,
        inputs=rows.inputs[keep],
        targets=None if rows.targets is None else rows.targets[keep],
        weights=rows.weights[keep],
        owners=None if rows.owners is None else rows.owners[keep],
    )


def in_places(predict: Callable[[Reals], Any], inputs: Reals) -> NDArray[Any]:
    """Predictions of rows, each a function of that row and its own random place.

    A matrix product may round a row differently where more rows stand before it, and a
    prediction near a tie would then depend on other units. So products have one shape,
    and a row's place in them is drawn for it alone.
    """
    places = uniform_integers(PLACES, len(inputs))
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    turns = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    found = None
    for turn in range(int(turns.max(initial=-1)) + 1):
        now = turns == turn
        block = np.zeros((PLACES, inputs.shape[1]))
        block[ordered[now]] = inputs[order[now]]
        told = np.asarray(predict(block))
        if found is None:
            found = np.empty(len(inputs), told.dtype)
        found[order[now]] = told[ordered[now]]
    return np.zeros(0) if found is None else found
