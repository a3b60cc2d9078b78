"""The byte stream that all randomness comes from: AES-256 in counter mode, keyed by the
operating system.

Each thread has a stream of its own. A stream is forgotten after a fork, takes a new key
from the operating system every 2^30 bytes, cannot be pickled and has no seed.

What was drawn cannot be drawn again from what is in memory ("fast key erasure",
Bernstein 2017): every run of bytes begins with the next key, which overwrites the one
it came from, and bytes are overwritten where they were kept once they are given out.
What Python does not let us overwrite is listed in docs/proofs/noise.md.
"""

from __future__ import annotations

import os
import threading
from typing import NoReturn, Protocol
from weakref import WeakSet

import numpy as np
from cryptography.hazmat.primitives.ciphers import (
    Cipher,
    CipherContext,
    algorithms,
    modes,
)
from numpy.typing import NDArray

__all__ = ["Source", "current"]

Words = NDArray[np.uint64]

KEY = 32  # bytes
CHUNK = 1 << 16  # bytes a call to the cipher: small enough to stay in the cache
BLOCK = 1 << 20  # bytes under one key
RESEED = 1 << 30  # bytes from one key of the operating system
SPARE = 8192  # words kept for small arrays
SMALL = 1024  # words: larger arrays are filled directly
POOL = 512  # words prefetched for scalar draws

_ZEROS = memoryview(bytes(CHUNK))
_START = bytes(16)  # no key is used twice, so every one may count from zero


class Source(Protocol):
    """Source of uniform 64-bit words for samplers."""

    def fill(self, out: Words) -> None:
        """Overwrite a contiguous array with fresh words."""

    def word(self) -> int:
        """One fresh 64-bit word."""


class Stream:
    """A keystream for one thread of one process."""

    __slots__ = ("__weakref__", "_key", "_left", "_pool", "_spare", "_used", "pid")

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._key = bytearray(KEY)
        self._pool: list[int] = []
        self._spare: Words = np.zeros(SPARE, np.uint64)
        self.wipe()
        _streams.add(self)

    def wipe(self) -> None:
        """Forget the key and all that was prepared; the next draw asks the operating
        system for a new key.
        """
        self._key[:] = bytes(KEY)
        self._spare.fill(0)
        self._pool.clear()
        self._left, self._used = 0, SPARE

    def fill(self, out: Words) -> None:
        if out.size <= SMALL:
            self._take(out)
        else:
            self._encrypt(out)

    def _encrypt(self, out: Words) -> None:
        view = out.view(np.uint8).data
        for block in range(0, len(view), BLOCK):
            end = min(block + BLOCK, len(view))
            cipher = self._turn(end - block)
            for start in range(block, end, CHUNK):
                part = view[start : min(start + CHUNK, end)]
                cipher.update_into(_ZEROS[: len(part)], part)

    def _turn(self, count: int) -> CipherContext:
        """A cipher for this number of bytes. Its first ones have replaced the key, and
        it is dropped after use.
        """
        if self._left < count:
            self._key[:] = os.urandom(KEY)
            # CPython puts these zeros where the seed was, which it has just freed
            bytes(KEY)
            self._left = RESEED
        self._left -= count
        cipher = Cipher(algorithms.AES(self._key), modes.CTR(_START)).encryptor()
        cipher.update_into(_ZEROS[:KEY], self._key)
        return cipher

    def _take(self, out: Words) -> None:
        """Words from the spare ones, which are overwritten."""
        if self._used + out.size > SPARE:
            self._encrypt(self._spare)
            self._used = 0
        given = self._spare[self._used : self._used + out.size]
        self._used += out.size
        out[...] = given.reshape(out.shape)
        given.fill(0)

    def word(self) -> int:
        try:
            return self._pool.pop()
        except IndexError:
            self._refill()
            return self._pool.pop()

    def _refill(self) -> None:
        words = np.empty(POOL, np.uint64)
        self._encrypt(words)
        self._pool.extend(words.tolist())
        words.fill(0)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream of randomness cannot be copied or pickled")


class _PerThread(threading.local):
    stream: Stream | None = None


_threads = _PerThread()
_streams: WeakSet[Stream] = WeakSet()


def _forget() -> None:
    """In a forked child: its copies of the streams of all threads could tell what their
    owners draw next.
    """
    global _threads
    _threads = _PerThread()
    for stream in _streams:
        stream.wipe()


os.register_at_fork(after_in_child=_forget)


def current() -> Source:
    """This thread's stream, made again after a fork.

    The process id is compared too, because a fork made by foreign code does not run
    Python's hooks.
    """
    stream = _threads.stream
    if stream is None or stream.pid != os.getpid():
        stream = _threads.stream = Stream()
    return stream
