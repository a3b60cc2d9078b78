"""Odds ratios and risk differences as one calls them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.science import trials
from tests.science.trials.laws import quiet

REPLACE = Unit("person", "replace")  # type: ignore[arg-type]
COMES = Unit("person")
ARMS = ("drug", "placebo")


def study() -> tuple[Any, Any]:
    arm = np.repeat(ARMS, (60, 50))
    cured = np.concatenate([np.arange(60) < 36, np.arange(50) < 20])
    return cured, arm


@pytest.mark.parametrize("cost", [{"epsilon": 1.0}, {"rho": 0.5}])
@pytest.mark.parametrize("sizes", [None, (60, 50)])
def test_without_noise_it_is_scipys(
    monkeypatch: pytest.MonkeyPatch, sizes: Any, cost: Any
) -> None:
    quiet(monkeypatch)
    cured, arm = study()
    found = trials.odds_ratio(cured, arm, arms=ARMS, sizes=sizes, **cost)
    wanted = stats.contingency.odds_ratio([[36, 24], [20, 30]], kind="sample")
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-12)
    if sizes is not None:
        low, high = found.confidence_interval()
        ends = wanted.confidence_interval()
        assert low < ends.low + 0.1
        assert high > ends.high - 0.1
    low, high = found.interval()
    assert low < wanted.statistic < high
    apart = trials.risk_difference(cured, arm, arms=ARMS, sizes=sizes, **cost)
    assert apart.statistic == pytest.approx(36 / 60 - 20 / 50, abs=1e-12)
    assert found.risk_difference().value == apart.value
    assert found.risk_difference().pvalue == pytest.approx(apart.pvalue)
    assert found.risk_ratio().value == pytest.approx(1.5)
    assert found.proportion("drug").value == pytest.approx(0.6)
    assert found.table.columns == ("arm", "outcome", "count")
    counts = [count for _, _, count in found.table.rows]
    assert counts == [36, 24, 20, 30]


def test_missing_outcomes_are_no_successes(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    cured = [1, None, float("nan"), "1", "x", 0, 1]
    arm = ["drug", "drug", "drug", "placebo", "placebo", "other", None]
    free = trials.odds_ratio(cured, arm, arms=ARMS, epsilon=1.0)
    assert [count for _, _, count in free.table.rows] == [1, 2, 1, 1]
    sized = trials.odds_ratio(cured, arm, arms=ARMS, sizes=(4, 3), epsilon=1.0)
    assert [count for _, _, count in sized.table.rows] == [1, 3, 1, 2]


@pytest.mark.parametrize(
    ("unit", "sizes", "moved"),
    [(REPLACE, (60, 50), 1), (REPLACE, None, 2), (COMES, None, 1)],
)
def test_which_noise_is_used(unit: Unit, sizes: Any, moved: int) -> None:
    cured, arm = study()
    budget = Budget(epsilon=2.0, unit=unit)
    found = trials.odds_ratio(
        cured, arm, arms=ARMS, sizes=sizes, epsilon=1.0, budget=budget
    )
    assert found.counted is not None
    assert found.counted.mechanism.sensitivity == moved
    assert budget.spent == pytest.approx(0.5)


@pytest.mark.parametrize("sizes", [None, (5, 4)])
def test_empty_and_constant_arms(sizes: Any) -> None:
    for cured, arm in (([], []), ([1] * 9, ["drug"] * 9), ([0], ["z"])):
        found = trials.odds_ratio(cured, arm, arms=ARMS, sizes=sizes, epsilon=0.5)
        assert 0 < found.pvalue <= 1
        low, high = found.confidence_interval()
        assert 0 <= low <= high <= math.inf
        low, high = found.interval()
        assert 0 <= low <= high <= math.inf
        assert str(found)


@pytest.mark.parametrize("sizes", [None, (60, 50)])
def test_next_to_no_budget(sizes: Any) -> None:
    cured, arm = study()
    found = trials.odds_ratio(cured, arm, arms=ARMS, sizes=sizes, epsilon=1e-7)
    low, high = found.confidence_interval()
    assert 0 <= low <= high
    assert trials.binomtest(cured, epsilon=1e-7).pvalue > 0
    table = (arm, cured)
    levels = (ARMS, (1, 0))
    found = trials.chi2_contingency(*table, levels=levels, sizes=sizes, epsilon=1e-7)
    assert 0 < found.pvalue <= 1


def test_words_and_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    cured, arm = study()
    words = np.where(cured, "well", "ill")
    p = {
        side: trials.odds_ratio(
            words,
            arm,
            arms=ARMS,
            sizes=(60, 50),
            success="well",
            alternative=side,
            epsilon=3.0,
        ).pvalue
        for side in ("two-sided", "greater", "less")
    }
    assert p["greater"] < 0.05
    assert p["less"] > 0.9
    assert p["two-sided"] == pytest.approx(2 * p["greater"])
    turned = trials.odds_ratio(
        words, arm, arms=ARMS[::-1], sizes=(50, 60), success="well", epsilon=3.0
    )
    assert turned.statistic == pytest.approx(20 * 24 / (30 * 36))
    assert turned.pvalue == pytest.approx(p["two-sided"], rel=0.1)


@pytest.mark.parametrize(
    ("more", "argument"),
    [
        ({"arms": ("drug",)}, "arms"),
        ({"arms": ("drug", "placebo", "none")}, "arms"),
        ({"arms": ("drug", "drug")}, "arms"),
        ({"arms": "ab"}, "arms"),
        ({"sizes": (60,)}, "sizes"),
        ({"sizes": (60, -1)}, "sizes"),
        ({"sizes": 110}, "sizes"),
        ({"success": None}, "success"),
        ({"alternative": None}, "alternative"),
        ({"rho": 1.0}, "epsilon"),
    ],
)
def test_questions_that_are_refused_cost_nothing(more: Any, argument: str) -> None:
    cured, arm = study()
    budget = Budget(epsilon=1.0, unit=REPLACE)
    asked = {"arms": ARMS, "epsilon": 0.5, "budget": budget} | more
    for function in (trials.odds_ratio, trials.risk_difference):
        with pytest.raises(ArgumentError) as problem:
            function(cured, arm, **asked)
        assert problem.value.argument == argument
    assert budget.spent == 0


def test_public_sizes_need_replacement() -> None:
    cured, arm = study()
    budget = Budget(epsilon=1.0, unit=COMES)
    with pytest.raises(UnitMismatch, match="leave sizes out"):
        trials.odds_ratio(
            cured, arm, arms=ARMS, sizes=(60, 50), epsilon=0.5, budget=budget
        )
