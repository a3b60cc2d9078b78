"""Group commit: one thread takes everything that waits, counts it in one transaction,
and says so when it is on the disk. The more waits, the more shares a commit.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from dither.errors import CollectorError
from dither.local.collector import clock
from dither.local.collector.collector import Collector
from dither.local.collector.log import tell
from dither.local.collector.metrics import Metrics
from dither.local.collector.outcome import Outcome, refused
from dither.local.collector.reading import Parcel

__all__ = ["Finish", "Writer"]

TOGETHER = 16 << 20  # bytes that are counted in one transaction
WAITING = 64 << 20  # bytes that may wait; more is refused, and sent again later
PARCEL = 440  # bytes that a parcel takes in memory beside its own
ENOUGH = 4 << 20  # bytes for which it is not worth waiting for more
FEW = 4  # senders that do not wait for others
PAUSE = 0.008  # seconds to wait for others, where there were more last time
UPKEEP = 2.0  # seconds after which an idle writer looks around

Work = tuple[Sequence[Parcel], int, Any]
"""Parcels of one sender, their size in bytes, and whom to tell."""
Finish = Callable[[list[tuple[Any, list[Outcome]]]], None]


class Writer:
    """A thread that writes for a collector. `finish` is called in it, once for each
    group, with the outcome of each parcel.
    """

    def __init__(self, collector: Collector, finish: Finish) -> None:
        self.collector, self.metrics = collector, Metrics()
        self._finish = finish
        self._queue: deque[Work] = deque()
        self._wake = threading.Condition()
        self._idle, self._stopping = False, False
        self._last = 0  # how many senders shared the last transaction
        self._thread: threading.Thread | None = None
        self._day = clock.today()
        self.waiting, self.ready = 0, True

    def start(self) -> None:
        """Begin to write; once is enough."""
        with self._wake:
            if self._thread is None:
                self._stopping = False
                work = threading.Thread(target=self._work, name="writer", daemon=True)
                self._thread = work
                work.start()

    def submit(self, parcels: Sequence[Parcel], size: int, whom: Any) -> bool:
        """Let parcels be counted, if not too much waits already."""
        size += PARCEL * len(parcels)
        if self.waiting + size > WAITING:
            return False
        with self._wake:
            self.waiting += size
            self._queue.append((parcels, size, whom))
            if self._idle and self._is_enough():
                self._wake.notify()
        return True

    def _is_enough(self) -> bool:
        """A transaction costs about as much for many as for one. So it waits a moment
        for half as many as came last time: under load they share it, while the others
        are read; and a sender that is alone does not wait.
        """
        if self._last <= FEW or self.waiting >= ENOUGH:
            return bool(self._queue)
        return 2 * len(self._queue) >= self._last

    def stop(self) -> None:
        """Count what was submitted, and end."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while True:
            taken = self._take()
            if taken:
                self._finish(self._count(taken))
            elif self._stopping:
                return
            self._look_around(idle=not taken)

    def _take(self) -> list[Work]:
        with self._wake:
            if not self._stopping and not self._is_enough():
                self._wait(PAUSE)
            if not self._stopping and not self._queue:
                self._last = 0
                self._wait(UPKEEP)
            taken: list[Work] = []
            size = 0
            while self._queue and size < TOGETHER:
                taken.append(self._queue.popleft())
                size += taken[-1][1]
            self.waiting -= size
            self._last = len(taken)
            return taken

    def _wait(self, seconds: float) -> None:
        self._idle = True
        self._wake.wait(seconds)
        self._idle = False

    def _count(self, taken: list[Work]) -> list[tuple[Any, list[Outcome]]]:
        together = [parcel for parcels, _, _ in taken for parcel in parcels]
        began = time.perf_counter()
        try:
            outcomes = self.collector.count(together)
            self._set_ready(True)
        except CollectorError as error:
            self._set_ready(False, _named(error))
            outcomes = [refused("store-failed")] * len(together)
        except Exception as error:
            # One parcel must not take others with it
            if len(taken) > 1:
                return [pair for one in taken for pair in self._count([one])]
            tell("failed", error=type(error).__name__)
            outcomes = [refused("failed")] * len(together)
        self.metrics.commit(time.perf_counter() - began)
        self.metrics.count(outcomes)
        told = iter(outcomes)
        return [(whom, [next(told) for _ in parcels]) for parcels, _, whom in taken]

    def _set_ready(self, ready: bool, error: str = "") -> None:
        if ready != self.ready:
            self.ready = ready
            tell("store-back") if ready else tell("store-failed", error=error)

    def _look_around(self, *, idle: bool) -> None:
        """Once a day tidy up; while nothing comes, see what other processes changed,
        and whether a store that failed is back.
        """
        try:
            if self._day != clock.today():
                self.collector.tidy()
                self._day = clock.today()
                tell("day")
            if idle and not self.ready:
                self.collector.check()
                self._set_ready(True)
            if idle:
                self.collector.refresh()
        except CollectorError as error:
            self._set_ready(False, _named(error))
        except Exception as error:
            tell("failed", error=type(error).__name__)


def _named(error: BaseException) -> str:
    """What went wrong at the bottom of it, in a word: SQLITE_FULL, OperationalError.
    Not in its own words, in which a server may quote what was to be written.
    """
    while error.__cause__ is not None:
        error = error.__cause__
    return getattr(error, "sqlite_errorname", None) or type(error).__name__
