"""Cube noise: its law, its promise for every step, and its range."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.noise import discrete_cube
from dither.noise.cube import inside, radii
from tests.chance import chance
from tests.noise.support import LEVEL, Replay, p_value

FAR = 4000


def law_of_radii(scale, dims, far=FAR):
    """P(R = r) for r below `far`."""
    rest = np.arange(far - dims)
    logs = [math.lgamma(j + dims + 1) - math.lgamma(j + 1) for j in rest]
    logs = np.array(logs) - math.lgamma(dims + 1) - rest / scale
    logs += (dims + 1) * math.log(-math.expm1(-1 / scale))
    return np.concatenate([np.zeros(dims), np.exp(logs)])


def chances(scale, dims, far=FAR):
    """P(z) by the largest |entry| of z."""
    law = law_of_radii(scale, dims, far)
    each = law / (2.0 * np.arange(far) + 1) ** dims
    return np.cumsum(each[::-1])[::-1]


@pytest.mark.parametrize("dims", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_one_step_costs_no_more_than_promised(scale, dims):
    chance = chances(scale, dims)[:200]
    seen = chance > 1e-250
    steps = np.log(chance[:-1] / chance[1:])[seen[1:]]
    assert (steps >= 0).all()
    assert steps.max() <= 1 / scale + 1e-9


@pytest.mark.parametrize("dims", [1, 2, 5])
def test_the_same_in_fractions(dims):
    """P(R = d + j + 1) / P(R = d + j) against the volumes of both cubes."""
    for j in range(300):
        more = Fraction(j + 1 + dims, j + 1)
        volume = Fraction(2 * (dims + j) + 3, 2 * (dims + j) + 1) ** dims
        assert more >= volume


@chance(1e-8)
@pytest.mark.parametrize("dims", [1, 2, 6])
def test_law_of_radii(dims):
    scale = 3.0
    found = np.bincount(radii(scale, dims, 200_000), minlength=FAR)
    law = law_of_radii(scale, dims)
    assert p_value(np.append(found[:120], found[120:].sum()), tail(law, 120)) > LEVEL


def tail(law, size):
    return np.append(law[:size], 1 - law[:size].sum())


@chance(1e-8)
def test_law_of_pairs():
    scale, side = 2.0, 15
    pairs = discrete_cube(scale, (200_000, 2))
    kept = (np.abs(pairs) <= side).all(axis=1)
    places = (pairs[kept] + side) @ np.array([2 * side + 1, 1])
    found = np.append(np.bincount(places, minlength=(2 * side + 1) ** 2), 0)
    found[-1] = np.sum(~kept)
    axis = np.abs(np.arange(-side, side + 1))
    expected = chances(scale, 2)[np.maximum.outer(axis, axis)].ravel()
    assert p_value(found, np.append(expected, 1 - expected.sum())) > LEVEL


@chance(1e-10)
def test_vectors_are_independent_of_each_other():
    found = discrete_cube(50.0, (20_000, 2, 3))
    sizes = np.abs(found).max(axis=2)
    assert abs(np.corrcoef(sizes.T)[0, 1]) < 0.05  # seven deviations


def test_words_below_the_remainder_are_drawn_again():
    """2^64 mod 3 is 1: the word 0 would make one of three values likelier."""
    radius = np.array([1, 1, 1])
    words = Replay([0, 1, 2, 0, 6])
    assert list(inside(radius, words)) == [-1, 0, 1]
    assert words.used == 5


def test_shapes():
    assert discrete_cube(1.0, (4, 0, 2)).shape == (4, 0, 2)
    assert discrete_cube(1.0, (3,)).shape == (3,)
    assert np.abs(discrete_cube(2.0**40, (5, 1000))).max() < 2**60


@pytest.mark.parametrize(
    ("scale", "size"), [(2.0**50, (2,)), (2.0**45, (64,)), (1.0, (3, 0)), (-1.0, (2,))]
)
def test_too_wide_or_nothing(scale, size):
    with pytest.raises(ArgumentError, match="scale"):
        discrete_cube(scale, size)
