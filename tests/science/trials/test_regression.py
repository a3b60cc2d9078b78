"""Linear regression: exact without noise, honest intervals with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError, Budget, Unit
from dither.mechanisms import Laplace
from dither.science.trials import regression
from dither.science.trials.regression import linregress
from tests.chance import at_least, chance

PATIENT = Unit("patient", "replace")
RNG = np.random.default_rng(3)


def grid(values: Any, half: float) -> np.ndarray:
    return np.round(np.asarray(values) / half * 2**14) / 2**14 * half


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: Laplace, scale: float, size: Any) -> Any:  # noqa: ARG001
        return np.zeros(size, np.int64)

    monkeypatch.setattr(Laplace, "_draw", none)


@pytest.mark.usefixtures("silent")
def test_without_noise_it_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    x = grid(RNG.uniform(0, 8, 300), 4)
    y = grid(3 + 2 * x + RNG.normal(0, 1, 300), 32)
    found = linregress(x, y, x_bounds=(0, 8), y_bounds=(-32, 32), n=300, epsilon=1)
    known = stats.linregress(x, y)
    assert found.slope == pytest.approx(known.slope, rel=1e-12)
    assert found.intercept == pytest.approx(known.intercept, rel=1e-12)


@pytest.mark.usefixtures("silent")
def test_without_noise_several_columns_are_those_of_least_squares() -> None:
    age, dose = grid(RNG.uniform(0, 64, 400), 32), grid(RNG.uniform(0, 4, 400), 2)
    y = grid(1 - 0.1 * age + 3 * dose + RNG.normal(0, 1, 400), 16)
    y[:7] = np.nan
    found = linregress(
        {"age": age, "dose": dose}, y,
        x_bounds={"dose": (0, 4), "age": (0, 64)}, y_bounds=(-16, 16),
        n=400, epsilon=1,
    )  # fmt: skip
    design = np.column_stack([np.ones(393), age[7:], dose[7:]])
    wanted, *_ = np.linalg.lstsq(design, y[7:], rcond=None)
    assert found.value == pytest.approx(wanted, rel=1e-11)
    assert found.keys == ("intercept", "age", "dose")
    assert found.slope == {"age": found.value[1], "dose": found.value[2]}


@pytest.mark.usefixtures("silent")
def test_with_little_noise_intervals_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    x = grid(RNG.uniform(0, 8, 3000), 4)
    y = grid(3 + 0.05 * x + RNG.normal(0, 2, 3000), 32)
    found = linregress(x, y, x_bounds=(0, 8), y_bounds=(-32, 32), n=3000, epsilon=1e6)
    known = stats.linregress(x, y)
    assert found.pvalue == pytest.approx(known.pvalue, rel=0.02)
    low, high = found.confidence_interval()
    half = 1.9608 * known.stderr
    assert low[1] == pytest.approx(known.slope - half, abs=0.02 * half)
    assert high[1] == pytest.approx(known.slope + half, abs=0.02 * half)
    outer = 1.9608 * known.intercept_stderr
    assert high[0] - low[0] == pytest.approx(2 * outer, rel=0.02)


@chance(2e-9)
def test_intervals_cover() -> None:
    rounds, covered, here = 60, 0, 0
    for _ in range(rounds):
        x = RNG.uniform(-1, 1, 300)
        y = 0.1 + 0.4 * x + RNG.normal(0, 0.2, 300)
        found = linregress(x, y, x_bounds=(-1, 1), y_bounds=(-1, 1), n=300, epsilon=1)
        covered += found.population._error(1).outside(0.4 - found.slope) >= 0.05
        low, high = found.interval()
        truth = np.polyfit(x, np.clip(y, -1, 1), 1)[0]
        here += low[1] <= truth <= high[1]
    assert covered >= at_least(rounds, 0.95, 1e-9)
    assert here >= at_least(rounds, 0.95, 1e-9)


@pytest.mark.usefixtures("silent")  # it can make x look as if it varied
def test_where_noise_hides_how_x_varies_nothing_is_claimed() -> None:
    found = linregress(
        [1.0] * 50, [2.0] * 50, x_bounds=(0, 100), y_bounds=(0, 10), n=50, epsilon=0.01
    )
    low, high = found.confidence_interval()
    assert np.isinf([low[1], high[1]]).all()
    assert str(found)


@chance(1e-7)
def test_gaussian_noise_and_private_numbers_of_people() -> None:
    x = RNG.uniform(-1, 1, 5000)
    y = 0.5 * x + RNG.normal(0, 0.1, 5000)
    budget = Budget(epsilon=3, unit=Unit("patient"))
    asked = {"x_bounds": (-1, 1), "y_bounds": (-1, 1)}
    for cost in ({"rho": 1}, {"epsilon": 3, "budget": budget}):
        n = {} if "budget" in cost else {"n": 5000}
        found = linregress(x, y, **asked, **n, **cost)
        low, high = found.confidence_interval(1 - 1e-8)
        assert low[1] < 0.5 < high[1] < 1
    with pytest.raises(ArgumentError, match="private"):
        linregress(x, y, **asked, n=5000, epsilon=1, budget=budget)


def test_more_people_than_fit_are_cut_to_a_random_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(regression, "MOST_PEOPLE", 100)
    rows = regression._matched([np.arange(500.0), np.arange(500.0)], None)
    assert rows.shape == (2, 100)
    assert (rows[0] == rows[1]).all()


ODD: list[Any] = [
    [],
    [5.0],
    [None] * 50,
    ["a", "7", b"x", None, float("inf"), 10**400, -(10**400), object()],
    np.array([np.inf, -np.inf, np.nan, 1e308, -1e308]),
]


@pytest.mark.parametrize("column", ODD)
def test_odd_data_gets_a_normal_answer(column: Any) -> None:
    budget = Budget(epsilon=1, unit=PATIENT)
    found = linregress(
        column, column, x_bounds=(0, 1), y_bounds=(0, 1), n=50, epsilon=1, budget=budget
    )
    assert np.isfinite(found.value).all()
    assert str(found)
    assert budget.spent == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"x_bounds": (1, 0)}, "x_bounds"),
        ({"y_bounds": (0, float("inf"))}, "y_bounds"),
        ({"n": 0}, "n"),
        ({"n": 1 << 30}, "n"),
        ({"x": {"age": [1.0]}}, "x_bounds"),
        ({"x": {}}, "x"),
        ({"x": [1.0, 2.0]}, "columns"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_a_bad_question_is_refused_before_the_charge(
    words: dict[str, Any], problem: str
) -> None:
    budget = Budget(epsilon=1, unit=PATIENT)
    asked: dict[str, Any] = {"x": [1.0], "y": [2.0], "x_bounds": (0, 1)}
    asked |= {"y_bounds": (0, 1), "n": 50, "epsilon": 1, "budget": budget}
    asked |= words
    with pytest.raises(ArgumentError, match=problem):
        linregress(asked.pop("x"), asked.pop("y"), **asked)
    assert budget.spent == 0
