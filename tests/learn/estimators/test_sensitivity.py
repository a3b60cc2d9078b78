"""How far one unit moves what is noised, tried on all small inputs, and never farther
than noise is made for.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from dither.learn.estimators.centroids import ClassSums
from dither.learn.estimators.descent import CUT, FINE, STEPS, Gradients
from dither.learn.estimators.logistic import Descent
from dither.learn.estimators.moments import MomentSums
from dither.learn.estimators.owners import WHOLE, kept
from dither.learn.estimators.products import ProductSums
from dither.learn.estimators.spending import Spending
from dither.mechanisms import Cube, Gaussian
from tests.learn.estimators.data import GAUSSIAN, GENERATOR, PURE, declared, rows

ENDS = (0.0, 0.5, 1.0, 0.123456789, 1 / 3)


def length(vector: Any, spending: Spending) -> float:
    flat = np.asarray(vector, np.float64).ravel()
    return float(np.linalg.norm(flat, 2 if spending.gaussian else 1))


def points(width: int) -> list[tuple[float, ...]]:
    """All rows of these ends, and some between them."""
    some = GENERATOR.uniform(size=(50, width)).tolist()
    return [*product(ENDS, repeat=width), *map(tuple, some)]


def moved(exact: Any, base: Any, one: Any) -> Any:
    """What one unit adds to the sum, as seen in the sums with and without it."""
    (inputs, targets), (more, label) = base, one
    without = exact(rows(inputs, targets))
    target = None if targets is None else [*targets, label]
    return exact(rows([*inputs, more], target)) - without


def largest(vectors: Any) -> float:
    """The largest entries of all vectors, added up: what `Cube` is for."""
    return float(np.abs(np.atleast_2d(vectors)).max(axis=1).sum())


@pytest.mark.parametrize("spending", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
@pytest.mark.parametrize("width", [1, 3])
def test_moments_move_as_far_as_said(spending: Spending, width: int) -> None:
    plan = MomentSums(declared(width), spending)
    base = ([[0.3] * width, [0.9] * width], None)
    changes = [moved(plan.exact, base, (one, None)) for one in points(width)]
    norm = partial(length, spending=GAUSSIAN) if spending.gaussian else largest
    seen = max(map(norm, changes))
    assert seen <= plan.noise.sensitivity
    assert seen > 0.999 * plan.noise.sensitivity
    assert isinstance(plan.noise, Gaussian if spending.gaussian else Cube)


@pytest.mark.parametrize("spending", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_products_move_as_far_as_said(spending: Spending, width: int) -> None:
    plan = ProductSums(declared(width), spending)
    base = ([[0.3] * width, [0.9] * width], [0.2, 0.8])
    seen = [
        length(moved(plan.exact, base, (one, target)), spending)
        for one in points(width)
        for target in (0.0, 0.4, 1.0)
    ]
    assert max(seen) <= plan.sensitivity
    assert max(seen) > 0.98 * plan.sensitivity
    assert plan.noise.sensitivity == plan.sensitivity


@pytest.mark.parametrize("width", [1, 3])
def test_class_sums_move_as_far_as_said(width: int) -> None:
    plan = ClassSums(declared(width, classes=2), PURE)
    noise, noise2 = plan.noises
    base = ([[0.3] * width, [0.9] * width], [0, 1])
    seen = [
        largest(moved(plan.exact, base, (one, label)))
        for one in points(width)
        for label in (0, 1)
    ]
    assert max(seen) == noise.sensitivity
    assert isinstance(noise, Cube)
    assert noise.dims == width + 1
    squares = [moved(plan.exact_squares, base, (one, 0)) for one in points(width)]
    assert max(map(largest, squares)) == noise2.sensitivity
    assert isinstance(noise2, Cube)
    assert noise2.dims == width
    alone = ClassSums(declared(width, classes=2), PURE, squared=False)
    assert [one.sensitivity for one in alone.noises] == [noise.sensitivity]


def summed(gradients: Gradients, inputs: Any, targets: Any, weights: Any) -> Any:
    center, scale = np.zeros(inputs.shape[1]), np.full(inputs.shape[1], 0.3)
    held = gradients.rows(inputs, center, scale)
    counts = np.ones(len(held), np.int64)
    return gradients.sums(held, gradients.lengths(held), targets, counts, weights)


@pytest.mark.parametrize("l1", [False, True], ids=["l2", "l1"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("radius", [0.3, 1.0, 100.0])
def test_gradients_move_as_far_as_said(l1: bool, classes: int, radius: float) -> None:
    outputs = 1 if classes == 2 else classes
    gradients = Gradients(4, outputs, int(radius * STEPS * FINE), l1)
    spending = PURE if l1 else GAUSSIAN
    weights = GENERATOR.normal(size=(outputs, 4)) * 2
    inputs = np.array(points(3))
    targets = np.arange(len(inputs)) % classes
    alone = [
        summed(gradients, inputs[[place]], targets[[place]], weights)
        for place in range(len(inputs))
    ]
    seen = max(length(one, spending) for one in alone)
    assert seen <= gradients.sensitivity
    if radius <= 1:
        assert seen > 0.99 * gradients.radius
    # each row adds the same, wherever it stands and whoever else is there
    order = GENERATOR.permutation(len(inputs))
    together = summed(gradients, inputs[order], targets[order], weights)
    assert (together == sum(alone)).all()


def test_a_gradient_is_that_of_the_loss() -> None:
    gradients = Gradients(4, 3, 10**6 * STEPS * FINE)
    inputs, targets = GENERATOR.uniform(size=(20, 3)), np.arange(20) % 3
    weights = GENERATOR.normal(size=(3, 4))
    found = summed(gradients, inputs, targets, weights) / (STEPS * FINE)
    cut = np.clip((2 * inputs - 1) / 0.3, -CUT, CUT)
    held = np.hstack([cut, np.ones((20, 1))])
    odds = np.exp(held @ weights.T)
    wanted = (odds / odds.sum(axis=1, keepdims=True) - np.eye(3)[targets]).T @ held
    assert found == pytest.approx(wanted, abs=0.05)


def test_noise_is_made_for_the_radius_and_the_weight_of_a_unit() -> None:
    plan = Descent.of(declared(3, classes=2, rows=5), GAUSSIAN, 10)
    gradients = plan.gradients(2.0)
    assert plan.noise(gradients).sensitivity == (2 * STEPS * FINE + 1) * WHOLE


def test_rows_of_a_unit_count_as_one() -> None:
    owners = np.array([0, 0, 0, 1, -1, 2, 2])
    there = np.array([1, 1, 1, 1, 1, 1, 0], bool)
    for most in (1, 2, 3, 1000):
        weights = kept(there, owners, most)
        assert weights[4] == weights[6] == 0
        held = [weights[owners == one] for one in (0, 1, 2)]
        whole = 1 if most == 1 else WHOLE
        assert all(one.sum() <= whole for one in held)
        assert [(one > 0).sum() for one in held] == [min(most, 3), 1, 1]


def test_who_else_is_there_changes_no_weight() -> None:
    """Weights of a unit with few rows are the same beside any others."""
    owners = np.array([0, 0, 1, 1, 1])
    there = np.ones(5, bool)
    assert (
        kept(there, owners, 3)[:2].tolist() == kept(there[:2], owners[:2], 3).tolist()
    )


@pytest.mark.parametrize("spending", [GAUSSIAN, PURE], ids=["gaussian", "pure"])
def test_a_unit_of_several_rows_moves_no_more_than_one(spending: Spending) -> None:
    plan = ProductSums(declared(2, rows=3), spending)
    inputs, targets = [[1.0, 1.0], [0.0, 1.0], [1.0, 0.9]], [1.0, 0.0, 1.0]
    weights = kept(np.ones(3, bool), np.zeros(3, np.int64), 3)
    seen = length(plan.exact(rows(inputs, targets, weights)), spending)
    assert seen <= plan.sensitivity == plan.noise.sensitivity


def test_steps_cost_what_they_are_said_to_cost() -> None:
    for spending in (GAUSSIAN, PURE):
        plan = Descent.of(declared(3, classes=2), spending, 7)
        parts = plan.look.spending, plan.step, plan.fallback.spending
        look, step, chosen = (float(one.mu or one.epsilon or 0) for one in parts)
        most = float(spending.mu or spending.epsilon or 0)
        power = 2 if spending.gaussian else 1
        total = look**power + 7 * step**power + chosen**power
        assert 0.9999 * most**power < total <= most**power
