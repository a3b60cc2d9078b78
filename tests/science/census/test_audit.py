"""Whole releases of neighbouring censuses cannot be told apart better than promised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dither
from dither import audit
from dither.science import census
from tests.chance import chance

LEVELS = ["state", "block"]
BLOCKS = [("1", "11"), ("1", "12"), ("2", "21")]
KEYS = census.geography(BLOCKS, levels=LEVELS)


def statistic(table: Any, more: dict[str, Any]) -> float:
    """One number in the direction in which the neighbours differ, weighted by the
    noise: the most telling one for Gaussian noise.
    """
    columns = dict(zip(LEVELS, map(list, zip(*table, strict=True)), strict=True))
    found = census.release(columns, keys=KEYS, **more)
    total = 0.0
    for one, values in zip(found.plan.measures, found.measurements.values, strict=True):
        direction = np.zeros(values.shape[0])
        direction[[0, -1]] = 1, -1
        if one.level and more.get("invariants"):
            direction = np.array([1, -1, 0])
        total += float(direction @ values[:, 0]) / one.variance
    return total


@chance(1e-8)
@pytest.mark.full
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("mechanism", ["rounded", "discrete"])
def test_a_census_keeps_its_promise(exact: bool, mechanism: str) -> None:
    """One person moves to another state, or within it where totals are exact."""
    here = [BLOCKS[0], BLOCKS[0], BLOCKS[2]]
    there = [BLOCKS[0], BLOCKS[1] if exact else BLOCKS[2], BLOCKS[2]]
    unit = census.unit("person", ["state"] if exact else [])
    more: dict[str, Any] = {"rho": 0.5, "unit": unit, "mechanism": mechanism}
    more |= {"invariants": ["state"]} if exact else {}
    claimed = dither.ZeroConcentratedDP(0.5, unit=unit)
    found = audit.mechanism(
        lambda table: statistic(table, more),
        here,
        there,
        claimed=claimed,
        draws=1500,
        confidence=1 - 1e-8,
        vectorized=False,
    )
    assert not found.refuted


@chance(1e-9)
@pytest.mark.full
def test_an_audit_finds_too_little_noise() -> None:
    """It can fail: five people who move at once are told apart."""
    unit = census.unit("person")
    more: dict[str, Any] = {"rho": 0.5, "unit": unit}
    found = audit.mechanism(
        lambda table: statistic(table, more),
        [BLOCKS[0]] * 5,
        [BLOCKS[2]] * 5,
        claimed=dither.ZeroConcentratedDP(0.5, unit=unit),
        draws=1500,
        confidence=1 - 1e-8,
        vectorized=False,
    )
    assert found.refuted
