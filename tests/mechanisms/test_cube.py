"""`Cube`: its scale, its spread, and what it refuses."""

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.mechanisms import Cube, Laplace
from dither.privacy import PureDP
from tests.chance import chance


def test_promise_and_scale():
    made = Cube(sensitivity=3, dims=4, epsilon=0.5)
    assert made.guarantee == PureDP(0.5)
    assert made.scale == 6.0


@chance(1e-12)
@pytest.mark.parametrize(("dims", "sensitivity"), [(1, 5), (3, 1), (30, 1 << 16)])
def test_variance_and_error_are_those_of_draws(dims, sensitivity):
    made = Cube(sensitivity=sensitivity, dims=dims, epsilon=1)
    found = made.release(np.zeros((200_000 // dims, dims), np.int64))
    assert abs(found.var() / made.variance - 1) < 0.1  # more than six deviations
    within = np.mean(np.abs(found) <= made.error(0.9))
    assert 0.88 < within < (0.92 if sensitivity > 5 else 1.0)


def test_less_noise_than_laplace():
    """√6 less in the limit of many entries."""
    cube = Cube(sensitivity=1 << 16, dims=64, epsilon=1)
    laplace = Laplace(sensitivity=64 << 16, epsilon=1)
    assert cube.variance * 5.5 < 2 * laplace.scale**2


def test_noise_is_added():
    made = Cube(sensitivity=1, dims=2, epsilon=1)
    value = np.array([[10**6, -(10**6)], [0, 0]])
    assert np.abs(made.release(value) - value).max() < 1000


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"sensitivity": 0}, "sensitivity"),
        ({"dims": 0}, "dims"),
        ({"dims": 1.5}, "dims"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1e-300}, "epsilon"),
        ({"sensitivity": 2.0**50}, "epsilon"),
    ],
)
def test_refused(wrong, named):
    asked = {"sensitivity": 1, "dims": 3, "epsilon": 1.0} | wrong
    with pytest.raises(ArgumentError, match=named):
        Cube(**asked)


@pytest.mark.parametrize("value", [3, 1.5, [1, 2], [1.0, 2.0, 3.0], np.zeros((3, 2))])
def test_only_vectors_of_whole_numbers(value):
    with pytest.raises(ArgumentError, match="value"):
        Cube(sensitivity=1, dims=3, epsilon=1).release(value)
