"""A cost is stated in one way, and a wanted error is read as it is written."""

from __future__ import annotations

import pytest

from dither.cost import Cost, Wanted
from dither.errors import ArgumentError


@pytest.mark.parametrize(
    ("error", "width", "confidence"),
    [
        (50, 50.0, 0.95),
        ("50", 50.0, 0.95),
        ("±50 at 90%", 50.0, 0.9),
        ("+/- 1e3 at 99.9 %", 1000.0, 0.999),
    ],
)
def test_wanted_errors(error: float | str, width: float, confidence: float) -> None:
    assert Wanted.of(error) == Wanted(width, pytest.approx(confidence))


@pytest.mark.parametrize(
    "error", [True, 0, -1, float("nan"), "", "few", "1e", "5 at 100%", "9" * 101]
)
def test_errors_that_mean_nothing_are_refused(error: float | str) -> None:
    with pytest.raises(ArgumentError, match="error"):
        Wanted.of(error)


@pytest.mark.parametrize("stated", [{}, {"epsilon": 1.0, "rho": 0.1}])
def test_a_cost_is_stated_in_one_way(stated: dict[str, float]) -> None:
    with pytest.raises(ArgumentError, match="in one way"):
        Cost(**stated)


def test_an_error_is_read_when_it_is_asked_for() -> None:
    assert Cost(epsilon=1.0).wanted is None
    assert Cost(error="±5").wanted == Wanted(5.0)
    with pytest.raises(ArgumentError, match="one number here"):
        _ = Cost(error={"n": 5}).wanted
