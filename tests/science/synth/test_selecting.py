"""Scores of pairs move as little as stated, and the best pairs are chosen."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dither.mechanisms import Exponential
from dither.privacy import Unit
from dither.science.synth.forest import Edge, Forest
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


def log_chances(
    codes: np.ndarray, known: Expected, by: Exponential
) -> dict[tuple[Edge, ...], float]:
    """The exact logarithms of the probabilities of all ways to choose a tree."""
    scores = scored(Codes.of(codes, (2, 2, 2)), [(0, 1), (0, 2), (1, 2)], known)
    found: dict[tuple[Edge, ...], float] = {}

    def grow(forest: Forest, chance: float) -> None:
        candidates = forest.candidates((0, 1, 2))
        if not candidates:
            found[forest.edges] = chance
            return
        levels = np.array([by.weight * scores[edge] for edge in candidates])
        whole = levels.max() + np.log(np.exp(levels - levels.max()).sum())
        for edge, level in zip(candidates, levels, strict=True):
            grow(forest.joined(edge), chance + level - whole)

    grow(Forest(3), 0.0)
    return found


def worst_loss(unit: Unit, sensitivity: float, each: float) -> float:
    """Over all trees and all neighbours of at most two rows, where the noisy counts of
    columns are what they are.
    """
    rows = list(product(range(2), repeat=3))
    by = Exponential(sensitivity=sensitivity, epsilon=each, unit=unit)
    columns = [np.array([1.5, 0.7]), np.array([0.2, 2.0]), np.array([1.1, 1.1])]
    known = Expected(columns, 2.2, 0.3, 0.2)

    def chances(some: list[tuple[int, ...]]) -> dict[tuple[Edge, ...], float]:
        return log_chances(np.array(some, np.int32).reshape(-1, 3), known, by)

    worst = 0.0
    for others in ([], [rows[0]], [rows[3]]):
        changed = [chances([*others, row]) for row in rows]
        first = changed if unit == REPLACED else [chances(others)]
        for one, other in product(first, changed):
            worst = max(worst, *(abs(one[tree] - other[tree]) for tree in one))
    return worst


@pytest.mark.parametrize("unit", [PEOPLE, REPLACED])
def test_trees_lose_no_more_than_all_choices_together(unit: Unit) -> None:
    moved, each = shifted_by(asked(unit), 1), 0.8
    assert worst_loss(unit, moved, each) <= 2 * each
    # and with a quarter of the sensitivity they would
    assert worst_loss(unit, moved / 4, each) > 2 * each
