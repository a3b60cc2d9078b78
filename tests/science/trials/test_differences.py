"""Where a difference of means lies."""

from __future__ import annotations

import pytest

from dither.science.trials import mean
from dither.science.trials.differences import Difference
from dither.science.trials.moments import Noisy, Scale

SCALE = Scale(0.0, 10.0)


def arm(mean: float, *, people: float = 100.0, noise: float = 0.5) -> Noisy:
    squares = people * (mean**2 + 0.04)
    return Noisy(mean * people, squares, people, noise, 2 * noise, 2 * noise, False)


def test_the_value_is_in_the_units_of_the_data() -> None:
    assert Difference((arm(0.2),), SCALE).value == pytest.approx(6.0)
    assert Difference((arm(0.2), arm(-0.2)), SCALE).value == pytest.approx(2.0)


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_intervals_have_the_side_of_the_test(side: str) -> None:
    found = Difference((arm(0.2), arm(0.1)), SCALE, side)
    low, high = found.ends(0.95)
    assert (low == -10) == (side == "less")
    assert (high == 10) == (side == "greater")
    assert 0 < found.pvalue < 1


def test_sampling_makes_an_interval_longer() -> None:
    found = Difference((arm(0.2), arm(0.1)), SCALE)
    (low, high), (inner, outer) = found.ends(0.95), found.here.ends(0.95)
    assert low < inner < found.value < outer < high


def test_nothing_lies_beyond_the_bounds() -> None:
    for _ in range(20):
        found = mean([10.0, 10.0], bounds=(0, 10), size=2, epsilon=0.01)
        for low, high in (found.interval(), found.confidence_interval()):
            assert 0 <= low <= found.value <= high <= 10


def test_noise_that_makes_a_variance_negative_does_not_shorten_the_interval() -> None:
    negative = Noisy(0.0, -50.0, 100.0, 0.5, 1.0, 0.0, False)
    found = Difference((negative,), SCALE)
    assert found.sampling > 0
    assert found.ends(0.95)[1] > found.here.ends(0.95)[1]
