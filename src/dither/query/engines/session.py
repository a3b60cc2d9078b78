"""An engine's life, and one question's session in it: what the engines share.

A question has a deadline: its statements share the engine's seconds. One that runs out
of time fails like any other: it was charged, one constant sentence says so, and what
happened is told to the curator alone (rules R5 and R31).
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Self, TypeVar

from dither.errors import ArgumentError, EngineFailed
from dither.progress import working
from dither.query.catalogue.model import Catalogue, Table

__all__ = [
    "FAILED",
    "Allowance",
    "EngineBase",
    "SessionBase",
    "ThreadedSession",
    "given_sources",
    "source_for",
]

FAILED = (
    "the engine could not finish this question; ask the curator to look at the cause"
)
KEPT_FAILURES = 20
TICK = 0.05  # seconds between two looks at the clock while a statement runs
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
            raise self.over()
        began = time.monotonic()
        try:
            yield
        finally:
            self.left -= time.monotonic() - began

    def over(self) -> TimeoutError:
        """The curator's message when the time is up."""
        return TimeoutError(f"the question took longer than {self.seconds:g} seconds")


class SessionBase(ABC):
    """One question's statements on one connection; temporary tables last as long as the
    session.

    A failure says nothing about the data, which its own words could (rule R5): those go
    to `failures`, for the curator.
    """

    def __init__(self, seconds: float, failures: deque[str]) -> None:
        self._allowance, self._failures = Allowance(seconds), failures

    def create(self, name: str, select: str, parameters: Sequence[Any] = ()) -> None:
        """A temporary table of what a SELECT finds, computed once."""
        self.run(lambda: self._create(name, select, list(parameters)))

    def fetch(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows that a SELECT finds."""
        return self.run(lambda: self._execute(sql, list(parameters)))

    def run(self, work: Callable[[], T]) -> T:
        """The result of some work that counts toward the question's time."""
        try:
            with self._allowance.spending():
                return self._finished(work)
        except Exception as problem:
            self._failures.append(f"{type(problem).__name__}: {problem}")
        # Raised here and not where the problem was caught, so that it carries no trace
        # of it.
        raise EngineFailed(FAILED)

    def _finished(self, work: Callable[[], T]) -> T:
        return work()

    def _create(self, name: str, select: str, parameters: list[Any]) -> None:
        self._execute(f"CREATE TEMP TABLE {name} AS {select}", parameters)

    @abstractmethod
    def _execute(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def close(self) -> object:
        """End the session and its temporary tables."""


class ThreadedSession(SessionBase):
    """A session whose statements run in a thread of their own, so that Ctrl-C and the
    end of its time stop a long one at once.
    """

    def __init__(self, name: str, seconds: float, failures: deque[str]) -> None:
        super().__init__(seconds, failures)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=f"dither-{name}")

    @abstractmethod
    def _stop(self) -> None:
        """Ask the engine to give up what runs now."""

    def _finished(self, work: Callable[[], T]) -> T:
        running = self._worker.submit(work)
        end = time.monotonic() + self._allowance.left
        try:
            # In short waits: a signal that another thread takes wakes nobody
            while not running.done():
                wait([running], timeout=TICK)
                if time.monotonic() > end and not running.done():
                    raise self._allowance.over()
        except BaseException:
            # An interruption between two tasks of a statement is forgotten
            while not running.done():
                self._stop()
                wait([running], timeout=TICK)
            raise
        return running.result()

    def _end(self, last: Callable[[], object] | None = None) -> BaseException | None:
        """End the thread, after a last task if there is one; what that raised, if
        anything.
        """
        done = None if last is None else self._worker.submit(last)
        self._worker.shutdown()
        return None if done is None else done.exception()


OneSession = TypeVar("OneSession", bound=SessionBase)


class EngineBase(ABC, Generic[OneSession]):
    """Private tables in an engine. Questions run in sessions, several at a time if need
    be.

    `failures` are the engine's own words about what failed, newest last. They may hold
    private values: they are for the curator in this process alone, and never part of an
    error.
    """

    asking: ClassVar[str]
    """The text of a progress line while a question runs."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.failures: deque[str] = deque(maxlen=KEPT_FAILURES)
        self._limits = catalogue.limits

    @contextmanager
    def session(self) -> Iterator[OneSession]:
        """A session whose temporary tables are seen by nobody else and end with it."""
        session = self._begin()
        try:
            with working(self.asking):
                yield session
        finally:
            self._end(session)

    @abstractmethod
    def _begin(self) -> OneSession: ...

    def _end(self, session: OneSession) -> None:
        session.close()

    @abstractmethod
    def close(self) -> None:
        """Let go of the tables. Closing twice does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def given_sources(
    catalogue: Catalogue, sources: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Sources by the names that the catalogue's tables have there."""
    given = sources or {}
    return {catalogue.table(name).name: value for name, value in given.items()}


def source_for(table: Table, sources: Mapping[str, Any]) -> Any:
    """The source of a table, which must have one."""
    if table.name not in sources:
        raise ArgumentError(
            table.name,
            f"the table {table.name!r} has no source; name the file or address of its "
            "rows",
        )
    return sources[table.name]
