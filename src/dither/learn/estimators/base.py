"""The common steps of all estimators: public facts are settled, the cost is charged,
and only then rows are read (rule R1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from dither.errors import ArgumentError
from dither.learn.encoding import keyed
from dither.learn.estimators.data import (
    FARTHEST,
    LOOSE,
    Declared,
    Reals,
    Rows,
    Source,
    pair_of,
    pairs_of,
    source_of,
)
from dither.learn.estimators.release import FitRelease
from dither.learn.estimators.several import (
    check_clone,
    check_stated,
    check_tool,
    tool_notes,
)
from dither.learn.estimators.spending import Spending, question_of
from dither.learn.units import population_of, rows_of
from dither.privacy import Guarantee
from dither.question import Question
from dither.release import Spread

__all__ = ["COST", "Fitted", "Plan", "PrivateEstimator"]

COST = ("epsilon", "rho", "share", "budget", "by")
"""The parameters that say what a fit may cost, and who pays."""


class NotPickled:
    """A placeholder for the account in an estimator that was pickled or copied: the
    account is not copied, because the copy could be spent again.
    """

    def __repr__(self) -> str:
        return "<an account, which is not copied>"


@dataclass(frozen=True)
class Fitted:
    """The result of a fit: attributes to set, and what the release shows."""

    attributes: Mapping[str, Any]
    value: Any
    spread: Spread | None = None
    keys: tuple[Any, ...] | None = None
    notes: tuple[str, ...] = ()


class Plan(Protocol):
    """A fit that is settled: what it promises, and how it runs on rows."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the fit."""

    def fit(self, rows: Rows) -> Fitted:
        """Run on rows. Nothing about them may make it fail."""


@dataclass(frozen=True)
class Asked:
    """A fit that can begin."""

    question: Any
    source: Source
    declared: Declared
    plan: Plan
    notes: tuple[str, ...] = field(default=())


class PrivateEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator in scikit-learn's form whose fit is a release.

    A class has these parameters besides its own, all set in `__init__`: `epsilon`,
    `rho` or `share` (what a fit may cost), `delta` (where no account has one), `budget`
    and `by` (who pays and who asks), `bounds` (public limits of each column), `units`
    (how many there are, by public knowledge), `rows` (how many rows of a unit
    count) and `several_fits` (whether tools of scikit-learn may fit it, and copies of
    it, at a charge for each fit). A classifier has `classes`, a regression `y_bounds`.
    """

    _what = "fit"
    """The name in a receipt."""
    _target: str | None = None
    """The declaration of a target: "classes", "y_bounds", or None for no target."""
    several_fits: bool = False
    _cloned: bool = False
    """Whether the budget is that of the estimator that this one is a clone of."""

    # How it is fitted

    def fit(self, X: Any, y: Any = None, *, owner: Any = None) -> Self:
        """Fit to rows, after the charge. `owner` has an id for each row; where it is
        left out, each row is a unit of its own.
        """
        self._check_fits(several_fits=False)
        check_there(self._target, y)
        return self._learn(source_of(X, None if self._target is None else y, owner))

    def _check_fits(self, *, several_fits: bool) -> None:
        """Refuse a fit that is one of several, unless each of them may be charged: by
        what the caller says, or the estimator itself.
        """
        check_stated(self.several_fits)
        if self.budget is not None and not (several_fits or self.several_fits):
            check_tool()
            check_clone(self._cloned)

    def _learn(self, source: Source) -> Self:
        asked = self._asked(source)
        with asked.question.paying(asked.plan.guarantee) as paid:
            rows = source.read(paid.receipt, asked.declared)
            with np.errstate(all="ignore"):  # whatever the caller has set (rule R1)
                fitted = asked.plan.fit(rows)
        self.release_ = FitRelease(
            self._what,
            fitted.value,
            (replace(paid.source, delta=self._delta(asked.question)),),
            fitted.spread,
            keys=_named(fitted.keys, source.names),
            notes=(
                *asked.notes,
                *fitted.notes,
                *source.notes,
                *tool_notes(),
            ),
        )
        self.n_features_in_ = source.width
        if source.names is not None:
            self.feature_names_in_ = np.asarray(source.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.declared_ = asked.declared
        for name, value in fitted.attributes.items():
            setattr(self, name, value)
        return self

    def _asked(self, source: Source) -> Asked:
        """All that is settled before the charge: what could fail, fails here."""
        self._check_budget()
        cost = {name: getattr(self, name) for name in COST}
        question = question_of(self._what, source, cost)
        declared = self._declared(source)
        plan = self._affordable(question, declared)
        return Asked(question, source, declared, plan, self._notes(declared, source))

    def _affordable(self, question: Question, declared: Declared) -> Plan:
        """The best plan; with the other kind of noise where the account affords only
        that.
        """
        spending = Spending.of(question, self.delta)
        best = self._plan(declared, spending)
        if len(spending.ways) < 2 or question.affordable(best.guarantee):
            return best
        others = (self._plan(declared, way) for way in spending.ways)
        fitting = (one for one in others if question.affordable(one.guarantee))
        return next(fitting, best)

    def _check_budget(self) -> None:
        if isinstance(self.budget, NotPickled):
            raise ArgumentError(
                "budget",
                "was left out when this estimator was copied or pickled, which also "
                "happens if scikit-learn fits in several processes; set it with "
                "set_params(budget=account), or pass n_jobs=1",
            )

    @abstractmethod
    def _plan(self, declared: Declared, spending: Spending) -> Plan:
        """The plan of a fit, with what it may spend. It refuses bad parameters."""

    def _declared(self, source: Source) -> Declared:
        bounds = self._stated("bounds", source.bounds, source)
        farthest = LOOSE if source.derived and self.bounds is None else FARTHEST
        low, high = pairs_of(
            "bounds", bounds, source.width, source.names, farthest=farthest
        ).T
        classes = target = order = None
        if self._target == "classes":
            stated = classes_of(self._stated("classes", source.classes, source))
            order = sorted_places(stated)
            classes = tuple(stated[place] for place in order)
        elif self._target == "y_bounds":
            target = pair_of(
                "y_bounds", self._stated("y_bounds", source.target, source)
            )
        units = population_of(source, self.units)
        rows = rows_of(source, self.rows, usual=1)
        names, reading = source.names, source.reading
        return Declared(low, high, classes, target, units, rows, names, reading, order)

    def _stated(self, name: str, declared: Any, source: Source) -> Any:
        """A parameter, or what is declared for the dataset, never both; or what follows
        from the step before.
        """
        stated = getattr(self, name)
        if source.dataset is not None and declared is not None and stated is not None:
            raise ArgumentError(name, "are declared by the dataset; leave them out")
        return declared if stated is None else stated

    def _notes(self, declared: Declared, source: Source) -> tuple[str, ...]:
        said = ["bounds: declared"]
        if source.dataset is not None:
            said = ["bounds: as declared for the dataset"]
        if declared.units is not None:
            said.append(f"{declared.units:,} units: declared")
        if source.owned:
            one = declared.rows == 1
            most = (
                "1 row of each unit is"
                if one
                else f"{declared.rows} rows of each unit are"
            )
            said.append(f"at most {most} used, with a total weight of 1")
        return tuple(said)

    def _delta(self, question: Question) -> float:
        """The δ at which the guarantee of a fit is stated."""
        return question.delta or float(self.delta or 0.0)

    # Copies never hold an account

    def __sklearn_clone__(self) -> Self:
        """A fresh estimator with the same parameters. It names the same account, and is
        not fitted unless each fit may be charged.
        """
        return self._clone(several_fits=False)

    def _clone(self, *, several_fits: bool) -> Self:
        held = self.get_params(deep=False)
        budget = held.pop("budget")
        marked = budget is not None and not (several_fits or self.several_fits)
        if marked:
            check_tool()  # here, as tools turn what a fit raises into a score of NaN
        params = {name: clone(value, safe=False) for name, value in held.items()}
        found = type(self)(**params, budget=budget)
        if marked:
            found._cloned = True
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters. A clone whose budget is set pays by the caller's word, and is
        fitted like any other estimator.
        """
        super().set_params(**params)
        if "budget" in params and self._cloned:
            self._cloned = False
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if state.get("budget") is not None:
            state["budget"] = NotPickled()
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        tags.target_tags.required = self._target is not None
        return tags

    # What a fitted one is asked with

    def _read(self, X: Any) -> Reals:
        """Rows to predict for, in the units of the data; missing values in the middle of
        their bounds.
        """
        check_is_fitted(self)
        reading = self.declared_.reading
        if reading is not None and reading.holds(X):
            found = reading.of(X)
        else:
            found = validate_data(
                self, X, reset=False, dtype=np.float64, ensure_all_finite=False
            )
        middle = (self.declared_.low + self.declared_.high) / 2
        return np.asarray(np.where(np.isnan(found), middle, found))


