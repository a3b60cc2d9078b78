"""Power from public numbers, beside what simulated studies find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.mechanisms import Laplace
from dither.science import trials
from dither.science.trials.arms import Known
from dither.science.trials.compared import Compared
from dither.science.trials.contrasts import DIFFERENCE
from dither.science.trials.null import Law
from dither.science.trials.proportions import Fixed
from dither.science.trials.squares import Independence, pvalue
from dither.science.trials.tulap import Tulap
from tests.chance import chance

NEAR = 0.2
"""The share that rejects of 100 studies from a seed may be so far off."""


def noise(source: Any, law: Law, shape: Any) -> Any:
    stop = 1 - np.exp(-1 / law.scale)
    return source.geometric(stop, shape) - source.geometric(stop, shape)


@pytest.mark.parametrize("side", ["two-sided", "greater"])
def test_the_power_of_a_proportion_is_exact(side: str) -> None:
    source = np.random.default_rng(1)  # allowed: test inputs, not noise
    law = Law.of(Laplace(sensitivity=1, epsilon=1))
    noisy = source.binomial(60, 0.65, 100) + noise(source, law, 100)
    noisy = noisy + source.random(100) - 0.5
    evidence = [Fixed(float(one), 60, Tulap(law)) for one in noisy]
    found = np.mean([one.pvalue(0.5, side) <= 0.05 for one in evidence])
    power = trials.power(
        "binomtest", n=60, proportion=0.65, alternative=side, epsilon=1
    )
    assert power == pytest.approx(found, abs=NEAR)
    level = trials.power("binomtest", n=60, proportion=0.5, alternative=side, epsilon=1)
    assert level == pytest.approx(0.05, rel=1e-6)


def test_the_power_of_two_arms_is_about_right() -> None:
    source = np.random.default_rng(2)  # allowed: test inputs, not noise
    law = Law.of(Laplace(sensitivity=1, epsilon=1))
    counts = source.binomial(80, [0.6, 0.4], (40, 2)) + noise(source, law, (40, 2))
    compared = (
        Compared((Known(int(x), 80, law), Known(int(y), 80, law))) for x, y in counts
    )
    found = np.mean(
        [one.pvalue(DIFFERENCE, 0, "two-sided") <= 0.05 for one in compared]
    )
    power = trials.power("risk_difference", n=80, proportions=(0.6, 0.4), epsilon=1)
    assert power == pytest.approx(found, abs=0.4)
    assert trials.power("odds_ratio", n=80, proportions=(0.6, 0.4), epsilon=1) == power


@chance(1e-9)
@pytest.mark.parametrize("public", [False, True])
def test_the_power_of_a_table_is_about_right(public: bool) -> None:
    source = np.random.default_rng(3)  # allowed: test inputs, not noise
    cells = np.array([[0.3, 0.2], [0.2, 0.3]])
    law = Law.of(Laplace(sensitivity=1 if public else 2, epsilon=1))
    found = 0
    for _ in range(50):
        if public:
            first = source.binomial(75, cells[:, 0] * 2) + noise(source, law, 2)
            table = np.stack([first, 75 - first], axis=1).astype(float)
            squares = Independence(law, 2 * law.variance, (75, 75))
        else:
            table = source.multinomial(150, cells.ravel()).reshape(2, 2)
            table = (table + noise(source, law, (2, 2))).astype(float)
            squares = Independence(law, law.variance)
        seen = float(squares.statistics(table))
        found += pvalue(squares, table, seen) <= 0.05
    power = trials.power(
        "chi2_contingency", n=150, table=cells, public_rows=public, epsilon=1
    )
    assert power == pytest.approx(found / 50, abs=0.38)


@chance(1e-9)
def test_the_power_of_a_test_of_tests_is_about_right() -> None:
    source = np.random.default_rng(4)  # allowed: test inputs, not noise
    arm = np.repeat([0, 1], 200)
    found = 0
    for _ in range(60):
        values = source.normal(0, 1, 400) + 0.5 * arm
        test = trials.test_of_tests(
            "ttest_ind", values, arm=arm, arms=(0, 1), epsilon=1.0, n=400
        )
        found += test.pvalue <= 0.05
    power = trials.power("test_of_tests", n=200, effect=0.5, epsilon=1)
    assert power == pytest.approx(found / 60, abs=0.4)


def test_more_people_and_more_budget_find_more() -> None:
    few = trials.power("odds_ratio", n=50, proportions=(0.5, 0.3), epsilon=0.3)
    many = trials.power("odds_ratio", n=200, proportions=(0.5, 0.3), epsilon=1)
    dear = trials.power("odds_ratio", n=50, proportions=(0.5, 0.3), epsilon=3)
    assert few < dear < many
    smooth = trials.power("odds_ratio", n=50, proportions=(0.5, 0.3), rho=50)
    assert smooth == pytest.approx(dear, abs=0.1)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 10.0])
def test_without_an_effect_power_is_the_level(epsilon: float) -> None:
    even = [[0.25, 0.25], [0.25, 0.25]]
    public: dict[str, dict[str, Any]] = {
        "odds_ratio": {"proportions": (0.3, 0.3)},
        "binomtest": {"proportion": 0.5},
        "chi2_contingency": {"table": even},
        "test_of_tests": {"effect": 0.0, "groups": 5},
    }
    for test, more in public.items():
        assert trials.power(test, n=50, epsilon=epsilon, **more) <= 0.06
    low = trials.power("odds_ratio", n=50, proportions=(0.3, 0.5), epsilon=epsilon)
    sure = trials.power("odds_ratio", n=50, proportions=(0.3, 0.5), epsilon=20)
    assert low <= sure + 0.01


def test_sample_sizes() -> None:
    n = trials.sample_size("odds_ratio", proportions=(0.5, 0.3), epsilon=1)
    assert trials.power("odds_ratio", n=n, proportions=(0.5, 0.3), epsilon=1) >= 0.8
    assert 90 < n < 140
    n = trials.sample_size(
        "binomtest", proportion=0.7, alternative="greater", epsilon=1
    )
    assert 35 < n < 60


@pytest.mark.parametrize(
    ("test", "public", "argument"),
    [
        ("binomtest", {"proportion": 1.5, "epsilon": 1}, "proportion"),
        ("binomtest", {"proportion": 0.5}, "epsilon"),
        ("binomtest", {"proportion": 0.5, "epsilon": 1, "rho": 1}, "epsilon"),
        ("binomtest", {"proportion": 0.5, "epsilon": 1, "alpha": 2}, "alpha"),
        ("binomtest", {"epsilon": 1}, "power"),
        ("odds_ratio", {"proportions": 0.5, "epsilon": 1}, "proportions"),
        ("odds_ratio", {"proportions": (0.5, 2), "epsilon": 1}, "proportions"),
        ("chi2_contingency", {"table": [[1, 2]], "epsilon": 1}, "table"),
        ("chi2_contingency", {"table": [[1, -2], [1, 1]], "epsilon": 1}, "table"),
        ("chi2_contingency", {"table": "ab", "epsilon": 1}, "table"),
        ("chi2_contingency", {"table": [[0, 0], [0, 0]], "epsilon": 1}, "table"),
        ("test_of_tests", {"effect": float("nan"), "epsilon": 1}, "effect"),
        ("test_of_tests", {"effect": 1, "groups": 0, "epsilon": 1}, "groups"),
    ],
)
def test_plans_that_make_no_sense(test: str, public: Any, argument: str) -> None:
    with pytest.raises(ArgumentError) as problem:
        trials.power(test, n=100, **public)
    assert problem.value.argument == argument
