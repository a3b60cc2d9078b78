"""Declared facts are checked."""

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.science import trials
from dither.science.trials import checks
from dither.science.trials.sizes import at_most
from tests.chance import chance


def test_sizes():
    assert checks.sizes((3, 4), 2) == (3, 4)
    assert checks.sizes(np.array([3, 4])) == (3, 4)


@pytest.mark.parametrize(
    "sizes",
    [3, "34", (3,), (3, 0), (3, -1), (3, 2.5), (3, True), (3, None), (3, 1 << 40)],
)
def test_sizes_that_are_none(sizes):
    with pytest.raises(ArgumentError, match="sizes"):
        checks.sizes(sizes, 2)


@pytest.mark.parametrize(
    "bounds", [3, (1,), (2, 1), (1, 1), (0, np.inf), (np.nan, 1), ("a", "b"), None]
)
def test_bounds_that_are_none(bounds):
    with pytest.raises(ArgumentError, match="bounds"):
        checks.bounds(bounds)


@pytest.mark.parametrize("value", ["both", None, 3, "Less"])
def test_alternatives(value):
    with pytest.raises(ArgumentError, match="two-sided"):
        checks.alternative(value)


@pytest.mark.parametrize("count", [0, 1, 5, 9])
def test_no_more_than_declared(count):
    assert at_most(np.arange(float(count)), 5).size == min(count, 5)


@chance(2e-8)
def test_which_ones_stay_is_drawn():
    kept = {tuple(at_most(np.arange(6.0), 2)) for _ in range(300)}
    assert len(kept) == 15


@pytest.mark.parametrize("name", ["ttest", "ttest_ind", "welch"])
def test_a_t_test_does_not_exist(name):
    with pytest.raises(AttributeError, match="use mannwhitneyu"):
        getattr(trials, name)
    with pytest.raises(AttributeError, match="has no attribute"):
        trials.nonsense  # noqa: B018


@pytest.mark.parametrize(
    "value",
    [
        (0, 5e-324),
        (-5e-324, 0),
        (1.0, 1.0 + 2.0**-45),
        (-1e308, 1e308),
        (0, 10**400),
        (0, float("inf")),
        (float("nan"), 1),
    ],
)
def test_bounds_between_which_floats_do_not_differ_are_refused(value):
    with pytest.raises(ArgumentError, match="bounds"):
        checks.bounds(value)
