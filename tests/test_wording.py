"""The lines below the numbers: the same for every kind of release, in the same order."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import dither
from dither.privacy import ApproxDP, GaussianDP, PureDP, Unit, ZeroConcentratedDP
from dither.release import Constant, Release, Source
from dither.table import TableRelease
from dither.text import with_interval
from dither.wording import foreseen, foretold, paid, promised

PATIENT = Unit("patient")


def test_a_number_reads_like_a_result_in_a_paper() -> None:
    budget = dither.Budget(epsilon=4)
    values = np.arange(1000) % 100
    found = dither.mean(values, bounds=(0, 100), epsilon=0.5, budget=budget)
    first, *rest = str(found).splitlines()
    low, high = found.interval()
    width = max(found.value - low, high - found.value)
    assert 0.01 < width < 10
    assert first == f"mean: {with_interval(found.value, (low, high), '95 % interval')}"
    assert rest == [
        "values are clamped to their declared bounds",
        "guarantee: ε = 0.5 (pure), protects one row (add/remove)",
        "cost: 12.5 % of the account budget, receipt 3 (this process only)",
        "remaining: 87.5 %, for example one Laplace answer at ε = 3.5",
    ]
    page = found._repr_html_()
    places = [page.index(line) for line in rest]
    assert places == sorted(places)


def test_markdown_has_the_same_order() -> None:
    budget = dither.Budget(epsilon=4)
    one = dither.mean(range(100), bounds=(0, 100), epsilon=0.5, budget=budget)
    first, empty, *rest = one.to_markdown().splitlines()
    printed, *below = str(one).splitlines()
    assert (first, empty) == (f"**{printed}**", "")
    assert rest == [f"- {line}" for line in below]
    several = dither.histogram([1, 2], keys=[1, 2], epsilon=1)
    assert several.to_markdown().startswith("    count (95 % intervals)\n      1: ")


def test_markdown_shows_a_table_as_it_is() -> None:
    sources = (Source(PureDP(0.5)),)
    table = TableRelease(
        ("ward_*", "n"), (("a|b <i>`", 7),), sources, lambda _: [[None, (5, 9)]]
    )
    assert table.to_markdown() == (
        "| ward\\_\\* | n |\n| --- | ---: |\n| a\\|b \\<i\\>\\` | 7 ±2 |\n\n"
        "- 95 % intervals for the true values, clamped to their declared bounds\n"
        "- guarantee: ε = 0.5 (pure), protects one row (add/remove)\n"
        "- cost: not charged to any account\n"
    )


def test_json_has_the_same_order() -> None:
    budget = dither.Budget(epsilon=4)
    data = json.loads(dither.count(range(9), epsilon=1, budget=budget).to_json())
    wanted = ("rows", "guarantee", "receipt", "share", "remaining", "notes")
    assert [name for name in data if name in wanted] == list(wanted)
    assert data["share"] == 0.25
    assert data["remaining"] == "75 %, for example one Laplace answer at ε = 3"
    assert "taken" not in data["receipt"]
    plain = json.loads(dither.count(range(9), epsilon=1).to_json())
    assert plain["share"] is plain["remaining"] is None


def test_what_remains_is_that_right_after_the_charge() -> None:
    budget = dither.Budget(epsilon=4)
    first = dither.count(range(9), epsilon=1, budget=budget)
    shown = str(first)
    dither.count(range(9), epsilon=2, budget=budget)
    assert str(first) == str(pickle.loads(pickle.dumps(first))) == shown
    assert "remaining: 75 %" in shown


def test_guarantees_of_several_sources() -> None:
    one, other = (Source(PureDP(0.5, unit=PATIENT)) for _ in range(2))
    gaussian, rho = Source(GaussianDP(0.1)), Source(ZeroConcentratedDP(0.2))
    assert paid([one, other]) == [
        "guarantee: ε = 1 (2 pure guarantees together), protects one patient "
        "(add/remove)",
        "cost: not charged to any account",
    ]
    assert paid([gaussian, rho])[0] == (
        "guarantee: μ = 0.1 (Gaussian) and ρ = 0.2 (zCDP) together, protects one row "
        "(add/remove)"
    )
    assert paid([gaussian] * 4)[0].startswith("guarantee: 4 guarantees together")


def test_guarantees_for_different_units_are_printed_one_by_one() -> None:
    sources = (Source(PureDP(0.5, unit=PATIENT)), Source(PureDP(0.2)))
    release = Release("result", 1.0, sources, Constant(1.0))
    assert str(release).splitlines() == [
        "result: 1 (95 % interval 1 to 1)",
        "guarantee: ε = 0.5 (pure), protects one patient (add/remove)",
        "guarantee: ε = 0.2 (pure), protects one row (add/remove)",
        "cost: not charged to any account",
    ]


def test_only_a_release_of_one_charge_says_what_remains() -> None:
    budget = dither.Budget(epsilon=4)
    one, other = (dither.count(range(9), epsilon=1, budget=budget) for _ in range(2))
    lines = str(one + other).splitlines()
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "guarantee",
        "cost",
        "cost",
    ]


def test_a_guarantee_without_an_epsilon_is_stated_at_the_delta() -> None:
    assert promised(PureDP(0.5), 1e-6) == str(PureDP(0.5))
    assert promised(ApproxDP(0.5, 1e-7), 1e-6) == str(ApproxDP(0.5, 1e-7))
    assert promised(GaussianDP(0.5)) == str(GaussianDP(0.5))
    epsilon = GaussianDP(0.5).epsilon_at(1e-6)
    assert promised(GaussianDP(0.5), 1e-6) == (
        f"ε = {epsilon:.4g} at δ = 1e-06, protects one row (add/remove); "
        "by μ = 0.5 (Gaussian)"
    )
    too_small = GaussianDP(0.5, delta=1e-5)
    assert promised(too_small, 1e-6) == str(too_small)


def test_a_preview_says_what_a_release_will_say() -> None:
    budget = dither.Budget(epsilon=4, delta=1e-6)
    cost = foreseen(budget, PureDP(0.5), None)
    receipt = budget.charge(PureDP(0.5))
    (line,) = paid([Source(PureDP(0.5), receipt)])[-1:]
    assert line == f"remaining: {cost.remaining}"
    assert receipt.taken is not None
    assert cost.share == receipt.taken.share
    assert cost.cost.startswith("18.4 % of the account budget")
    assert foretold(cost.cost, cost.remaining, affordable=True) == [
        f"cost: {cost.cost}",
        f"remaining after: {cost.remaining}",
    ]


def test_a_preview_without_an_account() -> None:
    assert foreseen(None, PureDP(0.5), None).share is None
    assert foretold(foreseen(None, PureDP(0.5), None).cost, "", affordable=True) == [
        "cost: not charged to any account"
    ]


@pytest.mark.parametrize(
    ("value", "ends", "shown"),
    [
        (38.3312, (36.7012, 39.9276), "38.3 (36.7 to 40.0)"),
        (1204, (1198.0, 1210.0), "1,204 (1,198 to 1,210)"),
        (1204, (1198.0, np.inf), "≈ 1,204, at least 1,198"),
        (1.5, (-np.inf, np.inf), "≈ 1.5, no interval: declare rows"),
        (0.5, None, "0.5"),
        (0.0, (0.0, 0.0), "0 (0 to 0)"),
        (float("nan"), (0.0, 1.0), "NULL (0 to 1)"),
    ],
)
def test_a_value_with_its_interval(value: float, ends: tuple, shown: str) -> None:  # type: ignore[type-arg]
    assert with_interval(value, ends) == shown


def test_json_says_the_cost_as_print_does_and_each_thing_once() -> None:
    budget = dither.Budget(epsilon=4)
    one = dither.mean(range(100), bounds=(0, 100), epsilon=0.5, budget=budget)
    data = json.loads(one.to_json())
    lines = str(one).splitlines()
    assert f"cost: {data['cost']}" in lines
    assert f"remaining: {data['remaining']}" in lines
    assert data["about"] in lines
    assert data["about"] not in data["notes"]
    two = one + dither.count(range(9), epsilon=0.5)
    assert "not charged to any account" in json.loads(two.to_json())["cost"]
