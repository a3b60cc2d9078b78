"""What the noise tests share: a source that replays words, and chi-square tests against
exact probabilities.

All draws are truly random unless a test replays words. A statistical test fails when p
< LEVEL.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 1e-12
"""Where few are expected in a bin, the statistic has a longer tail than chi-square: with
20 in one bin and many in the other, p < 1e-12 comes in 1.8e-9 of the runs, and p < 1e-7
in 2.3e-6 (Poisson counts, summed). Up to five such p-values in a test are below 1e-8.
"""
ONES = (1 << 64) - 1
SCALES = [0.3, 1.0, math.e, 100.0, 12345.678, 1e6, 2.0**24 * 1.1]
QUICK, FULL = 300_000, 10_000_000


class Replay:
    """Gives `words` to whoever fills an array, and `extra` (or else more of `words`) to
    whoever asks for one word.
    """

    def __init__(
        self, words: Iterable[int] = (), extra: Iterable[int] | None = None
    ) -> None:
        self._words = np.array(
            words if isinstance(words, np.ndarray) else list(words), dtype=np.uint64
        )
        self._extra: Iterator[int] | None = None if extra is None else iter(extra)
        self.used = 0

    def fill(self, out: NDArray[np.uint64]) -> None:
        if self.used + out.size > self._words.size:
            raise AssertionError("more words were drawn than the test gave")
        out[...] = self._words[self.used : self.used + out.size]
        self.used += out.size

    def word(self) -> int:
        if self._extra is not None:
            return next(self._extra)
        one = np.empty(1, np.uint64)
        self.fill(one)
        return int(one[0])


def always(word: int) -> Replay:
    """A source whose every single word is this one: the answer then cannot depend on
    who asks first.
    """
    return Replay(extra=itertools.repeat(word))


def random_words(count: int) -> NDArray[np.uint64]:
    return np.random.default_rng().integers(0, 1 << 64, count, dtype=np.uint64)


def p_value(counts: NDArray[np.int64], masses: NDArray[np.float64]) -> float:
    """Chi-square, neighbouring bins merged until each expects 20."""
    expected = masses * counts.sum()
    groups = np.zeros(expected.size, np.intp)
    total, group = 0.0, 0
    for i, value in enumerate(expected):
        groups[i] = group
        total += value
        if total >= 20:
            total, group = 0.0, group + 1
    # What is left over joins the last full bin
    groups[groups == group] = max(group - 1, 0)
    seen, want = np.bincount(groups, counts), np.bincount(groups, expected)
    assert want.size > 1
    return float(stats.chi2.sf(((seen - want) ** 2 / want).sum(), want.size - 1))


def tail_edges(tail: Callable[[int], float], draws: int) -> list[int]:
    """Whole numbers 1 = e₀ < e₁ < … that cut P(X ≥ k) into 60 equal parts and its far
    end into halves.
    """
    most = tail(1)
    targets = [most * part / 60 for part in range(59, 0, -1)]
    targets += [most / 60 / 2**i for i in range(1, 60) if most / 60 / 2**i * draws > 40]
    edges = [1]
    for target in targets:
        low, high = edges[-1], 1 << 63
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if tail(middle) <= target else (middle + 1, high)
        if low > edges[-1]:
            edges.append(low)
    return edges


def symmetric_p(
    sample: Callable[[int], NDArray[np.int64]], tail: Callable[[int], float], draws: int
) -> float:
    """How well a sampler fits a symmetric law given by tail(k) = P(X ≥ k) for k ≥ 1."""
    edges = tail_edges(tail, draws)
    cuts = np.array([-edge + 1 for edge in reversed(edges)] + edges, np.int64)
    counts = np.zeros(cuts.size + 1, np.int64)
    for part in _parts(draws):
        counts += np.bincount(
            np.searchsorted(cuts, sample(part), side="right"), minlength=counts.size
        )
    side = [tail(a) - tail(b) for a, b in itertools.pairwise(edges)] + [tail(edges[-1])]
    return p_value(counts, np.array([*reversed(side), 1 - 2 * tail(1), *side]))


def low_bits_p(
    sample: Callable[[int], NDArray[np.int64]], draws: int, bits: int = 4
) -> float:
    """Whether the lowest bits are uniform, as they are at large scales."""
    counts = np.zeros(1 << bits, np.int64)
    for part in _parts(draws):
        counts += np.bincount(sample(part) & ((1 << bits) - 1), minlength=counts.size)
    return p_value(counts, np.full(counts.size, 1 / counts.size))


def neighbours_p(values: NDArray[np.int64]) -> float:
    """Whether a value's sign and size tell about the next one's: a contingency table of
    four kinds.
    """
    kinds = 2 * (values > 0) + (np.abs(values) > np.median(np.abs(values)))
    table = np.bincount(4 * kinds[:-1] + kinds[1:], minlength=16).reshape(4, 4)
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    return float(stats.chi2_contingency(table).pvalue)


def _parts(draws: int) -> Iterator[int]:
    for start in range(0, draws, 1_000_000):
        yield min(1_000_000, draws - start)
