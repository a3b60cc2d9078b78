"""Linearized figures against finite differences; intervals against the rule they
follow.
"""

import itertools
import math

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.query.statistics.intervals import (
    Combined,
    Line,
    Ratio,
    Root,
    VarianceBox,
    cut,
    farthest,
)

GAUSSIAN = Gaussian(sensitivity=1000, mu=1)
PARTS = np.array([30_000.0, 50_000.0, 20_000.0])


def measured(parts, weights, mechanism=GAUSSIAN):
    return Combined(
        float(np.dot(parts, weights)), tuple(map(float, weights)), mechanism
    )


def figure(parts):
    first, second = measured(parts, (1, 1, 1)), measured(parts, (0, 1, 4))
    return (2 * first * second - second * second + first * first).root()


def test_slopes_are_derivatives():
    slopes = figure(PARTS).weights
    for i, step in enumerate(np.eye(3)):
        difference = (figure(PARTS + step).value - figure(PARTS - step).value) / 2
        assert slopes[i] == pytest.approx(difference, rel=1e-6)
    assert measured([-1, 0, 0], (1, 0, 0)).root().value == 0


def test_a_line_is_cut_to_its_limits():
    line = Line(measured([10, 20, 0], (1, 1, 0)), 0.5, (0.0, 100.0))
    assert line.value == 15
    assert line.ends(0.95) == (0.0, 100.0)
    wide = Line(line.measured, 0.5)
    # a sum of two whole numbers is one: half a step more at most
    plain = 1.959964 * math.sqrt(2 * (1000**2 + 1 / 12))
    assert 0 <= 2 * (wide.ends(0.95)[1] - 15) - plain <= 0.5


@pytest.mark.parametrize("mechanism", [GAUSSIAN, Laplace(sensitivity=1000, epsilon=1)])
def test_ends_are_where_noise_stops_explaining(mechanism):
    ratio = Ratio(
        measured([30_000, 50_000], (0, 1), mechanism),
        measured([30_000, 50_000], (1, 1), mechanism),
        (0, 1),
    )
    low, high = ratio.ends(0.95)
    assert low < ratio.value == 0.625 < high
    for end, inward in ((low, 1), (high, -1)):
        assert ratio._possible(end + inward * 1e-9, 0.0, 0.95)
        assert not ratio._possible(end - inward * 1e-9, 0.0, 0.95)
    wider = ratio.ends(0.99)
    assert wider[0] < low < high < wider[1]


def test_gaussian_ends_are_fiellers():
    """The roots of a quadratic equation, but for what rounding noise may move."""
    zeros, ones = 30_000.0, 50_000.0
    ratio = Ratio(
        measured([zeros, ones], (0, 1)), measured([zeros, ones], (1, 1)), (0, 1)
    )
    total, reach = zeros + ones, 1.959963984540054**2 * (1000**2 + 1 / 12)
    # (ones − θ·total)² = reach · (θ² + (1−θ)²)
    roots = np.roots(
        [total**2 - 2 * reach, -2 * ones * total + 2 * reach, ones**2 - reach]
    )
    low, high = ratio.ends(0.95)
    least, most = sorted(roots.real)
    assert least - 0.5 / total < low <= least
    assert most <= high < most + 0.5 / total


def test_what_must_be_positive_but_may_not_be_leaves_everything_open():
    one = measured([500, 0], (1, 1))
    ratio = Ratio(
        measured([500, 0], (0, 1)), one, (-2.0, 3.0), (one,), scale=2.0, shift=1.0
    )
    assert ratio.ends(0.95) == (-3.0, 7.0)
    gone = Ratio(one, measured([-500, 0], (1, 1)), (-2.0, 3.0))
    assert gone.value == 0.5
    assert gone.ends(0.5) == (-2.0, 3.0)


def test_small_helpers():
    assert [cut(x, (0, 1)) for x in (-1, 0.5, 7)] == [0, 0.5, 1]
    assert farthest(lambda x: x < 0.3, 0.0, 1.0) == pytest.approx(0.3)
    assert farthest(lambda x: x > -0.3, 0.0, -1.0) == pytest.approx(-0.3)
    assert farthest(lambda _: True, 0.0, 1.0) == 1.0
    assert farthest(lambda _: False, 0.2, 1.0) == pytest.approx(0.2)
    line = Line(measured([10**8, 0, 0], (1, 0, 0)))
    assert Root(line).ends(0.95) == pytest.approx(
        [math.sqrt(end) for end in line.ends(0.95)]
    )


def test_the_variance_of_a_public_number_of_rows_is_least_and_largest_in_corners():
    """By brute force over all sums within their ±."""
    mechanism = Laplace(sensitivity=4, epsilon=1.0)
    for parts in ((40, 9, 30), (3, 50, 2), (0, 0, 60), (-5, 30, 11), (-90, 0, -90)):
        box = VarianceBox(parts, mechanism, 80, 2.0)
        low, high = box.ends(0.9)
        width = mechanism.error(1 - 0.1 / 3, integer=True)
        sides = [
            np.linspace(max(part - width, 0), max(part + width, 0), 9) for part in parts
        ]
        found = [box._at(*point) for point in itertools.product(*sides)]
        assert low == pytest.approx(min(found))
        assert high == pytest.approx(max(found))
        assert 0 <= low <= box.value <= high <= 0.5
