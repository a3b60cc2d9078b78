"""Kaplan–Meier curves of a study, from the question to the release."""

import math
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dither
from dither import ArgumentError, Budget, Unit, UnitMismatch
from dither.mechanisms import Gaussian, Laplace
from dither.question import Question
from dither.science import trials
from dither.science.trials.survival import Columns, Plan, sensitivities

EDGES = (0, 1, 2, 3)
COMING = Unit("person")
REPLACED = Unit("person", "replace")
PAID: object = None
ODD = (
    None,
    float("nan"),
    float("inf"),
    -math.inf,
    "x",
    "1.5",
    True,
    10**400,
    -1,
    0,
    1.0,
    2.5,
    (),
)


def vector(time, event, arm, entry=None, sizes=None, edges=(0, 1, 2)):
    columns = Columns.of(time, event, arm, ("a", "b"), entry)
    question = Question.of("test", {"epsilon": 1.0}, unit=REPLACED)
    return Plan.of(question, columns, edges, sizes).vector(PAID)


def moved(first, second, **more):
    step = vector(*zip(*first, strict=True), **more) - vector(
        *zip(*second, strict=True), **more
    )
    return np.abs(step).sum(), (step**2).sum()


def as_lists(records):
    return tuple(map(list, zip(*records, strict=True)))


def steps(records, base, places, sizes=None):
    """How far each neighbour that has another record in a place is from the base."""
    start = vector(*as_lists(base), sizes=sizes)
    for place, record in product(places, records):
        other = [*base[:place], record, *base[place + 1 :]]
        yield vector(*as_lists(other), sizes=sizes) - start


BASE = [(0.5, 1, "a"), (1.5, 0, "a"), ("2", 1, "b"), (None, 1, "b")]


def test_one_person_of_any_kind_moves_two_cells_by_one():
    records = list(product(ODD, ODD, ("a", "b", None, "c", 3)))
    found = list(steps(records, BASE, range(4)))
    assert max(np.abs(one).sum() for one in found) == 2
    assert max((one**2).sum() for one in found) == 2


def test_one_person_of_any_kind_within_a_public_size():
    for place, arm in enumerate("aabb"):
        records = [(time, event, arm) for time, event in product(ODD, ODD)]
        found = list(steps(records, BASE, [place], sizes=(2, 2)))
        assert max(np.abs(one).sum() for one in found) <= 2
    assert max(np.abs(one).sum() for one in found) == 2


def test_coming_moves_one_cell_by_one():
    start = vector(*as_lists(BASE))
    for record in product(ODD, ODD, ("a", None)):
        step = vector(*as_lists([*BASE, record])) - start
        assert np.abs(step).sum() <= 1


def test_the_sensitivities_are_those_found():
    replaced = Question.of("test", {"epsilon": 1.0}, unit=REPLACED)
    coming = Question.of("test", {"epsilon": 1.0}, unit=COMING)
    l1, l2 = sensitivities(replaced)
    assert l1 == 2
    assert 2 < l2**2 < 2 + 1e-14
    assert sensitivities(coming) == (1, 1.0)
    assert sensitivities(replaced, 2)[0] == 4
    assert 4 < sensitivities(replaced, 2)[1] ** 2 < 4 + 1e-14


def test_a_person_may_leave_an_arm_of_public_size_for_another(monkeypatch):
    """Which part of too many is kept is drawn; here it is the first, for all."""
    monkeypatch.setattr(
        "dither.science.trials.sizes.subset", lambda _, size: np.arange(size)
    )
    records = list(product((0.5, 1.5), (0, 1), ("a", "b", None)))
    found = [
        moved([one, *BASE, *BASE], [other, *BASE, *BASE], sizes=(3, 3))
        for one, other in product(records, records)
    ]
    assert max(l1 for l1, _ in found) == 4
    assert max(square for _, square in found) == 4


def test_an_entry_starts_the_clock_of_each_person():
    late = vector([10.5, 21.5, 5, 3], [1, 0, 1, 1], ["a"] * 4, entry=[10, 20, 9, None])
    assert late[0].tolist() == [1, 0, 0, 1, 0]  # before entry, or none: nobody


def exact(monkeypatch):
    for kind in (Laplace, Gaussian):
        monkeypatch.setattr(
            kind, "_draw", lambda self, scale, size: np.zeros(size, np.int64)
        )


def test_arms_are_read_off_a_public_column(monkeypatch):
    exact(monkeypatch)
    found = trials.kaplan_meier(
        [0.5] * 60 + [3] * 140,
        [1] * 60 + [0] * 140,
        edges=EDGES,
        groups=["b", "a"] * 100,
        epsilon=5,
    )
    assert found.arms == ("a", "b")
    assert "the assignment of people to arms is public" in found.notes
    assert found.curves.tolist() == [[0.7, 0.7, 0.7]] * 2
    assert found.keys[0] == ("a", 1.0)
    assert found[("b", 3)].value == 0.7


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series])
def test_columns_of_many_kinds(monkeypatch, wrap):
    exact(monkeypatch)
    found = trials.kaplan_meier(
        wrap([0.5, 3.0] * 50), wrap([True, False] * 50), edges=EDGES, epsilon=5
    )
    assert found.value.tolist() == [0.5] * 3
    assert found.keys == (1.0, 2.0, 3.0)
    assert found[1].value == 0.5


