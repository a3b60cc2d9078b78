"""Subset selection: a message is a set of items of fixed size, with the true item more
often in it than chance would have it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local import bits
from dither.local.evidence import Evidence, pure
from dither.local.oracles.oracle import Oracle
from dither.local.thresholds import chance, check, largest, loss
from dither.local.words import Words, below, coins

__all__ = ["SubsetSelection"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

BLOCK = 1 << 25  # cells of the table in which sets are drawn


@dataclass(frozen=True)
class SubsetSelection(Oracle):
    """A uniformly random set of `size` items that holds the true one with probability
    truth / 2^32.

    Guarantee: `epsilon`, pure, for replacing the item behind one message.
    Why: a set is drawn with probability truth / C(items − 1, size − 1) if the item is
    in it, and (1 − truth) / C(items − 1, size) if not; the ratio of the two is
    truth·(items − size) / ((1 − truth)·size) (Ye & Barg 2018; Wang et al. 2019).
    Assumes: one message for each device.
    """

    size: int
    truth: int
    kind: ClassVar[str] = "subset selection"

    def __post_init__(self) -> None:
        if not 1 <= self.size < self.items:
            raise ArgumentError("size", "must be from 1 to items - 1")
        check("truth", self.truth)
        if self.epsilon <= 0:
            raise ArgumentError(
                "truth", f"must be above {self.size}/{self.items} of 2^32"
            )

    @classmethod
    def at(cls, items: int, epsilon: float) -> Self:
        """With the size of the smallest variance."""
        around = items / (1 + math.exp(epsilon))
        sizes = {math.floor(around), math.ceil(around)}
        usable = [min(max(size, 1), items - 1) for size in sizes]
        made = [cls(items, size, _truth(items, size, epsilon)) for size in usable]
        return min(made, key=lambda oracle: oracle.spread)

    @property
    def epsilon(self) -> float:
        return _loss(self.truth, self.items, self.size)

    @property
    def record(self) -> int:
        return bits.width(self.items)

    @property
    def cells(self) -> int:
        return self.items

    @property
    def outcomes(self) -> int:
        if self.items > 64 and 1 < self.size < self.items - 1:
            return 1 << 64  # at least as many as matter, without a huge product
        return math.comb(self.items, self.size)

    @property
    def rates(self) -> tuple[float, float]:
        truth = chance(self.truth)
        return float(truth), float((self.size - truth) / (self.items - 1))

    @property
    def adds_up(self) -> bool:
        return True

    @property
    def distance(self) -> float:
        truth, others = chance(self.truth), self.items - 1
        own = truth * (self.items - self.size) / others
        return float(own - (1 - truth) * self.size / others)

    @property
    def common(self) -> Fraction:
        return self.items * (1 - chance(self.truth)) / (self.items - self.size)

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        out = np.empty((len(items), self.record), np.uint8)
        step = max(BLOCK // self.items, 1)
        for start in range(0, len(items), step):
            part = items[start : start + step]
            out[start : start + step] = self._sets(part, words)
        return out

    def _sets(self, items: Whole, words: Words) -> Packed:
        """A set of other items; if the true one belongs in it, it takes the place of
        one of them.
        """
        keep = coins(words, self.truth, len(items))
        chosen = self._others(len(items), words)
        chosen += chosen >= items[:, None]
        place = below(words, self.size, len(items))
        rows = np.arange(len(items))
        chosen[rows, place] = np.where(keep, items, chosen[rows, place])
        table = np.zeros((len(items), self.items), np.bool_)
        table[rows[:, None], chosen] = True
        return np.packbits(table, axis=1, bitorder="little")

    def _others(self, count: int, words: Words) -> Whole:
        """Uniform sets of `size` numbers below items − 1 (Floyd's algorithm): the last
        number is taken where the drawn one is in the set already.
        """
        others = self.items - 1
        rows = np.arange(count)
        table = np.zeros((count, others), np.bool_)
        chosen = np.empty((count, self.size), np.int64)
        for place, last in enumerate(range(others - self.size, others)):
            drawn = below(words, last + 1, count)
            drawn = np.where(table[rows, drawn], last, drawn)
            table[rows, drawn] = True
            chosen[:, place] = drawn
        return chosen

    def valid(self, records: Packed) -> NDArray[np.bool_]:
        fits: NDArray[np.bool_] = bits.popcounts(records) == self.size
        if self.items % 8:
            fits &= records[:, -1] < 1 << self.items % 8
        return fits

    def tally(self, records: Packed) -> Whole:
        return bits.columns(records, self.items)

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        one, other = self.rates
        fixed = (one * (1 - one), other * (1 - other))
        return pure(counts[wanted], messages, one, other, periods=periods, fixed=fixed)

    def describe(self, record: Packed) -> str:
        ones = np.unpackbits(record[0], bitorder="little", count=self.items)
        named = [f"{{{place}}}" for place in np.flatnonzero(ones)[:8]]
        rest = f", … ({self.size} in total)" if self.size > 8 else ""
        return "one of " + ", ".join(named) + rest


def _loss(truth: int, items: int, size: int) -> float:
    share = chance(truth)
    return loss(share * (items - size) / ((1 - share) * size))


def _truth(items: int, size: int, epsilon: float) -> int:
    near = size / (size + (items - size) * math.exp(-epsilon))
    return largest(near, lambda truth: _loss(truth, items, size), epsilon)
