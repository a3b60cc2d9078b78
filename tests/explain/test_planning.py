"""Plans against closed forms, against what accounts grant, and against measured errors:
a plan is never optimistic.
"""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as Xml
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dither
from dither import explain
from dither.errors import ArgumentError, BudgetExceeded
from dither.explain.plan_picture import GRID, MEASURED, exact_variance
from dither.explain.planning import Plan
from dither.mechanisms import Gaussian, Laplace
from dither.privacy import gaussian_epsilon
from tests.chance import at_least, at_most, chance

QUERIES = ("count", "sum", "mean", "histogram", "quantile")
ROOT = Path(__file__).parents[2]


def near(found: float, exact: float) -> bool:
    """Rounded up in four digits, twice at most."""
    return exact * (1 - 1e-9) <= found <= exact * 1.0025


def asks(plan: Plan, budget: dither.Budget) -> Callable[[], Any]:
    """The real question that a plan is about."""
    n, cost = plan.n, plan.each
    values = np.linspace(0.0, 1.0, n)
    given: dict[str, Callable[[], Any]] = {
        "count": lambda: dither.count(values, budget=budget, **cost),
        "sum": lambda: dither.sum(values, bounds=(0.0, 1.0), budget=budget, **cost),
        "mean": lambda: dither.mean(
            values, bounds=(0.0, 1.0), n=n, budget=budget, **cost
        ),
        "histogram": lambda: dither.histogram(
            values, bins=10, bounds=(0.0, 1.0), budget=budget, **cost
        ),
        "quantile": lambda: dither.quantile(
            values, 0.5, bounds=(0.0, 1.0), budget=budget, **cost
        ),
    }
    return given[plan.asked.query]


def account_of(plan: Plan) -> dither.Budget:
    return dither.Budget(plan.epsilon, plan.delta, unit=plan.asked.unit)


def test_the_example() -> None:
    """±3 % for groups of 200, and 50 such questions."""
    found = explain.plan("count", error=0.03, n=200, questions=50, delta=1e-6)
    assert found.width == 6.0
    assert found.way.noise == "Gaussian"
    # P(|round(Z)| ≤ 6) = P(|Z| < 6.5) = 0.95
    mu = 1.959964 / 6.5
    assert near(found.each["rho"], mu**2 / 2)
    # exact composition of 50 Gaussians is a lower bound; the filter pays a little more
    exact = gaussian_epsilon(math.sqrt(2 * 50 * found.each["rho"]), 1e-6)
    assert exact <= found.epsilon <= 1.2 * exact


def test_counts_without_a_delta_are_laplace_and_add_up() -> None:
    found = explain.plan("count", error=0.03, n=200, questions=50)
    each = found.each["epsilon"]
    q = math.exp(-each)
    assert 2 * q**7 / (1 + q) <= 0.05  # P(|X| > 6)
    loose = math.exp(-each * 0.998)
    assert 2 * loose**7 / (1 + loose) > 0.05
    assert near(found.epsilon, 50 * each)


@pytest.mark.parametrize("query", ["sum", "mean"])
def test_sums_and_means_follow_the_law_of_laplace(query: str) -> None:
    found = explain.plan(query, error=0.03, n=200, questions=50, bounds=(0, 1))
    assert near(found.each["epsilon"], math.log(20) / (0.03 * 200))
    assert near(found.epsilon, 50 * math.log(20) / 6)