def test_costs_and_relations():
    data = ([1.0] * 50, [1] * 50)
    alone = trials.kaplan_meier(*data, edges=EDGES, epsilon=1)
    assert str(alone.guarantee) == "ε = 1 (pure), protects one person (replace)"
    assert alone.bands.mechanism.sensitivity == 2
    coming = Budget(epsilon=2.0, unit=COMING)
    found = trials.kaplan_meier(*data, edges=EDGES, epsilon=1, budget=coming)
    assert found.bands.mechanism.sensitivity == 1
    assert found.receipt is not None
    rho = trials.kaplan_meier(*data, edges=EDGES, rho=0.5)
    assert isinstance(rho.bands.mechanism, Gaussian)
    with pytest.raises(UnitMismatch, match="sizes"):
        trials.kaplan_meier(*data, edges=EDGES, sizes=(50,), epsilon=1, budget=coming)
    with pytest.raises(UnitMismatch, match="arms"):
        trials.kaplan_meier(
            *data, edges=EDGES, groups=["a"] * 50, epsilon=1, budget=coming
        )
    assert coming.spent == 0.5  # of ε = 2
    named = trials.kaplan_meier(
        *data, edges=EDGES, groups=["a"] * 50, arms=["a"], epsilon=1, budget=coming
    )
    assert "the assignment of people to arms is public" not in named.notes


DATA = ([1.0, 2.0], [1, 0])


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"edges": (0, 0)}, "edges"),
        ({"edges": "abc"}, "edges"),
        ({"arms": ("a", "b")}, "arms"),
        ({"groups": ["a", "b"], "arms": ("a", "a")}, "arms"),
        ({"groups": ["a", "b"], "arms": "ab"}, "arms"),
        ({"groups": ["a", "b"], "arms": ()}, "arms"),
        ({"groups": [None, None]}, "arms"),
        ({"groups": ["a"]}, "columns"),
        ({"groups": 3}, "groups"),
        ({"entry": [1.0]}, "columns"),
        ({"sizes": (0,)}, "sizes"),
        ({"sizes": (-1,)}, "sizes"),
        ({"sizes": (1.5,)}, "sizes"),
        ({"sizes": (1, 1)}, "sizes"),
        ({"sizes": 7}, "sizes"),
        ({"provenance": ""}, "provenance"),
        ({"censoring": "never"}, "censoring"),
        ({"censoring": None}, "censoring"),
        ({"epsilon": -1}, "epsilon"),
        ({"hazard": 1}, "kaplan_meier"),
        ({"groups": range(200)}, "arms"),
        ({"edges": range(101), "groups": range(100)}, "edges"),
    ],
)
def test_bad_questions_charge_nothing(wrong, argument):
    budget = Budget(epsilon=3.0, unit=REPLACED)
    words = {"edges": EDGES, "epsilon": 1.0, "budget": budget} | wrong
    data = DATA
    if isinstance(wrong.get("groups"), range):
        data = (list(wrong["groups"]), list(wrong["groups"]))
    with pytest.raises((ArgumentError, ValueError), match=argument):
        trials.kaplan_meier(*data, **words)
    assert budget.spent == 0


@pytest.mark.parametrize(
    "records",
    [
        [],
        [(None, None, "a")],
        [(1.0, 1, "a")],
        [(1.0, 1, "z")] * 9,
        [("x", object(), 4)] * 3,
        [(math.inf, 1, "a"), (-math.inf, 0, "b"), (math.nan, math.nan, None)],
        [(10**400, 1, "a"), (True, False, "b")],
    ],
)
@pytest.mark.parametrize("sizes", [None, (2, 5)])
def test_odd_data_gets_a_normal_answer(records, sizes):
    columns = as_lists(records) if records else ([], [], [])
    time, event, groups = columns
    found = trials.kaplan_meier(
        time,
        event,
        edges=EDGES,
        groups=groups,
        arms=("a", "b"),
        sizes=sizes,
        entry=[math.inf] * len(time),
        epsilon=1,
    )
    assert found.curves.shape == (2, 3)
    assert 0 <= found.logrank().pvalue <= 1
    assert "survival" in str(found)
    assert found.plot().svg()


def test_an_opened_dataset_pays(monkeypatch):
    exact(monkeypatch)
    frame = pd.DataFrame(
        {
            "patient": [f"p{number}" for number in range(400)],
            "arm": ["drug", "placebo"] * 200,
            "weeks": [1.0, 5.0, 9.0, 20.0] * 100,
            "died": [1, 1, 0, 0] * 100,
        }
    )
    data = dither.open(
        frame,
        unit=Unit("patient", "replace"),
        bounds={"weeks": (0, 52), "died": (0, 1)},
        keys={"arm": ["drug", "placebo"]},
        rows=1,
        budget=3.0,
        ledger=":memory:",
    )
    found = data.trial(
        "kaplan_meier",
        outcome="weeks",
        event="died",
        arm="arm",
        edges=(0, 4, 8, 12),
        epsilon=1,
    )
    assert found.arms == ("drug", "placebo")
    assert found.curves[0].tolist() == [0.5, 0.5, 0.5]
    assert found.curves[1].tolist() == [1.0, 0.5, 0.5]
    assert found.receipt is not None
    assert found.logrank().receipt is found.receipt
