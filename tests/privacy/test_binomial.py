"""Exact bounds against scipy, from one draw to twenty million."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from dither.privacy.binomial import log_tail, lower, most, upper

ALARMS = [0.05, 1e-3, 1e-6, 5e-10]
SEEN = [
    (1, 1),
    (5, 5),
    (1, 10),
    (700, 700),
    (53, 160_000),
    (116_000, 160_000),
    (3, 20_000_000),
    (11_690_000, 16_000_000),
]


@pytest.mark.parametrize("alarm", ALARMS)
@pytest.mark.parametrize(("hits", "draws"), SEEN)
def test_bounds_are_those_of_clopper_and_pearson(hits, draws, alarm):
    exact = beta.ppf(alarm, hits, draws - hits + 1)
    assert exact * (1 - 2e-6) < lower(hits, draws, alarm) <= exact
    exact = beta.isf(alarm, hits + 1, draws - hits) if hits < draws else 1.0
    assert exact <= upper(hits, draws, alarm) < exact * (1 + 2e-6) + 1e-11


def test_ends():
    assert lower(0, 10, 1e-3) == 0
    assert upper(10, 10, 1e-3) == 1
    assert lower(1, 1, 1e-3) == pytest.approx(1e-3, rel=1e-5)


@given(st.integers(1, 400), st.floats(0.001, 0.999), st.data())
def test_tails_are_those_of_the_binomial(draws, probability, data):
    hits = data.draw(st.integers(0, draws + 1))
    exact = binom.logsf(hits - 1, draws, probability)
    found = log_tail(hits, draws, probability)
    if exact > -600:  # below, scipy's own figure runs out of floats
        assert found == pytest.approx(exact, rel=1e-8, abs=1e-10)
    else:
        assert found < -590


def test_tails_at_the_ends_of_probability():
    assert log_tail(0, 5, 0.3) == log_tail(3, 5, 1.0) == 0
    assert log_tail(1, 5, 0.0) == log_tail(6, 5, 0.5) == -math.inf


@pytest.mark.parametrize(
    ("draws", "probability", "alarm"),
    [
        (160_000, 1e-6, 1e-4),
        (160_000, 0.005, 1e-4),
        (10, 0.5, 1e-3),
        (20_000_000, 0.01, 1e-6),
    ],
)
def test_most_is_the_least_that_suffices(draws, probability, alarm):
    found = most(draws, probability, alarm)
    assert binom.sf(found, draws, probability) <= alarm
    assert binom.sf(found - 1, draws, probability) > alarm * (1 - 1e-5)


def test_nothing_leaks_at_zero():
    assert most(1000, 0.0, 1e-3) == 0