@pytest.mark.parametrize("query", ["sum", "mean", "quantile"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_one_question_is_the_tradeoff(query: str, epsilon: float) -> None:
    law = explain.tradeoff(query, 100_000).share_at(epsilon)
    found = explain.plan(query, n=100_000, questions=1, epsilon=epsilon)
    assert near(found.error, law)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_is_solved_for_is_consistent(query: str, delta: float) -> None:
    """Each of the four, solved from the other three, gives no more than it must."""
    first = explain.plan(query, error=0.05, n=2000, questions=20, delta=delta)
    stated = {"epsilon": first.epsilon, "n": 2000, "questions": 20, "error": 0.05}
    for name, wanted in stated.items():
        others = {key: value for key, value in stated.items() if key != name}
        found = explain.plan(query, delta=delta, **others)
        got = getattr(found, name)
        if name == "questions":
            assert got >= 20
        else:
            assert got <= wanted * (1 + 1e-9)
        assert found.solved == name


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_an_account_grants_the_plan(query: str, delta: float) -> None:
    plan = explain.plan(query, error=0.05, n=400, questions=12, delta=delta)
    budget = account_of(plan)
    ask = asks(plan, budget)
    for _ in range(12):
        ask()
    assert budget.charges == 12


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("query", ["count", "mean"])
def test_no_question_more_is_granted(query: str, delta: float) -> None:
    plan = explain.plan(query, error=0.05, n=400, epsilon=4, delta=delta)
    budget = account_of(plan)
    ask = asks(plan, budget)
    for _ in range(plan.questions):
        ask()
    with pytest.raises(BudgetExceeded):
        ask()


@pytest.mark.parametrize("query", ["count", "sum", "mean"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_smaller_epsilon_does_not_do(query: str, delta: float) -> None:
    plan = explain.plan(query, error=0.05, n=400, questions=40, delta=delta)
    less = explain.plan(
        query, error=0.05, n=400, epsilon=plan.epsilon * 0.995, delta=delta
    )
    assert less.questions < 40


def test_fewer_people_do_not_do() -> None:
    plan = explain.plan("count", error=0.03, epsilon=1, questions=50, delta=1e-6)
    fewer = explain.plan("count", error=0.03, epsilon=1, n=plan.n - 1, delta=1e-6)
    assert fewer.questions < 50


DRAWS = 40_000


@chance(2e-9)
@pytest.mark.parametrize("query", ["count", "sum", "mean", "histogram"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_measured_error_is_within_the_bound(query: str, delta: float) -> None:
    plan = explain.plan(query, error=0.05, n=400, questions=30, delta=delta)
    step = 1 if query in ("count", "histogram") else 2**-20
    moved = {"mean": 1 / 400}.get(query, 1.0)
    made: Any = Laplace if plan.way.noise == "Laplace" else Gaussian
    size = moved / step
    mechanism = made(sensitivity=size, unit=plan.asked.unit, **plan.each)
    noise = np.abs(mechanism.release(np.zeros(DRAWS, np.int64))) * step
    inside = np.sum(noise <= plan.width)
    assert inside >= at_least(DRAWS, 0.949, 1e-9)
    # and the plan buys no more accuracy than it says
    assert inside <= 0.98 * DRAWS


@chance(1e-9)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_measured_rank_is_within_the_bound(delta: float) -> None:
    """A bound over all candidates, so it holds far more often than 95 %."""
    plan = explain.plan("quantile", error=0.1, n=500, questions=3, delta=delta)
    values = np.linspace(0.0, 1.0, 500)
    missed = 0
    for _ in range(100):
        value = dither.quantile(values, 0.5, bounds=(0, 1), **plan.each).value
        missed += abs(np.mean(values <= value) - 0.5) > 0.1 + 1 / 500
    assert missed <= at_most(100, 0.05, 1e-9)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_preview_promises_no_more(tmp_path: Path, delta: float) -> None:
    """What SQL says before it spends is within what was planned."""
    plan = explain.plan("count", error=0.05, n=400, questions=20, delta=delta)
    path = tmp_path / "people.csv"
    path.write_text("a\n" + "1\n" * 400, encoding="utf-8")
    with dither.open(path, unit="row", budget=(plan.epsilon, delta)) as people:
        seen = people.preview("SELECT COUNT(*) AS n FROM people", **plan.each)
        assert seen.columns[0].errors[0][1] <= plan.width
        assert seen.affordable
        assert seen.share <= 1 / 20


def test_the_error_falls_with_epsilon() -> None:
    plan = explain.plan("count", error=0.03, n=5000, questions=50, delta=1e-6)
    errors = [error for _, error in plan.curve]
    assert errors == sorted(errors, reverse=True)
    assert (plan.epsilon, plan.error) in plan.curve
    assert plan.error_at(plan.epsilon) == pytest.approx(plan.error, rel=2e-3)


def test_words_data_and_picture_agree() -> None:
    plan = explain.plan("count", error=0.03, n=200, questions=50, delta=1e-6)
    data = json.loads(plan.to_json())
    assert data["each"] == plan.each
    assert [one["epsilon"] for one in data["curve"]] == [e for e, _ in plan.curve]
    assert "within ±6 (3 % of the people)" in plan.sentences[0]
    assert f"rho = {plan.each['rho']}" in plan.sentences[1]
    drawn = Xml.fromstring(plan.svg())
    assert drawn.get("role") == "img"
    assert len(plan.rows) == len(plan.curve)


def test_the_law_has_its_measured_dots() -> None:
    kept = json.loads((ROOT / "bench/results/explain_plan.json").read_text("utf-8"))
    rows = [row for row in kept["rows"] if row["system"] == "measured"]
    assert [epsilon for epsilon, _ in MEASURED] == list(GRID)
    for (epsilon, variance), row in zip(MEASURED, rows, strict=True):
        assert row["case"] == f"epsilon {epsilon:g}"
        assert variance == pytest.approx(row["value"], rel=1e-4)
        assert variance == pytest.approx(exact_variance(epsilon), rel=0.02)


def test_the_exact_law_is_below_two_over_epsilon_squared() -> None:
    for epsilon in GRID:
        assert exact_variance(epsilon) < 2 / epsilon**2
    assert exact_variance(1.0) == pytest.approx(1.8413, abs=1e-4)
    assert exact_variance(4.0) == pytest.approx(0.0380, abs=1e-4)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            {"error": 0.03, "n": 200, "questions": 5, "epsilon": 1},
            "exactly three.*all four are passed",
        ),
        ({"error": 0.03, "n": 200}, "exactly three.*epsilon and questions are missing"),
        ({"error": 3, "n": 200, "questions": 5}, "strictly between 0 and 1"),
        ({"error": 0.03, "n": 0, "questions": 5}, "at least 1"),
        ({"error": 0.03, "n": 200, "questions": 10**7}, "at most 1,000,000"),
        ({"error": 0.03, "n": 20, "epsilon": 0.01}, "not a single question fits"),
        ({"n": 2, "epsilon": 0.01, "questions": 5}, "no relative error below 1"),
        ({"error": 0.03, "n": 200, "questions": 5, "model": "both"}, "central"),
        (
            {"error": 0.03, "n": 200, "questions": 5, "model": "local", "delta": 1e-6},
            "devices add up",
        ),
        ({"error": 0.001, "n": 9, "questions": 9, "model": "local"}, "no value"),
    ],
)
def test_bad_questions(words: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        explain.plan("count", **words)


def test_one_and_several_questions_in_words() -> None:
    one = explain.plan("count", error=0.1, n=20_000, questions=1, model="local")
    more = explain.plan("count", error=0.1, n=20_000, questions=2)
    said = one.sentences[0]
    assert "for each device, 1 count about 20,000 people stays within" in said
    assert (
        "grants 2 counts about 20,000 people that each stay within" in more.sentences[0]
    )


def test_an_unknown_query() -> None:
    with pytest.raises(ArgumentError, match="pass one of count"):
        explain.plan("mode", error=0.03, n=200, questions=5)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("model", ["central", "local"])
def test_an_error_beyond_all_floats_is_refused(query: str, model: str) -> None:
    with pytest.raises(ArgumentError, match="error must be at least 1e-12"):
        explain.plan(query, error=1e-300, epsilon=1, questions=1, model=model)


@pytest.mark.parametrize(
    ("model", "steps"), [("central", "at most 16,384"), ("local", "64 equal")]
)
def test_the_plan_of_a_quantile_names_its_steps(model: str, steps: str) -> None:
    made = explain.plan("quantile", n=10**9, epsilon=1, questions=1, model=model)
    assert f"one of {steps} steps" in made.notes[-1]
    assert "steps" not in " ".join(
        explain.plan("count", n=100, epsilon=1, questions=1, model=model).notes
    )
