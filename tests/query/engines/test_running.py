"""Statements of one question: their time together, and how a long one ends."""

from __future__ import annotations

import threading
from collections import deque

import pytest

from dither.errors import EngineFailed
from dither.query.engines.running import FAILED, Allowance, Running


class Stuck:
    """Work that ends only when it is told to, and what it was told."""

    def __init__(self) -> None:
        self.given_up, self.failures = threading.Event(), deque[str]()

    def work(self) -> str:
        self.given_up.wait()
        raise ValueError("Mrs Miller")


def test_what_takes_too_long_is_given_up() -> None:
    stuck = Stuck()
    running = Running("test", 0.2, stuck.given_up.set, stuck.failures)
    with pytest.raises(EngineFailed) as failed:
        running.run(stuck.work)
    assert str(failed.value) == FAILED
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert stuck.given_up.is_set()
    assert (
        stuck.failures.pop()
        == "TimeoutError: the question took longer than 0.2 seconds"
    )
    with pytest.raises(EngineFailed):  # its time is up for good
        running.run(lambda: "more")
    assert running.close() is None


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
    running = Running("test", 600, lambda: None, deque())
    assert [running.run(lambda n=n: n) for n in range(3)] == [0, 1, 2]
    assert running.close(lambda: 1) is None
    failing = Running("test", 600, lambda: None, deque())
    assert isinstance(failing.close(lambda: 1 / 0), ZeroDivisionError)
