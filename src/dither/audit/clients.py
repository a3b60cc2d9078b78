"""Whole clients of the local room: a new device for each draw, from its file to the
bytes of its message.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from dither.audit.case import Case
from dither.privacy import PureDP

__all__ = ["clients"]

SELDOM = 1000
ITEMS = ("yes", "no")


@cache
def _asked(for_ever: float | None) -> tuple[Any, str]:
    """A signed task and the key to trust."""
    from dither import local

    key = local.SigningKey.new()
    kept: dict[str, Any] = {}
    if for_ever is not None:
        kept = {"for_ever": for_ever, "distinct": 1, "every": "day"}
    task = local.task("item", domain=ITEMS, epsilon=1.0, n=1000, key=key, **kept)
    return task, key.public


def _message(for_ever: float | None, item: str) -> list[int]:
    """The bytes that a new device sends which holds an item."""
    from dither import local

    task, trust = _asked(for_ever)
    with tempfile.TemporaryDirectory() as folder:
        device = local.Client(Path(folder) / "device", budget=9, trust=trust)
        device.join(task)
        return list(device.answer(task, item))


def clients() -> Iterator[Case]:
    """A client that answers once, and one that keeps its noise for the days to come."""
    for words, for_ever in (("one message", None), ("a message of many", 2.0)):
        yield Case(
            f"devices: client, {words}",
            partial(_message, for_ever),
            *ITEMS,
            PureDP(1.0),
            seldom=SELDOM,
            covers=("local.Client", "local.task"),
        )
