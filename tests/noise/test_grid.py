"""The grid of reals: rounding, adding and going back are what exact fractions say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.noise import Grid
from dither.noise.grid import MAX

ANY = st.floats(allow_nan=True, allow_infinity=True)
EXPONENTS = st.integers(-1074, 960)


@given(
    st.fractions(min_value=Fraction(1, 10**280), max_value=10**280).filter(
        lambda x: x > 0
    )
)
def test_the_grid_is_the_coarsest_that_is_fine_enough(length):
    step = Grid.finer_than(length).step
    assert step * 2**20 <= length < step * 2**21


def test_the_grid_is_never_finer_than_floats():
    assert Grid.finer_than(Fraction(1, 2**1080)).exponent == -1074
    assert Grid.finer_than(Fraction(1)).exponent == -20
    assert Grid.finer_than(Fraction(3, 4)).exponent == -21


def nearest(value, step):
    if math.isnan(value):
        return 0
    return round(Fraction(max(-MAX, min(MAX, value))) / step)


def back(index, step):
    exact = max(-Fraction(MAX), min(Fraction(MAX), index * step))
    return exact.numerator / exact.denominator


@settings(max_examples=300, deadline=None)
@given(
    EXPONENTS,
    st.lists(st.tuples(ANY, st.integers(-(1 << 62), 1 << 62)), min_size=1, max_size=5),
)
def test_adding_is_exact(exponent, pairs):
    """Huge, subnormal, infinite and NaN values too; single numbers and arrays agree."""
    grid = Grid(exponent)
    values, noise = (np.array(column) for column in zip(*pairs, strict=True))
    seen = grid.add(values, noise.astype(np.int64))
    for (value, steps), result in zip(pairs, seen.tolist(), strict=True):
        assert grid.nearest(value) == nearest(value, grid.step)
        assert result == back(nearest(value, grid.step) + steps, grid.step)
        assert result == grid.real(grid.nearest(value) + steps)


@settings(deadline=None)
@given(st.integers(-60, 60), st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=8))
def test_rounding_moves_each_entry_by_at_most_half_a_step(exponent, values):
    """So rounding two arrays can move them apart by one step an entry: Δ/g + ℓ0."""
    grid = Grid(exponent)
    for value in values:
        assert abs(grid.nearest(value) * grid.step - Fraction(value)) <= grid.step / 2


@pytest.mark.parametrize("shape", [(), (3,), (0,), (0, 2), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("value", [1.25, 1e300, math.nan, -math.inf, 5e-324])
def test_shapes(shape, value):
    """A single value that is very large used to fail as an array without sides."""
    grid = Grid(-20)
    result = grid.add(np.full(shape, value), np.full(shape, 3, np.int64))
    assert result.shape == shape
    assert isinstance(result, np.ndarray)
    assert (result == back(nearest(value, grid.step) + 3, grid.step)).all()


def test_places_are_kept_in_any_layout():
    values = np.arange(12.0).reshape(3, 4).T[::-1]
    values[0, 0] = 1e300
    noise = np.arange(12).reshape(4, 3)
    result = Grid(0).add(values, noise)
    np.testing.assert_array_equal(result, values + noise)


def test_other_floats_are_widened_first():
    values = np.array([1e38, np.inf, 0.1], np.float32)
    result = Grid(-20).add(values, np.zeros(3, np.int64))
    assert result.tolist() == [
        float(values[0]),
        MAX,
        round(float(values[2]) * 2**20) / 2**20,
    ]


def test_errors_of_numpy_are_not_the_callers_business():
    with np.errstate(all="raise"):
        assert Grid(900).add(
            np.array([5e-324, 1.7e308]), np.array([1, 1])
        ).tolist() == [2.0**900, 1.7e308]
