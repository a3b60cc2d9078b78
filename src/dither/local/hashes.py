"""Hashes that any language computes in 32-bit integers.

Two kinds. Strings of an open vocabulary become two 32-bit numbers (MurmurHash3, x86,
32 bits, with two seeds), from which each row of a sketch, each cohort and each bit of
a Bloom filter takes its own place. Items of a declared domain have a number, and are
hashed by `Linear`, whose collisions are exactly as frequent as chance would have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Linear", "digests", "places"]

Word = NDArray[np.uint32]
Whole = NDArray[np.int64]

SEEDS = (0x9747B28C, 0x3C6EF372)
MASK = 0xFFFFFFFF
FIRST, SECOND = 0xCC9E2D51, 0x1B873593
GOLDEN = np.uint32(0x9E3779B9)
MANY = 64  # texts from which on arrays are faster


def digests(texts: Sequence[bytes]) -> Word:
    """Two 32-bit numbers for each string, a row each."""
    if len(texts) < MANY:
        rows = [[_murmur(text, seed) for seed in SEEDS] for text in texts]
        return np.array(rows, np.uint32).reshape(len(rows), 2)
    out = np.empty((len(texts), 2), np.uint32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for length in np.unique(lengths).tolist():
        mine = np.flatnonzero(lengths == length)
        joined = b"".join([texts[place] for place in mine.tolist()])
        table = np.frombuffer(joined, np.uint8).reshape(len(mine), length)
        for column, seed in enumerate(SEEDS):
            out[mine, column] = _murmurs(table, seed)
    return out


def _murmurs(texts: NDArray[np.uint8], seed: int) -> Word:
    """`_murmur` of strings of one length, a row each."""
    count, length = texts.shape
    padded = np.zeros((count, -(-length // 4) * 4), np.uint8)
    padded[:, :length] = texts
    blocks = padded.view("<u4").astype(np.uint32)
    blocks = _rotated(blocks * np.uint32(FIRST), 15) * np.uint32(SECOND)
    state = np.full(count, seed, np.uint32)
    for place in range(length // 4):
        turned = _rotated(state ^ blocks[:, place], 13)
        state = turned * np.uint32(5) + np.uint32(0xE6546B64)
    if length % 4:
        state ^= blocks[:, -1]
    return mixed(state ^ np.uint32(length))


def _rotated(values: Word, bits: int) -> Word:
    return (values << np.uint32(bits)) | (values >> np.uint32(32 - bits))


def _murmur(text: bytes, seed: int) -> int:
    state = seed
    body = len(text) // 4 * 4
    for start in range(0, body, 4):
        block = _scramble(int.from_bytes(text[start : start + 4], "little"))
        state = (_rotate(state ^ block, 13) * 5 + 0xE6546B64) & MASK
    if len(text) > body:
        state ^= _scramble(int.from_bytes(text[body:], "little"))
    return _finish(state ^ len(text))


def _scramble(block: int) -> int:
    return _rotate(block * FIRST & MASK, 15) * SECOND & MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & MASK


def _finish(value: int) -> int:
    value = (value ^ value >> 16) * 0x85EBCA6B & MASK
    value = (value ^ value >> 13) * 0xC2B2AE35 & MASK
    return value ^ value >> 16


def mixed(value: Word) -> Word:
    """MurmurHash3's last step, for arrays."""
    value = (value ^ (value >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    value = (value ^ (value >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return value ^ (value >> np.uint32(16))


def places(found: Word, rows: NDArray[np.integer], size: int) -> Whole:
    """The place of each digest (…, 2) in each row, below `size`.

    mixed(first + mixed(second + (row + 1) · 0x9E3779B9)), modulo size.
    """
    row = (rows.astype(np.uint32) + np.uint32(1)) * GOLDEN
    hashed = mixed(found[..., 0] + mixed(found[..., 1] + row))
    return (hashed % np.uint32(size)).astype(np.int64)


@dataclass(frozen=True)
class Linear:
    """All linear functions of an item's digits modulo a prime.

    Item x has `digits` digits x_j in base `prime`; function s has as many digits s_j,
    and takes x to Σ s_j·x_j modulo the prime.

    Two different items collide under exactly one function in `prime`: their digits
    differ somewhere, and Σ s_j·(x_j − y_j) = 0 has prime^(digits − 1) solutions. So
    an estimate from these functions has no bias from collisions, however many
    messages there are, and a Fourier transform gives all estimates at once.
    """

    prime: int
    digits: int

    @property
    def pool(self) -> int:
        """Number of functions, and largest number of items."""
        return int(self.prime**self.digits)

    @cached_property
    def _powers(self) -> list[int]:
        return [self.prime**j for j in range(self.digits)]

    def of(self, functions: Whole, items: Whole) -> Whole:
        """The value of each item under its function."""
        total = np.zeros(np.broadcast(functions, items).shape, np.int64)
        for power in self._powers:
            total += functions // power % self.prime * (items // power % self.prime)
        return total % self.prime

    def supports(self, counts: Whole, items: int) -> Whole:
        """For each item x, Σ over functions s of counts[s, s(x)].

        With ω the prime-th root of unity, 1[a = b] = Σ_k ω^(k(a − b)) / prime; the sum
        over s is then a Fourier transform with `digits` axes, read at k·x. Its result
        is a whole number, so rounding makes it exact.
        """
        if 2 * items <= self.prime:  # then looking them up is faster
            return self._looked_up(counts, items)
        prime, cube = self.prime, (self.prime,) * self.digits
        turned = np.fft.rfft(counts, axis=1)
        numbers = np.arange(items)
        total = np.full(items, float(counts.sum()))
        for k in range(1, (prime + 1) // 2 + (prime == 2)):
            # axis 0 of the cube is the highest digit, as in C order
            cells = np.fft.ifftn(turned[:, k].reshape(cube), norm="forward")
            at = self._multiple(numbers, k)
            # k and prime − k give conjugate numbers
            total += cells.reshape(-1)[at].real * (1 if prime == 2 else 2)
        return np.rint(total / prime).astype(np.int64)

    def _looked_up(self, counts: Whole, items: int) -> Whole:
        functions = np.arange(self.pool)
        sums = [
            counts[functions, self.of(functions, np.full(self.pool, item))].sum()
            for item in range(items)
        ]
        return np.array(sums, np.int64)

    def _multiple(self, items: Whole, k: int) -> Whole:
        """The item whose digits are k times these, each modulo the prime."""
        parts = [
            items // power % self.prime * k % self.prime * power
            for power in self._powers
        ]
        multiple: Whole = np.sum(parts, axis=0, dtype=np.int64)
        return multiple
