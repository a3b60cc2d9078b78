"""Correlated noise: its sensitivity by brute force, its covariance, and its error."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.learn.federated import Banded, Independent, Participation, Tree
from dither.learn.federated.factorizations import Factorization, factorization_of
from tests.chance import chance

Reals = NDArray[np.float64]
EVERY = [Banded(1), Banded(2), Banded(3), Banded(7), Tree(), Independent()]
ROUNDS = 7


def matrix(one: Factorization, rounds: int) -> Reals:
    """C, written out from its definition."""
    found = np.zeros((rounds, rounds))
    for row, column in product(range(rounds), repeat=2):
        if isinstance(one, Tree):
            width = (row + 1) & -(row + 1)
            found[row, column] = row + 1 - width <= column <= row
        elif isinstance(one, Banded):
            back = row - column
            series = [1, 1 / 2, 3 / 8, 5 / 16, 35 / 128, 63 / 256, 231 / 1024]
            inside = 0 <= back < min(one.bands or 0, rounds)
            found[row, column] = series[back] if inside else 0
        else:
            found[row, column] = row == column
    return found


def patterns(rounds: int, rule: Participation) -> list[tuple[int, ...]]:
    """All rounds in which a client may take part."""
    return [
        some
        for size in range(1, rule.most + 1)
        for some in combinations(range(rounds), size)
        if all(b - a >= rule.gap for a, b in pairwise(some))
    ]


def brute(one: Factorization, rounds: int, rule: Participation) -> float:
    """The most that a client moves C·x, over patterns and signs of its contributions."""
    c, found = matrix(one, rounds), 0.0
    for some in patterns(rounds, rule):
        for signs in product([1, -1], repeat=len(some)):
            found = max(found, float(np.linalg.norm(c[:, some] @ np.array(signs))))
    return found


@pytest.mark.parametrize("most", [1, 2, 3, 7])
@pytest.mark.parametrize("gap", [1, 2, 3, 5])
@pytest.mark.parametrize("one", EVERY, ids=str)
def test_sensitivity_is_that_of_the_worst_pattern(
    one: Factorization, gap: int, most: int
) -> None:
    rule = Participation(gap, most)
    for rounds in range(1, ROUNDS + 1):
        claimed, worst = one.sensitivity(rounds, rule), brute(one, rounds, rule)
        assert worst <= claimed
        if not isinstance(one, Tree):
            assert claimed == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("one", EVERY, ids=str)
def test_vectors_in_the_ball_move_no_farther_than_aligned_ones(
    one: Factorization,
) -> None:
    made = np.random.default_rng(4)  # allowed: directions of contributions
    rule, c = Participation(2, 3), matrix(one, ROUNDS)
    claimed = one.sensitivity(ROUNDS, rule)
    for some in patterns(ROUNDS, rule):
        vectors = made.normal(size=(20, len(some), 3))
        vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
        moved = np.linalg.norm(
            np.einsum("rk,nkd->nrd", c[:, some], vectors), axis=(1, 2)
        )
        assert moved.max() <= claimed


def test_a_tree_is_not_charged_far_above_its_worst_pattern() -> None:
    rule = Participation(1, 1)
    for rounds in range(1, 9):
        wanted = brute(Tree(), rounds, rule)
        assert Tree().sensitivity(rounds, rule) == pytest.approx(wanted, rel=1e-9)


@chance(1e-8)
@pytest.mark.parametrize("one", EVERY, ids=str)
def test_noise_has_the_covariance_of_its_matrix(one: Factorization) -> None:
    """Each of many numbers is one path; 6.5 deviations of each entry are allowed."""
    count = 40_000
    stream = one.stream(ROUNDS, count)
    paths = np.stack([stream.next().numpy() for _ in range(ROUNDS)])
    inverse = np.linalg.inv(matrix(one, ROUNDS))
    wanted, found = inverse @ inverse.T, paths @ paths.T / count
    sizes = np.diag(wanted)
    spread = np.sqrt((wanted**2 + np.outer(sizes, sizes)) / count)
    assert (np.abs(found - wanted) <= 6.5 * spread).all()


@chance(1e-20)
def test_independent_noise_has_another_covariance() -> None:
    """The test above can fail."""
    stream = Independent().stream(ROUNDS, 40_000)
    paths = np.stack([stream.next().numpy() for _ in range(ROUNDS)])
    inverse = np.linalg.inv(matrix(Banded(3), ROUNDS))
    found = paths @ paths.T / 40_000
    assert np.abs(found - inverse @ inverse.T).max() > 0.3


@pytest.mark.parametrize("one", EVERY, ids=str)
def test_the_error_is_that_of_running_sums(one: Factorization) -> None:
    sums = np.tril(np.ones((ROUNDS, ROUNDS)))
    noise = sums @ np.linalg.inv(matrix(one, ROUNDS))
    wanted = (noise**2).sum() / ROUNDS
    assert one.squared_error(ROUNDS) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("one", EVERY, ids=str)
@pytest.mark.parametrize("rounds", [1, 3, 4, ROUNDS])
def test_no_round_has_more_noise_than_is_said(one: Factorization, rounds: int) -> None:
    each = np.linalg.norm(np.linalg.inv(matrix(one, rounds)), axis=1)
    assert one.largest(rounds) == pytest.approx(each.max(), rel=1e-9)


@pytest.mark.parametrize(
    ("rounds", "gap", "most"),
    [(64, 64, 1), (128, 16, 8), (500, 50, 10), (1000, 100, 10), (1000, 20, 50)],
)
def test_banded_noise_beats_independent_noise_and_a_tree(
    rounds: int, gap: int, most: int
) -> None:
    rule = Participation(gap, most)
    banded = Banded().chosen(rounds, rule)
    assert banded.error(rounds, rule) < 0.7 * Independent().error(rounds, rule)
    assert banded.error(rounds, rule) < 0.7 * Tree().error(rounds, rule)


def test_a_stream_holds_no_more_than_its_band() -> None:
    stream = Banded(4).stream(1000, 2)
    for _ in range(50):
        stream.next()
    assert len(stream._before) == 3
    tree = Tree().stream(1000, 2)
    for _ in range(50):
        tree.next()
    assert len(tree._nodes) == (50).bit_count()


@pytest.mark.parametrize("one", EVERY, ids=str)
def test_noise_cannot_be_used_twice(one: Factorization) -> None:
    stream = one.stream(3, 2)
    for again in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            again(stream)


def test_what_is_left_open_is_chosen_by_public_numbers() -> None:
    rule = Participation(10, 3)
    chosen = factorization_of(None, 50, rule)
    assert isinstance(chosen, Banded)
    tried = [Banded(bands).error(50, rule) for bands in range(1, 51)]
    assert chosen.error(50, rule) <= 1.05 * min(tried)
    assert factorization_of(Banded(80), 50, rule) == Banded(50)


def test_other_factorizations_are_refused() -> None:
    with pytest.raises(ArgumentError, match="Banded"):
        factorization_of("tree", 5, Participation(1, 1))
    with pytest.raises(ArgumentError, match="rounds"):
        factorization_of(None, 70_000, Participation(1, 1))
    for bands in (0, -1, 1.5, 1 << 17):
        with pytest.raises(ArgumentError, match="bands"):
            Banded(bands)  # type: ignore[arg-type]
