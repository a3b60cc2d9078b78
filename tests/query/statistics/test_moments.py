"""Rows as parts: never negative, always the same total, exact for integers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.query.statistics.moments import Moments

SHAPES = [(1,), (2,), (1, 1), (2, 2), (2, 1)]


def shape(degrees, steps=7):
    return Moments(degrees, ((0.0, 1.0),) * len(degrees), (steps,) * len(degrees))


VALUES = st.floats(0, 1) | st.floats(allow_nan=False)


@given(st.sampled_from(SHAPES), st.lists(VALUES, min_size=2, max_size=2))
def test_parts_are_never_negative_and_add_up(degrees, row):
    """So one row moves the sums by `total` in L1, whatever it holds."""
    moments = shape(degrees)
    parts = moments.parts(row[: len(degrees)])
    assert min(parts) >= 0
    assert sum(parts) == moments.total == 7 ** sum(degrees)
    assert len(parts) == len(moments.places) == math.prod(d + 1 for d in degrees)


def test_the_last_index_runs_fastest():
    moments = shape((2, 1))
    assert moments.places == ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1))
    assert moments.parts([1.0, 0.0]) == [0, 0, 0, 0, 343, 0]


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 110), (-5, 1000), (3, 3), (0, 2**40)]
)
@pytest.mark.parametrize("degrees", [(1,), (2,)])
def test_integers_are_not_rounded(low, high, degrees):
    moments = Moments.over(degrees, [(low, high)], [True])
    (steps,), width = moments.steps, high - low
    assert 0 < steps <= 1 << (30 if degrees == (1,) else 15)
    if 0 < width <= 1000:
        assert steps % width == 0
        assert all(
            moments.place(x) == (x - low) * (steps // width)
            for x in range(low, high + 1)
        )
    assert moments.place(low - 10) == 0
    assert moments.place(high + 10) == (steps if width else 0)


def test_the_usual_steps_stay_below_forty_bits():
    for degrees in [(1,), (2,), (1, 1), (2, 2)]:
        assert Moments.over(degrees, [(0.0, 5.0)] * len(degrees)).total <= 1 << 40


def test_an_even_spread_for_previews():
    moments = Moments.over((2,), [(0.0, 1.0)])
    rows = [moments.parts([x / 1000]) for x in range(1001)]
    even = [sum(column) for column in zip(*rows, strict=True)]
    assert even == pytest.approx(moments.expected(1001), rel=0.01)
