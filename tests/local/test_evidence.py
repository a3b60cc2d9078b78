"""Variances of items that are off in opposite directions."""

from __future__ import annotations

import numpy as np
import pytest

from dither.local.evidence import apart
from dither.local.oracles import (
    KAryResponse,
    Loloha,
    Oracle,
    SubsetSelection,
    Unary,
)
from dither.local.tree import Tree

SHARES = np.array([0.5, 0.3, 0.2, 0.0])
N = 1000


def known(oracle: Oracle) -> np.ndarray:
    """The variance of each share, if it is known that all make one."""
    found = oracle.evidence(np.zeros(oracle.cells, np.int64), N, 1, np.arange(4))
    variance = apart(found, N * SHARES, oracle.rates[1], 1, adds_up=oracle.adds_up)
    return Tree([np.zeros(4)], [variance], 4).leaves().variance


def said(oracle: Oracle) -> np.ndarray:
    """The variance of how often each item is supported, if devices are drawn, too."""
    one, other = oracle.rates
    chance = other + (one - other) * SHARES
    return N * chance * (1 - chance)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_k_ary_response_is_off_as_a_multinomial_sample(epsilon: float) -> None:
    """Each share had less than its variance before."""
    oracle = KAryResponse.at(4, epsilon)
    assert known(oracle) == pytest.approx(said(oracle))


def test_sets_are_off_by_their_variance_at_least() -> None:
    oracle = SubsetSelection(4, 2, 3 << 30)
    assert (known(oracle) >= said(oracle) * (1 - 1e-9)).all()


def test_of_two_items_neither_is_better_known_than_one() -> None:
    """Each had half of its variance before."""
    oracle = KAryResponse.at(2, 1.0)
    found = oracle.evidence(np.zeros(2, np.int64), N, 1, np.arange(2))
    held = np.full(2, N / 2)
    variance = apart(found, held, oracle.rates[1], 0, adds_up=True)
    both = Tree([np.zeros(2)], [variance], 2).leaves().variance
    assert both == pytest.approx(found.null + found.slope * held)


@pytest.mark.parametrize(
    "oracle",
    [
        KAryResponse.at(5, 1.0),
        SubsetSelection.at(5, 0.5),
        Loloha(5, 5, 1, 3_000_000_000, 3_000_000_000),
    ],
    ids=lambda oracle: oracle.kind,
)
def test_estimates_that_add_up_do(oracle: Oracle) -> None:
    assert oracle.adds_up
    items = np.repeat(np.arange(5), [1, 2, 3, 4, 90])

    class Spread:
        def take(self, count: int) -> np.ndarray:
            return np.arange(count, dtype=np.uint32) * np.uint32(2654435761)

    counts = oracle.tally(oracle.randomize(items, Spread()))
    found = oracle.evidence(counts, len(items), 1, np.arange(5))
    assert found.counts.sum() == pytest.approx(len(items))


def test_bits_that_lie_on_their_own_do_not_add_up() -> None:
    assert not Unary.optimized(5, 1.0).adds_up
