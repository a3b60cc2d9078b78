"""K-ary randomized response: the true item with one probability, any other one
otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.evidence import Evidence, pure
from dither.local.oracles.oracle import Numbered, Oracle, numbers_of, records_of
from dither.local.thresholds import chance, check, largest
from dither.local.words import Words, below, coins
from dither.mechanisms.response import RandomizedResponse

__all__ = ["KAryResponse", "kept", "respond", "response_loss"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]


def respond(truth: int, outcomes: int, values: Whole, words: Words) -> Whole:
    """Keep each value with probability truth / 2^32, or draw one of the others."""
    keep = coins(words, truth, len(values))
    other = below(words, outcomes - 1, len(values))
    other += other >= values
    return np.where(keep, values, other)


def kept(epsilon: float, outcomes: int) -> int:
    """The threshold for keeping one of `outcomes` values at ε."""
    near = 1 / (1 + (outcomes - 1) * math.exp(-epsilon))
    return largest(near, lambda truth: response_loss(truth, outcomes), epsilon)


def response_loss(truth: int, outcomes: int) -> float:
    """ε of keeping one of so many values with probability truth / 2^32."""
    share = chance(truth)
    if share <= Fraction(1, outcomes):
        return 0.0
    return RandomizedResponse(truth=share, categories=outcomes).epsilon or 0.0


@dataclass(frozen=True)
class KAryResponse(Numbered, Oracle):
    """The item itself with probability truth / 2^32; binary response for two items.

    Guarantee: `epsilon`, pure, for replacing the item behind one message.
    Why: `mechanisms.RandomizedResponse` with this probability.
    Assumes: one message for each device, or the same one again.
    """

    truth: int
    kind: ClassVar[str] = "k-ary response"

    def __post_init__(self) -> None:
        if self.items < 2:
            raise ArgumentError(
                "domain", "must have at least two items; pass all possible answers"
            )
        check("truth", self.truth)
        if self.epsilon <= 0:
            raise ArgumentError("truth", f"must be above 1/{self.items} of 2^32")

    @classmethod
    def at(cls, items: int, epsilon: float) -> Self:
        return cls(items, kept(epsilon, items))

    @property
    def epsilon(self) -> float:
        return response_loss(self.truth, self.items)

    @property
    def outcomes(self) -> int:
        return self.items

    @property
    def rates(self) -> tuple[float, float]:
        truth = chance(self.truth)
        return float(truth), float((1 - truth) / (self.items - 1))

    @property
    def adds_up(self) -> bool:
        return True

    @property
    def distance(self) -> float:
        one, other = self.rates
        return one - other

    @property
    def common(self) -> Fraction:
        return self.items * (1 - chance(self.truth)) / (self.items - 1)

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        said = respond(self.truth, self.items, items, words)
        return records_of(said, self.record)

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        one, other = self.rates
        fixed = (one * (1 - one), other * (1 - other))
        return pure(counts[wanted], messages, one, other, periods=periods, fixed=fixed)

    def describe(self, record: Packed) -> str:
        return f"{{{numbers_of(record)[0]}}}"
