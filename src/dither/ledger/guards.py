"""SQLite's shared locks on an open book, held once more in a way that copying the files
does not drop.

SQLite's own locks belong to the process: POSIX drops them as soon as *any* descriptor
of the file is closed in it. These belong to a descriptor, so that no other process
takes the book for closed, tidies its log away, or builds the index of the log (`-shm`)
again under a process that reads it. Closing such a descriptor would itself drop
SQLite's locks, so all books of a process share one for each file, closed with the last
of them. If there are no such locks (outside Linux), the note alone must notice.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from pathlib import Path

from dither.ledger.locks import hold

__all__ = ["Guard"]

# The bytes of the file on which whoever has it open holds a shared lock
BOOK = (
    0x40000002,
    510,
)
INDEX = (128, 1)  # the byte of `-shm` that says that somebody uses it

_LOCK = threading.Lock()
_HELD: dict[tuple[int, int], list[int]] = {}
"""For each file its descriptor, and how many books of this process use it."""
_LEFT: deque[tuple[int, int]] = deque()
"""Files that books no longer use, and that nobody has given back yet."""


class Guard:
    """The locks of one open book."""

    def __init__(self, path: Path) -> None:
        self._files = [(path, BOOK), (Path(f"{path}-shm"), INDEX)]
        self._keys: list[tuple[int, int]] = []
        self._pid = os.getpid()
        self._keys = [_take(file, *place) for file, place in self._files]

    def release(self) -> None:
        """Let SQLite see whether anybody else has the book open: before its connection
        is closed.
        """
        for key, (_, place) in zip(self._keys, self._files, strict=True):
            if key in _HELD and _HELD[key][1] == 1:
                hold(_HELD[key][0], *place, held=False)

    def close(self) -> None:
        """Close what no other book of this process uses: after the connection is
        closed.
        """
        keys, self._keys = self._keys, []
        if self._pid != os.getpid():
            return
        _LEFT.extend(keys)
        _tidy()

    def __del__(self) -> None:
        self.close()


def _take(path: Path, start: int, length: int) -> tuple[int, int]:
    with _LOCK:
        found = path.stat()
        key = (found.st_dev, found.st_ino)
        if key not in _HELD:
            _HELD[key] = [os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)), 0]
        _HELD[key][1] += 1
        hold(_HELD[key][0], start, length, held=True)
    _tidy()
    return key


def _tidy() -> None:
    """Give back what is left, unless somebody holds the lock, who does it afterwards.
    Nobody waits here: a forgotten book may be collected in the middle of anything, and so
    while its own thread holds the lock.
    """
    while _LEFT and _LOCK.acquire(blocking=False):
        try:
            _give_back(_LEFT.popleft())
        finally:
            _LOCK.release()


def _give_back(key: tuple[int, int]) -> None:
    if key not in _HELD:
        return
    _HELD[key][1] -= 1
    if not _HELD[key][1]:
        os.close(_HELD.pop(key)[0])


def _forget() -> None:
    """In a forked process: these are the parent's. Closing the copies here drops
    nothing of the parent's.
    """
    global _LOCK
    _LOCK = threading.Lock()
    for descriptor, _ in _HELD.values():
        os.close(descriptor)
    _HELD.clear()
    _LEFT.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
