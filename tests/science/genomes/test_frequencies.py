"""Frequencies: what is noised moves no more than the noise is made for, and intervals
hold the frequency among those called.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dither import ArgumentError, Budget, BudgetExceeded, Gaussian, Laplace, Unit
from dither.question import Question
from dither.science import genomes
from dither.science.genomes.clusters import Roster
from dither.science.genomes.frequencies import vector
from dither.science.genomes.matrix import Matrix
from dither.science.genomes.panel import Panel
from dither.science.genomes.plan import Plan, calls_of
from tests.chance import at_most, chance
from tests.science.genomes.cohort import (
    GENOTYPES,
    all_columns,
    cohort,
    frequency,
    names,
    without,
)

PERSON = Unit("person")


def planned(
    people: list[str], variants: int, calls: Any = "counted", **cost: Any
) -> Plan:
    question = Question.of("allele frequencies", cost, unit=PERSON)
    roster = Roster.of(people, None)
    return Plan.of(question, variants, roster, calls_of(calls))


def moved(person: int, plan: Plan) -> Any:
    """What leaves with a person, for every column of a table: one row each."""
    table = all_columns(len(plan.roster.labels))
    panel = Panel.of(names(table.shape[1]))
    one, two = (
        vector(Matrix(data).count(panel, plan.roster), plan)
        for data in (table, without(table, person))
    )
    return (one - two).reshape(-1, table.shape[1]).T


def sums(each: Any, variants: int) -> Any:
    """The sums of every choice of so many columns: those of every table."""
    found = each
    for _ in range(variants - 1):
        found = np.add.outer(found, each).ravel()
    return found


@pytest.mark.parametrize(
    ("clusters", "variants"),
    [(["a", "b"], 2), (["a", "a"], 3), (["a", "b", "a"], 2), (["a"], 4)],
)
@pytest.mark.parametrize("calls", ["counted", "complete", 0.5])
def test_no_table_moves_more_than_the_noise_is_made_for(
    clusters: list[str], variants: int, calls: Any
) -> None:
    """All tables of a few people and variants, and all their neighbours."""
    plan = planned(clusters, variants, calls, rho=0.5)
    laplace = planned(clusters, variants, calls, epsilon=1.0)
    assert isinstance(plan.mechanism, Gaussian)
    assert isinstance(laplace.mechanism, Laplace)
    farthest = 0
    for person in range(len(clusters)):
        squares = sums((moved(person, plan) ** 2).sum(axis=1), variants)
        assert squares.max() <= plan.mechanism.sensitivity**2
        far = sums(abs(moved(person, laplace)).sum(axis=1), variants)
        assert far.max() <= laplace.mechanism.sensitivity
        farthest = max(farthest, int(far.max()))
    assert farthest == laplace.mechanism.sensitivity  # and the bound is met


@pytest.mark.parametrize(
    ("clusters", "variants"), [(["a", "b"], 2), (["a", "a"], 2), (["a"], 3)]
)
@pytest.mark.parametrize("calls", ["counted", "complete"])
@pytest.mark.parametrize("cost", [{"rho": 0.5}, {"epsilon": 1.0}])
def test_a_replaced_person_moves_no_more_than_the_noise_is_made_for(
    clusters: list[str], variants: int, calls: str, cost: dict[str, float]
) -> None:
    """All tables, and every other genotype of every person: what a dataset whose
    neighbours replace a person promises.
    """
    question = Question.of("x", cost, unit=PERSON.replacing())
    plan = Plan.of(question, variants, Roster.of(clusters, None), calls_of(calls))
    table = all_columns(len(clusters))
    panel = Panel.of(names(table.shape[1]))
    here = vector(Matrix(table).count(panel, plan.roster), plan)
    power = 2 if "rho" in cost else 1
    farthest = 0
    for person in range(len(clusters)):
        worst = np.zeros(table.shape[1], np.int64)
        for copies in GENOTYPES:
            other = table.copy()
            other[person] = copies
            there = vector(Matrix(other).count(panel, plan.roster), plan)
            apart = abs(here - there).reshape(-1, table.shape[1]) ** power
            worst = np.maximum(worst, apart.sum(axis=0))
        farthest = max(farthest, int(sums(worst, variants).max()))
    assert farthest <= plan.mechanism.sensitivity**power
    assert farthest >= plan.mechanism.sensitivity**power * (1 - 1e-9)


def test_the_guarantee_is_what_was_stated() -> None:
    table, ids = cohort(200, 5), names(5)
    found = genomes.frequencies(table, panel=ids, samples=200, rho=0.5)
    assert found.guarantee == Gaussian(sensitivity=1, rho=0.5, unit=PERSON).guarantee
    found = genomes.frequencies(table, panel=ids, samples=200, epsilon=2.0)
    assert found.guarantee == Laplace(sensitivity=1, epsilon=2, unit=PERSON).guarantee


class Still:
    """A source of noise that is silent."""

    def __call__(self, _: Any, size: Any = None) -> Any:
        return 0 if size is None else np.zeros(size, np.int64)


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("discrete_laplace", "rounded_gaussian"):
        monkeypatch.setattr(f"dither.mechanisms.additive.{name}", Still())


@pytest.mark.usefixtures("silent")
def test_without_noise_the_answer_is_the_frequency() -> None:
    table, ids = cohort(500, 30), names(30)
    for calls in ("counted", "complete"):
        found = genomes.frequencies(
            table, panel=ids, samples=500, rho=1e6, calls=calls, coarse=True
        )
        assert found.value == pytest.approx(frequency(table), abs=1e-12)


@pytest.mark.usefixtures("silent")
def test_clusters_and_missing_calls_without_noise() -> None:
    table, ids = cohort(500, 30, missing=0.4), names(30)
    clusters = np.where(np.arange(500) % 3 == 0, "a", "b")
    found = genomes.frequencies(table, panel=ids, clusters=clusters, rho=1e9)
    for row, name in enumerate(("a", "b")):
        truth = frequency(table[clusters == name])
        assert found.matrix[row] == pytest.approx(truth, abs=1e-5)
        assert found.cluster(name).value == pytest.approx(truth, abs=1e-5)


VARIANTS = 3000
MOST = at_most(VARIANTS, 0.2, 5e-9)
"""80 % intervals miss in a fifth of the cases at most. The noise of variants is
independent.
"""


def misses(table: Any, clusters: list[str], **cost: Any) -> list[int]:
    """How many 80 % intervals miss the frequency among those called, by cluster."""
    ids = names(table.shape[1])
    found = genomes.frequencies(
        table, panel=ids, clusters=clusters, coarse=True, **cost
    )
    low, high = (end.reshape(found.matrix.shape) for end in found.interval(0.8))
    wrong = []
    for row, name in enumerate(found.clusters):
        truth = frequency(table[np.array(clusters) == name])
        outside = (truth < low[row]) | (truth > high[row])
        wrong.append(int(outside.sum()))
    return wrong


@chance(1e-8)
@pytest.mark.parametrize(
    "cost", [{"rho": 20.0}, {"rho": 8e4}, {"epsilon": 4000.0}, {"epsilon": 1e5}]
)
@pytest.mark.parametrize(
    ("sizes", "missing"),
    [((1, 2), 0.0), ((1, 4), 0.5), ((5, 3), 0.5), ((200, 40), 0.5), ((90, 60), 0.02)],
)
def test_intervals_hold_the_frequency(
    cost: dict[str, float], sizes: tuple[int, int], missing: float
) -> None:
    """Tiny clusters, half of the calls missing, and variants that all or none have."""
    clusters = ["a"] * sizes[0] + ["b"] * sizes[1]
    table = cohort(sum(sizes), VARIANTS, missing)
    for column, copies in enumerate((0, 2) * 300):
        table[:, column] = np.where(table[:, column] < 0, -1, copies)
    assert max(misses(table, clusters, **cost)) <= MOST


@chance(5e-9)
@pytest.mark.parametrize("calls", ["complete", 0.9])
@pytest.mark.parametrize("cost", [{"rho": 200.0}, {"epsilon": 4000.0}])
def test_intervals_with_declared_calls_hold_the_frequency(
    calls: Any, cost: dict[str, float]
) -> None:
    table = cohort(60, VARIANTS)
    if calls != "complete":
        table[:6] = -1
    assert max(misses(table, ["a"] * 60, calls=calls, **cost)) <= MOST


def test_a_panel_that_is_too_large_is_refused_before_anything_is_spent() -> None:
    budget = Budget(epsilon=50, delta=1e-6, unit=PERSON)
    table, ids = cohort(100, 400), names(400)

    def ask(count: int, rho: float) -> Any:
        return genomes.frequencies(
            table, panel=ids[:count], samples=100, rho=rho, budget=budget
        )

    with pytest.raises(ArgumentError, match="too large for the cost") as refused:
        ask(400, 0.02)
    words = str(refused.value)
    assert budget.spent == 0
    carried = int(re.findall(r"enough for (\d+) of", words)[0])
    needed = float(re.findall(r"rho=([\d.]+)", words)[0])
    ask(carried, 0.02)
    with pytest.raises(ArgumentError, match="too large"):
        ask(carried + 1, 0.02)
    ask(400, needed)
    with pytest.raises(ArgumentError, match="too large"):
        ask(400, needed * 0.9)


def test_a_cost_too_small_for_any_panel_says_so() -> None:
    with pytest.raises(
        ArgumentError, match="The cost is not enough for a single variant"
    ):
        genomes.frequencies([[1]], panel=["rs1"], samples=1, epsilon=0.01)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_epsilon_that_is_named_suffices(delta: float) -> None:
    budget = Budget(epsilon=900, delta=delta, unit=PERSON)
    ids = names(300)
    with pytest.raises(
        ArgumentError, match="pass fewer variants or epsilon="
    ) as refused:
        genomes.frequencies([[1]], panel=ids, samples=90, epsilon=0.5, budget=budget)
    needed = float(re.findall(r"epsilon=([\d.]+)", str(refused.value))[0])
    genomes.frequencies([[1]], panel=ids, samples=90, epsilon=needed, budget=budget)


def test_an_account_with_a_delta_gets_gaussian_noise_for_a_large_panel() -> None:
    budget = Budget(epsilon=5, delta=1e-6, unit=PERSON)
    found = genomes.frequencies(
        cohort(1000, 200), panel=names(200), samples=1000, epsilon=2, budget=budget
    )
    assert "Gaussian" in str(found.guarantee)


def test_a_wanted_error_is_reached() -> None:
    table, ids = cohort(1000, 20), names(20)
    found = genomes.frequencies(
        table, panel=ids, samples=1000, error="±0.05 at 95%", calls="complete"
    )
    low, high = found.interval(0.95)
    assert 0.08 < np.max(high - low) <= 0.1001


def test_a_refused_charge_reads_nothing() -> None:
    class Unread:
        ndim = 2

        def __array__(self, *_: Any) -> Any:
            raise AssertionError("read before it was paid for")

    with pytest.raises(BudgetExceeded):
        genomes.frequencies(
            Unread(),
            panel=["rs1"],
            samples=1000,
            epsilon=2,
            budget=Budget(epsilon=1, unit=PERSON),
        )


ODD: list[Any] = [
    [[0, 1], [2]],
    [[], [1, 1], [7, "x"]],
    np.zeros((0, 0)),
    np.full((5, 9), np.nan),
    np.array([["a", "b"]]),
    np.ma.masked_array([[1, 2], [0, 1]], mask=[[True, False], [False, False]]),
    pd.DataFrame({"rs1": [0, None, 2], "other": ["x", "y", "z"]}),
    pd.DataFrame({"rs1": pd.array([0, None, 2], "Int8")}),
    np.zeros((3, 4, 2), np.int8),
    np.zeros((3, 4, 1), np.int8),
]


@pytest.mark.parametrize("data", ODD, ids=range(len(ODD)))
def test_odd_data_gets_a_normal_answer(data: Any) -> None:
    found = genomes.frequencies(data, panel=["rs0", "rs1"], samples=100, rho=0.5)
    assert found.value.shape == (2,)
    assert np.isfinite(found.value).all()


def test_a_variant_that_is_not_there_counts_as_missing() -> None:
    found = genomes.frequencies(
        cohort(300, 2),
        panel=["rs0", "rs7", "rs1"],
        variants=["rs0", "rs1"],
        samples=300,
        rho=1.0,
    )
    low, high = found["rs7"].interval()
    assert high - low > 0.09  # that of rs0 is 0.02


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        ({"calls": "some"}, "calls"),
        ({"calls": 0}, "calls"),
        ({"calls": 1.2}, "calls"),
        ({"provenance": ""}, "provenance"),
        ({"panel": ["rs0", "rs0"]}, "panel"),
        ({"samples": None}, "clusters"),
        ({"clusters": {"x": 1}, "samples": None}, "samples"),
        ({"variants": "rs0"}, "variants"),
    ],
)
def test_bad_questions(words: dict[str, Any], argument: str) -> None:
    plain: dict[str, Any] = {"panel": ["rs0"], "samples": 100, "rho": 0.5}
    with pytest.raises(ArgumentError) as refused:
        genomes.frequencies([[1]], **{**plain, **words})
    assert refused.value.argument == argument


@pytest.mark.parametrize(
    "data", ["x.txt", 3, None, {}, np.zeros(3), np.zeros((1,) * 4)]
)
def test_data_that_is_not_understood(data: Any) -> None:
    with pytest.raises(ArgumentError, match="genotypes"):
        genomes.frequencies(data, panel=["rs0"], samples=10, rho=1)


def test_more_frequencies_than_memory_holds_are_refused() -> None:
    clusters = [f"c{at}" for at in range(20_000)]
    with pytest.raises(ArgumentError, match="pass fewer variants or clusters"):
        genomes.frequencies([[1]], panel=names(20_000), clusters=clusters, rho=1)
