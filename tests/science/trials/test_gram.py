"""Sums of products: the sensitivity of the whole vector, over all pairs of records."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dither import Unit
from dither.cost import Cost
from dither.question import Question
from dither.science.trials.gram import Gram

COSTS = {"laplace": Cost(epsilon=1.0), "gaussian": Cost(rho=0.5)}
UNITS = {"replace": Unit("person", "replace"), "add": Unit("person")}


@pytest.mark.parametrize(("count", "steps"), [(1, 6), (2, 6), (3, 2)])
@pytest.mark.parametrize("noise", COSTS)
@pytest.mark.parametrize("relation", UNITS)
def test_no_record_moves_the_vector_farther_than_the_noise_is_made_for(
    count: int, steps: int, noise: str, relation: str
) -> None:
    gram = Gram(Question("m", COSTS[noise], UNITS[relation]), count, steps)
    records = list(itertools.product(range(-steps, steps + 1), repeat=count))
    alone = [gram.vector(np.array([one]), np.array([True])) for one in records]
    none = gram.vector(np.array(records[:1]), np.array([False]))
    assert not none.any()
    vectors = np.array([*alone, none], np.float64)
    pairs = vectors[:, None] - vectors[None]
    moved = pairs if relation == "replace" else vectors  # one who comes
    norm = np.abs(moved).sum(-1) if noise == "laplace" else np.hypot.reduce(moved, -1)
    claimed = gram.mechanism.sensitivity
    assert norm.max() <= claimed
    assert norm.max() >= 0.99 * claimed  # a smaller claim would be wrong


def test_records_add_up_and_are_read_back() -> None:
    gram = Gram(Question("m", COSTS["laplace"], UNITS["replace"]), 2)
    codes = np.array([[16384, 8192], [-8192, 4096], [5, 5]])
    exact = gram.vector(codes, np.array([True, True, False]))
    known = gram.read(exact, 10.0)
    wanted = [[2, 0.5, 0.75], [0.5, 1.25, 0.375], [0.75, 0.375, 0.3125]]
    assert known.sums.tolist() == wanted


def test_weights_of_noise_in_a_form() -> None:
    gram = Gram(Question("m", COSTS["laplace"], UNITS["replace"]), 2)
    known = gram.read(gram.vector(np.zeros((5, 2), np.int64), np.ones(5, bool)), 5.0)
    left, right = np.array([1.0, 2.0, -1.0]), np.array([0.5, 3.0, 1.0])
    noise = np.array([[1.0, 2, 3], [2, 4, 5], [3, 5, 6]])
    upper = np.triu(noise)
    assert (known.weights(left, right) * upper).sum() == left @ noise @ right
