"""Local sensitivities: every form of them, held within a public range over a public
number of steps.
"""

import math

import numpy as np
import pytest

import dither
from dither.mechanisms.sensitivities import local_sensitivities

WANT = np.minimum(50, 3 + 2 * np.arange(40.0))


@pytest.mark.parametrize(
    "local",
    [
        3,
        3.0,
        np.int64(3),
        lambda t: 3 + 2 * t,
        WANT.tolist(),
        WANT,
        tuple(WANT),
        WANT[:24],
    ],
)
def test_all_forms_agree(local):
    assert local_sensitivities(local, 2, 50, 40).tolist() == WANT.tolist()


def test_what_is_odd_stays_in_range():
    odd = [1, None, math.nan, math.inf, -math.inf, -3, "x", 1e300, 10**400]
    assert local_sensitivities(odd, None, 50, 11).tolist() == [
        1,
        50,
        50,
        50,
        0,
        0,
        50,
        50,
        50,
        50,
        50,
    ]
    assert local_sensitivities(odd, None, 50, 2).tolist() == [1, 50]
    assert local_sensitivities([], None, 50, 2).tolist() == [50, 50]
    assert local_sensitivities(math.nan, 1, 50, 2).tolist() == [50, 50]
    assert local_sensitivities(None, 1, 50, 2).tolist() == [50, 50]
    assert local_sensitivities(-1, 1, 50, 3).tolist() == [0, 0, 1]
    assert local_sensitivities([1, [2]], None, 50, 3).tolist() == [1, 50, 50]
    assert local_sensitivities(1e308, 1e308, 50, 2).tolist() == [50, 50]


def test_a_function_is_asked_for_every_step():
    asked = []
    local_sensitivities(asked.append, None, 50, 7)
    assert asked == list(range(7))


@pytest.mark.parametrize(
    ("local", "growth"), [(3, None), ("a", 1), (None, None), ([[1]], 1)]
)
def test_what_is_not_enough_is_refused(local, growth):
    with pytest.raises(dither.ArgumentError, match="growth="):
        local_sensitivities(local, growth, 50, 3)


def test_a_function_that_fails_on_some_data_is_answered_like_a_short_list():
    """An error would tell the two apart; the list ends where this function raises."""
    assert local_sensitivities([1, 2].__getitem__, None, 50, 4).tolist() == [
        1,
        2,
        50,
        50,
    ]


@pytest.mark.parametrize("tenths", [1, 2, 3, 7])
def test_growth_in_fractions_keeps_the_order_of_neighbours(tenths):
    """LS_t(D) ≤ LS_(t+1)(D′) as written, also after rounding up: 0.1 + 0.1·29 was 4
    where 0 + 0.1·30 was 3.
    """
    for first in range(30):
        here, there = (
            np.ceil(local_sensitivities(s / 10, tenths / 10, 1000, 60))
            for s in (first + tenths, first)
        )
        assert (here[:-1] <= there[1:]).all()
