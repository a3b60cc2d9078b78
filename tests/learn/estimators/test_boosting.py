"""Boosting of curves: residuals are exact, one unit moves sums as far as said, and curves
say what columns do.
"""

from __future__ import annotations

import math
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from dither import ArgumentError, Budget, audit
from dither.learn import ExplainableBoostingClassifier
from dither.learn.estimators import fallback
from dither.learn.estimators.boosting import Curves
from dither.learn.estimators.likelihoods import Likelihoods
from dither.learn.estimators.owners import WHOLE
from dither.learn.estimators.rounds import FINE, GRID, Boosting, Residuals, places_of
from dither.privacy import GaussianDP, PureDP
from tests.chance import chance
from tests.learn.estimators.data import (
    GAUSSIAN,
    GENERATOR,
    PURE,
    classified,
    declared,
    rows,
)

X, Y = classified(600)
POINTS = [*product((0.0, 0.4, 1.0), repeat=2)]


def boosting(**more: Any) -> ExplainableBoostingClassifier:
    plain = {"epsilon": 1.0, "bounds": (-3, 3), "classes": range(3)}
    return ExplainableBoostingClassifier(**(plain | more))


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_residuals_are_those_of_the_loss_and_never_too_long(classes: int) -> None:
    outputs = 1 if classes == 2 else classes
    plan = Residuals(outputs)
    scores = GENERATOR.integers(-9 * GRID, 9 * GRID, size=(outputs, 3000))
    scores[:, :2] = [[0, 10**9]] * outputs
    scores[0, 2] = 10**9
    targets = np.arange(3000) % classes
    found = plan.of(scores, targets)
    assert (found == np.rint(found)).all()
    assert np.abs(found).sum(axis=0).max() <= plan.l1
    assert np.linalg.norm(found, axis=0).max() <= plan.l2
    odds = np.exp(scores[:, 3:] / GRID)
    both = np.vstack([np.ones(2997), odds]) if outputs == 1 else odds
    wanted = both / both.sum(axis=0) - np.eye(classes)[targets[3:]].T
    assert found[:, 3:] / FINE == pytest.approx(wanted[-outputs:], abs=classes / FINE)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("spending", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
def test_one_unit_moves_the_sums_of_a_round_as_far_as_said(
    classes: int, spending: Any
) -> None:
    plan = Boosting.of(declared(2, classes=classes, units=9), spending, 3, 4)
    curves = GENERATOR.integers(-20 * GRID, 20 * GRID, (2, 3, plan.outputs))
    used, moved = np.arange(2), []

    def exact(points: Any, labels: Any) -> Any:
        held = rows(points, labels)
        return plan.exact(plan.places(held, used), held.targets, held.weights, curves)

    for one, two, label in product(POINTS, POINTS, range(classes)):
        change = exact([one, two], [0, label]) - exact([one], [0])
        moved.append(np.linalg.norm(change.ravel(), 2 if spending.gaussian else 1))
    assert max(moved) <= plan.noise(2).sensitivity
    assert max(moved) > 0.9 * plan.noise(2).sensitivity


@pytest.mark.parametrize("spending", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
def test_one_unit_moves_counts_as_far_as_said(spending: Any) -> None:
    plan = Likelihoods(Boosting.of(declared(2, classes=2, units=9), spending, 3, None))
    used, moved = np.arange(2), []

    def exact(points: Any, labels: Any) -> Any:
        held = rows(points, labels)
        return plan.exact(plan.of.places(held, used), held)

    for one, two, label in product(POINTS, POINTS, (0, 1)):
        change = exact([one, two], [0, label]) - exact([one], [0])
        moved.append(np.linalg.norm(change.ravel(), 2 if spending.gaussian else 1))
    assert max(moved) <= plan.noise(2).sensitivity
    assert max(moved) == pytest.approx(plan.noise(2).sensitivity)


def test_noise_is_made_for_the_weight_of_a_unit() -> None:
    plan = Boosting.of(declared(3, classes=2, rows=5, units=9), PURE, 4, 2)
    assert plan.noise(3).sensitivity == 3 * FINE * WHOLE
    assert Likelihoods(plan).noise(3).sensitivity == 3 * WHOLE


def test_bins_cover_the_bounds() -> None:
    shares = np.array([0.0, 0.2499, 0.25, 0.5, 0.9999, 1.0])
    assert places_of(shares, 4).tolist() == [0, 0, 1, 2, 3, 3]


@pytest.mark.parametrize("rounds", [None, 7])
def test_parts_of_the_cost_add_up(rounds: int | None) -> None:
    for spending in (GAUSSIAN, PURE):
        plan = Boosting.of(declared(2, classes=2), spending, 4, rounds)
        assert plan.count.spending is not None
        step = plan.rest.each(plan.rounds)
        power = 2 if spending.gaussian else 1
        first, each = (
            float(one.mu or one.epsilon or 0) for one in (plan.count.spending, step)
        )
        most = float(spending.mu or spending.epsilon or 0) ** power
        total = first**power + plan.rounds * each**power
        assert 0.9999 * most < total <= most


@pytest.mark.parametrize("rounds", [None, 5])
def test_what_it_costs(rounds: int | None) -> None:
    for budget, kind in ((Budget(1.0), PureDP), (Budget(3.0, 1e-6), None)):
        found = boosting(budget=budget, max_rounds=rounds).fit(X, Y).release_.guarantee
        assert found.epsilon_at(budget.terms.total.delta) == pytest.approx(
            1.0, rel=1e-4
        )
        assert kind is None or isinstance(found, kind)
    stated = boosting(epsilon=None, rho=0.1, max_rounds=rounds).fit(X, Y)
    assert isinstance(stated.release_.guarantee, GaussianDP)


@chance(1e-9)
@pytest.mark.parametrize(
    "how", [{}, {"max_rounds": 20}, {"delta": 1e-5}, {"delta": 1e-5, "max_rounds": 30}]
)
def test_it_learns(how: Any) -> None:
    made = boosting(epsilon=100, units=600, **how).fit(X, Y)
    assert made.score(X, Y) > 0.75
    assert made.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(600))
    two = boosting(epsilon=100, classes=(0, 1), **how).fit(X, Y > 0)
    assert two.decision_function(X).shape == (600,)
    assert two.score(X, Y > 0) > 0.7
    again = pickle.loads(pickle.dumps(made))
    assert (again.predict(X) == made.predict(X)).all()


def test_curves_add_up_to_the_score_and_show_what_a_column_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fallback, "FAITH", {1.0: 1.0})  # else curves may be flatter
    values = GENERATOR.uniform(0, 1, size=(3000, 2))
    made = ExplainableBoostingClassifier(
        epsilon=50, delta=1e-5, bounds=[(0, 1), (0, 2)], classes=(0, 1), max_bins=4
    ).fit(values, values[:, 0] > 0.5)
    assert made.term_scores_.shape == (2, 4, 1)
    assert made.bins_[1].tolist() == [0, 0.5, 1, 1.5, 2]
    assert made.term_scores_.mean(axis=1) == pytest.approx(np.zeros((2, 1)))
    curve = made.term_scores_[0, :, 0]
    assert curve[:2].max() < -0.5
    assert curve[2:].min() > 0.5
    one = np.array([[0.1, 1.2]])
    added = made.intercept_ + made.term_scores_[0, 0] + made.term_scores_[1, 2]
    assert made.decision_function(one) == pytest.approx(added)


