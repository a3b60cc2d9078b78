"""The generator again, in NumPy: what the kernel is compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
CONSTANTS = np.frombuffer(b"expand 32-byte k", "<u4")
COLUMNS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)]
DIAGONALS = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def blocks(key: bytes, numbers: NDArray[np.uint64], tail: bytes = bytes(8)) -> Words:
    """The sixteen words of each block, [16, blocks] (RFC 8439, section 2.3)."""
    state = np.empty((16, numbers.size), np.uint32)
    state[:4] = CONSTANTS[:, None]
    state[4:12] = np.frombuffer(key, "<u4")[:, None]
    state[12] = numbers & np.uint64(0xFFFFFFFF)
    state[13] = numbers >> np.uint64(32)
    state[14:] = np.frombuffer(tail, "<u4")[:, None]
    mixed = state.copy()
    for _ in range(10):
        for places in (*COLUMNS, *DIAGONALS):
            _quarter(mixed, *places)
    return mixed + state


def _quarter(words: Words, a: int, b: int, c: int, d: int) -> None:
    for one, two, into, by in (
        (a, b, d, 16),
        (c, d, b, 12),
        (a, b, d, 8),
        (c, d, b, 7),
    ):
        words[one] += words[two]
        turned = words[into] ^ words[one]
        words[into] = (turned << np.uint32(by)) | (turned >> np.uint32(32 - by))


def normals(words: Words) -> NDArray[np.float32]:
    """Ten of each block: [10, blocks]."""
    found = []
    for low, high, turn in words[:15].reshape(5, 3, -1):
        bits = (high.astype(np.uint64) << np.uint64(32)) | low
        uniform = (bits.astype(np.float64) + 0.5) * 2.0**-64
        radius = np.sqrt(np.log(uniform) * -2.0).astype(np.float32)
        turns = turn.view(np.int32).astype(np.float32)
        angle = turns * np.float32(np.pi / 2**31)
        found += [radius * np.cos(angle), radius * np.sin(angle)]
    return np.array(found)
