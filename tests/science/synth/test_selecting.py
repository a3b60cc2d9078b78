"""Scores of pairs move as little as stated, and the best pairs are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from dither.mechanisms import Exponential
from dither.privacy import Unit
from dither.science.synth.forest import Forest
from dither.science.synth.marginals import Codes
from dither.science.synth.selecting import (
    FINE,
    Expected,
    chosen,
    score,
    scored,
    shifted_by,
)
from tests.science.synth.neighbours import (
    PEOPLE,
    REPLACED,
    SIZES,
    asked,
    neighbours,
)

EXPECTED = [
    np.zeros((2, 3)),
    np.full((2, 3), 1 / 3),
    np.array([[0.5, 1.25, 2.0], [1e-9, 3.7, 0.1]]),
    np.full((2, 3), 1e9 / 7),
]


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("unit", [PEOPLE, REPLACED])
def test_no_unit_moves_a_score_farther_and_some_as_far(rows: int, unit: Unit) -> None:
    bound, farthest = shifted_by(asked(unit), rows), 0
    for expected in EXPECTED:
        for a, b in neighbours(unit, rows, [(0, 0), (1, 2)]):
            here, there = (
                score(Codes.of(one, SIZES).two(0, 1), expected, 3.3) for one in (a, b)
            )
            farthest = max(farthest, abs(here - there))
    assert farthest == bound


def test_scores_are_exact_for_huge_tables() -> None:
    counts = np.full((2, 3), 2**40)
    away = score(counts, np.full((2, 3), 1 / 3))
    counts[0, 0] += 1
    assert score(counts, np.full((2, 3), 1 / 3)) - away == FINE


def test_expected_counts_of_any_size_make_a_score() -> None:
    for huge in (2.0**40, 1e300, np.inf):
        assert isinstance(score(np.zeros((2, 3), np.int64), np.full((2, 3), huge)), int)


def test_a_pair_that_belongs_together_scores_most() -> None:
    source = np.random.default_rng(1)  # allowed: test inputs, not noise
    codes = source.integers(0, 4, (5000, 3)).astype(np.int32)
    codes[:, 2] = codes[:, 0]
    held = Codes.of(codes, (4, 4, 4))
    known = Expected([held.one(i).astype(float) for i in range(3)], 5000.0, 1.0, 1.0)
    scores = scored(held, [(0, 1), (0, 2), (1, 2)], known)
    assert max(scores, key=lambda edge: scores[edge]) == (0, 2)
    # all mass moves: 2·(1 − 1/4) of the rows, less a small penalty
    assert scores[0, 2] == pytest.approx(1.5 * 5000 * FINE, rel=0.05)


def test_a_sure_choice_is_the_maximum_spanning_tree() -> None:
    scores = {
        (0, 1): 9000, (0, 2): 8000, (0, 3): 10, (1, 2): 8500, (1, 3): 20, (2, 3): 30,
    }  # fmt: skip
    sure = Exponential(sensitivity=1, epsilon=1e6)
    found = chosen(Forest(4), (0, 1, 2, 3), scores, sure)
    assert found.edges == ((0, 1), (1, 2), (2, 3))
    given = chosen(Forest(4, ((0, 3),)), (0, 1, 2, 3), scores, sure)
    assert given.edges == ((0, 3), (0, 1), (1, 2))


def test_penalties_grow_with_the_noise_and_stay_below_the_counts() -> None:
    columns = [np.full(4, 25.0), np.full(5, 20.0)]
    quiet, loud = Expected(columns, 100, 0.1, 0.1), Expected(columns, 100, 1e9, 1e9)
    pair = quiet.pair(0, 1)
    assert pair.sum() == pytest.approx(100)
    assert 0 < quiet.penalty(0, 1, pair) < loud.penalty(0, 1, pair) <= 5 * 100
