"""The signed-rank test as one calls it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.science import trials
from dither.science.trials.signed_rank import of_two
from tests.chance import at_most, chance
from tests.science.trials.laws import quiet

NAN = float("nan")
REPLACE = Unit("patient", "replace")  # type: ignore[arg-type]
COMES = Unit("patient")


def pairs(seed: int = 1, size: int = 40) -> Any:
    source = np.random.default_rng(seed)  # allowed: test inputs, not noise
    return source.normal(0.4, 1, size), source.normal(0, 1, size)


@pytest.mark.parametrize("digits", [0, 9])
@pytest.mark.parametrize("cost", [{"epsilon": 1.0}, {"rho": 0.5}])
def test_without_noise_it_is_scipys_statistic(
    monkeypatch: pytest.MonkeyPatch, digits: int, cost: Any
) -> None:
    quiet(monkeypatch)
    x, y = (np.round(one, digits) for one in pairs())
    found = trials.wilcoxon(x, y, size=40, **cost)
    up, down = (
        stats.wilcoxon(one, zero_method="pratt", alternative="greater").statistic
        for one in (x - y, y - x)
    )
    assert found.statistic == pytest.approx(up - down, abs=1e-12)
    assert trials.wilcoxon(x - y, size=40, **cost).statistic == found.statistic
    assert found.above == pytest.approx((1 + (up - down) / 820) / 2)
    low, high = found.interval()
    assert -820 <= low < found.statistic < high <= 820
    low, high = found.confidence_interval()
    assert 0 < low < found.above < high < 1


def test_missing_differences_count_as_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    known = trials.wilcoxon([1.0, -2.0, 3.0, 0.0], size=4, epsilon=1.0)
    for d in ([1.0, -2.0, 3.0, NAN], [1.0, -2.0, 3.0], ["x", 1, -2, 3]):
        assert trials.wilcoxon(d, size=4, epsilon=1.0).statistic == known.statistic
    x, y = [2.0, np.inf, 1.0], [1.0, np.inf, None]
    assert trials.wilcoxon(x, y, size=3, epsilon=1.0).statistic == 3


@pytest.mark.parametrize("unit", [REPLACE, COMES])
def test_without_a_size(monkeypatch: pytest.MonkeyPatch, unit: Unit) -> None:
    quiet(monkeypatch)
    d = np.append(pairs()[0], [NAN, NAN])
    budget = Budget(epsilon=3.0, unit=unit)
    found = trials.wilcoxon(d, epsilon=1.0, budget=budget)
    public = trials.wilcoxon(d[:40], size=40, epsilon=1.0)
    assert found.statistic == public.statistic
    assert found.above == pytest.approx(public.above)
    assert found.size == 40
    low, high = found.interval(0.999)
    assert low < found.statistic < high
    low, high = found.confidence_interval()
    assert low < public.confidence_interval().low < found.above < high
    assert found.pvalue >= public.pvalue / 2
    assert budget.charges == 1
    assert budget.spent == pytest.approx(1 / 3)
    assert "about 40 differences, by a noisy count" in str(found)


def test_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    d = pairs()[0] + 1
    p = {
        side: trials.wilcoxon(d, size=40, alternative=side, epsilon=1.0).pvalue
        for side in ("two-sided", "greater", "less")
    }
    assert p["greater"] < 0.05
    assert p["less"] > 0.95
    assert p["two-sided"] == pytest.approx(2 * p["greater"])


@pytest.mark.parametrize(
    "d", [[], [NAN], [0.0] * 9, [1.0] * 500, [np.inf, -np.inf], ["?", 10**400, None]]
)
@pytest.mark.parametrize("size", [1, 2, 9, None])
def test_odd_data_is_answered_as_any_other(d: Any, size: Any) -> None:
    found = trials.wilcoxon(d, size=size, epsilon=0.1)
    assert 0 < found.pvalue <= 1
    low, high = found.confidence_interval()
    assert 0 <= low <= high <= 1
    assert "signed-rank sum" in str(found)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"size": 0}, "size"),
        ({"size": 2.5}, "size"),
        ({"y": [1.0, 2.0]}, "columns"),
        ({"alternative": "both"}, "alternative"),
        ({"epsilon": -1}, "epsilon"),
        ({"x": "pain"}, "x"),
        ({"provenance": 3}, "provenance"),
        ({"size": None, "provenance": "the protocol"}, "provenance"),
        ({"size": None, "epsilon": 1e-9}, "epsilon"),
    ],
)
def test_bad_questions_cost_nothing(words: Any, named: str) -> None:
    budget = Budget(epsilon=1.0, unit=REPLACE)
    asked = {"x": [1.0], "y": None, "size": 1, "epsilon": 1.0} | words
    x, y = asked.pop("x"), asked.pop("y")
    with pytest.raises(ArgumentError, match=named):
        trials.wilcoxon(x, y, **asked, budget=budget)
    assert budget.charges == 0


def test_people_who_come_and_go_have_no_public_number() -> None:
    with pytest.raises(UnitMismatch, match="leave size out"):
        trials.wilcoxon([1.0], size=1, epsilon=1.0, budget=Budget(epsilon=1.0))


def test_pairs_of_a_person_with_themselves_are_allowed_for() -> None:
    """Differences with few values: for each law, the share of all pairs that is
    expected leads to ends that hold the share of pairs of two people.
    """
    source = np.random.default_rng(2)  # allowed: test inputs, not noise
    values = np.array([-3.0, -1.0, 0.0, 2.0, 5.0])
    signs = np.sign(values[:, None] + values)
    for n in (2, 3, 10):
        for chances in source.dirichlet([0.3] * 5, 200):
            two = chances @ signs @ chances
            alone = chances @ np.sign(values)
            share = (1 + ((n - 1) * two + 2 * alone) / (n + 1)) / 2
            assert of_two(share, n) <= (1 + two) / 2 + 1e-12
            assert 1 - of_two(1 - share, n) >= (1 + two) / 2 - 1e-12


@chance(1e-7)
@pytest.mark.parametrize("size", [60, None])
def test_power_is_what_simulations_find(size: Any) -> None:
    source = np.random.default_rng(8)  # allowed: test inputs, not noise
    found = [
        trials.wilcoxon(d, size=size, epsilon=1.0).pvalue <= 0.05
        for d in source.normal(0.4, 1, (500, 60))
    ]
    planned = trials.power(
        "wilcoxon", effect=0.4, n=60, epsilon=1.0, private_sizes=size is None
    )
    assert np.mean(found) == pytest.approx(planned, abs=0.02 + 5.5 * 0.0224)


def test_power_that_is_planned() -> None:
    assert trials.power("wilcoxon", effect=0, n=60, rho=0.5) == pytest.approx(
        0.05, abs=0.002
    )
    assert 40 < trials.sample_size("wilcoxon", effect=0.5, epsilon=1.0) < 70
    with pytest.raises(ArgumentError, match="n"):
        trials.power("wilcoxon", effect=0.4, n=0, epsilon=1.0)


@chance(1e-8)
def test_false_alarms_are_rare() -> None:
    """Differences with few values, a tenth missing."""
    source = np.random.default_rng(9)  # allowed: test inputs, not noise
    d = source.integers(-2, 3, (800, 50)).astype(float)
    d[source.random(d.shape) < 0.1] = NAN
    found = [trials.wilcoxon(one, size=50, epsilon=3.0).pvalue <= 0.05 for one in d]
    assert sum(found) <= at_most(800, 0.05, 1e-8)


def test_declared_people_take_no_memory() -> None:
    found = trials.wilcoxon([1.0, -2.0], size=1 << 31, epsilon=1.0)
    assert 0 < found.pvalue <= 1
