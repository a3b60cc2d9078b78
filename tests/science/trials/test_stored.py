"""People in a table: one record each, by a stated rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dither
from dither import ArgumentError, Budget, Dataset, Unit, UnitMismatch
from dither.question import Question
from dither.science import trials
from dither.science.trials.stored import People
from dither.science.trials.verbs import Study
from tests.chance import chance

PATIENT = Unit("patient", "replace")
ROWS = [
    ("p1", "drug", 3.0),
    ("p2", "placebo", 5.0),
    ("p3", "drug", None),
    ("p1", "drug", 7.0),
    ("p4", "drug", 1.0),
    ("p4", "placebo", 2.0),  # in both arms
    ("p5", "other", 9.0),
]


def opened(rows: list[tuple[Any, ...]] = ROWS, **more: Any) -> Any:
    frame = pd.DataFrame(rows, columns=["patient", "arm", "pain"])
    return dither.open(
        frame,
        unit=PATIENT,
        bounds={"pain": (0, 10)},
        keys={"arm": ["drug", "placebo"]},
        rows=3,
        budget=5.0,
        ledger=":memory:",
        table="visits",
        **more,
    )


def read(data: Any, keep: str, arm: str | None) -> list[float]:
    people = People(data, ("pain", "arm"), "arm", keep)
    with Question.of("test", {"epsilon": 0.1}, dataset=data).paying() as paid:
        return sorted(people.column("pain", arm).read(paid).tolist())


@pytest.mark.parametrize(
    ("keep", "drug"), [("mean", [5.0]), ("min", [3.0]), ("max", [7.0])]
)
def test_several_rows_are_reduced_by_the_rule(keep, drug):
    found = read(opened(), keep, "drug")
    assert [one for one in found if not np.isnan(one)] == drug
    assert len(found) == 2  # a missing outcome stays one
    assert read(opened(), keep, "placebo") == [5.0]


@chance(1e-11)
def test_one_row_is_kept_by_chance():
    data = opened()
    kept = {
        one for _ in range(40) for one in read(data, "one", "drug") if not np.isnan(one)
    }
    assert kept == {3.0, 7.0}


def test_without_arm_everybody_counts():
    people = People(opened(), ("pain",), None, "max")
    data = people.dataset
    with Question.of("test", {"epsilon": 0.1}, dataset=data).paying() as paid:
        assert len(people.column("pain").read(paid)) == 5


def test_it_is_read_once_for_each_charge(monkeypatch):
    data = opened()
    calls = []
    plain = Dataset.fetch
    monkeypatch.setattr(
        Dataset, "fetch", lambda *a, **k: calls.append(1) or plain(*a, **k)
    )
    people = People(data, ("pain", "arm"), "arm")
    for _ in range(2):
        with Question.of("test", {"epsilon": 0.1}, dataset=data).paying() as paid:
            people.column("pain", "drug").read(paid)
            people.column("pain", "placebo").read(paid)
    assert len(calls) == 2


def test_a_subgroup_is_those_who_have_the_label():
    data = opened()
    people = People(data, ("pain",), None, "max", where={"arm": "drug"})
    with Question.of("test", {"epsilon": 0.1}, dataset=data).paying() as paid:
        found = people.column("pain").read(paid)
    assert sorted(found[~np.isnan(found)].tolist()) == [1.0, 7.0]
    assert found.size == 3


@pytest.mark.parametrize("where", [{}, "arm", {"arm": None}, {"side": "left"}])
def test_a_subgroup_must_be_named(where):
    data = opened()
    with pytest.raises(ArgumentError, match=r"where|column"):
        data.trial("kruskal", outcome="pain", arm="arm", where=where, epsilon=1)
    assert data.account.spent == 0


def test_rows_are_chosen_before_they_are_reduced():
    """A table of visits: one visit of each person is asked for."""
    rows = [(f"p{n}", "drug", float(n), visit) for n in range(6) for visit in (1, 2)]
    frame = pd.DataFrame(rows, columns=["patient", "arm", "pain", "visit"])
    frame["pain"] += 10 * (frame.visit == 2)
    data = dither.open(
        frame,
        unit=PATIENT,
        bounds={"pain": (0, 20), "visit": (1, 4)},
        keys={"arm": ["drug"]},
        rows=4,
        budget=5.0,
        ledger=":memory:",
        table="visits",
    )
    people = People(data, ("pain",), None, "one", where={"visit": 2})
    with Question.of("test", {"epsilon": 0.1}, dataset=data).paying() as paid:
        found = people.column("pain").read(paid)
    assert sorted(found.tolist()) == [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]


@pytest.mark.parametrize(
    "words",
    [
        {"test": "mannwhitneyu", "arms": ("Drug", "placebo"), "sizes": (3, 3)},
        {"test": "mannwhitneyu", "where": {"arm": "Drug"}},
        {"test": "binomtest", "outcome": "arm", "arm": None, "success": "Drug"},
        {"test": "binomtest", "outcome": "arm", "arm": None},
    ],
)
def test_a_mistyped_label_is_refused(words):
    data = opened()
    told = {"outcome": "pain", "arm": "arm", "epsilon": 1} | words
    with pytest.raises(ArgumentError, match="is not a declared key of 'arm'"):
        data.trial(told.pop("test"), **told)
    assert data.account.spent == 0


def test_a_column_that_is_not_looked_at_is_refused():
    data = opened()
    with pytest.raises(ArgumentError, match="baseline is not used by mannwhitneyu"):
        data.trial(
            "mannwhitneyu",
            outcome="pain",
            arm="arm",
            baseline="pain",
            sizes=(3, 3),
            epsilon=1,
        )
    assert data.account.spent == 0


@pytest.mark.parametrize("name", ["ttest_ind", "fisher_exact", "anova"])
def test_other_names_lead_to_what_is_here(name):
    with pytest.raises(ArgumentError, match="use "):
        opened().trial(name, outcome="pain", arm="arm", epsilon=1)
    with pytest.raises(ArgumentError, match="use "):
        trials.power(name, n=100, epsilon=1)


def test_a_result_says_how_rows_became_records():
    data = opened()
    asked = {"outcome": "pain", "arm": "arm", "sizes": (3, 3), "epsilon": 0.5}
    found = data.trial("mannwhitneyu", **asked, keep="max")
    assert "arms in this order: drug, placebo" in found.notes
    assert (
        "one record for each patient: of several rows the largest counts" in found.notes
    )
    assert not any(note.startswith("assumes") for note in found.notes)


def test_rows_without_an_owner_count_for_nobody():
    rows = [*ROWS, (None, "placebo", 4.0)]
    assert read(opened(rows), "one", "placebo") == [5.0]


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"named": {}}, "outcome is missing"),
        ({"named": {"outcome": "nausea"}}, "there is no column"),
        ({"named": {"outcome": "pain"}}, "arm is missing"),
        (
            {"named": {"outcome": "pain", "arm": "pain"}},
            "the labels of 'pain' are not declared",
        ),
        ({"named": {"outcome": "pain", "arm": "arm"}, "keep": "last"}, "keep"),
        (
            {"named": {"outcome": "pain", "arm": "arm"}, "arms": ("drug",)},
            "must be 2 labels",
        ),
        ({"named": {"outcome": "pain", "arm": "arm"}, "arms": "drug"}, "arms"),
    ],
)
def test_a_bad_question_is_refused_and_costs_nothing(words, match):
    data = opened()
    with pytest.raises(ArgumentError, match=match):
        Study(data, **words).split(2)
    assert data.account.spent == 0


def test_columns_in_memory_are_refused_before_the_charge():
    budget = Budget(epsilon=1, unit=PATIENT)
    data = Dataset.of({"pain": [1, 2], "arm": [0, 1]}, unit=PATIENT, account=budget)
    with pytest.raises(ArgumentError, match=r"dither\.open"):
        Study(data, {"outcome": "pain", "arm": "arm"}, arms=(0, 1)).split(2)
    assert budget.spent == 0


def test_a_text_has_no_mean():
    data = opened()
    with pytest.raises(ArgumentError, match="if a column does not hold numbers"):
        data.trial("chisquare", outcome="arm", levels=("drug",), keep="max", epsilon=1)
    assert data.account.spent == 0


@pytest.mark.parametrize("name", ["edge", "node", "site", "device"])
def test_an_account_for_other_things_is_refused(name):
    budget = Budget(epsilon=1, unit=Unit(name, "replace"))
    with pytest.raises(UnitMismatch, match="for each person"):
        trials.wilcoxon([1.0], size=1, epsilon=1, budget=budget)
    assert budget.spent == 0


def test_an_unknown_test_is_refused():
    with pytest.raises(ArgumentError, match="mannwhitneyu"):
        opened().trial("ttest", outcome="pain", arm="arm", epsilon=1)
