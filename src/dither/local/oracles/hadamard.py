"""Block Hadamard response: a message is one number, and a fast transform estimates all
items at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.evidence import Evidence, Law
from dither.local.oracles.oracle import Numbered, Oracle, numbers_of, records_of
from dither.local.thresholds import chance, check, largest, loss
from dither.local.words import ONE, Words, below, coins

__all__ = ["HadamardResponse", "signs", "transform"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]
Reals = NDArray[np.float64]


def signs(row: Whole, column: Whole) -> NDArray[np.bool_]:
    """True where the Hadamard matrix (Sylvester's) has −1: rows and columns share an
    odd number of ones.
    """
    shared: NDArray[np.uint8] = np.bitwise_count(row & column)
    odd: NDArray[np.bool_] = (shared & 1) == 1
    return odd


def transform(table: Whole) -> Whole:
    """Each row times the Hadamard matrix."""
    out = table.copy()
    half = 1
    while half < out.shape[1]:
        pairs = out.reshape(len(out), -1, 2, half)
        first = pairs[:, :, 0] + pairs[:, :, 1]
        pairs[:, :, 1] = pairs[:, :, 0] - pairs[:, :, 1]
        pairs[:, :, 0] = first
        half *= 2
    return out


@dataclass(frozen=True)
class HadamardResponse(Numbered, Oracle):
    """A number below blocks · side. Item i belongs to block i mod `blocks`, so that
    neighbours in a sorted domain are spread; there it owns the half of the numbers at
    which its row of the Hadamard matrix is +1. A message is one of its own numbers
    with probability truth / 2^32, and one of all others otherwise.

    Guarantee: `epsilon`, pure, for replacing the item behind one message.
    Why: a number of one's own has probability truth / (side / 2), any other one
    (1 − truth) / (blocks·side − side / 2) (Acharya, Sun, Zhang 2019).
    Assumes: one message for each device.
    """

    blocks: int
    side: int
    truth: int
    kind: ClassVar[str] = "Hadamard response"

    def __post_init__(self) -> None:
        for name, value in (("blocks", self.blocks), ("side", self.side)):
            if value < 1 or value & (value - 1):
                raise ArgumentError(name, "must be a power of two")
        # row 0 is +1 everywhere and tells nothing
        if not 1 <= -(-self.items // self.blocks) < self.side:
            raise ArgumentError("side", "must be above the number of items per block")
        if self.outcomes > ONE:
            raise ArgumentError(
                "side", "is too large; lower it until blocks × side is at most 2^32"
            )
        check("truth", self.truth)
        if self.epsilon <= 0:
            raise ArgumentError("truth", f"must be above 1/{2 * self.blocks} of 2^32")

    @classmethod
    def at(cls, items: int, epsilon: float) -> Self:
        """With as many blocks as give the smallest variance."""
        grown, choices = math.exp(epsilon), [1]
        while choices[-1] * 2 <= items:
            choices.append(choices[-1] * 2)
        blocks = min(choices, key=lambda count: (grown + 2 * count - 1) ** 2 / count)
        side = 1 << (-(-items // blocks)).bit_length()
        near = grown / (grown + 2 * blocks - 1)
        truth = largest(near, lambda t: _loss(t, blocks), epsilon)
        return cls(items, blocks, side, truth)

    @property
    def epsilon(self) -> float:
        return _loss(self.truth, self.blocks)

    @property
    def outcomes(self) -> int:
        return self.blocks * self.side

    @property
    def gain(self) -> float:
        """Half of how much more often a message lies in its item's own half of the
        block than in the other half.
        """
        one, other = self.rates
        return (one - other) / 2

    @property
    def rates(self) -> tuple[float, float]:
        """Probability that a message lies in the item's own half of its block; for an
        item of another block, in that item's half.
        """
        truth = chance(self.truth)
        return float(truth), float((1 - truth) / (2 * self.blocks - 1))

    @property
    def influence(self) -> float:
        return 0.5 / self.gain

    def outlook(self, messages: int) -> Evidence:
        """Each block gets its share of the messages, if its items have theirs."""
        return self._evidence(np.zeros(1), np.full(1, messages / self.blocks), messages)

    @property
    def distance(self) -> float:
        """For two items of different blocks; within a block half of it."""
        return 2 * self.gain if self.blocks > 1 else self.gain

    @property
    def common(self) -> Fraction:
        halves = 2 * self.blocks
        return halves * (1 - chance(self.truth)) / (halves - 1)

    def _place(self, items: Whole) -> tuple[Whole, Whole]:
        return items % self.blocks, items // self.blocks + 1

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        own = coins(words, self.truth, len(items))
        block, row = self._place(items)
        other = (block + self._other_block(len(items), words)) % self.blocks
        column = below(words, self.side, len(items))
        # in the own block: change the sign, if it is wrong, by the row's lowest bit
        wrong = signs(row, column) == own
        column ^= np.where((own | (other == block)) & wrong, row & -row, 0)
        chosen = np.where(own, block, other) * self.side + column
        return records_of(chosen, self.record)

    def _other_block(self, count: int, words: Words) -> Whole:
        """How many blocks further a message goes that is not one of its item's own: of
        2·blocks − 1 halves that are equally likely, one lies in the own block.
        """
        return (below(words, 2 * self.blocks - 1, count) + 1) // 2

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        """Given how many messages lie in an item's block, those in its half are
        binomial with probability ½ if nobody holds the item.
        """
        table = counts.reshape(self.blocks, self.side)
        block, row = self._place(wanted)
        excess = transform(table)[block, row]
        inside = table.sum(axis=1)[block]
        found = self._evidence(excess / 2, inside * periods, messages, periods)
        law = Law((inside + excess) // 2, inside, 0.5, halves=True)
        return replace(found, law=law) if periods == 1 else found

    def _evidence(
        self, above: Reals, inside: NDArray[Any], messages: int, periods: int = 1
    ) -> Evidence:
        slope = -(self.gain**2) * periods
        return Evidence(messages, above, self.gain, inside / 4, slope)

    def describe(self, record: Packed) -> str:
        block, column = divmod(int(numbers_of(record)[0]), self.side)
        return f"column {column} of block {block}"


def _loss(truth: int, blocks: int) -> float:
    share = chance(truth)
    return loss(share * (2 * blocks - 1) / (1 - share)) if share < 1 else math.inf
