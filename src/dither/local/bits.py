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
ROWS = 1 << 21  # bytes of rows that are added together
FEW = 5  # so many rows are unpacked at once


def width(bits: int) -> int:
    """How many bytes hold a row of bits."""
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
    """How many ones each row has."""
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
    total = np.zeros(8 * flat.shape[1], np.int64)
    step = max(ROWS // flat.shape[1], 3)
    for start in range(0, len(flat), step):
        _add(total, flat[start : start + step].view(np.uint64))
    counts: Whole = total.reshape(beside, -1).sum(axis=0)
    return (counts + _ones(packed[whole:]))[:bits]


def _add(total: Whole, rows: Bits) -> None:
    weight, own = 1, False
    while len(rows):
        carries = []
        while len(rows) > FEW:
            rows, carry = _thirds(rows, own)
            carries.append(carry)
            own = True
        total += weight * _ones(rows.view(np.uint8))
        rows = np.concatenate(carries) if carries else rows[:0]
        weight *= 2


def _thirds(rows: Bits, own: bool) -> tuple[Bits, Bits]:
    """Three rows added to one: parities, with up to two rows left over, and carries.
    Rows of our own are overwritten, which saves much of the time.
    """
    third = len(rows) // 3
    one, two, three = (rows[i * third : (i + 1) * third] for i in range(3))
    left = rows[3 * third :]
    out = np.empty((third + len(left), rows.shape[1]), np.uint64)
    room = rows if own else np.empty((2 * third, rows.shape[1]), np.uint64)
    carry, spare = room[:third], room[third : 2 * third]
    parity = np.bitwise_xor(one, two, out=out[:third])
    np.bitwise_and(one, two, out=carry)
    np.bitwise_and(parity, three, out=spare)
    np.bitwise_or(carry, spare, out=carry)
    np.bitwise_xor(parity, three, out=parity)
    out[third:] = left
    return out, carry


def _ones(rows: Packed) -> Whole:
    ones = np.unpackbits(rows, axis=1, bitorder="little")
    summed: Whole = ones.sum(axis=0, dtype=np.int64)
    return summed
