"""Devices in a browser, a collector, and estimates: the whole way, over HTTP."""

from __future__ import annotations

import contextlib
import json
import math
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dither import local
from dither.local import collector as collectors
from dither.local.collector import web
from dither.local.task import Task
from tests.clients.browser import browsing, serving

KEY = local.SigningKey(b"c" * 32)
VALUES = ["a", "b", "c"]
HELD = {"a": 300, "b": 150, "c": 100, None: 50}


@contextlib.contextmanager
def answering(collector: Any, origin: str) -> Iterator[str]:
    """The collector at an address of its own, for pages of an origin."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    app = web.app(collector, origins=[origin])
    running = uvicorn.Server(uvicorn.Config(app, log_config=None))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join()


def asked() -> list[Task]:
    """Answered once, and again and again; values, and any text."""
    usual: dict[str, Any] = {"n": 600, "key": KEY, "minimum": 10}
    often = {"every": "week", "for_ever": 4, "attribute": "x"}
    return [
        local.task("once", domain=VALUES, epsilon=2, **usual),
        local.task("often", domain=VALUES, epsilon=2, **often, **usual),
    ]


@pytest.mark.parametrize("times", [1, pytest.param(17, marks=pytest.mark.full)])
def test_a_browser_a_collector_and_estimates(times: int, tmp_path: Path) -> None:
    tasks = asked()
    values = times * [value for value, count in HELD.items() for _ in range(count)]
    place = str(tmp_path / "collector.db")
    with (
        serving() as server,
        collectors.Collector(place, trust=KEY.public) as collector,
        answering(collector, server.address) as address,
    ):
        for task in tasks:
            collector.publish(task)
        told = {"collector": address, "values": values}
        told["tasks"] = [task.to_json() for task in tasks]
        plan = {"scenes": ["devices"], "trust": KEY.public, "devices": told}
        server.made["/plan.json"] = json.dumps(plan).encode()
        page = server.address + "/test/browser.html"
        with browsing(tmp_path / "profile", page):
            outcomes = server.result("devices")
        sent = len(values) * len(tasks)
        again = 10 * (math.ceil(sent / 250) - 1)
        assert outcomes == {"accepted": sent, "duplicate": again}
        for task in tasks:
            tally = collector.tally(task.name)
            assert (tally.messages, tally.rejected) == (len(values), {})
            check(tally)


def check(tally: Any) -> None:
    """Six standard errors: one false alarm in 1e8."""
    total = sum(HELD.values())
    found = tally.estimate()
    wanted = np.array([HELD[value] for value in VALUES]) / total
    near = np.abs(found.value[:3] - wanted) < 6 * found.standard_errors[:3]
    assert near.all()
