"""One question's session: the time of its statements, how a long one ends, and what is
kept of a failure.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import pytest

from dither.errors import ArgumentError, EngineFailed
from dither.query.catalogue.model import Catalogue, Table
from dither.query.engines.session import (
    FAILED,
    KEPT_FAILURES,
    Allowance,
    EngineBase,
    SessionBase,
    ThreadedSession,
    given_sources,
    source_for,
)


class Echo(SessionBase):
    """Statements that answer with themselves."""

    closed = False

    def _execute(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        if sql == "fail":
            raise ValueError("Mrs Miller")
        self.last = (sql, parameters)
        return [self.last]

    def close(self) -> None:
        self.closed = True


class Threaded(ThreadedSession):
    """A session that counts how often it was asked to stop."""

    def __init__(self, seconds: float, failures: deque[str]) -> None:
        super().__init__("test", seconds, failures)
        self.given_up = threading.Event()

    def _execute(self, sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:  # noqa: ARG002 - no statement is run
        """Ends only when it is told to."""
        self.given_up.wait()
        raise ValueError("Mrs Miller")

    def _stop(self) -> None:
        self.given_up.set()

    def close(self, last: Any = None) -> BaseException | None:
        return self._end(last)


class Engine(EngineBase[Echo]):
    asking = "asking"
    closed = 0

    def _begin(self) -> Echo:
        return Echo(600, self.failures)

    def close(self) -> None:
        self.closed += 1


CATALOGUE = Catalogue("clinic", (Table("visits", ()),))


def test_what_takes_too_long_is_given_up() -> None:
    failures = deque[str]()
    session = Threaded(0.2, failures)
    with pytest.raises(EngineFailed) as failed:
        session.fetch("SELECT 1")
    assert str(failed.value) == FAILED
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert session.given_up.is_set()
    assert failures.pop() == "TimeoutError: the question took longer than 0.2 seconds"
    with pytest.raises(EngineFailed):  # its time is up for good
        session.run(lambda: "more")
    assert session.close() is None


def test_statements_share_their_time() -> None:
    allowance = Allowance(1e-9)
    with allowance.spending():
        pass
    with (
        pytest.raises(TimeoutError, match="longer than 1e-09 seconds"),
        allowance.spending(),
    ):
        pass


def test_what_ends_in_time_is_returned() -> None:
    session = Threaded(600, deque())
    assert [session.run(lambda n=n: n) for n in range(3)] == [0, 1, 2]
    assert session.close(lambda: 1) is None
    failing = Threaded(600, deque())
    assert isinstance(failing.close(lambda: 1 / 0), ZeroDivisionError)


def test_a_temporary_table_is_made_by_a_statement() -> None:
    session = Echo(600, deque())
    assert session.fetch("SELECT $1", ("x",)) == [("SELECT $1", ["x"])]
    session.create("t", "SELECT $1", ("x",))
    assert session.last == ("CREATE TEMP TABLE t AS SELECT $1", ["x"])


def test_failures_are_for_the_curator_alone() -> None:
    engine = Engine(CATALOGUE)
    with engine, engine.session() as session:
        for _ in range(KEPT_FAILURES + 5):
            with pytest.raises(EngineFailed) as failed:
                session.fetch("fail")
            assert str(failed.value) == FAILED
            assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert list(engine.failures) == ["ValueError: Mrs Miller"] * KEPT_FAILURES
    assert (session.closed, engine.closed) == (True, 1)


def test_a_session_ends_where_a_question_fails() -> None:
    engine = Engine(CATALOGUE)
    with pytest.raises(KeyError), engine.session() as session:
        raise KeyError
    assert session.closed


def test_sources_are_found_by_the_names_of_tables() -> None:
    given = given_sources(CATALOGUE, {"VISITS": 1})
    assert given == {"visits": 1}
    assert source_for(CATALOGUE.tables[0], given) == 1
    assert given_sources(CATALOGUE, None) == {}
    with pytest.raises(ArgumentError, match="the table 'visits' has no source"):
        source_for(CATALOGUE.tables[0], {})
