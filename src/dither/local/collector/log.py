"""Log messages of a running collector: JSON lines with the day and nothing finer, and
with no content, id or address in them.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TextIO

from dither.local.collector import clock

__all__ = ["LOG", "tell", "write_lines"]

LOG = logging.getLogger("dither.collector")


def tell(event: str, **facts: object) -> None:
    """One line: the day, what happened, and public facts about it."""
    if LOG.isEnabledFor(logging.INFO):
        line = {"day": clock.today().isoformat(), "event": event} | facts
        LOG.info(json.dumps(line))


class _Lines(logging.Formatter):
    """What the web server says, as a line of ours: the kind of error and no more, for
    its words may hold what somebody sent.
    """

    def format(self, record: logging.LogRecord) -> str:
        if record.name == LOG.name:
            return record.getMessage()
        line = {"day": clock.today().isoformat(), "event": "failed"}
        if str(record.msg).startswith("Cancel "):
            return json.dumps(line | {"event": "cut-off"})
        kind = record.exc_info[0] if record.exc_info else None
        return json.dumps(line | {"error": kind.__name__ if kind else "Error"})


def _worth_a_line(record: logging.LogRecord) -> bool:
    """Not every request that is cut off when the server ends: one line says so."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or not issubclass(kind, asyncio.CancelledError)


def write_lines(stream: TextIO) -> None:
    """Write all lines to a stream, and what the web server says, but not more of it."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Lines())
    handler.addFilter(_worth_a_line)
    for logger in (LOG, logging.getLogger("uvicorn"), logging.getLogger("asyncio")):
        logger.handlers, logger.propagate = [handler], False
    LOG.setLevel(logging.INFO)
