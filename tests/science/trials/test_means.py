"""Means and their difference: exact without noise, valid with it, and calm whatever the
data holds.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import ArgumentError, Budget, Unit
from dither.mechanisms import Laplace
from dither.science.trials.means import mean, mean_difference
from tests.chance import at_least, chance

PATIENT = Unit("patient", "replace")
RNG = np.random.default_rng(11)
BOUNDS = (-8.0, 8.0)


def grid(values: Any) -> np.ndarray:
    """Values on the steps that outcomes are counted in."""
    return np.round(np.asarray(values) * 1024) / 1024


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: Laplace, scale: float, size: Any) -> Any:  # noqa: ARG001
        return np.zeros(size, np.int64)

    monkeypatch.setattr(Laplace, "_draw", none)


@pytest.mark.usefixtures("silent")
def test_without_noise_it_is_the_difference_of_means() -> None:
    x, y = grid(RNG.normal(1, 1, 60)), grid(RNG.normal(0, 2, 40))
    x[:5] = np.nan
    found = mean_difference(x, y, bounds=BOUNDS, sizes=(60, 40), epsilon=1)
    assert found.statistic == pytest.approx(np.nanmean(x) - y.mean(), rel=1e-12)
    filled = mean_difference(
        x, y, bounds=BOUNDS, sizes=(60, 40), missing="middle", epsilon=1
    )
    wanted = np.nan_to_num(x).mean() - y.mean()
    assert filled.statistic == pytest.approx(wanted, rel=1e-12)
    one = mean(x, bounds=BOUNDS, size=60, epsilon=1)
    assert one.value == pytest.approx(np.nanmean(x), rel=1e-12)


@pytest.mark.usefixtures("silent")
def test_without_noise_and_with_much_budget_it_is_welch() -> None:
    scipy_stats = pytest.importorskip("scipy.stats")
    x, y = grid(RNG.normal(0.1, 1, 4000)), grid(RNG.normal(0, 2, 4000))
    found = mean_difference(
        x, y, bounds=BOUNDS, sizes=(4000, 4000), missing="middle", epsilon=1e4
    )
    welch = scipy_stats.ttest_ind(x, y, equal_var=False)
    assert found.pvalue == pytest.approx(welch.pvalue, rel=0.05)
    ends = welch.confidence_interval()
    assert tuple(found.confidence_interval()) == pytest.approx(tuple(ends), abs=0.002)


@chance(2e-9)
def test_intervals_cover_and_tests_keep_their_level() -> None:
    rounds, covered, here = 150, 0, 0
    for _ in range(rounds):
        x, y = RNG.normal(1, 1, 50), RNG.normal(0, 1, 50)
        x[RNG.random(50) < 0.1] = np.nan
        found = mean_difference(x, y, bounds=BOUNDS, sizes=(50, 50), epsilon=1)
        law = found.population.law_of(found.population.sampling)
        covered += law.outside(abs(found.value - 1) / 8) >= 0.05
        low, high = found.interval()
        here += low <= np.nanmean(np.clip(x, -8, 8)) - y.mean() <= high
    assert covered >= at_least(rounds, 0.95, 1e-9)
    assert here >= at_least(rounds, 0.95, 1e-9)


@chance(1e-9)
def test_few_of_many_with_an_outcome_near_a_bound() -> None:
    here, rounds = 0, 400
    for _ in range(rounds):
        x = np.where(RNG.random(100) < 0.95, np.nan, 8.0)
        found = mean(x, bounds=BOUNDS, size=100, epsilon=1)
        law = found.population.law_of(0.0)
        here += law.outside(abs(found.value - 8) / 8) >= 0.05
    assert here >= at_least(rounds, 0.95, 1e-9)


@pytest.mark.parametrize("missing", ["omit", "middle"])
def test_a_declared_size_takes_no_memory(missing: str) -> None:
    most = 2**31
    found = mean([1.0] * 10, bounds=BOUNDS, size=most, missing=missing, epsilon=1)
    assert abs(found.value) <= 8


def test_small_tails_allow_for_more_noise_of_the_count() -> None:
    x = [8.0] * 5 + [None] * 95
    found = mean(x, bounds=BOUNDS, size=100, epsilon=1).population
    usual, far = found.law_of(0.0), found.law_of(0.0, 1e-6)
    assert usual.deviation <= far.deviation


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_p_values_fit_the_intervals(side: str) -> None:
    x, y = RNG.normal(0.3, 1, 100), RNG.normal(0, 1, 100)
    found = mean_difference(
        x, y, bounds=BOUNDS, sizes=(100, 100), alternative=side, epsilon=2
    )
    assert found.pvalue is not None
    if 1e-4 < found.pvalue < 0.5:
        low, high = found.confidence_interval(1 - found.pvalue)
        ends = {"two-sided": (low, high), "less": (high,), "greater": (low,)}
        assert min(map(abs, ends[side])) == pytest.approx(0, abs=0.01)


@chance(5e-8)
def test_private_sizes_where_people_come_and_go() -> None:
    budget = Budget(epsilon=3, unit=Unit("patient"))
    x, y = RNG.normal(1, 1, 3000), RNG.normal(0, 1, 2000)
    found = mean_difference(x, y, bounds=BOUNDS, epsilon=3, budget=budget)
    low, high = found.confidence_interval(1 - 1e-8)
    assert low < 1 < high < 3
    with pytest.raises(ArgumentError, match="are private"):
        mean_difference(
            x, y, bounds=BOUNDS, sizes=(3000, 2000), epsilon=1, budget=budget
        )


@chance(5e-8)
def test_a_subgroup_has_private_sizes_in_an_account_about_people_who_are_replaced() -> (
    None
):
    budget = Budget(epsilon=3, unit=PATIENT)
    x, y = RNG.normal(1, 1, 3000), RNG.normal(0, 1, 2000)
    found = mean_difference(x, y, bounds=BOUNDS, epsilon=3, budget=budget)
    low, high = found.confidence_interval(1 - 1e-8)
    assert low < 1 < high < 3
    assert budget.spent == 1


@chance(5e-8)
def test_gaussian_noise_where_rho_is_stated() -> None:
    x, y = RNG.normal(1, 1, 500), RNG.normal(0, 1, 500)
    found = mean_difference(x, y, bounds=BOUNDS, sizes=(500, 500), rho=2)
    low, high = found.confidence_interval(1 - 1e-8)
    assert low < 1 < high


def study(first: int) -> Any:
    """A table of six people whose arms are private, the first one's in two worlds."""
    rows = {"pid": range(6), "sex": ["fm"[first], *"fffmm"], "pain": [10.0] * 6}
    return dither.open(
        pd.DataFrame(rows), name="study", unit=Unit("pid", "replace"), rows=1,
        keys={"sex": ["f", "m"]}, bounds={"pain": (0, 10)}, budget=1e3,
        ledger=":memory:",
    )  # fmt: skip


