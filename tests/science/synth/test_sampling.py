"""Rows have the shares of their model, up to rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dither.science.synth.sampling import Rows, rounded, spread
from tests.chance import chance


def drawn(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)  # allowed: test inputs, not noise


def test_counts_are_rounded_up_or_down_and_sum_up() -> None:
    shares = drawn(1).dirichlet(np.ones(7) * 0.3, size=50)
    totals = drawn(2).integers(0, 1000, 50)
    found = rounded(shares, totals)
    assert (found.sum(axis=1) == totals).all()
    assert (np.abs(found - shares * totals[:, None]) < 1 + 1e-9).all()


@chance(1e-8)
def test_counts_are_right_on_average() -> None:
    shares, times = np.array([0.05, 0.33, 0.12, 0.5]), 40_000
    found = rounded(np.tile(shares, (times, 1)), np.full(times, 5)).mean(axis=0)
    # with a deviation of 1/2 at most
    assert (np.abs(found - shares * 5) < 6 * 0.5 / math.sqrt(times)).all()


def test_shares_of_zero_are_never_drawn_and_rows_of_zeros_do_not_fail() -> None:
    found = rounded(np.array([[0.0, 0.5, 0.0, 0.5]] * 500), np.full(500, 7))
    assert (found[:, [0, 2]] == 0).all()
    assert rounded(np.zeros((1, 3)), np.array([4])).sum() == 4


def test_codes_are_spread_evenly_within_their_groups() -> None:
    counts = np.array([[300, 0, 100], [0, 0, 0], [5, 200, 0]])
    found = spread(counts)
    first, second = found[:400], found[400:]
    assert np.bincount(first, minlength=3).tolist() == [300, 0, 100]
    assert np.bincount(second, minlength=3).tolist() == [5, 200, 0]
    for part in np.split(first, 10):
        assert abs(int((part == 2).sum()) - 10) <= 2


@chance(1e-8)
def test_a_code_comes_first_as_often_as_its_share() -> None:
    times = 20_000
    found = spread(np.tile([1, 3], (times, 1))).reshape(times, 4)
    for place in range(4):
        share = (found[:, place] == 0).mean()
        assert abs(share - 0.25) < 6 * math.sqrt(0.25 * 0.75 / times)


def test_pairs_are_those_of_the_shares_up_to_two_rows() -> None:
    pair = drawn(3).dirichlet(np.ones(12) * 0.5).reshape(3, 4)
    rows = Rows(10_000, 2)
    rows.draw(0, None, pair.sum(axis=1)[None, :])
    rows.draw(1, 0, pair)
    found = rows.shuffled()
    assert found.shape == (10_000, 2)
    assert found.dtype == np.int32
    counts = np.zeros((3, 4))
    np.add.at(counts, (found[:, 0], found[:, 1]), 1)
    assert np.abs(counts - 10_000 * pair).max() <= 2


@chance(1e-20)
def test_columns_with_one_parent_are_independent_given_it() -> None:
    pair = drawn(4).dirichlet(np.ones(12)).reshape(3, 4)
    rows, count = Rows(30_000, 4), 30_000
    rows.draw(0, None, pair.sum(axis=1)[None, :])
    for column in (1, 2, 3):
        rows.draw(column, 0, pair)
    given = pair / pair.sum(axis=1)[:, None]
    found = rows.shuffled()
    for first, second in [(1, 2), (1, 3), (2, 3)]:
        counts = np.zeros((4, 4))
        np.add.at(counts, (found[:, first], found[:, second]), 1)
        expected = count * given.T @ np.diag(pair.sum(axis=1)) @ given
        # Independent draws would be off by √expected, about 43; these are not.
        assert np.abs(counts - expected).max() < 43


@chance(1e-12)
def test_the_order_of_rows_is_random() -> None:
    rows = Rows(1000, 1)
    rows.draw(0, None, np.full((1, 10), 0.1))
    found = rows.shuffled()[:, 0]
    assert np.bincount(found).tolist() == [100] * 10
    first = np.bincount(found[:100], minlength=10)
    # one tenth each
    assert first.max() < 40


@pytest.mark.parametrize("count", [0, 1])
def test_tables_of_hardly_any_rows(count: int) -> None:
    rows = Rows(count, 2)
    rows.draw(0, None, np.full((1, 3), 1 / 3))
    rows.draw(1, 0, np.full((3, 2), 1 / 6))
    assert rows.shuffled().shape == (count, 2)


def test_columns_of_many_codes() -> None:
    size = 70_000
    rows = Rows(2000, 2)
    shares = np.zeros((1, size))
    shares[0, -2:] = 0.5
    rows.draw(0, None, shares)
    pair = np.zeros((size, 2))
    pair[-2, 0] = pair[-1, 1] = 0.5
    rows.draw(1, 0, pair)
    found = rows.shuffled()
    assert sorted(set(map(tuple, found.tolist()))) == [(size - 2, 0), (size - 1, 1)]


@chance(5e-8)
def test_small_tables_are_right_on_average() -> None:
    """Also for columns that follow the same one, and for those two steps apart."""
    source, count, times = drawn(6), 12, 3000
    pair = source.dirichlet(np.ones(6)).reshape(2, 3)
    other = source.dirichlet(np.ones(3), 2) * pair.sum(axis=1)[:, None]
    below = source.dirichlet(np.ones(2), 3) * pair.sum(axis=0)[:, None]
    beside, apart = np.zeros((3, 3)), np.zeros((2, 2))
    for _ in range(times):
        rows = Rows(count, 4)
        rows.draw(0, None, pair.sum(axis=1)[None, :])
        rows.draw(1, 0, pair)
        rows.draw(2, 0, other)
        rows.draw(3, 1, below)
        np.add.at(beside, (rows.table[1], rows.table[2]), 1)
        np.add.at(apart, (rows.table[0], rows.table[3]), 1)
    given = pair / pair.sum(axis=1)[:, None]
    # independent draws would vary no less than these
    margin = 6 * math.sqrt(0.25 / (count * times))
    assert np.abs(beside / count / times - given.T @ other).max() < margin
    steps = below / below.sum(axis=1)[:, None]
    assert np.abs(apart / count / times - pair @ steps).max() < margin
