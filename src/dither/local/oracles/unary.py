"""Unary encoding: one bit for each item, every bit randomized on its own."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local import bits
from dither.local.evidence import Evidence, pure
from dither.local.oracles.oracle import Longitudinal, Oracle
from dither.local.thresholds import chance, check, loss, smallest
from dither.local.words import ONE, Words, coins
from dither.privacy.numbers import up

__all__ = ["LongitudinalUnary", "Unary", "symmetric", "unary_loss"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

HALF = ONE // 2


def unary_loss(one: Fraction, zero: Fraction) -> float:
    """What a message loses whose item's bit is one with probability `one`, and every
    other bit with probability `zero`: two items differ in two bits.
    """
    return loss(one * (1 - zero) / (zero * (1 - one)))


def _optimized(epsilon: float) -> int:
    """The threshold of other bits at ε when the item's own bit is a fair coin."""
    near = 1 / (1 + math.exp(epsilon))
    return smallest(near, lambda t: unary_loss(Fraction(1, 2), chance(t)), epsilon)


def symmetric(epsilon: float) -> int:
    """The threshold of other bits at ε when both kinds of bit lie equally often."""
    near = 1 / (1 + math.exp(epsilon / 2))
    return smallest(near, lambda t: unary_loss(1 - chance(t), chance(t)), epsilon)


def _encoded(one: int, zero: int, items: Whole, words: Words, size: int) -> Packed:
    """The bits of each row: first all of them as if they were zero, then the item's."""
    out = bits.biased(words, zero, len(items), size)
    bits.put(out, items, coins(words, one, len(items)))
    return out


class _Bits(Oracle):
    """The common part of both unary oracles: a message is one bit for each item."""

    @property
    def record(self) -> int:
        return bits.width(self.items)

    @property
    def cells(self) -> int:
        return self.items

    @property
    def outcomes(self) -> int:
        return 1 << min(self.items, 64)

    @property
    @abstractmethod
    def chances(self) -> tuple[Fraction, Fraction]:
        """Probability that the item's own bit is one in a message, and that each other
        bit is.
        """

    @property
    def rates(self) -> tuple[float, float]:
        one, other = self.chances
        return float(one), float(other)

    @property
    def epsilon(self) -> float:
        return unary_loss(*self.chances)

    @property
    def distance(self) -> float:
        one, other = self.chances
        return float(one - other)

    def valid(self, records: Packed) -> NDArray[np.bool_]:
        if self.items % 8 == 0:
            return np.ones(len(records), np.bool_)
        return records[:, -1] < 1 << self.items % 8

    def tally(self, records: Packed) -> Whole:
        return bits.columns(records, self.items)

    def describe(self, record: Packed) -> str:
        ones = np.unpackbits(record[0], bitorder="little", count=self.items)
        named = [f"{{{place}}}" for place in np.flatnonzero(ones)[:8]]
        more = int(ones.sum()) - len(named)
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Unary(_Bits):
    """One bit for each item: one with probability `one` / 2^32 for the item, with
    probability `zero` / 2^32 for every other.

    Guarantee: `epsilon`, pure, for replacing the item behind one message.
    Why: two items differ in two bits, which are drawn independently; the largest
    ratio is one·(1 − zero) / (zero·(1 − one)) (Wang et al. 2017).
    Assumes: one message for each device.
    """

    one: int
    zero: int
    kind: ClassVar[str] = "unary"

    def __post_init__(self) -> None:
        if self.items < 1:
            raise ArgumentError("domain", "is empty; pass the items to count")
        check("zero", self.zero)
        check("one", self.one, low=self.zero + 1)

    @classmethod
    def optimized(cls, items: int, epsilon: float) -> Self:
        """OUE: the smallest variance for items that few hold."""
        return cls(items, HALF, _optimized(epsilon))

    @classmethod
    def symmetric(cls, items: int, epsilon: float) -> Self:
        """SUE: both kinds of bit lie equally often."""
        zero = symmetric(epsilon)
        return cls(items, ONE - zero, zero)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        return chance(self.one), chance(self.zero)

    @property
    def common(self) -> Fraction:
        """Compared with bits that are all drawn as another item's."""
        one, other = self.chances
        return (1 - one) / (1 - other)

    def randomize(self, items: NDArray[Any], words: Words) -> Packed:
        return _encoded(self.one, self.zero, items, words, self.items)

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        one, other = self.rates
        fixed = (one * (1 - one), other * (1 - other))
        return pure(counts[wanted], messages, one, other, periods=periods, fixed=fixed)


