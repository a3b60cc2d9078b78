"""Calls in processes of their own: several at once, and none that hangs for ever.

Draws come back in the order in which they were asked for, never in the order in which
they were ready: a draw that takes longer must not be judged instead of chosen from.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from dither.audit.outcomes import Described, Raised
from dither.audit.reseeded import reseed
from dither.errors import ArgumentError, DitherError

__all__ = ["TIMED_OUT", "Crew", "Job", "Waiting", "call", "call_many"]

TIMED_OUT = "TimedOut"
DIED = "Died"
"""The names of what a call does that never ends, or that ends its process."""
ALONE, TOGETHER = 64, 1 << 14
"""Draws of one job. They do not depend on how many workers there are."""

PATIENCE = 60.0
"""Seconds that an audit waits, in total, for calls that run into their time limit."""
GRACE = 1.0
"""Seconds that a worker has to end what it started, before it is killed."""

Call = Callable[..., Any]


def call(f: Call, value: Any, vectorized: bool) -> Any:
    """One draw; what the call raises is an output."""
    try:
        return f(value, 1) if vectorized else f(value)
    except (Exception, SystemExit) as error:
        return Raised.by(error)


def call_many(f: Call, value: Any, size: int) -> Any:
    """Draws of one call, or the error that it raised."""
    try:
        return f(value, size) if size else []
    except (Exception, SystemExit) as error:
        return Raised.by(error)


@dataclass
class Waiting:
    """Number of calls that hung. An audit gives up if that takes too long."""

    hung: int = 0

    def more(self, limit: float) -> None:
        self.hung += 1
        if self.hung * limit > PATIENCE:
            raise ArgumentError(
                "timeout",
                f"{self.hung:,} calls did not return within {limit:g} s, and an audit "
                "does not wait longer; pass a shorter timeout, or a function that returns",
            )


@dataclass
class Job:
    """Draws of one input: one call for each, or one call for all."""

    side: int
    size: int
    alone: bool
    found: list[Any] = field(default_factory=list)

    @property
    def left(self) -> int:
        return (self.size if self.alone else 1) - len(self.found)


@dataclass
class Crew:
    """Processes that call f on inputs which they know from their start, so neither f
    nor an input must be sent to them.
    """

    f: Call
    vectorized: bool
    inputs: Sequence[Any]
    workers: int
    timeout: float | None = None
    clock: Callable[[], float] = time.monotonic
    waiting: Waiting = field(default_factory=Waiting)
    _crew: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> Crew:
        self._crew = [_Worker(self) for _ in range(self.workers)]
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._crew:
            worker.stop()

    def side(self, value: Any) -> int:
        return next(n for n, one in enumerate(self.inputs) if one is value)

    def alone(self, value: Any, count: int) -> list[Any]:
        """Draws from one call each."""
        return [
            one for job in self._jobs(value, count, ALONE, True) for one in job.found
        ]

    def together(self, value: Any, count: int) -> list[tuple[int, Any]]:
        """Sizes of calls for many draws, and what they gave."""
        jobs = self._jobs(value, count, TOGETHER, False)
        return [(job.size, job.found[0]) for job in jobs]

    def _jobs(self, value: Any, count: int, most: int, alone: bool) -> list[Job]:
        side = self.side(value)
        sizes = [most] * (count // most) + ([count % most] if count % most else [])
        jobs = [Job(side, size, alone) for size in sizes]
        self._run(jobs)
        return jobs

    def _run(self, jobs: Sequence[Job]) -> None:
        deque(self.finished(jobs), maxlen=0)

    def finished(self, jobs: Sequence[Job]) -> Iterator[Job]:
        """Jobs in their order, as soon as each is done."""
        waiting, told = deque(jobs), 0
        while waiting or any(worker.job for worker in self._crew):
            while not jobs[told].left:
                yield jobs[told]
                told += 1
            for worker in self._crew:
                if worker.job is None and waiting:
                    worker.begin(waiting.popleft())
            busy = [worker for worker in self._crew if worker.job is not None]
            wait([worker.pipe for worker in busy], self._patience(busy))
            for worker in busy:
                worker.look()
        yield from jobs[told:]

    def _patience(self, busy: Sequence[_Worker]) -> float | None:
        if self.timeout is None:
            return None
        oldest = min(worker.since for worker in busy)
        return max(oldest + self.timeout - self.clock(), 0.0)


class _Worker:
    """One process, and the job it does. It reports every call."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self.job: Job | None = None
        self.since = 0.0
        self._start()

    def _start(self) -> None:
        # Forking keeps functions and inputs that cannot be pickled; elsewhere than on
        # Linux it is not safe.
        way = "fork" if sys.platform == "linux" else "spawn"
        context: Any = multiprocessing.get_context(way)
        self.pipe, theirs = context.Pipe()
        about = (theirs, self._crew.f, self._crew.vectorized, tuple(self._crew.inputs))
        self._process = context.Process(target=_work, args=about, daemon=True)
        try:
            with warnings.catch_warnings(), _garbage_kept():
                # Of forking while other threads run, which a worker does not need
                warnings.simplefilter("ignore", DeprecationWarning)
                self._process.start()
        except (TypeError, AttributeError, ValueError) as problem:
            raise ArgumentError(
                "f",
                "the function cannot be sent to other processes; define it at the top of "
                "a module, or pass workers=0",
            ) from problem
        theirs.close()

    def begin(self, job: Job) -> None:
        self.job = job
        self._ask()

    def _ask(self) -> None:
        if self.job is None or not self.job.left:
            self.job = None
            return
        self.since = self._crew.clock()
        size = self.job.left if self.job.alone else self.job.size
        with suppress(OSError):  # it died: `look` finds out
            self.pipe.send((self.job.side, size, self.job.alone))

    def look(self) -> None:
        """Take what is reported; end a call that takes too long."""
        try:
            while self.job is not None and self.pipe.poll():
                self._take(self.pipe.recv())
        except (EOFError, OSError):
            self._again(Raised(DIED, "the call ended its process"))
        limit = self._crew.timeout
        if (
            self.job is not None
            and limit is not None
            and self._crew.clock() >= self.since + limit
        ):
            self._crew.waiting.more(limit)
            self._again(Raised(TIMED_OUT, f"no output after {limit:g} s"))

    def _take(self, found: Any) -> None:
        if isinstance(found, DitherError):
            raise found
        if self.job is None:
            return
        self.job.found.append(found)
        self.since = self._crew.clock()
        if not self.job.left:
            self.job = None

    def _again(self, instead: Raised) -> None:
        """Another process continues after the call that did not return."""
        self.stop()
        self._start()
        if self.job is not None:
            self.job.found.append(instead)
        self._ask()

    def stop(self) -> None:
        self._process.terminate()
        self._process.join(GRACE)
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Processes that start here never collect what this process has yet to collect: what
    holds threads or connections may crash there, and a crash is an output.
    """
    already = gc.get_freeze_count()
    gc.freeze()
    try:
        yield
    finally:
        if not already:
            gc.unfreeze()


class _Stopped(BaseException):
    """A worker is told to end. No call catches it, but those that clean up do so."""


def _stopped(*_: object) -> None:
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, signal.SIG_IGN)
    raise _Stopped


def _work(pipe: Connection, f: Call, vectorized: bool, inputs: tuple[Any, ...]) -> None:
    with suppress(_Stopped):
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, _stopped)
        reseed(f)
        _serve(pipe, f, vectorized, inputs)


def _serve(
    pipe: Connection, f: Call, vectorized: bool, inputs: tuple[Any, ...]
) -> None:
    while True:
        try:
            side, size, alone = pipe.recv()
        except (EOFError, OSError):
            return
        for _ in range(size if alone else 1):
            value = inputs[side]
            found = call(f, value, vectorized) if alone else call_many(f, value, size)
            _report(pipe, found)


def _report(pipe: Connection, found: Any) -> None:
    try:
        pipe.send(found)
    except OSError:
        return
    except Exception:  # what cannot be sent is told by its type and its text
        pipe.send(Described.of(found))
