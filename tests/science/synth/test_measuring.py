"""How far units move counts: all neighbours on a tiny domain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.mechanisms import Gaussian, Laplace
from dither.privacy import Unit
from dither.science.synth.marginals import Codes
from dither.science.synth.measuring import measure, moved_by
from tests.chance import chance
from tests.science.synth.neighbours import (
    PEOPLE,
    REPLACED,
    SIZES,
    asked,
    neighbours,
)


def counts(codes: np.ndarray, two: bool) -> np.ndarray:
    held = Codes.of(codes, SIZES)
    if two:
        return held.two(0, 1).reshape(-1)
    return np.concatenate([held.one(0), held.one(1)])


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("unit", [PEOPLE, REPLACED])
@pytest.mark.parametrize("two", [False, True])
def test_no_unit_moves_counts_farther_and_some_as_far(
    rows: int, unit: Unit, two: bool
) -> None:
    l1, l2 = moved_by(asked(unit), rows, 1 if two else 2)
    moves = [
        counts(a, two) - counts(b, two) for a, b in neighbours(unit, rows, [(0, 0)])
    ]
    assert max(int(np.abs(move).sum()) for move in moves) == l1
    longest = max(math.sqrt(int((move * move).sum())) for move in moves)
    assert longest <= l2 <= longest * (1 + 1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [Gaussian(sensitivity=1, mu=1e6), Laplace(sensitivity=1, epsilon=1e6)],
)
def test_tables_keep_their_shapes_and_order(mechanism: Gaussian | Laplace) -> None:
    given = [np.arange(4), np.arange(6).reshape(2, 3) * 10, np.array([7])]
    found = measure(mechanism, given)
    assert found.variance < 0.1
    for one, other in zip(given, found.tables, strict=True):
        assert (one == other).all()


@chance(1e-10)
def test_noise_is_on_every_cell_with_the_stated_variance() -> None:
    cells = 20_000
    mechanism = Gaussian(sensitivity=1, mu=0.1)
    found = measure(mechanism, [np.zeros(cells, np.int64)])
    noise = found.tables[0]
    assert abs(noise.mean()) < 7 * math.sqrt(found.variance / cells)
    assert abs(noise.var() / found.variance - 1) < 7 * math.sqrt(2 / cells)
