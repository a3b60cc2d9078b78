"""LOLOHA: local hashing for answers that are given again and again (Arcolezi et al.
2023).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local.evidence import Evidence, pure, squares
from dither.local.hashes import Linear, places
from dither.local.oracles.hashing import best_prime, is_prime
from dither.local.oracles.oracle import (
    Longitudinal,
    Numbered,
    Oracle,
    numbers_of,
    records_of,
)
from dither.local.oracles.response import kept, respond, response_loss
from dither.local.thresholds import chance, check, largest, loss
from dither.local.words import Words, below

__all__ = ["Loloha"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

LARGEST = 1 << 20
POOL = 256
"""A device keeps its hash function, and every message names it: beyond eight bits it
would tell devices apart (rule R28).
"""


@dataclass(frozen=True)
class Loloha(Numbered, Longitudinal, Oracle):
    """The item's hash value, kept with probability `kept` / 2^32 or replaced by another
    one, for ever; and that kept value, sent with probability `sent` / 2^32 or replaced
    again, in each message.

    `functions` is how many hash functions there are: 1 (no hashing: the values are
    the items), a power of the prime `values` that is at least `items` (linear
    functions, which collide exactly as often as chance), or any number up to 256
    where the domain is larger than that (then collisions limit what can be seen).

    Guarantee: `epsilon` for one message, `epsilon_for_ever` for all messages about one
    value; both pure, for replacing the item.
    Why: two layers of k-ary response on the hash value; the function is drawn without
    looking at any item, and a message is a function of the kept value and of noise
    that does not depend on the item.
    Assumes: the function is drawn once for each device, and the kept hash value once
    for each of its values (rule R28).
    """

    values: int
    functions: int
    kept: int
    sent: int
    kind: ClassVar[str] = "loloha"

    def __post_init__(self) -> None:
        if self.items < 2 or self.values < 2:
            raise ArgumentError(
                "values", "values and items must both be at least 2; pass larger ones"
            )
        if self.functions == 1 and self.values != self.items:
            raise ArgumentError(
                "values", "must equal items if functions is 1; pass the number of items"
            )
        if self.values > LARGEST:
            raise ArgumentError("values", f"must be at most {LARGEST:,}")
        if not 1 <= self.functions <= POOL:
            raise ArgumentError(
                "functions",
                f"must be from 1 to {POOL}: more functions would identify devices",
            )
        check("kept", self.kept)
        check("sent", self.sent)
        for name in ("kept", "sent"):
            # below, the truth would be what is said least: two such layers would
            # have an ε, and each of them none
            if response_loss(getattr(self, name), self.values) <= 0:
                raise ArgumentError(name, f"must be above 1/{self.values} of 2^32")

    @classmethod
    def at(cls, items: int, epsilon: float, for_ever: float, pool: int = POOL) -> Self:
        """With the number of hash values, and the functions, of the smallest variance.
        `pool` is how many functions there may be.
        """
        prime = best_prime(epsilon)
        linear = cls._linear(items, prime, pool)
        shapes = [(prime, linear or pool)]
        if items <= POOL:  # of more items, hashing always has the smaller variance
            shapes.append((items, 1))
        made = [cls._made(items, *shape, epsilon, for_ever) for shape in shapes]
        return min(made, key=lambda oracle: oracle.spread)

    @staticmethod
    def _linear(items: int, prime: int, pool: int) -> int:
        """The smallest power of the prime that has a function for each item; 0 if there
        is none.
        """
        functions = prime
        while functions < items:
            functions *= prime
        return functions if functions <= pool else 0

    @classmethod
    def _made(
        cls, items: int, values: int, functions: int, epsilon: float, for_ever: float
    ) -> Self:
        first = kept(for_ever, values)
        top, wanted = first / 2**32, 1 / (1 + (values - 1) * math.exp(-epsilon))
        near = (wanted * (values - 1) - (1 - top)) / (top * values - 1)

        def lost(sent: int) -> float:
            return _loss(_chain(first, sent, values), values)

        sent = largest(near, lost, epsilon)
        return cls(items, values, functions, first, sent)

    @cached_property
    def _functions(self) -> Linear | None:
        """The linear functions, if it is these."""
        if self.functions == 1 or not is_prime(self.values):
            return None
        digits = round(math.log(self.functions, self.values))
        linear = Linear(self.values, digits)
        exact = linear.pool == self.functions >= self.items
        return linear if exact else None

    @property
    def truth(self) -> Fraction:
        """Probability that a message names its item's own hash value."""
        return _chain(self.kept, self.sent, self.values)

    @property
    def rates(self) -> tuple[float, float]:
        truth = self.truth
        if self.functions == 1:
            return float(truth), float((1 - truth) / (self.values - 1))
        return float(truth), 1 / self.values

    @property
    def epsilon(self) -> float:
        return _loss(self.truth, self.values)

    @property
    def epsilon_for_ever(self) -> float:
        return response_loss(self.kept, self.values)

    @property
    def epsilon_instant(self) -> float:
        return response_loss(self.sent, self.values)

    @property
    def collisions(self) -> float:
        """Linear functions add nothing."""
        if self.functions == 1 or self._functions is not None:
            return 0.0
        shared = (1 - 1 / self.values) / (self.values * self.functions)
        return shared / (1 - 1 / self.values) ** 2

    @property
    def permanent_parameters(self) -> dict[str, Any]:
        return {
            name: value for name, value in self.parameters.items() if name != "sent"
        }

    @property
    def outcomes(self) -> int:
        return self.functions * self.values

    @property
    def adds_up(self) -> bool:
        return self.functions == 1

    @property
    def distance(self) -> float:
        truth = float(self.truth)
        return truth - (1 - truth) / (self.values - 1)

    @property
    def freshness(self) -> float:
        return float(1 - chance(self.sent))

    @property
    def tracking(self) -> int:
        return self.functions

    def seeds(self, words: Words, count: int) -> Whole:
        return below(words, self.functions, count)

    def memo_keys(self, items: NDArray[Any], seeds: Whole) -> NDArray[Any]:
        return np.stack([items, seeds], axis=1)

    def _hashed(self, items: Whole, seeds: Whole) -> Whole:
        if self.functions == 1:
            return items
        if self._functions is not None:
            return self._functions.of(seeds, items)
        numbers = np.stack([items, items], axis=-1).astype(np.uint32)
        return places(numbers, seeds, self.values)

    def permanent(self, keys: NDArray[Any], words: Words) -> NDArray[Any]:
        hashed = self._hashed(keys[:, 0], keys[:, 1])
        return respond(self.kept, self.values, hashed, words)

    def instant(self, kept: NDArray[Any], seeds: Whole, words: Words) -> Packed:
        said = respond(self.sent, self.values, kept, words)
        return records_of(seeds * self.values + said, self.record)

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        """The memo repeats the hash function and the kept value in every period."""
        one, other = self.rates
        first, second = self.kept / 2**32, self.sent / 2**32
        step = second - (1 - second) / (self.values - 1)
        miss = other if self.functions > 1 else (1 - first) / (self.values - 1)
        fixed = (first * (1 - first) * step**2, miss * (1 - miss) * step**2)
        hits = self._supports(counts.reshape(self.functions, self.values))
        found = pure(hits[wanted], messages, one, other, periods=periods, fixed=fixed)
        if not self.collisions:
            return found
        everything = pure(hits, messages, one, other, periods=periods, fixed=fixed)
        collisions = found.gain**2 * squares(everything) * self.collisions
        return replace(found, null=found.null + collisions, law=None)

    def _supports(self, table: Whole) -> Whole:
        if self.functions == 1:
            only: Whole = table[0]
            return only
        if self._functions is not None:
            return self._functions.supports(table, self.items)
        everything, rows = np.arange(self.items), np.arange(self.functions)
        total = np.zeros(self.items, np.int64)
        for row in rows:
            total += table[row, self._hashed(everything, np.full(self.items, row))]
        return total

    def describe(self, record: Packed) -> str:
        function, said = divmod(int(numbers_of(record)[0]), self.values)
        if self.functions == 1:
            return f"{{{said}}}"
        return f"hash value {said} of {self.values} under function {function}"


def _chain(first: int, second: int, values: int) -> Fraction:
    """Probability that a value is unchanged by two responses."""
    one, two = chance(first), chance(second)
    return one * two + (1 - one) * (1 - two) / (values - 1)


def _loss(truth: Fraction, values: int) -> float:
    return loss(truth * (values - 1) / (1 - truth)) if truth < 1 else math.inf
