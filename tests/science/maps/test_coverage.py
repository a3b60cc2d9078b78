"""Intervals hold the truth at their rate, whatever the data: one figure of each map, so
that trials are independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither.science import maps
from tests.chance import at_least, chance
from tests.science.maps.support import UNIT, scattered

ONE = np.array([[0.31, 0.62]])
REGION = (0.2, 0.3, 0.45, 0.71)
MANY = scattered(2000)
POPULATIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "towns": (MANY, {}),
    "no points": (np.empty((0, 2)), {}),
    "one point": (ONE, {}),
    "all in one cell": (np.repeat(ONE, 500, axis=0), {}),
    "three of each owner": (MANY[:1998], {"owner": np.arange(1998) // 3, "rows": 3}),
    "an owner with 1,000": (
        np.concatenate([np.repeat(ONE, 1000, axis=0), MANY[:500]]),
        {"owner": np.append(np.zeros(1000, int), np.arange(1, 501)), "rows": 1000},
    ),
    "more points of an owner than cells": (
        MANY[:200],
        {"owner": np.arange(200) // 5, "rows": 5, "cells": 4},
    ),
}
COSTS = [{"epsilon": 1.0}, {"epsilon": 0.1}, {"rho": 0.05}]


def hits(points: Any, trials: int, **asked: Any) -> list[int]:
    """How often the cell of one place, and a region, were held."""
    found = [_held(points, asked) for _ in range(trials)]
    return [int(one) for one in np.sum(found, axis=0)]


def _held(points: Any, asked: dict[str, Any]) -> list[bool]:
    chart = maps.heatmap(points, bounds=UNIT, crs=None, **asked)
    west, south, east, north = (side.copy() for side in chart.partition.borders)
    own = (west <= ONE[0, 0]) & (ONE[0, 0] < east) & (south <= ONE[0, 1])
    place = int(np.flatnonzero(own & (ONE[0, 1] < north))[0])
    box = (west[place], south[place], east[place], north[place])
    low, high = chart.interval()
    first, last = chart.within(REGION).interval()
    cell, region = count(points, *box), count(points, *REGION)
    return [low[place] <= cell <= high[place], first <= region <= last]


def count(points: Any, west: float, south: float, east: float, north: float) -> int:
    inside = (points >= (west, south)) & (points < (east, north))
    return int(np.sum(inside.all(axis=1)))


@chance(2e-8)
@pytest.mark.parametrize("method", ["adaptive", "uniform"])
@pytest.mark.parametrize("name", ["towns", "no points", "one point"])
def test_intervals_hold(name, method):
    points, more = POPULATIONS[name]
    seen = hits(points, 120, method=method, epsilon=1, **more)
    assert min(seen) >= at_least(120, 0.95, 1e-8)


@chance(2e-8)
@pytest.mark.full
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("method", ["adaptive", "uniform"])
@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_hold_in_a_long_campaign(name, method, cost):
    points, more = POPULATIONS[name]
    seen = hits(points, 400, method=method, **cost, **more)
    assert min(seen) >= at_least(400, 0.95, 1e-8)


def test_intervals_are_not_far_too_wide():
    """Of noise that is nearly normal, those of 50 % are a third of those of 95 %."""
    total = maps.heatmap(MANY, bounds=UNIT, crs=None, epsilon=1).total()
    half, full = (np.subtract(*total.interval(level)[::-1]) for level in (0.5, 0.95))
    assert 0.25 < half / full < 0.45
