"""Moments of an arm, noised as one vector: every sensitivity over all neighbours."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dither import Unit
from dither.cost import Cost
from dither.question import Question
from dither.science.trials.moments import Moments, Scale

COSTS = {"laplace": Cost(epsilon=1.0), "gaussian": Cost(rho=0.5)}
UNITS = {"replace": Unit("person", "replace"), "add": Unit("person")}
Arms = list[list[float]]


def plan(noise: str, relation: str, steps: int, **more: Any) -> Moments:
    return Moments(Question("m", COSTS[noise], UNITS[relation]), steps=steps, **more)


def vector(moments: Moments, *arms: list[float]) -> np.ndarray:
    scale = Scale(-1.0, 1.0, moments.steps)
    codes = [scale.codes(np.array(one, np.float64)) for one in arms]
    return np.concatenate([moments.vector(*one) for one in codes])


def moved(moments: Moments, noise: str, first: Arms, second: Arms) -> float:
    change = (vector(moments, *first) - vector(moments, *second)).astype(float)
    return float(
        np.abs(change).sum() if noise == "laplace" else np.hypot.reduce(change)
    )


def values(steps: int) -> list[float]:
    return [code / steps for code in range(-steps, steps + 1)] + [np.nan, 7.0, -np.inf]


@pytest.mark.parametrize("steps", [4, 8, 12])
@pytest.mark.parametrize("noise", COSTS)
@pytest.mark.parametrize("relation", UNITS)
def test_no_neighbour_moves_the_vector_farther_than_the_noise_is_made_for(
    noise: str, relation: str, steps: int
) -> None:
    moments = plan(noise, relation, steps)
    one = values(steps)
    if relation == "add":
        neighbours = [([[]], [[value]]) for value in one]
    else:
        neighbours = [([[a]], [[b]]) for a, b in itertools.product(one, one)]
    found = [moved(moments, noise, *pair) for pair in neighbours]
    others = [
        moved(moments, noise, [[0.5, *a[0]]], [[0.5, *b[0]]]) for a, b in neighbours
    ]
    assert others == found
    claimed = moments.mechanism.sensitivity
    assert max(found) == pytest.approx(claimed, rel=1e-12)  # and it is reached


@pytest.mark.parametrize("steps", [4, 8])
@pytest.mark.parametrize("noise", COSTS)
@pytest.mark.parametrize("arms", [1, 2])
def test_with_private_sizes_a_person_may_be_replaced_in_any_arm(
    noise: str, arms: int, steps: int
) -> None:
    moments = plan(noise, "replace", steps, public=False, arms=arms)
    one = values(steps)
    empty: Arms = [[]] * arms
    alone = [[[v] if place == arm else [] for place in range(arms)]
             for v in one for arm in range(arms)]  # fmt: skip
    worlds = [*alone, empty]
    found = [moved(moments, noise, *pair) for pair in itertools.combinations(worlds, 2)]
    claimed = moments.mechanism.sensitivity
    assert 0.99 * claimed <= max(found) <= claimed * (1 + 1e-12)


@pytest.mark.parametrize("noise", COSTS)
def test_in_a_table_a_person_may_change_arms(noise: str) -> None:
    steps = 4
    moments = plan(noise, "replace", steps, moving=True)
    one = [*values(steps)[: 2 * steps + 1], np.nan]
    pairs = list(itertools.product(one, one))
    # both arms keep their size: each may have another outcome in one place
    one_arm = [moved(moments, noise, [[a]], [[b]]) for a, b in pairs]
    both = 2 * max(one_arm) if noise == "laplace" else np.hypot(*[max(one_arm)] * 2)
    claimed = moments.mechanism.sensitivity
    assert 0.99 * claimed <= both <= claimed


def test_each_outcome_counts_by_itself_between_the_bounds() -> None:
    values = np.array([0.0, 10.0, 5.0, -3.0, 1e300, np.inf, -np.inf, np.nan])
    codes, there = Scale(0.0, 10.0, 100).codes(values)
    assert codes.tolist() == [-100, 100, 0, -100, 100, 100, -100, 0]
    assert there.tolist() == [True] * 7 + [False]


@pytest.mark.parametrize("bounds", [(0.0, 5e-324), (-5e-324, 0.0), (1.0, 1.0)])
def test_no_bounds_let_a_step_lie_beyond_them(bounds: tuple[float, float]) -> None:
    outcomes = np.array([0.0, 1.0, -1.0, 5e-324, np.inf, -np.inf, np.nan])
    codes, _ = Scale(*bounds, 100).codes(outcomes)
    assert np.abs(codes).max() <= 100


def test_a_noisy_vector_is_read_in_its_own_units() -> None:
    moments = plan("laplace", "replace", 1 << 20)
    exact = vector(moments, [0.5, -0.25, 0.75, np.nan])
    arm = moments.read(exact, None)
    assert (arm.total, arm.count, arm.squares) == (1.0, 3.0, 0.875)
    assert moments.read(exact, 4).count_scale == 0.0


def test_variance_is_never_more_than_the_bounds_allow() -> None:
    moments = plan("laplace", "replace", 1 << 20)
    arm = moments.read(vector(moments, [1.0] * 50 + [-1.0] * 50), 100)
    assert arm.variance_most >= 1.0
    assert arm.variance == pytest.approx(1.0, abs=0.2)