def test_rounds_are_for_many_units() -> None:
    few = Curves.of(declared(2, classes=2), GAUSSIAN, 4, None)
    assert not few.many(100.0)
    assert few.many(10_000.0)
    pure = Curves.of(declared(2, classes=2), PURE, 4, None)
    assert not pure.many(1000.0)
    assert pure.many(1e6)
    used = Boosting.of(declared(50, classes=2), PURE, 4, None).columns(100.0)
    assert len(used) == int(0.8 * math.sqrt(100))
    assert len(set(used.tolist())) == len(used)


@pytest.mark.parametrize("rounds", [None, 2])
@pytest.mark.parametrize("count", [0, 1])
def test_few_rows_are_no_error(count: int, rounds: int | None) -> None:
    made = boosting(max_rounds=rounds).fit(X[:count], Y[:count])
    assert np.isfinite(made.predict_log_proba(np.full((2, 4), np.nan))).all()


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"max_bins": 1}, "max_bins"),
        ({"max_bins": 1000}, "max_bins"),
        ({"max_bins": None}, "max_bins"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_rounds": 10**6}, "max_rounds"),
        ({"classes": [1]}, "classes"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"epsilon": 1e-15}, "epsilon"),
    ],
)
def test_bad_questions_are_refused_before_the_charge(
    change: dict[str, Any], argument: str
) -> None:
    budget = Budget(1.0)
    with pytest.raises(ArgumentError, match=argument):
        boosting(**({"epsilon": 1.0, "budget": budget} | change)).fit(X, Y)
    assert budget.affords(PureDP(1.0))


SMALL = (np.full((4, 1), 0.4), np.array([0, 1, 1, 0]))
WITH = (np.vstack([SMALL[0], [[1.0]]]), np.append(SMALL[1], 1))


def curved(data: Any, rounds: int | None, bounds: Any = (0, 1)) -> Any:
    made = ExplainableBoostingClassifier(
        epsilon=1.0,
        bounds=bounds,
        classes=(0, 1),
        max_bins=2,
        max_rounds=rounds,
        units=4,
    ).fit(*data)
    return [*made.term_scores_[0, :, 0], made.intercept_[0]]


@chance(1e-8)
@pytest.mark.parametrize("rounds", [None, 2])
def test_the_claim_is_not_refuted(rounds: int | None) -> None:
    def one(data: Any) -> Any:
        return curved(data, rounds)

    found = audit.mechanism(
        one, WITH, SMALL, claimed=PureDP(1.0), draws=1200, confidence=1 - 1e-8
    )
    assert not found.refuted, found


@chance(1e-8)
def test_bounds_read_off_the_data_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is far away moves all others into another bin."""
    monkeypatch.setattr(fallback, "DOUBT", 1e12)  # else slopes are often 0

    def one(data: Any) -> Any:
        return curved(data, None, (0, data[0].max() + 1e-9))

    many = tuple(np.concatenate([part] * 12) for part in SMALL)
    more = (np.vstack([many[0], [[1.0]]]), np.append(many[1], 1))
    found = audit.mechanism(
        one, more, many, claimed=PureDP(1.0), draws=1200, confidence=1 - 1e-8
    )
    assert found.refuted, found


@chance(1e-12)
def test_almost_no_noise_and_no_fit() -> None:
    assert boosting(epsilon=1e4).fit(X, Y).score(X, Y) > 0.7
    with pytest.raises(NotFittedError):
        boosting().predict(X)
