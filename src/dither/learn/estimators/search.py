"""`GridSearch`: the best of several settings, with the cost of looking for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from dither.errors import ArgumentError
from dither.learn.estimators.base import COST, Asked, PrivateEstimator
from dither.learn.estimators.candidates import Parts, Search
from dither.learn.estimators.data import Declared, Source
from dither.learn.estimators.repeating import Total, best_way
from dither.learn.estimators.scoring import Public
from dither.learn.estimators.spending import Spending, question_of
from dither.learn.grids import grid_of
from dither.privacy import PureDP
from dither.privacy.numbers import fraction
from dither.privacy.repetition import Repetitions

__all__ = ["GridSearch"]

RUNS = 2
"""Average number of runs for each candidate, unless stated."""
ASIDE, FEWEST_ASIDE, ENOUGH = 0.25, 0.05, 5000
"""The share of units that is set aside, unless stated: about as many units as tell scores
apart to half of one percent, where so many are declared.
"""
SHARED = (
    *("bounds", "classes", "y_bounds", "units", "rows", "delta"),
    *(*COST, "several_fits"),
)
"""The settings that all candidates share."""
POISSON = "poisson"
EACH = "each"


def usual_share(declared: Declared) -> float:
    """The share that is set aside if none is stated, by the declared units."""
    if declared.units is None:
        return ASIDE
    return min(max(round(ENOUGH / declared.units, 2), FEWEST_ASIDE), ASIDE)


def _has(name: str) -> Any:
    """A method is there if the searched estimator has it."""
    return available_if(lambda self: hasattr(self.estimator, name))


class GridSearch(PrivateEstimator):
    """The best of several settings of an estimator: `GridSearch(LogisticRegression(
    bounds=(0, 16), classes=range(10)), {"max_iter": [10, 40, 160]}, epsilon=1,
    budget=account).fit(X, y, owner=ids)`.

    The search states the cost, and the estimator none. Candidates are scored on
    `public` rows (X, y), which is best, or on a share of the units (`validation`) that
    fits do not see, with noise. A random number of runs is made, each with a candidate
    drawn at random, and only the best is shown: `best_estimator_`, `best_params_`,
    `best_score_`. Of the other runs nothing is shown, nor how many there were.
    `repetitions` is their mean, by default twice the number of candidates. Their number
    is geometric; `eta` is the shape of another distribution (0 is logarithmic: cheaper
    for pure ε, with more runs) or "poisson". Where candidates are so few that running
    each once costs less, this is done: `repetitions="each"` asks for it.

    Guarantee: the stated cost, for all runs together, for one unit with all of its
    rows, under add/remove.
    Why: the best of a random number of runs costs ε + (1+η)·ln C for pure ε, which is at
    most (2+η)·ε, and for Gaussian noise a Rényi loss in closed form (Papernot & Steinke
    2022; docs/proofs/search.md); runs are given what that leaves for each. A public
    score is computed from a model, so it costs nothing; a private one is part of a run,
    and its units are not those of the fit.
    Assumes: `grid` and `public` are public; the number of runs stays hidden. `scoring` by
    a name of scikit-learn's, such as "balanced_accuracy", tells nobody. A function passed
    there sees every run: what it prints is not shown, and it must keep nothing; the
    release says so. Whoever can measure how long the search takes learns about it, and
    this is not protected.
    """

    _what = "search"

    def __init__(
        self,
        estimator: Any,
        grid: Any,
        *,
        epsilon: float | None = None,
        share: float | None = None,
        delta: float | None = None,
        public: Any = None,
        validation: float | None = None,
        scoring: Any = None,
        repetitions: float | str | None = None,
        eta: float | str = 1.0,
        budget: Any = None,
        by: str | None = None,
        several_fits: bool = False,
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.epsilon = epsilon
        self.share = share
        self.delta = delta
        self.public = public
        self.validation = validation
        self.scoring = scoring
        self.repetitions = repetitions
        self.eta = eta
        self.budget = budget
        self.by = by
        self.several_fits = several_fits

    @property
    def rho(self) -> None:
        """A search has no ρ: its loss at orders near 1 is not that of any."""
        return None

    @property
    def _target(self) -> str | None:  # type: ignore[override]
        found: str | None = getattr(self.estimator, "_target", None)
        return found

    # What is settled before the charge

    def _asked(self, source: Source) -> Asked:
        self._check_budget()
        cost = {name: getattr(self, name) for name in COST}
        question = question_of(self._what, source, cost)
        if source.derived and self.public is not None:
            raise ArgumentError(
                "public",
                "public rows do not pass through the steps before the search, so their "
                "scores would be wrong; leave public out, and pass validation=0.25",
            )
        self._candidates()
        declared = self.estimator._declared(source)
        plain = Spending.of(question, self.delta)
        delta = question.delta or float(self.delta or 0.0)
        total = Total(plain.unit, plain.mu, plain.epsilon, question, delta)
        plan = self._plan(declared, total)
        return Asked(question, source, declared, plan, self._notes(declared, source))

    def _candidates(self) -> list[dict[str, Any]]:
        if not isinstance(self.estimator, PrivateEstimator):
            raise ArgumentError(
                "estimator",
                f"{type(self.estimator).__name__} does not fit with privacy; pass an "
                "estimator of dither.learn",
            )
        for name in (*COST, "delta"):
            if getattr(self.estimator, name) is not None:
                raise ArgumentError(
                    name, "must be passed to the search; leave it out of the estimator"
                )
        found = grid_of(self.grid)
        known = self.estimator.get_params(deep=False)
        searched = [one for one in known if one not in SHARED]
        for name in {name for one in found for name in one}:
            if name not in known:
                raise ArgumentError(
                    "grid",
                    f"{name!r} in the grid is not a parameter of the estimator; use "
                    f"{', '.join(searched)}",
                )
            if name in SHARED:
                raise ArgumentError(
                    "grid",
                    f"{name!r} must be the same for all candidates; leave it out of "
                    "the grid",
                )
        return found

    def _plan(self, declared: Declared, spending: Spending) -> Search:
        assert isinstance(spending, Total)
        total, candidates = spending, self._candidates()
        repetitions, ways = self._repetitions(len(candidates))
        gaussian, pure = best_way(total, len(candidates), repetitions, ways)
        scoring = self._scoring(declared)
        models = tuple(clone(self.estimator).set_params(**one) for one in candidates)
        parts = Parts(models, tuple(candidates), declared, scoring)
        # a fit may prefer Laplace noise where both can be had, but all runs must agree
        if gaussian is not None and pure is not None:
            equal = total.equal_run(gaussian, pure)
            both = replace(gaussian.run, epsilon=pure.run.epsilon, equal=equal)
            plans = parts.plans(both)
            if all(isinstance(plan.guarantee, PureDP) for plan in plans):
                return parts.search(pure)
        way = pure if gaussian is None else gaussian
        assert way is not None
        return parts.search(way)

    def _repetitions(self, count: int) -> tuple[Repetitions | None, tuple[str, ...]]:
        stated = self.repetitions
        eta: Any = None if self.eta == POISSON else self.eta
        if stated == EACH or count == 1:
            return None, ("each",)
        if isinstance(stated, str):
            raise ArgumentError("repetitions", f'must be a number, or "{EACH}"')
        if stated is not None:
            return Repetitions.of_mean(stated, eta), ("best",)
        return Repetitions.of_mean(RUNS * count, eta), ("each", "best")

    def _scoring(self, declared: Declared) -> Public | float:
        if self.public is not None:
            if self.validation is not None:
                raise ArgumentError(
                    "validation", "is not used if public rows are passed; leave it out"
                )
            return Public.of(self.public, declared, self.scoring)
        if self.scoring is not None or self._target is None:
            raise ArgumentError(
                "public",
                "is missing, but the candidates cannot be scored on held-out "
                "rows here; pass public=(X, y), or public=X without a target",
            )
        stated = usual_share(declared) if self.validation is None else self.validation
        share = float(fraction("validation", stated, "pass a share such as 0.25"))
        if not 0.01 <= share <= 0.9:
            raise ArgumentError(
                "validation", "must be between 0.01 and 0.9; pass a share such as 0.25"
            )
        return share

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        return tags

    # What the best of them does

    def _learn(self, source: Source) -> Self:
        super()._learn(source)
        best = self.best_estimator_
        if best is not None:
            best.release_ = self.release_
            if source.names is not None:
                best.feature_names_in_ = self.feature_names_in_
        return self

    @property
    def classes_(self) -> Any:
        """The declared classes, sorted."""
        return self._best().classes_

    def _best(self) -> Any:
        if getattr(self, "best_estimator_", None) is None:
            raise NotFittedError("the search has no best estimator; call fit first")
        return self.best_estimator_

    @_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """What the best estimator predicts."""
        return self._best().predict(X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities that it gives."""
        return self._best().predict_proba(X)

    @_has("predict_log_proba")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Their logarithms."""
        return self._best().predict_log_proba(X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Its scores."""
        return self._best().decision_function(X)

    @_has("transform")  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """Rows as it transforms them."""
        return self._best().transform(X)

    @_has("score")  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None) -> float:
        """Its score on public rows."""
        return float(self._best().score(X, y))
