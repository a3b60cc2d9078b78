"""The Mann–Whitney test as one calls it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dither import ArgumentError, Budget, BudgetExceeded, Unit, UnitMismatch
from dither.science import trials
from tests.chance import at_most, chance
from tests.science.trials.laws import quiet

NAN = float("nan")
REPLACE = Unit("patient", "replace")  # type: ignore[arg-type]
COMES = Unit("patient")


def arms(seed: int = 1, shift: float = 0.4, sizes: tuple[int, int] = (30, 45)) -> Any:
    source = np.random.default_rng(seed)  # allowed: test inputs, not noise
    return source.normal(shift, 1, sizes[0]), source.normal(0, 1, sizes[1])


@pytest.mark.parametrize("digits", [0, 9])
@pytest.mark.parametrize("cost", [{"epsilon": 1.0}, {"rho": 0.5}])
def test_without_noise_it_is_scipys_statistic(
    monkeypatch: pytest.MonkeyPatch, digits: int, cost: Any
) -> None:
    quiet(monkeypatch)
    x, y = (np.round(arm, digits) for arm in arms())
    found = trials.mannwhitneyu(x, y, sizes=(30, 45), **cost)
    wanted = stats.mannwhitneyu(x, y)
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-12)
    assert found.superiority == pytest.approx(wanted.statistic / 1350, abs=1e-12)
    low, high = found.interval()
    assert 0 <= low <= wanted.statistic <= high <= 1350
    assert found.pvalue >= wanted.pvalue
    low, high = found.confidence_interval()
    assert low < found.superiority < high


@pytest.mark.parametrize("unit", [REPLACE, COMES])
def test_without_sizes_it_is_less_its_mean(
    monkeypatch: pytest.MonkeyPatch, unit: Unit
) -> None:
    quiet(monkeypatch)
    x, y = arms()
    budget = Budget(epsilon=3.0, unit=unit)
    found = trials.mannwhitneyu(x, y, epsilon=1.0, budget=budget)
    wanted = stats.mannwhitneyu(x, y).statistic
    assert found.statistic == pytest.approx(wanted - 675, abs=1e-12)
    assert found.superiority == pytest.approx(wanted / 1350, abs=1e-12)
    assert found.sizes == (30, 45)
    low, high = found.interval(0.999)
    assert low < found.statistic < high
    assert budget.spent == pytest.approx(1 / 3)
    assert "30 and 45 outcomes, by noisy counts" in str(found)


def test_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    x, y = arms(shift=1.0)
    p = {
        side: trials.mannwhitneyu(
            x, y, sizes=(30, 45), alternative=side, epsilon=1.0
        ).pvalue
        for side in ("two-sided", "greater", "less")
    }
    assert p["greater"] < 0.05
    assert p["less"] > 0.95
    assert p["two-sided"] == pytest.approx(2 * p["greater"])


def test_what_is_printed() -> None:
    x, y = arms()
    found = trials.mannwhitneyu(
        x, y, sizes=(30, 45), epsilon=1.0, provenance="the protocol"
    )
    assert "arms of 30 and 45 people: declared, from the protocol" in str(found)
    assert "probability of superiority" in str(found)
    assert "two-sided" in str(found)
    assert (found + 1).interval()[0] == found.interval()[0] + 1
    assert not hasattr(found + 1, "pvalue")


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([], []),
        ([NAN, NAN], [None]),
        ([1.0] * 40, [1.0] * 40),
        ([np.inf, -np.inf], [np.inf]),
        ([1], list(range(500))),
        (["?", 10**400], [object()]),
        (np.ma.masked_array([1, 2], [True, False]), [2]),
    ],
)
@pytest.mark.parametrize("sizes", [(5, 7), (1, 1), None])
def test_odd_data_is_answered_as_any_other(x: Any, y: Any, sizes: Any) -> None:
    found = trials.mannwhitneyu(x, y, sizes=sizes, epsilon=0.1)
    assert 0 < found.pvalue <= 1
    assert found.interval()[0] <= found.interval()[1]
    low, high = found.confidence_interval()
    assert 0 <= low <= high <= 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"sizes": (0, 3)}, "sizes"),
        ({"sizes": (3,)}, "sizes"),
        ({"sizes": 3}, "sizes"),
        ({"alternative": "both"}, "alternative"),
        ({"provenance": ""}, "provenance"),
        ({"sizes": None, "provenance": "the protocol"}, "provenance"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": 1e-30}, "epsilon"),
        ({"sizes": None, "epsilon": 1e-9}, "epsilon"),
        ({"x": "pain"}, "x"),
        ({"y": 3}, "y"),
    ],
)
def test_bad_questions_cost_nothing(words: Any, named: str) -> None:
    budget = Budget(epsilon=1.0, unit=REPLACE)
    asked = {"x": [1.0], "y": [2.0], "sizes": (1, 1), "epsilon": 1.0} | words
    with pytest.raises(ArgumentError, match=named):
        trials.mannwhitneyu(**asked, budget=budget)
    assert budget.charges == 0


def test_sizes_need_an_account_of_people_who_are_replaced() -> None:
    budget = Budget(epsilon=1.0, unit=COMES)
    with pytest.raises(UnitMismatch, match="leave sizes out"):
        trials.mannwhitneyu([1], [2], sizes=(1, 1), epsilon=0.5, budget=budget)
    assert budget.charges == 0


def test_a_share_of_a_budget_that_ends() -> None:
    budget = Budget(epsilon=1.0, unit=REPLACE)
    x, y = arms()
    for _ in range(2):
        trials.mannwhitneyu(x, y, sizes=(30, 45), share=0.5, budget=budget)
    with pytest.raises(BudgetExceeded):
        trials.mannwhitneyu(x, y, share=0.5, budget=budget)


@chance(1e-7)
@pytest.mark.parametrize("private", [False, True])
def test_power_is_what_simulations_find(private: bool) -> None:
    source = np.random.default_rng(8)  # allowed: test inputs, not noise
    sizes = None if private else (40, 60)
    found = [
        trials.mannwhitneyu(
            source.normal(0.6, 1, 40), source.normal(0, 1, 60), sizes=sizes, rho=0.5
        ).pvalue
        <= 0.05
        for _ in range(500)
    ]
    planned = trials.power(
        "mannwhitneyu", effect=0.6, sizes=(40, 60), rho=0.5, private_sizes=private
    )
    assert np.mean(found) == pytest.approx(planned, abs=0.015 + 5.5 * 0.0224)


def test_power_of_the_published_setting() -> None:
    for n, least in ((50, 0.57), (100, 0.88), (200, 0.99)):
        assert trials.power("mannwhitneyu", effect=0.5, n=n, epsilon=1) >= least
    assert trials.power("mannwhitneyu", effect=0, n=50, epsilon=1) <= 0.051
    one = trials.power(
        "mannwhitneyu", effect=0.5, n=50, epsilon=1, alternative="greater"
    )
    assert one > trials.power("mannwhitneyu", effect=0.5, n=50, epsilon=1)
    less = trials.power("mannwhitneyu", effect=0.5, n=50, epsilon=1, alternative="less")
    assert less < 0.01
    assert 70 < trials.sample_size("mannwhitneyu", effect=0.5, epsilon=1) < 85
    few = trials.power("mannwhitneyu", effect=0.5, n=50, epsilon=1, private_sizes=True)
    more = trials.power(
        "mannwhitneyu", effect=0.5, n=50, epsilon=1, relation="add/remove"
    )
    assert few < more < 0.57


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({}, "n"),
        ({"n": 5, "sizes": (5, 5)}, "n"),
        ({"n": 0}, "n"),
        ({"n": 5, "effect": NAN}, "effect"),
        ({"n": 5, "alpha": 1.0}, "alpha"),
        ({"n": 5, "relation": "both"}, "relation"),
        ({"n": 5, "epsilon": None}, "epsilon"),
        ({"n": 5, "size": 5}, "power"),
    ],
)
def test_bad_plans_are_refused(words: Any, named: str) -> None:
    with pytest.raises(ArgumentError, match=named):
        trials.power("mannwhitneyu", **({"effect": 0.5, "epsilon": 1.0} | words))


@chance(1e-8)
@pytest.mark.parametrize("sizes", [(50, 50), None])
def test_false_alarms_are_rare(sizes: Any) -> None:
    """Outcomes with three values, a tenth missing."""
    source = np.random.default_rng(9)  # allowed: test inputs, not noise
    outcomes = source.integers(0, 3, (500, 2, 50)).astype(float)
    outcomes[source.random(outcomes.shape) < 0.1] = NAN
    found = [
        trials.mannwhitneyu(x, y, sizes=sizes, epsilon=3.0).pvalue <= 0.05
        for x, y in outcomes
    ]
    assert sum(found) <= at_most(500, 0.05, 1e-8)


def test_declared_people_take_no_memory() -> None:
    found = trials.mannwhitneyu([1.0], [2.0], sizes=(1 << 31, 1 << 30), epsilon=1.0)
    assert 0 < found.pvalue <= 1
