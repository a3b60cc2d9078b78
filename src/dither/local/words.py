"""32-bit words, and what is drawn from them: the same steps in every language.

A coin with threshold t is heads when its word is below t, and never when it is equal:
heads has probability t / 2^32 exactly. The words come fresh from `dither.noise`, or,
on a device that must answer alike tomorrow, from its secret.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.noise import random_words

__all__ = ["FRESH", "ONE", "Fresh", "Keyed", "Words", "below", "coins"]

ONE = 1 << 32
BLOCK = 8  # words in one digest

Word = NDArray[np.uint32]
Whole = NDArray[np.int64]


class Words(Protocol):
    """A source of uniform 32-bit words."""

    def take(self, count: int) -> Word:
        """The next words, as an array that may be overwritten."""


class Fresh:
    """Words nobody can draw again."""

    def take(self, count: int) -> Word:
        return random_words(count)


FRESH = Fresh()


class Keyed:
    """Words that follow from a key: block i is HMAC-SHA256(key, i), read as eight
    little-endian words; i has four bytes, the largest first.

    Assumes: HMAC-SHA256 is a pseudorandom function, and no key is used for two things.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._next = 0
        self._left: Word = np.empty(0, np.uint32)

    def take(self, count: int) -> Word:
        while self._left.size < count:
            blocks = -(-(count - self._left.size) // BLOCK)
            digests = b"".join(self._block() for _ in range(blocks))
            fresh = np.frombuffer(digests, "<u4").astype(np.uint32)
            self._left = np.concatenate([self._left, fresh])
        taken, self._left = self._left[:count].copy(), self._left[count:]
        return taken

    def _block(self) -> bytes:
        counter = self._next.to_bytes(4, "big")
        self._next += 1
        return hmac.new(self._key, counter, hashlib.sha256).digest()


def coins(words: Words, threshold: int, count: int) -> NDArray[np.bool_]:
    """Coins that are heads with probability threshold / 2^32."""
    drawn = words.take(count)
    if threshold >= ONE:
        return np.ones(count, np.bool_)
    return drawn < np.uint32(threshold)


def below(words: Words, bound: int, count: int) -> Whole:
    """Uniform integers below a bound of at most 2^32.

    Words of the last, incomplete run of `bound` values are drawn again.
    """
    if not 1 <= bound <= ONE:
        raise ArgumentError("bound", "must be a whole number from 1 to 2^32")
    drawn = words.take(count)
    last = ONE - ONE % bound
    while last < ONE:
        again = np.flatnonzero(drawn >= np.uint32(last))
        if not again.size:
            break
        drawn[again] = words.take(again.size)
    if bound == ONE:
        return drawn.astype(np.int64)
    # numpy divides by one number much faster than it takes remainders
    multiples = drawn // np.uint32(bound) * np.uint32(bound)
    return (drawn - multiples).astype(np.int64)
