"""One more true fact never makes an answer worse by more than a quarter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.coverage import PARETO, PART, Shape, cost, opened, question
from bench.redraw import redrawn
from tests.chance import chance

LIGHT = Shape("light", 3_000, f"1 + floor(3 * {PART})", 60)
HEAVY = Shape("heavy", 3_000, PARETO.format(cap=500, low=2, power=0.8), 500)
DRAWS = 90
QUARTER = 1.25
RATE = 1e-8


def exceed(rate: float) -> int:
    """How many of as many errors of the same law may exceed the median of `DRAWS`
    others, but for this rate: ranks alone decide, whatever the law is.
    """
    rank, ways = DRAWS // 2, math.comb(2 * DRAWS, DRAWS)
    tail, most = 0.0, DRAWS
    while most > 0:
        # so many of the first errors lie above the place of that rank of the others
        below = DRAWS - most
        tail += (
            math.comb(below + DRAWS - rank, below)
            * math.comb(most + rank - 1, most)
            / ways
        )
        if tail > rate:
            break
        most -= 1
    return most


def errors(database, stored, aggregate, noise, epsilon):
    """How far off the first group of many answers is."""
    sql = question(aggregate, "alone" if noise == "alone" else "grouped")
    with redrawn(database, sql, stored, **cost(noise, epsilon)) as again:
        truth = float(again.truth()[0][-1])
        found = [
            float(row[-1])
            for radii, many in again.radii(DRAWS).items()
            for row in again.answers(radii, many).rows[:many]
        ]
    return np.abs(np.array(found) - truth)


@chance(1e-7)
@pytest.mark.only_on("duckdb")
@pytest.mark.parametrize("shape", [LIGHT, HEAVY], ids=lambda shape: shape.name)
def test_a_cap_hurts_no_answer(shape):
    """Twelve questions, each with so many answers with a cap and without: of errors
    that are larger by a quarter at most, `exceed` says how many may lie above 1.25
    times the median of the others.
    """
    asked = [
        (aggregate, noise, 0.5)
        for aggregate in ("count", "sum", "mean")
        for noise in ("alone", "Laplace", "Gaussian")
    ]
    found = {}
    for cap in (True, False):
        for database, stored in opened(shape, cap):
            for one in asked:
                found[one, cap] = errors(database, stored, *one)
    for one in asked:
        least = QUARTER * np.sort(found[one, False])[DRAWS - DRAWS // 2]
        assert (found[one, True] > least).sum() <= exceed(RATE), one
