from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.privacy.advanced import advanced_epsilon, heterogeneous_epsilon
from dither.privacy.optimal import repeated_epsilon

from .support import hockey_stick, randomized_response, together


def test_the_textbook_example() -> None:
    assert advanced_epsilon({0.1: 5}, 1e-6) == pytest.approx(1.23, abs=5e-3)


@settings(max_examples=80, deadline=None)
@given(st.floats(0.01, 1.5), st.integers(2, 200), st.floats(-9.0, -0.5))
def test_neither_form_beats_the_optimum(
    epsilon: float, times: int, power: float
) -> None:
    best = repeated_epsilon(epsilon, times, 10.0**power)
    assert best <= advanced_epsilon({epsilon: times}, 10.0**power) * (1 + 1e-9)
    assert best <= heterogeneous_epsilon({epsilon: times}, 10.0**power) * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.05, 1.0), min_size=2, max_size=6), st.floats(-3.0, -0.3))
def test_different_parts_are_covered(parts: list[float], power: float) -> None:
    pair = together(*map(randomized_response, parts))
    counted = {epsilon: parts.count(epsilon) for epsilon in parts}
    for form in (advanced_epsilon, heterogeneous_epsilon):
        assert hockey_stick(pair, form(counted, 10.0**power)) <= 10.0**power
