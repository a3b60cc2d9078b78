"""Rows of bits, packed eight to a byte with the lowest first: drawn and summed in bulk."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dither.local.words import ONE, Words

__all__ = ["biased", "columns", "get", "popcounts", "put", "width"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]
Bits = NDArray[np.uint64]

BLOCK = 1 << 20  # random bytes that are worked on together
ROWS = 1 << 23  # bytes of rows that are added together
CACHED = 1 << 17  # bytes of one of three rows in a step, so that they stay in the cache
FEW = 5  # so many rows are unpacked at once


def width(bits: int) -> int:
    """Number of bytes for a row of bits."""
    return -(-bits // 8)


def biased(words: Words, threshold: int, rows: int, bits: int) -> Packed:
    """Rows of bits that are each one with probability threshold / 2^32.

    One random byte decides a bit, unless it equals the threshold's first byte: then
    the other 24 bits decide, with a word of their own. Bits beyond the row are zero.
    """
    out = np.empty((rows, width(bits)), np.uint8)
    whole = 8 * width(bits)
    step = max(BLOCK // whole, 1)
    for start in range(0, rows, step):
        part = out[start : start + step]
        drawn = words.take(part.shape[0] * whole // 4).view(np.uint8)
        part[...] = _decided(words, threshold, drawn).reshape(part.shape)
    if bits % 8:
        out[:, -1] &= (1 << bits % 8) - 1
    return out


def _decided(words: Words, threshold: int, drawn: Packed) -> Packed:
    if threshold >= ONE:
        return np.full(drawn.size // 8, 255, np.uint8)
    first, rest = threshold >> 24, (threshold & 0xFFFFFF) << 8
    decided = np.packbits(drawn < np.uint8(first), bitorder="little")
    ties = np.packbits(drawn == np.uint8(first), bitorder="little")
    # few bytes hold a tie: only these are unpacked
    some = np.flatnonzero(ties != 0)
    undecided = np.unpackbits(ties[some], bitorder="little").view(np.bool_)
    at = np.flatnonzero(undecided)
    undecided[at] = words.take(at.size) < np.uint32(rest)
    decided[some] |= np.packbits(undecided, bitorder="little")
    return decided


def get(packed: Packed, places: Whole) -> NDArray[np.bool_]:
    """One bit of each row."""
    taken = packed[np.arange(len(packed)), places >> 3]
    shifted = taken >> (places & 7).astype(np.uint8)
    ones: NDArray[np.bool_] = (shifted & 1) == 1
    return ones


def put(packed: Packed, places: Whole, values: NDArray[np.bool_]) -> None:
    """Set one bit of each row."""
    rows, byte = np.arange(len(packed)), places >> 3
    shift = (places & 7).astype(np.uint8)
    cleared = packed[rows, byte] & ~(np.uint8(1) << shift)
    packed[rows, byte] = cleared | values.astype(np.uint8) << shift


def popcounts(packed: Packed) -> Whole:
    """Number of ones in each row."""
    ones: Whole = np.bitwise_count(packed).sum(axis=1, dtype=np.int64)
    return ones


def columns(packed: Packed, bits: int) -> Whole:
    """How many rows have a one at each place.

    Rows are added bit by bit, like numbers: three rows of weight w become one of
    weight w (their parity) and one of weight 2w (their majority), sixty-four columns
    in a step. What is left is unpacked and weighed. Up to eight rows stand side by
    side, so that whole words hold them without a gap.
    """
    size = packed.shape[1]
    beside = 8 // math.gcd(size, 8)
    whole = len(packed) // beside * beside
    flat = np.ascontiguousarray(packed[:whole]).reshape(-1, beside * size)
    words = flat.view(np.uint64)
    total = np.zeros(8 * size, np.int64)
    step = max(ROWS // flat.shape[1], 3)
    room = np.empty((2, min(step, len(words)), words.shape[1]), np.uint64)
    for start in range(0, len(words), step):
        part = words[start : start + step]
        room[0, : len(part)] = part
        _add(total, room[0, : len(part)], room)
    counts: Whole = (total + _ones(packed[whole:]))[:bits]
    return counts


def _add(total: Whole, rows: Bits, room: Bits) -> None:
    """Add rows to the total. They are overwritten, and so is the room for carries: new
    memory for each step would take more time than the adding.
    """
    weight = 1
    while len(rows):
        carries = []
        while len(rows) > FEW:
            third = len(rows) // 3
            _add_three(*(rows[i * third : (i + 1) * third] for i in range(3)))
            carries.append(rows[:third])
            rows = rows[2 * third :]
        total += weight * _ones(rows.view(np.uint8).reshape(-1, len(total) // 8))
        count = sum(map(len, carries))
        room = room[::-1]
        rows = np.concatenate(carries, out=room[0, :count]) if count else rows[:0]
        weight *= 2


def _add_three(one: Bits, two: Bits, three: Bits) -> None:
    """Leave carries in the first rows, and parities in the last."""
    step = max(CACHED // (8 * one.shape[1]), 1)
    room = np.empty((min(step, len(one)), one.shape[1]), np.uint64)
    for start in range(0, len(one), step):
        a, b, c = (rows[start : start + step] for rows in (one, two, three))
        both = np.bitwise_and(a, b, out=room[: len(a)])
        np.bitwise_xor(a, b, out=b)
        np.bitwise_and(b, c, out=a)
        np.bitwise_or(a, both, out=a)
        np.bitwise_xor(b, c, out=c)


def _ones(rows: Packed) -> Whole:
    """The same for so few rows that a byte holds their number."""
    ones = np.unpackbits(rows, axis=1, bitorder="little")
    summed: Whole = ones.sum(axis=0, dtype=np.uint8).astype(np.int64)
    return summed
