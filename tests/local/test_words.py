"""Coins and whole numbers from 32-bit words: exactly the stated probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dither.local.words import FRESH, ONE, Keyed, below, coins
from tests.chance import chance


class Given:
    """Words that are written down."""

    def __init__(self, words: Sequence[int]) -> None:
        self.left = list(words)

    def take(self, count: int) -> np.ndarray:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count
        return np.array(taken, np.uint32)


def test_a_coin_is_heads_below_its_threshold_and_not_at_it() -> None:
    words = Given([4, 5, 6, 0, ONE - 1])
    assert coins(words, 5, 5).tolist() == [True, False, False, True, False]


@pytest.mark.parametrize(("threshold", "heads"), [(ONE, True), (0, False)])
def test_certain_coins(threshold: int, heads: bool) -> None:
    assert coins(Given([0, ONE - 1]), threshold, 2).tolist() == [heads, heads]


def test_words_of_the_last_run_are_skipped() -> None:
    """2^32 = 1 + 3·k: the last word would make 0 too likely."""
    words = Given([7, ONE - 1, 5, 3])
    assert below(words, 3, 3).tolist() == [1, 0, 2]
    assert words.left == []


@pytest.mark.parametrize("bound", [1, 2, 1 << 31, ONE])
def test_bounds_that_divide_use_every_word(bound: int) -> None:
    words = [0, 1, ONE - 1, 1 << 31]
    assert below(Given(words), bound, 4).tolist() == [word % bound for word in words]


def test_words_from_a_key_do_not_depend_on_how_they_are_taken() -> None:
    once = Keyed(b"key").take(100).tolist()
    source = Keyed(b"key")
    parts = [source.take(size).tolist() for size in (1, 7, 8, 9, 75)]
    assert [word for part in parts for word in part] == once
    assert Keyed(b"other").take(100).tolist() != once


@chance(1e-20)
def test_fresh_words_are_never_drawn_again() -> None:
    first, second = FRESH.take(1000), FRESH.take(1000)
    assert np.mean(first == second) < 0.01
