"""The byte stream that all randomness comes from: AES-256 in counter mode, keyed by the operating system.

Each thread has a stream of its own. A stream is forgotten after a fork, takes a new key every 2^30 bytes, cannot be
pickled and has no seed.
"""

from __future__ import annotations

import os
import threading
from typing import NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

__all__ = ["Source", "current"]

Words = NDArray[np.uint64]

CHUNK = 1 << 16  # bytes a call to the cipher: small enough to stay in the cache
REKEY = 1 << 30  # bytes under one key
POOL = 512  # words prefetched for scalar draws

_ZEROS = bytes(CHUNK)


class Source(Protocol):
    """Where samplers take their uniform 64-bit words from."""

    def fill(self, out: Words) -> None:
        """Overwrite a contiguous array with fresh words."""

    def word(self) -> int:
        """One fresh 64-bit word."""


class Stream:
    """A keystream for one thread of one process."""

    __slots__ = ("_cipher", "_left", "_pool", "pid")

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._pool: list[int] = []
        self._rekey()

    def _rekey(self) -> None:
        key, nonce = os.urandom(32), os.urandom(16)
        self._cipher: CipherContext = Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()
        self._left = REKEY

    def fill(self, out: Words) -> None:
        view = out.view(np.uint8).data
        for start in range(0, len(view), CHUNK):
            part = view[start : start + CHUNK]
            if self._left < CHUNK:
                self._rekey()
            self._left -= len(part)
            self._cipher.update_into(_ZEROS if len(part) == CHUNK else _ZEROS[: len(part)], part)

    def word(self) -> int:
        try:
            return self._pool.pop()
        except IndexError:
            self._refill()
            return self._pool.pop()

    def _refill(self) -> None:
        words = np.empty(POOL, np.uint64)
        self.fill(words)
        self._pool.extend(words.tolist())

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream of randomness cannot be copied or pickled")


class _PerThread(threading.local):
    stream: Stream | None = None


_threads = _PerThread()


def _forget() -> None:
    global _threads
    _threads = _PerThread()


os.register_at_fork(after_in_child=_forget)


def current() -> Source:
    """This thread's stream, made anew after a fork.

    The process id is compared too, because a fork made by foreign code does not run Python's hooks.
    """
    stream = _threads.stream
    if stream is None or stream.pid != os.getpid():
        stream = _threads.stream = Stream()
    return stream
