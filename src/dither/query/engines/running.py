"""Statements of one question: how long they may take together, and how a long one is
ended.

A question that runs out of time fails like any other: it was charged, one constant
sentence says so, and what happened is told to the curator alone (rules R5 and R31).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from dither.errors import EngineFailed

__all__ = ["FAILED", "Allowance", "Running"]

FAILED = "the engine could not finish this question; its curator can look into it"
TICK = 0.05
T = TypeVar("T")


class Allowance:
    """The seconds that an engine may still spend on one question. Time between
    statements does not count.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.left = seconds, seconds

    @contextmanager
    def spending(self) -> Iterator[None]:
        if self.left <= 0:
            raise TimeoutError(self.words)
        began = time.monotonic()
        try:
            yield
        finally:
            self.left -= time.monotonic() - began

    @property
    def words(self) -> str:
        """For the curator."""
        return f"the question took longer than {self.seconds:g} seconds"


class Running:
    """Runs the statements of one question in a thread of its own, so that Ctrl-C and
    the end of its time stop a long one at once. `stop` asks the engine to give up what
    runs now.

    A failure says nothing about the data, which its own words could (rule R5).
    """

    def __init__(
        self, name: str, seconds: float, stop: Callable[[], None], failures: deque[str]
    ) -> None:
        self._allowance, self._stop, self._failures = Allowance(seconds), stop, failures
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=f"dither-{name}")

    def run(self, work: Callable[[], T]) -> T:
        try:
            with self._allowance.spending():
                return self._finished(self._worker.submit(work))
        except Exception as problem:
            self._failures.append(f"{type(problem).__name__}: {problem}")
        # Raised here and not where the problem was caught, so that it carries no trace
        # of it.
        raise EngineFailed(FAILED)

    def _finished(self, running: Future[T]) -> T:
        end = time.monotonic() + self._allowance.left
        try:
            # In short waits: a signal that another thread takes wakes nobody
            while not running.done():
                wait([running], timeout=TICK)
                if time.monotonic() > end and not running.done():
                    raise TimeoutError(self._allowance.words)
        except BaseException:
            # An interruption between two tasks of a statement is forgotten
            while not running.done():
                self._stop()
                wait([running], timeout=TICK)
            raise
        return running.result()

    def close(self, last: Callable[[], object] | None = None) -> BaseException | None:
        """End the thread, after a last task if there is one; what that raised, if
        anything.
        """
        done = None if last is None else self._worker.submit(last)
        self._worker.shutdown()
        return None if done is None else done.exception()
