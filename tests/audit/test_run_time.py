"""How time tells inputs apart, on a clock that tests turn."""

import numpy as np
import pytest

from dither import audit
from dither.errors import ArgumentError
from tests.chance import at_most, chance


class Clock:
    """Time passes while the function runs, and at no other time."""

    def __init__(self, seconds):
        self.now, self.seconds = 0.0, seconds
        self.source = np.random.default_rng(5)  # allowed: made-up times

    def __call__(self):
        return self.now

    def f(self, x):
        self.now += self.seconds(x, self.source)
        return x


def measured(seconds, **options):
    hands = Clock(seconds)
    return audit.run_time(hands.f, 0, 1, clock=hands, **options)


def test_times_that_do_not_overlap_tell_everything():
    found = measured(lambda x, _: 1.0 + x)
    assert found.area == 1.0
    assert found.apart > 0.8
    assert found.warns
    assert found.medians == (1.0, 2.0)
    assert "outside of every guarantee" in str(found)
    assert "Run time tells the inputs apart" in str(found)


def test_equal_times_tell_nothing():
    found = measured(lambda x, _: 3.0)
    assert (found.area, found.apart, found.warns) == (0.5, 0.0, False)
    assert "was not found" in str(found)


@chance(1e-8)
def test_false_warnings_are_as_rare_as_stated():
    """At 95 %: both measures together warn in at most 1 of 20."""
    warned = sum(
        measured(lambda x, source: source.exponential(), runs=40, confidence=0.95).warns
        for _ in range(100)
    )
    assert warned <= at_most(100, 0.05, 1e-8)


@chance(1e-8)
def test_the_area_is_that_of_the_closed_form():
    """Two exponential times with rates 1 and 1/3: P(second > first) is 3/4."""
    found = measured(lambda x, source: source.exponential(3.0 if x else 1.0), runs=2000)
    # The area of 2,000 pairs has a standard error of 0.0077
    assert abs(found.area - 0.75) < 6 * 0.0077
    assert found.low < 0.75 < found.high
    # Total variation of the two: at t = ln(3)·3/2, e^(−t/3) − e^(−t)
    line = 1.5 * np.log(3)
    apart = np.exp(-line / 3) - np.exp(-line)
    # Half of the calls bound it: 3.5 standard errors below, and 6 more for chance
    error = (0.58 * 0.42 / 1000) ** 0.5 + (0.19 * 0.81 / 1000) ** 0.5
    assert apart - 9.5 * error < found.apart <= apart
    assert found.to_dict()["guarantee"] == "none: time is outside of it"


def test_the_shorter_side_is_found_too():
    found = measured(lambda x, _: 2.0 - x)
    assert found.area == 0.0
    assert found.apart > 0.8


def test_bad_questions_are_refused():
    with pytest.raises(ArgumentError, match="is not callable"):
        audit.run_time(3, 0, 1)
    with pytest.raises(ArgumentError, match="runs must be 20 or more"):
        audit.run_time(abs, 0, 1, runs=5)
    with pytest.raises(ArgumentError, match="confidence"):
        audit.run_time(abs, 0, 1, confidence=1.0)
