"""Errors of devices' answers: against enumeration, and against the local room."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither import explain, local
from dither.explain import local_laws
from tests.chance import at_least, at_most, chance

Z = 1.959963984540054


def three_answers(epsilon: float) -> tuple[float, float]:
    """The chances of a true answer and of another one: yes, no and none."""
    odds = math.exp(epsilon)
    return odds / (odds + 2), 1 / (odds + 2)


def test_a_count_is_randomized_response_with_a_none() -> None:
    p, q = three_answers(1.0)
    step = 1 / (p - q)
    # everybody says yes: no variance is larger
    exact = Z * math.sqrt(1000 * p * (1 - p)) * step
    found = local_laws.error("count", 1.0, 1000, (0, 1), 10, 0.95)
    assert found == pytest.approx(exact + step / 2)


def binomial(n: int, chance: float) -> np.ndarray:
    """The chances of 0 to n."""
    return np.array(
        [math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)]
    )


@pytest.mark.parametrize("n", [5, 20, 60])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_a_count_covers(n: int, epsilon: float) -> None:
    """By enumeration: the chance to lie within the ± is at least 95 %, whatever the
    answers are, but for what a normal misses of so few devices.
    """
    p, q = three_answers(epsilon)
    width = local_laws.error("count", epsilon, n, (0, 1), 10, 0.95)
    for true in (0, n // 2, n):
        chances = np.convolve(binomial(true, p), binomial(n - true, q))
        estimates = (np.arange(n + 1) - n * q) / (p - q)
        assert chances[np.abs(estimates - true) <= width + 1e-9].sum() >= 0.945


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_unary_and_direct_encoding(epsilon: float) -> None:
    """Wang, Blocki, Li & Jha 2017: 4e^ε/(e^ε − 1)² for the one, (d − 2 + e^ε)/(e^ε − 1)²
    for the other, as the part of devices that have the value goes to 0.
    """
    odds = math.exp(epsilon)
    name, (unary, _) = local_laws._chosen(epsilon, 10**6, 0.0)
    assert name == "unary encoding"
    assert unary == pytest.approx(4 * odds / (odds - 1) ** 2)
    name, (direct, _) = local_laws._chosen(epsilon, 2, 0.0)
    assert name == "k-ary response"
    assert direct == pytest.approx((3 - 2 + odds) / (odds - 1) ** 2)


def test_the_mean() -> None:
    size = 50 * (math.e + 1) / (math.e - 1)
    found = local_laws.error("mean", 1.0, 400, (0, 100), 10, 0.95)
    assert found == pytest.approx(size * (Z / 20 + 1 / 400))
    whole = local_laws.error("sum", 1.0, 400, (0, 100), 10, 0.95)
    assert whole == pytest.approx(400 * found)


def inside(errors: list[float], width: float) -> float:
    return float(np.mean(np.abs(errors) <= width))


@chance(1e-9)
@pytest.mark.full
def test_counts_of_the_local_room_are_within_the_plan() -> None:
    plan = explain.plan("count", error=0.1, n=2000, questions=1, model="local")
    task = local.task("vote", domain=["no", "yes"], n=2000, **plan.each)
    held = ["yes"] * 600 + ["no"] * 1400
    errors = [
        task.tally(task.randomize(held)).estimate()["yes"].value * 2000 - 600
        for _ in range(100)
    ]
    assert inside(errors, plan.width) >= at_least(100, 0.95, 1e-9) / 100


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("held", [0, 5000, 50_000, 100_000])
def test_a_bin_that_holds_many_is_within_the_plan(epsilon: float, held: int) -> None:
    """The law of the estimate, exactly: those in the bin report it with p, others with
    q. A bin may hold everybody.
    """
    n, bins = 100_000, 20
    plan = explain.plan(
        "histogram", n=n, bins=bins, epsilon=epsilon, questions=1, model="local"
    )
    odds = math.exp(plan.way.value)
    p, q = 0.5, 1 / (odds + 1)
    if plan.way.noise == "k-ary response":
        p, q = odds / (odds + bins), 1 / (odds + bins)
    variance = held * p * (1 - p) + (n - held) * q * (1 - q)
    within = plan.width * (p - q) / math.sqrt(variance)
    assert math.erf(within / math.sqrt(2)) >= 0.95


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("error", [0.2, 0.8])
def test_histograms_of_the_local_room_are_within_the_plan(error: float) -> None:
    """A strong and a weak ε: two different oracles. 60 rounds of 8 bins."""
    plan = explain.plan(
        "histogram", error=error, n=4000, bins=8, questions=1, model="local"
    )
    values = [f"v{i}" for i in range(8)]
    task = local.task("bins", domain=values, n=4000, **plan.each)
    held = [values[i % 8] for i in range(4000)]
    errors = [
        float(one) * 4000 - 500
        for _ in range(60)
        for one in task.tally(task.randomize(held)).estimate().value[:8]  # not "none"
    ]
    # Those of one round lean on one another a little, to opposite sides
    assert inside(errors, plan.width) >= at_least(480, 0.95, 1e-9) / 480


@chance(1e-9)
@pytest.mark.full
def test_means_of_the_local_room_are_within_the_plan() -> None:
    plan = explain.plan(
        "mean", error=0.1, n=2000, questions=1, model="local", bounds=(0, 100)
    )
    task = local.task("n", domain=local.Numbers(0, 100), n=2000, **plan.each)
    held = np.linspace(0, 100, 2000).round()
    errors = [
        task.tally(task.randomize(held)).estimate().value - float(held.mean())
        for _ in range(100)
    ]
    assert inside(errors, plan.width) >= at_least(100, 0.95, 1e-9) / 100


@chance(1e-9)
@pytest.mark.full
def test_quantiles_of_the_local_room_are_within_the_plan() -> None:
    plan = explain.plan("quantile", error=0.3, n=20_000, questions=1, model="local")
    asked = local.Numbers(0, 63, ask="distribution")
    task = local.task("n", domain=asked, n=20_000, **plan.each)
    held = np.arange(20_000) % 64
    missed = 0
    for _ in range(40):
        found = task.tally(task.randomize(held)).estimate().quantile(0.5).value
        missed += abs(np.mean(held <= found) - 0.5) > 0.3 + 1 / 64
    assert missed <= at_most(40, 0.05, 1e-9)


def test_a_quantile_at_a_confidence_near_one_has_an_error() -> None:
    near = local_laws.error("quantile", 1.0, 1000, (0, 1), 10, 1 - 1e-15)
    far = local_laws.error("quantile", 1.0, 1000, (0, 1), 10, 1 - 1e-9)
    assert far < near < 1.5 * far
