"""What an answer may cost, and the error that one can live with."""

from __future__ import annotations

import pytest

from dither.cost import Cost, Wanted
from dither.errors import ArgumentError


@pytest.mark.parametrize(
    ("text", "width", "confidence"),
    [
        ("±50 at 95%", 50, 0.95),
        ("+/- 1.5 at 99 %", 1.5, 0.99),
        ("10", 10, 0.95),
        (10, 10, 0.95),
        ("±2e3", 2000, 0.95),
    ],
)
def test_a_wanted_error_in_words(
    text: float | str, width: float, confidence: float
) -> None:
    wanted = Wanted.of(text)
    assert (wanted.width, wanted.confidence) == (width, confidence)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "about ten",
        "±",
        "±5 at 100%",
        "±5 at 0%",
        "-3",
        0,
        -1,
        float("nan"),
        True,
        None,
        "5 at 95",
        "few",
        "1e",
        "9" * 101,
    ],
)
def test_an_error_that_is_none(text: float | str) -> None:
    with pytest.raises(ArgumentError, match="error"):
        Wanted.of(text)


def test_the_cost_is_stated_once() -> None:
    for stated in ({}, {"epsilon": 1.0, "rho": 0.1}):
        with pytest.raises(
            ArgumentError, match="pass exactly one of epsilon, rho, share or error"
        ):
            Cost(**stated)


def test_an_error_is_read_when_it_is_asked_for() -> None:
    assert Cost(epsilon=1.0).wanted is None
    assert Cost(error="±5").wanted == Wanted(5.0)
    with pytest.raises(ArgumentError, match="one number here"):
        _ = Cost(error={"n": 5}).wanted
