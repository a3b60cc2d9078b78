"""Power from public numbers, against studies that are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.science import trials
from tests.chance import chance

RNG = np.random.default_rng(9)
BOUNDS = (-5, 5)
ROUNDS = 150


def found(n: int, effect: float, epsilon: float) -> float:
    hits = 0
    for _ in range(ROUNDS):
        x, y = RNG.normal(effect, 1, n), RNG.normal(0, 1, n)
        test = trials.mean_difference(
            x, y, bounds=BOUNDS, sizes=(n, n), epsilon=epsilon
        )
        assert test.pvalue is not None
        hits += test.pvalue <= 0.05
    return hits / ROUNDS


@chance(1e-7)
def test_power_of_means_is_that_of_drawn_studies() -> None:
    planned = trials.power(
        "mean_difference", effect=0.5, n=100, bounds=BOUNDS, epsilon=1
    )
    assert 0.35 < planned < 0.55
    # 150 studies stray by 0.24, and plans by 0.05
    assert found(100, 0.5, 1) == pytest.approx(planned, abs=0.3)


@chance(1e-7)
def test_power_of_a_slope_is_that_of_drawn_studies() -> None:
    planned = trials.power(
        "linregress", slope=0.3, n=200, x_bounds=(-1, 1), y_bounds=(-1, 1),
        x_sd=3**-0.5, sd=0.2, epsilon=1,
    )  # fmt: skip
    hits = 0
    for _ in range(ROUNDS):
        x = RNG.uniform(-1, 1, 200)
        y = 0.3 * x + RNG.normal(0, 0.2, 200)
        test = trials.linregress(
            x, y, x_bounds=(-1, 1), y_bounds=(-1, 1), n=200, epsilon=1
        )
        assert test.pvalue is not None
        hits += test.pvalue <= 0.05
    assert hits / ROUNDS == pytest.approx(planned, abs=0.3)


@chance(1e-9)
def test_power_of_medians_is_about_that_of_drawn_studies() -> None:
    planned = trials.power(
        "median_difference", effect=1, n=200, bounds=BOUNDS, epsilon=1
    )
    hits = 0
    for _ in range(ROUNDS):
        x, y = RNG.normal(1, 1, 200), RNG.normal(0, 1, 200)
        low, high = trials.median_difference(
            x, y, bounds=BOUNDS, sizes=(200, 200), epsilon=1
        ).confidence_interval()
        hits += not low <= 0 <= high
    assert hits / ROUNDS == pytest.approx(planned, abs=0.35)


@chance(1e-9)
def test_power_of_a_shift_is_about_that_of_drawn_studies() -> None:
    planned = trials.power(
        "location_shift", effect=0.7, n=200, within=BOUNDS, epsilon=1
    )
    hits = 0
    for _ in range(ROUNDS):
        x, y = RNG.normal(0.7, 1, 200), RNG.normal(0, 1, 200)
        low, high = trials.location_shift(
            x, y, within=BOUNDS, sizes=(200, 200), epsilon=1
        ).confidence_interval()
        hits += not low <= 0 <= high
    assert hits / ROUNDS == pytest.approx(planned, abs=0.35)
    few = trials.power("location_shift", effect=0.7, n=9, within=BOUNDS, epsilon=0.1)
    assert few == 0


@pytest.mark.parametrize("test", ["mean_difference", "median_difference"])
def test_more_people_and_more_budget_find_more(test: str) -> None:
    powers = [
        trials.power(test, effect=0.5, n=n, bounds=BOUNDS, epsilon=epsilon)
        for n, epsilon in [(50, 0.1), (200, 0.5), (800, 1), (800, 5)]
    ]
    assert powers == sorted(powers)
    assert powers[-1] > 0.8
    people = trials.sample_size(test, effect=0.5, bounds=BOUNDS, epsilon=1)
    reached = trials.power(test, effect=0.5, n=people, bounds=BOUNDS, epsilon=1)
    assert reached >= 0.8


def test_no_effect_is_found_as_often_as_alpha() -> None:
    for side in ("two-sided", "less", "greater"):
        found = trials.power(
            "mean_difference", effect=0, n=200, bounds=BOUNDS, rho=0.1, alternative=side
        )
        assert found <= 0.05


@pytest.mark.parametrize(
    "words",
    [
        {"n": 10, "sizes": (10, 10)},
        {"effect": "large"},
        {"alpha": 1.5},
        {"bounds": (5, -5)},
        {"sd": 0},
        {"epsilon": -1},
        {"dose": 3},
    ],
)
def test_bad_plans_are_refused(words: dict[str, Any]) -> None:
    asked = {"effect": 0.5, "n": 100, "bounds": BOUNDS, "epsilon": 1} | words
    with pytest.raises(ArgumentError):
        trials.power("mean_difference", **asked)


@pytest.mark.parametrize("test", ["mean_difference", "median_difference"])
def test_private_arms_have_less_power(test):
    people = 200 if test == "mean_difference" else 800
    told = {"effect": 0.5, "n": people, "bounds": (-4, 4), "epsilon": 1}
    public = trials.power(test, **told)
    private = trials.power(test, **told, arms="private")
    assert private < public - 0.1
    with pytest.raises(ArgumentError, match="arms"):
        trials.power(test, **told, arms="both")


def test_means_of_a_table_have_the_power_of_private_arms():
    """The noise is that of a question about a dataset."""
    told = {"effect": 0.5, "n": 200, "bounds": (-4, 4), "arms": "private"}
    half = trials.power("mean_difference", **told, epsilon=2)
    assert half == pytest.approx(
        trials.power("mean_difference", **(told | {"arms": "public"}), epsilon=1)
    )
