"""A random forest: how far one unit moves its counts, and what it learns."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from dither import ArgumentError, Budget, audit
from dither.learn import RandomForestClassifier
from dither.learn.estimators.forest import Forest
from dither.learn.estimators.owners import WHOLE
from dither.learn.estimators.trees import Trees
from dither.privacy import GaussianDP, PureDP
from tests.chance import chance
from tests.learn.estimators.data import GAUSSIAN, PURE, classified, declared, rows

X, Y = classified(600)
GRID = [*product((0.0, 0.4, 1.0), repeat=2)]


def forest(**more: Any) -> RandomForestClassifier:
    plain = {"epsilon": 1.0, "bounds": (-3, 3), "classes": range(3)}
    return RandomForestClassifier(**(plain | more))


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_splits_are_within_their_cells(depth: int) -> None:
    trees = Trees.drawn(4, depth, 2)
    assert trees.depth == depth
    assert len(trees) == 4
    points = np.random.default_rng(1).uniform(size=(4000, 2))  # allowed: made-up data
    leaves = np.stack(list(trees.leaves(points)))
    assert leaves.min() >= 0
    assert leaves.max() < 1 << depth
    # each leaf is a box: no point of another leaf lies between two of its points
    for tree in leaves:
        for leaf in np.unique(tree):
            held = points[tree == leaf]
            inside = ((points >= held.min(0)) & (points <= held.max(0))).all(axis=1)
            assert (tree[inside] == leaf).all()


def test_a_leaf_depends_on_its_row_alone() -> None:
    """Whoever else is there, and however the levels of a tree are gone through."""
    trees = Trees.drawn(3, 9, 4)
    points = np.random.default_rng(2).uniform(size=(40_000, 4))  # allowed: made-up data
    points[:9] = np.linspace(0, 1, 9)[:, None]
    among = np.stack(list(trees.leaves(points)))
    for count in (1, 9, 300, 3000):
        alone = np.stack(list(trees.leaves(points[:count])))
        assert (alone == among[:, :count]).all()


def test_cells_end_where_nodes_above_split() -> None:
    """Thresholds are those of a walk from node to node."""
    trees = Trees.drawn(5, 6, 2)
    for columns, thresholds in zip(trees.columns, trees.thresholds, strict=True):
        cells = {0: [(0.0, 1.0), (0.0, 1.0)]}
        for node, column in enumerate(columns):
            low, high = cells[node][column]
            place = (thresholds[node] - low) / (high - low)
            assert 0.1 - 1e-9 <= place <= 0.9 + 1e-9
            for child, cell in (
                (2 * node + 1, (low, thresholds[node])),
                (2 * node + 2, (thresholds[node], high)),
            ):
                cells[child] = list(cells[node])
                cells[child][column] = cell


@chance(1e-20)
def test_trees_are_drawn_anew() -> None:
    one, other = Trees.drawn(3, 4, 5), Trees.drawn(3, 4, 5)
    assert (one.thresholds != other.thresholds).any()
    assert set(np.unique(Trees.drawn(50, 5, 5).columns)) == set(range(5))


@pytest.mark.parametrize("spending", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
@pytest.mark.parametrize("count", [1, 5])
def test_one_unit_moves_counts_as_far_as_said(spending: Any, count: int) -> None:
    """All pairs of rows on a grid, in both classes, with and without the second one."""
    plan = Forest.of(declared(2, classes=2, units=10), spending, count, 3)
    trees, moved = Trees.drawn(count, 3, 2), []
    for one, two, label in product(GRID, GRID, (0, 1)):
        more = plan.exact(rows([one, two], [0, label]), trees)
        change = (more - plan.exact(rows([one], [0]), trees)).ravel()
        moved.append(np.linalg.norm(change, 2 if spending.gaussian else 1))
    most = plan.noise(count).sensitivity
    assert max(moved) <= most
    assert max(moved) == pytest.approx(most)


def test_a_unit_of_several_rows_moves_no_more_than_one() -> None:
    plan = Forest.of(declared(2, classes=2, rows=4, units=10), PURE, 3, 2)
    trees = Trees.drawn(3, 2, 2)
    held = rows([[0, 0], [1, 1], [0.3, 0.9]], [0, 1, 0], np.array([WHOLE // 3] * 3))
    assert np.abs(plan.exact(held, trees)).sum() <= plan.noise(3).sensitivity
    assert plan.noise(3).sensitivity == 3 * WHOLE


@pytest.mark.parametrize("units", [None, 600])
def test_what_it_costs(units: int | None) -> None:
    for budget, kind in ((Budget(1.0), PureDP), (Budget(3.0, 1e-6), None)):
        fitted = forest(budget=budget, units=units).fit(X, Y)
        found = fitted.release_.guarantee
        assert found.epsilon_at(budget.terms.total.delta) == pytest.approx(
            1.0, rel=1e-4
        )
        assert kind is None or isinstance(found, kind)
    assert isinstance(
        forest(epsilon=None, rho=0.1).fit(X, Y).release_.guarantee, GaussianDP
    )


def test_parts_of_the_cost_add_up() -> None:
    for spending in (GAUSSIAN, PURE):
        plan = Forest.of(declared(2, classes=2), spending, None, None)
        assert plan.count.spending is not None
        paid = [
            float(one.mu or one.epsilon or 0)
            for one in (plan.count.spending, plan.leaves, plan.fallback.spending)
        ]
        power = 2 if spending.gaussian else 1
        most = float(spending.mu or spending.epsilon or 0) ** power
        assert 0.9999 * most < sum(one**power for one in paid) <= most
    assert (
        Forest.of(declared(2, classes=2, units=9), PURE, None, None).count.noise is None
    )


@chance(1e-9)
def test_it_learns() -> None:
    made = forest(epsilon=30, units=600).fit(X, Y)
    assert made.score(X, Y) > 0.75
    assert made.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(600))
    assert (made.classes_ == [0, 1, 2]).all()
    assert made.release_.value.shape == (len(made.trees_), 1 << made.trees_.depth, 3)
    again = pickle.loads(pickle.dumps(made))
    assert (again.predict(X) == made.predict(X)).all()
    assert clone(made).get_params() == made.get_params()


def test_more_units_make_more_and_deeper_trees() -> None:
    plan = Forest.of(declared(2, classes=2), PURE, None, None)
    few, many = plan.shape(100.0), plan.shape(1e6)
    assert few[0] < many[0]
    assert few[1] < many[1]
    stated = Forest.of(declared(2, classes=2), PURE, 7, 4)
    assert stated.shape(1e9) == stated.shape(1.0) == (7, 4)


@pytest.mark.parametrize("count", [0, 1])
def test_few_rows_are_no_error(count: int) -> None:
    made = forest().fit(X[:count], Y[:count])
    assert made.predict(X).shape == (600,)
    assert np.isfinite(made.predict_log_proba(np.full((2, 4), np.nan))).all()


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"n_estimators": 5000}, "n_estimators"),
        ({"n_estimators": 1.5}, "n_estimators"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_depth": 40}, "max_depth"),
        ({"max_depth": "deep"}, "max_depth"),
        ({"max_depth": 12, "n_estimators": 1000, "classes": range(20)}, "max_depth"),
        ({"classes": [1]}, "classes"),
        ({"bounds": None}, "bounds"),
        ({"epsilon": 1e-18}, "epsilon"),
    ],
)
def test_bad_questions_are_refused_before_the_charge(
    change: dict[str, Any], argument: str
) -> None:
    budget = Budget(1.0)
    with pytest.raises(ArgumentError, match=argument):
        forest(**({"epsilon": 1.0, "budget": budget} | change)).fit(X, Y)
    assert budget.affords(PureDP(1.0))


SMALL = (np.full((4, 1), 0.4), np.array([0, 1, 1, 0]))
WITH = (np.vstack([SMALL[0], [[1.0]]]), np.append(SMALL[1], 1))


def counted(data: Any, bounds: Any = (0, 1)) -> Any:
    made = RandomForestClassifier(
        epsilon=1.0, bounds=bounds, classes=(0, 1), n_estimators=2, max_depth=1, units=4
    ).fit(*data)
    found = made.trees_.leaves(made.declared_.shares(np.array([[1.0], [0.4]])))
    leaves = np.stack(list(found))
    shown = made.release_.value[[0, 1], leaves[:, 0], 1]
    return [*shown, *(leaves[:, 0] == leaves[:, 1])]


@chance(1e-8)
def test_the_claim_is_not_refuted() -> None:
    found = audit.mechanism(
        counted, WITH, SMALL, claimed=PureDP(1.0), draws=1500, confidence=1 - 1e-8
    )
    assert not found.refuted, found


@chance(1e-8)
def test_bounds_read_off_the_data_are_refuted() -> None:
    def one(data: Any) -> Any:
        return counted(data, (0, data[0].max() + 1e-9))

    found = audit.mechanism(
        one, WITH, SMALL, claimed=PureDP(1.0), draws=1500, confidence=1 - 1e-8
    )
    assert found.refuted, found


@chance(1e-9)
def test_almost_no_noise_and_no_fit() -> None:
    assert forest(epsilon=1e4).fit(X, Y).score(X, Y) > 0.7
    with pytest.raises(NotFittedError):
        forest().predict(X)