@dataclass(frozen=True)
class LongitudinalUnary(Longitudinal, _Bits):
    """Unary encoding kept for ever (`kept_one`, `kept_zero`), and every bit of it
    randomized again in each message: a kept one is sent as one with probability
    `sent_one` / 2^32, a kept zero with probability `sent_zero` / 2^32.

    Guarantee: `epsilon` for one message, `epsilon_for_ever` for all messages about one
    kept answer; both pure, for replacing the item.
    Why: two layers of unary encoding; a message is a function of the kept bits and of
    noise that does not depend on the item (Arcolezi et al. 2022, L-OSUE).
    Assumes: the kept bits are drawn once for each item (rule R28).
    """

    kept_one: int
    kept_zero: int
    sent_one: int
    sent_zero: int
    kind: ClassVar[str] = "longitudinal unary"

    def __post_init__(self) -> None:
        check("kept_zero", self.kept_zero)
        check("kept_one", self.kept_one, low=self.kept_zero + 1)
        check("sent_zero", self.sent_zero)
        check("sent_one", self.sent_one, low=self.sent_zero + 1)

    @classmethod
    def at(cls, items: int, epsilon: float, for_ever: float) -> Self:
        """Optimized encoding for ever, then symmetric noise: the item's own bit is a
        fair coin in both, which is best for items that few hold.
        """
        kept = _optimized(for_ever)
        wanted, first = 1 / (1 + math.exp(epsilon)), kept / ONE
        near = (wanted - first) / (1 - 2 * first)

        def lost(zero: int) -> float:
            return cls(items, HALF, kept, ONE - zero, zero).epsilon

        zero = smallest(near, lost, epsilon)
        return cls(items, HALF, kept, ONE - zero, zero)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        sent_one, sent_zero = chance(self.sent_one), chance(self.sent_zero)
        one, other = (
            chance(kept) * sent_one + (1 - chance(kept)) * sent_zero
            for kept in (self.kept_one, self.kept_zero)
        )
        return one, other

    @property
    def epsilon_for_ever(self) -> float:
        return unary_loss(chance(self.kept_one), chance(self.kept_zero))

    @property
    def epsilon_instant(self) -> float:
        """Two kept answers may differ in every bit: each was drawn on its own."""
        one, zero = chance(self.sent_one), chance(self.sent_zero)
        return up(self.items * loss(max(one / zero, (1 - zero) / (1 - one))))

    @property
    def permanent_parameters(self) -> dict[str, Any]:
        names = ("kind", "items", "kept_one", "kept_zero")
        return {name: self.parameters[name] for name in names}

    @property
    def freshness(self) -> float:
        return float(max(1 - chance(self.sent_one), chance(self.sent_zero)))

    def seeds(self, words: Words, count: int) -> Whole:  # noqa: ARG002
        return np.zeros(count, np.int64)

    def memo_keys(self, items: NDArray[Any], seeds: Whole) -> NDArray[Any]:  # noqa: ARG002
        return items

    def permanent(self, keys: NDArray[Any], words: Words) -> NDArray[Any]:
        return _encoded(self.kept_one, self.kept_zero, keys, words, self.items)

    def instant(self, kept: NDArray[Any], seeds: Whole, words: Words) -> Packed:  # noqa: ARG002
        ones = bits.biased(words, self.sent_one, len(kept), self.items)
        zeros = bits.biased(words, self.sent_zero, len(kept), self.items)
        return (kept & ones) | (~kept & zeros)

    def evidence(
        self, counts: Whole, messages: int, periods: int, wanted: NDArray[Any]
    ) -> Evidence:
        one, other = self.rates
        step = (self.sent_one - self.sent_zero) / ONE
        kept = (self.kept_one / ONE, self.kept_zero / ONE)
        fixed = tuple(rate * (1 - rate) * step**2 for rate in kept)
        return pure(
            counts[wanted],
            messages,
            one,
            other,
            periods=periods,
            fixed=(fixed[0], fixed[1]),
        )
