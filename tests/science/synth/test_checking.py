"""Distances of real counts from fixed ones: how far one unit moves them, and their
noise.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from dither.errors import ArgumentError
from dither.privacy import Unit
from dither.question import Question
from dither.science.synth.checking import (
    checked,
    checker,
    distances,
    share_of_check,
    tables_of,
)
from dither.science.synth.marginals import Codes
from dither.science.synth.selecting import FINE
from tests.chance import chance

SIZES = (2, 3)
CELLS = list(product(range(2), range(3)))
TABLES = tables_of(range(2))


def codes(rows: Any) -> Codes:
    return Codes.of(np.array(rows, np.int32).reshape(-1, 2), SIZES)


def away(rows: Any, made: Codes, scale: float) -> Any:
    return distances(codes(rows), made, TABLES, scale)[0]


@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_all_small_tables_and_their_neighbours(scale: float) -> None:
    """All tables of up to 2 rows, with every row added, and with every one replaced."""
    made = codes([(0, 0), (0, 0), (1, 2)])
    small = [list(rows) for size in range(3) for rows in product(CELLS, repeat=size)]
    most = replaced = 0
    for rows in small:
        here = away(rows, made, scale)
        for row in CELLS:
            moved = np.abs(away([*rows, row], made, scale) - here)
            most = max(most, int(moved.sum()))
            assert moved.max() <= FINE
        for place, row in product(range(len(rows)), CELLS):
            other = [*rows[:place], row, *rows[place + 1 :]]
            moved = np.abs(away(other, made, scale) - here)
            replaced = max(replaced, int(moved.sum()))
            assert moved.max() <= 2 * FINE
    assert most == 3 * FINE
    if scale == 1:  # the bounds are reached
        assert replaced == 6 * FINE


@pytest.mark.parametrize(("relation", "ways"), [("add/remove", 1), ("replace", 2)])
def test_noise_is_for_what_a_unit_moves(relation: str, ways: int) -> None:
    unit = Unit("row", relation)
    asked = Question.of("check", {"rho": 0.5}, unit=unit)
    found = checker(asked, 3, 16)
    assert float(found.sensitivity) == pytest.approx(3 * ways * 4 * FINE)
    pure = checker(Question.of("check", {"epsilon": 1.0}, unit=unit), 3, 16)
    assert float(pure.sensitivity) == 3 * ways * 16 * FINE


@chance(2e-8)
def test_noise_is_that_of_the_mechanism() -> None:
    """The mean of 4,000 draws lies within six standard errors of the distance."""
    real, made = codes([(0, 0)] * 40), codes([(1, 1)] * 30)
    mechanism = checker(Question.of("check", {"rho": 0.05}), 1, len(TABLES))
    exact, slack = distances(real, made, TABLES, 1.0)
    assert exact.tolist() == [70 * FINE] * 3
    assert slack.tolist() == [0, 0, 0]
    drawn = np.array(
        [checked(mechanism, real, made, TABLES, 1.0).distances for _ in range(4000)]
    )
    error = mechanism.scale / np.sqrt(4000)
    assert (np.abs(drawn.mean(axis=0) - exact) < 6 * error).all()
    spread = drawn.std(axis=0) / mechanism.scale
    assert (np.abs(spread - 1) < 0.08).all()  # 7 standard errors of a deviation


def test_means_have_less_noise_than_single_distances() -> None:
    real = codes([(0, 0)] * 40)
    mechanism = checker(Question.of("check", {"rho": 0.05}), 1, len(TABLES))
    found = checked(mechanism, real, real, TABLES, 1.0)
    assert found.mean(1) == pytest.approx(np.mean(found.distances[:2]) / FINE)
    assert found.mean(2) == found.distances[2] / FINE
    assert found.mean_error(1, 0.95) < found.mean_error(2, 0.95)


@pytest.mark.parametrize("wrong", [-0.1, 0.6, 1, True, "much", float("nan")])
def test_shares_that_are_none(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="check"):
        share_of_check(wrong)