def test_a_person_in_a_table_may_change_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, np.ndarray]] = []

    def noiseless(self: Laplace, value: Any) -> Any:
        seen.append((self.sensitivity, value))
        return value

    monkeypatch.setattr(Laplace, "release", noiseless)
    for first in (0, 1):
        with study(first) as data:
            data.trial(
                "mean_difference", outcome="pain", arm="sex", sizes=(9, 9), epsilon=1
            )
    (claimed, one), (_, other) = seen
    assert np.abs(one - other).sum() == claimed


ODD: list[Any] = [
    [],
    [5.0],
    [3.0] * 50,
    [None] * 50,
    ["a", "7", b"x", None, float("nan"), float("inf"), 10**400, -(10**400), object()],
    [Decimal("1.5"), True, 2, "  3 "],
    np.ma.masked_array([1.0, 2.0, 3.0], [True, False, True]),
    np.array([np.inf, -np.inf, np.nan, 1e308, -1e308]),
]


@pytest.mark.parametrize("column", ODD)
@pytest.mark.parametrize("missing", ["omit", "middle"])
def test_odd_data_gets_a_normal_answer(column: Any, missing: str) -> None:
    budget = Budget(epsilon=1, unit=PATIENT)
    found = mean_difference(
        column, [1.0] * 50, bounds=BOUNDS, sizes=(50, 50), missing=missing, epsilon=1,
        budget=budget,
    )  # fmt: skip
    low, high = found.confidence_interval()
    assert -16 <= low <= high <= 16
    assert 0 <= (found.pvalue or 0) <= 1
    assert str(found)
    assert budget.spent == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"bounds": (8, -8)}, "bounds"),
        ({"bounds": (0, float("inf"))}, "bounds"),
        ({"bounds": (1, 1)}, "bounds"),
        ({"sizes": (50,)}, "sizes"),
        ({"sizes": (0, 50)}, "sizes"),
        ({"sizes": (50.5, 50)}, "sizes"),
        ({"alternative": "both"}, "alternative"),
        ({"missing": "drop"}, "missing"),
        ({"provenance": ""}, "provenance"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_a_bad_question_is_refused_before_the_charge(
    words: dict[str, Any], problem: str
) -> None:
    budget = Budget(epsilon=1, unit=PATIENT)
    asked = {"bounds": BOUNDS, "sizes": (50, 50), "epsilon": 1, "budget": budget}
    with pytest.raises(ArgumentError, match=problem):
        mean_difference([1.0], [2.0], **(asked | words))
    assert budget.spent == 0


def test_a_derived_mean_says_how_missing_outcomes_are_treated():
    options = {"bounds": (0, 10), "sizes": (300, 300), "epsilon": 1.0}
    found = mean_difference([1.0] * 300, [2.0] * 300, missing="middle", **options)
    words = "outcomes clamped to 0 and 10, missing outcomes set to the middle of the"
    for shown in (str(found), str(found * 2), found.report().to_json()):
        assert shown.count(words) >= 1
    assert str(found).count("set to the middle") == 1
