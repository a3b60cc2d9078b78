"""How tests deal with time: they wait for events, and bound work by CPU time that is
scaled to the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["PATIENCE", "quick", "slowness", "until"]

PATIENCE = 600.0
"""Seconds after which an event does not come any more, on the slowest and busiest
machine.
"""
USUAL = 0.04
"""CPU-seconds that the loop of `slowness` takes on the machine that limits were chosen
on.
"""


def until(happened: Callable[[], object], what: str) -> None:
    """Wait for an event."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not after {PATIENCE:.0f} s")
        time.sleep(0.01)


@contextmanager
def quick(limit: float) -> Iterator[None]:
    """What happens inside takes this thread at most so many CPU-seconds, and more only
    where everything takes more.
    """
    began = time.thread_time()
    yield
    took = time.thread_time() - began
    assert took < limit or took < limit * slowness(), f"{took:.3f} CPU-seconds"


def slowness() -> float:
    """How often the usual time a plain loop takes here and now."""
    began, total = time.thread_time(), 0
    for number in range(1_000_000):
        total += number & 3
    assert total == 1_500_000
    return (time.thread_time() - began) / USUAL
