"""Tables by the prior alone, and near marginals that cannot be looked through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dither import ArgumentError
from dither.audit import attacks
from dither.audit.attacks.guessing import most_likely, proportional
from dither.audit.attacks.published import domain

PRIOR = np.array([0.37, 0.29, 0.2, 0.13, 0.01])


def one_by_one(prior: Any, size: int) -> Any:
    counts = np.zeros(prior.size, int)
    for _ in range(size):
        counts[np.argmax(prior / (counts + 1))] += 1
    return counts.tolist()


def test_the_likeliest_table_is_that_of_one_person_after_the_other() -> None:
    source = np.random.default_rng(4)
    for prior in (PRIOR, *source.dirichlet(np.ones(7), 20)):
        sizes = np.arange(60)
        found = most_likely(prior, sizes)
        assert found.tolist() == [one_by_one(prior, int(size)) for size in sizes]


def test_a_large_block_is_guessed_at_once() -> None:
    found = most_likely(np.array([0.25, 0.75, 0.0]), np.array([4_000_000, 0]))
    assert found.tolist() == [[1_000_000, 3_000_000, 0], [0, 0, 0]]


def test_the_prior_is_scaled_to_marginals() -> None:
    over = domain({"sex": ["f", "m"], "age": [0, 1, 2]}, None)
    tables = [over.table("sex"), over.table("age")]
    truth = np.array([[200, 300, 500, 400, 600, 1000], [0, 0, 0, 0, 0, 0]])
    shown = [one.of(truth).astype(float) for one in tables]
    assert proportional(tables, shown, np.full(6, 1 / 6)).tolist() == truth.tolist()


SEXES = {"sex": ["f", "m"], "age": [0, 1, 2]}


def test_blocks_that_are_not_looked_through_are_no_worse_than_guesses() -> None:
    """Six kinds of 50 people each, and only the total is published."""
    found = attacks.reconstruction(
        {(): np.full(50, 300)}, np.tile([50] * 6, (50, 1)), attributes=SEXES
    )
    assert found.solutions == (None,) * 50
    assert (found.share, found.guessed, found.too_many) == (1, 1, 50)
    assert "In 50 of the blocks, too many tables agree" in str(found)


def test_steps_bound_the_work_of_a_block() -> None:
    truth = np.random.default_rng(1).multinomial(40, np.full(6, 1 / 6), 30)
    shown = attacks.tables(truth, ["sex", "age"], attributes=SEXES)
    all_ = attacks.reconstruction(shown, truth, attributes=SEXES)
    assert all_.too_many == 0
    assert "Too many" not in str(all_)
    few = attacks.reconstruction(shown, truth, attributes=SEXES, steps=10)
    assert few.too_many == 30
    assert few.matched >= few.matched_by_chance
    assert few.matched == pytest.approx(all_.matched, abs=0.05)
    with pytest.raises(ArgumentError, match="steps"):
        attacks.reconstruction(shown, truth, attributes=SEXES, steps=0)
