"""Fast local hashing: the device draws one of many public hash functions, and gives
k-ary response about its item's hash.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.evidence import Evidence, pure
from dither.local.hashes import Linear
from dither.local.oracles.oracle import Numbered, Oracle, numbers_of, records_of
from dither.local.oracles.response import kept, respond, response_loss
from dither.local.thresholds import chance, check
from dither.local.words import Words, below

__all__ = ["LocalHashing", "best_prime", "is_prime"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

POOL = 1 << 14  # hash functions at least


def is_prime(number: int) -> bool:
    return number > 1 and all(number % i for i in range(2, math.isqrt(number) + 1))


def _primes_around(wanted: float) -> Iterator[int]:
    """The nearest primes below and above."""
    low, high = max(math.floor(wanted), 2), max(math.ceil(wanted), 2)
    while not is_prime(low):
        low -= 1
    while not is_prime(high):
        high += 1
    yield from {low, high}


def best_prime(epsilon: float) -> int:
    """The number of hash values with the smallest variance: e^ε + 1 would be best.
    Above an ε of 11 there is nothing left to gain.
    """
    grown = math.exp(min(epsilon, 11.0))
    return min(
        _primes_around(grown + 1),
        key=lambda prime: (grown - 1 + prime) ** 2 / (prime - 1),
    )


@dataclass(frozen=True)
class LocalHashing(Numbered, Oracle):
    """The number of a hash function, and the item's hash with probability truth / 2^32
    or another hash value.

    Guarantee: `epsilon`, pure, for replacing the item behind one message.
    Why: the
    function is drawn without looking at the item; given the function, the message is
    k-ary response (Wang et al. 2017, OLH; Cormode et al. 2021, FLH).
    Assumes: one
    message for each device; the function is drawn again for it.
    """

    prime: int
    digits: int
    truth: int
    kind: ClassVar[str] = "local hashing"

    def __post_init__(self) -> None:
        if not (self.prime < 1 << 20 and is_prime(self.prime)):
            raise ArgumentError("prime", "must be a prime number below 2^20, such as 3")
        if not 1 <= self.digits <= 30:
            raise ArgumentError("digits", "must be a whole number from 1 to 30")
        if not max(self.items, 2) <= self.functions.pool < 1 << 31:
            raise ArgumentError(
                "digits",
                "must be such that prime^digits is below 2^31, but not below the "
                "number of items",
            )
        check("truth", self.truth)
        if self.epsilon <= 0:
            raise ArgumentError("truth", f"must be above 1/{self.prime} of 2^32")

    @classmethod
    def at(cls, items: int, epsilon: float) -> Self:
        prime = best_prime(epsilon)
        wanted, digits = max(items, POOL), 1
        while prime**digits < wanted:
            digits += 1
        return cls(items, prime, digits, kept(epsilon, prime))

    @property
    def functions(self) -> Linear:
        return Linear(self.prime, self.digits)

    @property
    def epsilon(self) -> float:
        return response_loss(self.truth, self.prime)

    @property
    def outcomes(self) -> int:
        return self.functions.pool * self.prime

    @property
    def rates(self) -> tuple[float, float]:
        """Two items share a hash value under exactly one function in `prime`."""
        return float(chance(self.truth)), 1 / self.prime

    @property
    def distance(self) -> float:
        truth = float(chance(self.truth))
        return (truth - (1 - truth) / (self.prime - 1)) * (1 - 1 / self.prime)

    @property
    def common(self) -> Fraction:
        return self.prime * (1 - chance(self.truth)) / (self.prime - 1)

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        functions = below(words, self.functions.pool, len(items))
        hashed = self.functions.of(functions, items)
        said = respond(self.truth, self.prime, hashed, words)
        return records_of(functions * self.prime + said, self.record)

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        one, other = self.rates
        table = counts.reshape(self.functions.pool, self.prime)
        hits = self.functions.supports(table, self.items)[wanted]
        fixed = (one * (1 - one), other * (1 - other))
        return pure(hits, messages, one, other, periods=periods, fixed=fixed)

    def describe(self, record: Packed) -> str:
        function, said = divmod(int(numbers_of(record)[0]), self.prime)
        return f"hash value {said} of {self.prime} under function {function}"
