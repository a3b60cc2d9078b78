"""Bloom filters: which bits a text sets, in each cohort.

Families of hash functions:

- "murmur32", ours: hash i of cohort c is row c · hashes + i of `hashes.places`;
- "md5-byte", of google/rappor's clients in Python and C++: byte i of
  MD5(cohort, text), modulo the number of bits, the cohort as four big-endian bytes;
- "md5-uint16", of google/rappor's client in Java: bytes 2i and 2i + 1 of the same
  digest, big-endian.

The last two are not compatible, though the clients come from one repository.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dither.errors import ArgumentError
from dither.local import hashes as hashing
from dither.local.bits import width
from dither.local.domain import canonical

__all__ = ["DECLARED", "MURMUR", "OPEN", "filters", "items_of", "places", "text_of"]

Packed = NDArray[np.uint8]
Whole = NDArray[np.int64]

NOTHING = b"n:"  # the canonical form of no answer, in an open vocabulary
DECLARED = "identity"
MURMUR = "murmur32"
OPEN = {MURMUR: (1 << 16, 16), "md5-byte": (256, 16), "md5-uint16": (4096, 8)}
"""Largest number of bits and of hashes in each family."""


def text_of(family: str, value: object) -> bytes:
    """The bytes that stand for a value; None is "none". Google's clients hash a word
    as it is, and send nothing for "none".
    """
    if family != MURMUR:
        return _typed(value)
    text = NOTHING if value is None else canonical(value)
    if text is None:
        raise ArgumentError(
            "candidates",
            f"contain {value!r:.40}, which is not a valid value; use strings that are "
            "not empty, whole numbers, True and False",
        )
    return text


def _typed(value: object) -> bytes:
    try:
        return value.encode() if isinstance(value, str) else _no_text(value)
    except UnicodeEncodeError:
        return _no_text(value)


def _no_text(value: object) -> NoReturn:
    raise ArgumentError(
        "candidates",
        f"contain {value!r:.40}, which is not a string in UTF-8; use strings only",
    )


def items_of(
    family: str, texts: Sequence[bytes], cohorts: int, hashes: int, bits: int
) -> NDArray[Any]:
    """Texts as items: digests, or the places of each hash in each cohort."""
    if family == MURMUR:
        return hashing.digests(texts)
    size = 1 if family == "md5-byte" else 2
    joined = b"".join(
        hashlib.md5(cohort.to_bytes(4, "big") + text, usedforsecurity=False).digest()
        for text in texts
        for cohort in range(cohorts)
    )
    numbers = np.frombuffer(joined, f">u{size}").astype(np.int64)
    table = numbers.reshape(len(texts), cohorts, 16 // size)
    return table[:, :, :hashes] % bits


def places(
    family: str, items: NDArray[Any], cohorts: Whole, hashes: int, bits: int
) -> Whole:
    """The places that each item sets in its cohort: a row of `hashes` numbers each."""
    if family == DECLARED:
        return items.reshape(-1, 1)
    if family == MURMUR:
        rows = cohorts[:, None] * hashes + np.arange(hashes)
        return hashing.places(items[:, None, :], rows, bits)
    if items.ndim != 3:
        raise ArgumentError(
            "family", f"must be {MURMUR!r}: {family!r} is for Google's clients only"
        )
    return items[np.arange(len(items)), cohorts]


def filters(
    family: str, items: NDArray[Any], cohorts: Whole, hashes: int, bits: int
) -> Packed:
    """The Bloom filter of each item in its cohort, packed.

    A declared domain has a place for each item; with a single bit, the item is the
    bit.
    """
    out = np.zeros((len(items), width(bits)), np.uint8)
    if family == DECLARED and bits == 1:
        out[:, 0] = items
        return out
    at = places(family, items, cohorts, hashes, bits)
    rows = np.arange(len(items))
    for place in at.T:
        # one hash at a time: two hashes of an item may share a byte
        out[rows, place >> 3] |= np.uint8(1) << (place & 7).astype(np.uint8)
    return out
