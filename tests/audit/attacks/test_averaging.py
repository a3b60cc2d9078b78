"""Averaging: fresh noise cancels, a stored answer and an account do not let it."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import pytest

from dither import ArgumentError
from dither.audit import attacks
from tests.audit.attacks.support import held, near, shown_well
from tests.chance import chance

FOUND = attacks.averaging(repeats=(1, 16, 256), tries=4000)


@chance(1e-8)
def test_one_answer_tells_as_much_as_epsilon_allows() -> None:
    expected = math.exp(0.25) / (1 + math.exp(0.25))
    assert near(FOUND.naive[0], expected)
    for one in FOUND.replayed:
        assert near(one, expected)
        assert one.bound == pytest.approx(expected)


@chance(1e-8)
def test_the_mean_of_many_is_the_normal_law() -> None:
    """At 256 answers the law of the mean is normal but for 0.01."""
    a = math.exp(-0.25)
    spread = math.sqrt(2 * a) / (1 - a)
    expected = NormalDist().cdf(math.sqrt(256) / 2 / spread)
    assert (
        abs(FOUND.naive[-1].share - expected)
        < 0.01 + 6 * FOUND.naive[-1].standard_error
    )
    assert FOUND.naive[-1].share > 0.85


@chance(1e-8)
def test_other_words_are_charged_until_nothing_is_left() -> None:
    assert FOUND.reworded[-1].release == "reworded, 4 answers charged"
    assert held(*FOUND.reworded)
    asked = FOUND.asked
    assert (asked.answers, asked.charges, asked.paid, asked.refused) == (1, 1, 3, True)
    assert asked.asked == 256


def test_it_is_shown_well() -> None:
    shown_well(FOUND)
    assert "1 answer, 1 charge" in str(FOUND)


@chance(1e-8)
@pytest.mark.full
def test_a_thousand_answers_tell_it_nearly_always() -> None:
    """The stored answer tells just its bound."""
    found = attacks.averaging()
    assert found.naive[-1].share > 0.99
    assert found.replayed[-1].bound is not None
    assert near(found.replayed[-1], found.replayed[-1].bound)


@pytest.mark.parametrize(
    "given",
    [
        {"repeats": ()},
        {"repeats": (4, 1)},
        {"repeats": (0,)},
        {"epsilon": 0},
        {"budget": 0.1},
        {"budget": "much"},
        {"repeats": None},
        {"tries": 0},
    ],
)
def test_refusals(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(given))):
        attacks.averaging(**given)
