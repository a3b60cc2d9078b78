"""The test of a proportion as one calls it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dither import ArgumentError, Budget, BudgetExceeded, Unit, UnitMismatch
from dither.science import trials
from dither.science.trials.binomial import counted
from dither.science.trials.outcomes import successes
from tests.chance import chance
from tests.science.trials.laws import quiet

REPLACE = Unit("person", "replace")  # type: ignore[arg-type]
COMES = Unit("person")
PAID: Any = None


@pytest.mark.parametrize("cost", [{"epsilon": 1.0}, {"rho": 0.5}])
def test_without_noise_it_is_scipys_statistic(
    monkeypatch: pytest.MonkeyPatch, cost: Any
) -> None:
    quiet(monkeypatch)
    outcomes = np.arange(50) < 33
    found = trials.binomtest(outcomes, n=50, p=0.5, **cost)
    wanted = stats.binomtest(33, 50, 0.5)
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-12)
    assert found.proportion_estimate == pytest.approx(0.66, abs=1e-12)
    assert (found.count, found.n) == (33, 50)
    low, high = found.interval()
    assert low < 0.66 < high
    low, high = found.confidence_interval()
    ends = wanted.proportion_ci()
    assert low < ends.low + 0.03
    assert high > ends.high - 0.03


def test_with_next_to_no_noise_p_values_are_near_scipys() -> None:
    """The uniform number replaces caution: p is below the cautious one, and above what
    one more success would have.
    """
    outcomes = np.arange(40) < 27
    for side in ("less", "greater"):
        found = trials.binomtest(outcomes, n=40, alternative=side, epsilon=1e4).pvalue
        step = 1 if side == "greater" else -1
        assert found <= stats.binomtest(27, 40, 0.5, side).pvalue
        assert found >= stats.binomtest(27 + step, 40, 0.5, side).pvalue


@pytest.mark.parametrize("unit", [REPLACE, COMES])
def test_the_number_of_people_may_be_private(
    monkeypatch: pytest.MonkeyPatch, unit: Unit
) -> None:
    quiet(monkeypatch)
    budget = Budget(epsilon=3.0, unit=unit)
    found = trials.binomtest(
        ["yes"] * 70 + ["no", None] * 15, success="yes", epsilon=1.0, budget=budget
    )
    assert (found.count, found.n) == (70, 100)
    assert found.statistic == pytest.approx(0.7)
    assert found.pvalue < 0.01
    low, high = found.confidence_interval()
    assert low < 0.7 < high
    low, high = found.interval()
    assert low < 0.7 < high
    assert "private" in str(found)
    assert budget.spent == pytest.approx(1 / 3)


def test_no_outcome_moves_the_counts_farther_than_the_noise_hides() -> None:
    """All columns of up to three people, fewer, as many and more than declared."""
    values = (1, 0, None, "x", float("nan"))
    for size in (1, 2, 3):
        for column in itertools.product(values, repeat=size):
            before = counted(successes(column, 1), 3, PAID)
            free = counted(successes(column, 1), None, PAID)
            shorter = counted(successes(column[1:] or [], 1), None, PAID)
            assert abs(free - shorter).sum() <= 1
            for other in values:
                changed = successes((other, *column[1:]), 1)
                assert abs(counted(changed, 3, PAID) - before).sum() <= 1
                assert abs(counted(changed, None, PAID) - free).sum() <= 2


def test_which_noise_is_used() -> None:
    known = trials.binomtest([1, 0], n=2, epsilon=1.0)
    free = trials.binomtest([1, 0], epsilon=1.0)
    comes = Budget(epsilon=9.0, unit=COMES)
    assert known.spread.mechanism.sensitivity == 1
    assert free.spread.mechanism.sensitivity == 2
    found = trials.binomtest([1, 0], epsilon=1.0, budget=comes)
    assert found.spread.mechanism.sensitivity == 1
    smooth = trials.binomtest([1, 0], rho=1.0).spread.mechanism
    assert smooth.sensitivity**2 >= 2


@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_any_number_of_people_is_answered(size: int) -> None:
    for side in ("two-sided", "less", "greater"):
        for n in (2, None):
            found = trials.binomtest(np.ones(size), n=n, alternative=side, epsilon=0.5)
            assert 0 <= found.pvalue <= 1
            low, high = found.confidence_interval()
            assert 0 <= low <= high <= 1
            assert 0 <= found.statistic <= 1
            assert str(found)


@chance(1e-9)
@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_nulls(p: float) -> None:
    assert trials.binomtest([p] * 50, n=50, p=p, epsilon=2.0).pvalue > 1e-9
    assert trials.binomtest([1 - p] * 50, n=50, p=p, epsilon=2.0).pvalue < 1e-9


@pytest.mark.parametrize(
    ("more", "argument"),
    [
        ({"p": 1.5}, "p"),
        ({"p": float("nan")}, "p"),
        ({"n": 0}, "n"),
        ({"n": 2.5}, "n"),
        ({"n": -3}, "n"),
        ({"alternative": "bigger"}, "alternative"),
        ({"success": None}, "success"),
        ({"provenance": ""}, "provenance"),
        ({"epsilon": None}, "epsilon"),
    ],
)
def test_questions_that_are_refused_cost_nothing(more: Any, argument: str) -> None:
    budget = Budget(epsilon=1.0, unit=REPLACE)
    asked = {"n": 3, "epsilon": 0.5, "budget": budget} | more
    with pytest.raises(ArgumentError) as problem:
        trials.binomtest([1, 0, 1], **asked)
    assert problem.value.argument == argument
    assert budget.spent == 0


def test_a_public_size_needs_replacement() -> None:
    budget = Budget(epsilon=1.0, unit=COMES)
    with pytest.raises(UnitMismatch, match="leave n out"):
        trials.binomtest([1], n=1, epsilon=0.5, budget=budget)
    assert budget.spent == 0


def test_a_spent_budget_refuses() -> None:
    budget = Budget(epsilon=1.0, unit=REPLACE)
    trials.binomtest([1], n=1, epsilon=1.0, budget=budget)
    with pytest.raises(BudgetExceeded):
        trials.binomtest([1], n=1, epsilon=0.1, budget=budget)


def test_what_is_printed() -> None:
    text = str(trials.binomtest([1, 0], n=2, epsilon=1.0, provenance="the protocol"))
    assert "2 people: declared, from the protocol" in text
    assert "every other outcome, also a missing one, is a failure" in text


@chance(1e-20)
def test_many_people() -> None:
    found = trials.binomtest(np.arange(10**5) % 2, n=10**5, epsilon=1.0)
    low, high = found.confidence_interval()
    assert low < 0.5 < high
    assert high - low < 0.007
    assert found.pvalue > 0.5
