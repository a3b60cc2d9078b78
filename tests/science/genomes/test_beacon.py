"""A beacon answers as often as was paid for, and says how often it errs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dither import ArgumentError, Budget, BudgetExceeded, Gaussian, Laplace, Unit
from dither.science import genomes
from dither.science.genomes.beacon import above
from dither.science.genomes.clusters import Roster
from dither.science.genomes.matrix import Matrix
from dither.science.genomes.panel import Panel
from tests.chance import chance
from tests.science.genomes.cohort import all_columns, names, without

PERSON = Unit("person")


def carried(people: int = 300) -> Any:
    """rs0: nobody, rs1: one copy each, rs2: two copies of half, rs3: all missing."""
    table = np.zeros((people, 4), np.int8)
    table[:, 1] = 1
    table[::2, 2] = 2
    table[:, 3] = -1
    return table


def opened(**words: Any) -> Any:
    plain: dict[str, Any] = {"panel": names(4), "samples": 300, "questions": 3}
    return genomes.beacon(carried(), **{**plain, **words})


@chance(1e-20)
def test_it_answers_as_often_as_was_paid_for() -> None:
    budget = Budget(epsilon=3, unit=PERSON)
    found = opened(epsilon=3.0, budget=budget)
    assert budget.spent == 1
    first = found.ask("rs1")
    assert found.ask("rs1") is first
    assert found.left == 2
    assert first.yes
    assert found.ask("rs2")
    found.ask("rs0")
    with pytest.raises(BudgetExceeded, match="3 questions"):
        found.ask("rs3")
    assert found.ask("rs1") is first  # what was said may be read again
    assert first.receipt is not None


@pytest.mark.parametrize("people", [2, 3, 4])
def test_one_person_moves_a_count_of_carriers_by_one(people: int) -> None:
    table, roster = all_columns(people), Roster.of(None, people)
    panel = Panel.of(names(table.shape[1]))
    here = Matrix(table).count(panel, roster).carriers
    for person in range(people):
        there = Matrix(without(table, person)).count(panel, roster).carriers
        assert abs(here - there).max() == 1


def test_the_noise_is_made_for_all_answers_together() -> None:
    found = opened(epsilon=3.0)
    assert found._mechanism.guarantee.epsilon == 3.0
    assert found._mechanism.scale == pytest.approx(1.0)
    found = opened(rho=0.5, questions=16, panel=names(16))
    assert found._mechanism.scale == pytest.approx(4.0)


@chance(5e-9)
@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(sensitivity=1, epsilon=0.3),
        Laplace(sensitivity=1, epsilon=5),
        Gaussian(sensitivity=3, rho=0.5),
    ],
)
def test_error_rates_are_those_of_the_noise(mechanism: Any) -> None:
    drawn = mechanism.release(np.zeros(20_000, np.int64))
    for least in (-3, 0, 1, 2, 6):
        low, high = binom.interval(1 - 1e-9, 20_000, above(mechanism, least))
        assert low <= (drawn >= least).sum() <= high


def test_the_default_threshold_is_rarely_reached_by_nobody() -> None:
    for cost in ({"epsilon": 1.0}, {"rho": 0.05}):
        answer = opened(**cost).ask("rs0")
        assert answer.chance(0) <= 0.05
        assert answer.chance(10**6) > 0.999999


@chance(2e-8)
def test_answers_say_yes_or_no_and_how_surely() -> None:
    answer = opened(epsilon=30.0, threshold=7).ask("rs1")
    assert answer.threshold == 7
    assert bool(answer)
    assert "does anyone carry rs1? yes" in str(answer)
    low, high = answer.interval(1 - 1e-8)
    assert 0 <= low <= 300 <= high
    assert not hasattr(answer + 1, "threshold")


def test_a_beacon_takes_no_more_questions_than_it_has_variants() -> None:
    found = opened(epsilon=1.0, questions=100)
    assert found.questions == 4
    assert repr(found).startswith("<Beacon on panel of 4 variants: 4 of 4 questions")


def test_an_open_beacon_is_not_copied() -> None:
    with pytest.raises(TypeError, match="cannot be copied"):
        pickle.dumps(opened(epsilon=1.0))


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        ({"questions": 0}, "questions"),
        ({"threshold": 0}, "threshold"),
        ({"samples": None}, "samples"),
        ({"panel": []}, "panel"),
    ],
)
def test_bad_questions(words: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        opened(epsilon=1.0, **words)
    assert refused.value.argument == argument


def test_only_the_panel_can_be_asked_about() -> None:
    found = opened(epsilon=1.0)
    with pytest.raises(ArgumentError, match="not in the declared panel"):
        found.ask("rs9")
    assert found.left == 3


def test_a_threshold_above_the_number_of_people_is_reached_by_noise_alone():
    """The shown count is at most the number of people, and the answer is that of the
    noisy count, as `chance` says.
    """
    for _ in range(20):
        opened = genomes.beacon(
            np.zeros((4, 1)),
            panel=["rs1"],
            variants=["rs1"],
            samples=["a", "b", "c", "d"],
            questions=1,
            threshold=30,
            epsilon=0.02,
        )
        answer = opened.ask("rs1")
        assert answer.yes == (answer.spread.value >= 30)
        assert 0 <= answer.value <= 4