def check_there(target: str | None, y: Any) -> None:
    """Refuse to learn a target that is not there."""
    if target is not None and y is None:
        raise ArgumentError(
            "y",
            "the estimator requires y to be passed, but the target y is None; pass y",
        )


def classes_of(classes: Any) -> tuple[Any, ...]:
    """At least two different labels."""
    way_out = (
        "pass all possible labels, such as range(10); do not take them from the data"
    )
    if classes is None:
        raise ArgumentError("classes", f"are missing; {way_out}")
    if isinstance(classes, str | bytes) or not hasattr(classes, "__iter__"):
        raise ArgumentError("classes", f"must be a list; {way_out}")
    found = tuple(_plain(one) for one in classes)
    if len(found) < 2:
        raise ArgumentError("classes", f"must be two labels or more; {way_out}")
    return tuple(keyed("classes", found).keys)


def _named(
    keys: tuple[Any, ...] | None, names: tuple[str, ...] | None
) -> tuple[Any, ...] | None:
    """Keys that end with one for each column, by the names of the columns."""
    if keys is None or names is None or len(keys) < len(names):
        return keys
    return (*keys[: len(keys) - len(names)], *names)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def labels(classes: tuple[Any, ...]) -> NDArray[Any]:
    """Declared classes as an array, which predictions are taken from. Strings beside
    other labels do not turn them into strings.
    """
    strings = {isinstance(one, str) for one in classes}
    if len(strings) == 1 and not any(isinstance(one, tuple | list) for one in classes):
        return np.asarray(classes)
    found = np.empty(len(classes), object)
    for place, one in enumerate(classes):
        found[place] = one
    return found


def sorted_places(classes: tuple[Any, ...]) -> tuple[int, ...]:
    """The place of each class in the list that was declared, in the order of sorted
    classes: scikit-learn's scores and tools take `classes_` for sorted. Labels that
    cannot be compared are sorted by type first, numbers before strings.
    """
    held = labels(classes)
    try:
        order = [int(place) for place in np.argsort(held, kind="stable")]
    except TypeError:
        order = sorted(range(len(held)), key=lambda place: _rank(held[place]))
    return tuple(order)


def _rank(label: Any) -> tuple[str, Any]:
    if isinstance(label, int | float):
        return "", label
    return type(label).__name__, str(label)
