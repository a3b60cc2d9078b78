"""How fast a peer's local client and server are, one message a call. Standard library
only: this runs inside a peer's environment.
"""

from __future__ import annotations

import pickle
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

MOST = 100_000


@dataclass(frozen=True)
class Side:
    """A peer's oracle: what a device calls, what a server calls for each message (if it
    has such a call), and what it calls for all estimates.
    """

    privatise: Callable[[int], Any]
    aggregate: Callable[[Any], object] | None
    estimate: Callable[[list[Any]], object]


def measure(side: Side, items: int, seconds: float) -> dict[str, float]:
    """Messages per CPU-second of the client; CPU-seconds of one more message on the
    server, and of what it does once; bytes of a message as `pickle` writes it.
    """
    values = [random.randrange(items) for _ in range(MOST)]
    side.privatise(values[0])  # what is compiled at the first call is not measured
    messages, spent = _for_a_while(side.privatise, values, seconds)
    each, once = _server(side, messages, seconds)
    return {
        "client": len(messages) / spent,
        "each": each,
        "once": once,
        "bytes": len(pickle.dumps(messages[-1])),
    }


def _for_a_while(
    call: Callable[[Any], Any], inputs: list[Any], seconds: float
) -> tuple[list[Any], float]:
    """What the calls give, and their CPU-seconds. The clock is read seldom."""
    found: list[Any] = []
    chunk, spent = 1, 0.0
    while len(found) < len(inputs) and spent < seconds:
        part = inputs[len(found) : len(found) + chunk]
        began = time.process_time()
        found += [call(one) for one in part]
        spent += time.process_time() - began
        chunk = min(2 * chunk, 1024)
    return found, spent


def _server(side: Side, messages: list[Any], seconds: float) -> tuple[float, float]:
    if side.aggregate is not None:
        done, spent = _for_a_while(side.aggregate, messages, seconds)
        return spent / len(done), _timed(side.estimate, messages[: len(done)])
    # One call for everything: what it does once is what it does for one message.
    side.estimate(messages[:1])
    once = min(_timed(side.estimate, messages[:1]) for _ in range(3))
    count = 8
    while (spent := _timed(side.estimate, _many(messages, count))) < once + seconds:
        count *= 2
    return (spent - once) / count, once


def _many(messages: list[Any], count: int) -> list[Any]:
    return list(islice(cycle(messages), count))


def _timed(call: Callable[[list[Any]], object], messages: list[Any]) -> float:
    began = time.process_time()
    call(messages)
    return time.process_time() - began
