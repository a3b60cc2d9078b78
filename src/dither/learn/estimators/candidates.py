"""Candidates of a search, and their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from dither.learn.estimators.base import Fitted, Plan
from dither.learn.estimators.data import Declared, Rows
from dither.learn.estimators.repeating import Run, Way
from dither.learn.estimators.scoring import Aside, Public, Score
from dither.learn.estimators.spending import Spending
from dither.learn.grids import TIME
from dither.privacy import GaussianDP, Guarantee, PureDP

__all__ = ["Parts", "Search"]

SEEN = "your scoring function sees every run and is assumed to store nothing of it"


@dataclass(frozen=True)
class Parts:
    """Inputs of a search, before its cost per run is known."""

    models: tuple[Any, ...]
    settings: tuple[dict[str, Any], ...]
    declared: Declared
    scoring: Public | float

    @property
    def fitted_on(self) -> Declared:
        """Public facts about the units that fits see."""
        units = self.declared.units
        if isinstance(self.scoring, Public) or units is None:
            return self.declared
        return replace(self.declared, units=max(round(units * (1 - self.scoring)), 1))

    def plans(self, run: Spending) -> tuple[Plan, ...]:
        return tuple(model._plan(self.fitted_on, run) for model in self.models)

    def _scored(self, run: Spending) -> Public | Aside:
        if isinstance(self.scoring, Public):
            return self.scoring
        aside = Aside(self.declared, run, self.scoring)
        _ = aside.noise  # what it refuses is refused before the charge
        return aside

    def search(self, way: Way) -> Search:
        scoring = self._scored(way.run)
        plans = self.plans(way.run)
        costs = [plan.guarantee for plan in plans]
        if scoring.guarantee is not None:
            costs.append(scoring.guarantee)
        run = _largest(costs)
        return Search(
            way, self.models, self.settings, self.declared, plans, scoring, run
        )


def _largest(costs: Sequence[Guarantee]) -> Run:
    """The promise that all of them keep."""
    pure = [cost for cost in costs if isinstance(cost, PureDP)]
    if len(pure) == len(costs):
        return max(pure, key=lambda cost: cost.epsilon)
    return max((cost.to(GaussianDP) for cost in costs), key=lambda cost: cost.mu)


@dataclass(frozen=True)
class Search:
    """A search that is settled: candidates, the guarantee of each run, and how it is
    scored.
    """

    way: Way
    models: tuple[Any, ...]
    settings: tuple[dict[str, Any], ...]
    declared: Declared
    plans: tuple[Plan, ...]
    scoring: Public | Aside
    run: Run

    @property
    def guarantee(self) -> Guarantee:
        return self.way.charged(self.run)

    def fit(self, rows: Rows) -> Fitted:
        drawn = self.way.draw()
        seen, aside = self.scoring.split(rows)
        best: tuple[Score, int, Any, Fitted] | None = None
        for number in drawn:
            model, fitted = self._run(number, seen)
            score = self.scoring.score(model, aside)
            # of equals the first stays, which is any of them: runs are alike
            if best is None or score.rank > best[0].rank:
                best = score, number, model, fitted
        return self._fitted(best)

    def _run(self, number: int, rows: Rows) -> tuple[Any, Fitted]:
        model = clone(self.models[number])
        fitted = self.plans[number].fit(rows)
        model.n_features_in_ = self.declared.width
        model.declared_ = self.declared
        for name, value in fitted.attributes.items():
            setattr(model, name, value)
        return model, fitted

    def _fitted(self, best: tuple[Score, int, Any, Fitted] | None) -> Fitted:
        if best is None:  # of a Poisson number of runs there may be none
            held: dict[str, Any] = dict.fromkeys(
                ("best_estimator_", "best_params_", "best_score_")
            )
            return Fitted(held, [], notes=("no run was drawn", TIME))
        score, number, model, fitted = best
        held = {
            "best_estimator_": model,
            "best_params_": dict(self.settings[number]),
            "best_score_": score.value,
        }
        return Fitted(
            held, fitted.value, keys=fitted.keys, notes=(*self._notes, *fitted.notes)
        )

    @property
    def _notes(self) -> tuple[str, ...]:
        count = len(self.models)
        scored = "on public rows"
        if isinstance(self.scoring, Aside):
            scored = f"with noise, on a share of {self.scoring.share:g} of the units"
        if self.way.repetitions is None:
            return (f"the best of {count} candidates, scored {scored}",)
        drawn = f"the best of a random number of runs of {count} candidates"
        foreign = isinstance(self.scoring, Public) and self.scoring.foreign
        seen = (SEEN,) if foreign else ()
        return (f"{drawn}, scored {scored}", TIME, *seen)
