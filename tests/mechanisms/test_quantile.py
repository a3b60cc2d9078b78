"""Quantiles by the exponential mechanism: how far penalties move by brute force, its
law, its rank error.
"""

import itertools
import math

import numpy as np
import pytest

import dither
from dither.mechanisms import QuantileExponential
from tests.chance import at_least, chance
from tests.noise.support import LEVEL, p_value

LEVELS = [0.0, 0.1, 0.5, 0.75, 1 / 3, 1.0]


@pytest.mark.parametrize("level", LEVELS)
def test_penalties_move_by_no_more_than_the_choice_assumes(level):
    added, replaced = (
        QuantileExponential(q=level, bounds=(0, 3), epsilon=1, points=4, unit=unit)
        for unit in (dither.ROW, dither.ROW.replacing())
    )
    most = [0, 0]
    for counts in itertools.product(range(3), repeat=4):
        here = np.array(counts)
        for i in range(4):
            more = here + np.eye(4, dtype=int)[i]
            most[0] = max(
                most[0], np.abs(added.penalties(more) - added.penalties(here)).max()
            )
            for j in range(4):
                other = here + np.eye(4, dtype=int)[j]
                most[1] = max(
                    most[1],
                    np.abs(added.penalties(more) - added.penalties(other)).max(),
                )
    assert most[0] == added.choice.sensitivity
    assert most[1] <= replaced.choice.sensitivity


def test_a_point_that_is_the_quantile_has_no_penalty():
    mechanism = QuantileExponential(q=0.5, bounds=(0, 4), epsilon=1, points=5)
    assert mechanism.penalties(np.array([1, 1, 1, 1, 1])).tolist() == [3, 1, 0, 1, 3]
    assert mechanism.penalties(np.array([0, 0, 0, 0, 0])).tolist() == [0] * 5
    assert mechanism.penalties(np.array([2, 0, 0, 0, 2])).tolist() == [0] * 5


@chance(1e-8)
def test_releases_follow_the_law():
    mechanism, draws = (
        QuantileExponential(q=0.5, bounds=(0, 4), epsilon=1.0, points=5),
        8_000,
    )
    odds = np.exp(-mechanism.choice.weight * np.array([3, 1, 0, 1, 3]))
    seen = np.bincount(
        [int(mechanism.release([0, 1, 2, 3, 4])) for _ in range(draws)], minlength=5
    )
    assert p_value(seen, odds / odds.sum()) > LEVEL


@chance(1e-9)
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_the_error_in_rank_covers(level):
    values = np.arange(10_001) / 100
    mechanism = QuantileExponential(q=level, bounds=(0, 200), epsilon=0.5, points=2001)
    bound = mechanism.error(0.9)
    ranks = np.array([mechanism.release(values) * 100 for _ in range(300)])
    near = np.abs(ranks - level * 10_001) <= bound + 20
    assert near.sum() >= at_least(300, 0.9, 1e-9)
    assert bound < 100


def test_promises():
    unit = dither.ROW.replacing()
    mechanism = QuantileExponential(q=0.5, bounds=(0, 1), epsilon=0.3, unit=unit)
    assert mechanism.guarantee == dither.BoundedRange(0.3, unit=unit)
    assert mechanism.grid[[0, -1]].tolist() == [0, 1]


def test_odd_values_get_an_answer():
    mechanism = QuantileExponential(q=0.5, bounds=(-1, 1), epsilon=1)
    for values in (
        [],
        [math.nan, math.inf, -math.inf],
        [None, "x", 1],
        np.array([2**63], np.uint64),
        [1e308, -1e308],
    ):
        assert -1 <= mechanism.release(values) <= 1


def test_the_callers_numpy_settings_do_not_show_the_values():
    mechanism = QuantileExponential(q=0.5, bounds=(0, 1e300), epsilon=1)
    with np.errstate(all="raise"):
        mechanism.release([5e-324, 1e300])


def test_bad_questions():
    good = {"q": 0.5, "bounds": (0, 1), "epsilon": 1.0}
    bad = [
        ("q", -0.1),
        ("q", 2),
        ("bounds", (0, 0)),
        ("bounds", (0, math.inf)),
        ("bounds", (math.nan, 1)),
        ("bounds", 1),
        ("epsilon", 0),
    ]
    for name, value in [*bad, ("points", 1), ("points", 1 << 25)]:
        with pytest.raises(dither.ArgumentError, match=name):
            QuantileExponential(**good | {name: value})
    with pytest.raises(dither.ArgumentError, match="bounds"):
        QuantileExponential(**good | {"bounds": (-1e308, 1e308)})
    for low, high in ((0, 10**400), (2**53, 2**53 + 1)):
        with pytest.raises(dither.ArgumentError, match="bounds"):
            QuantileExponential(**good | {"bounds": (low, high)})
    for values in (5, [[1, 2]]):
        with pytest.raises(dither.ArgumentError, match="values"):
            QuantileExponential(**good).release(values)
