"""What a collector says while it runs: JSON lines with the day and nothing finer, and
with no content, id or address in them.
"""

from __future__ import annotations

import json
import logging

from dither.local.collector import clock

__all__ = ["LOG", "tell"]

LOG = logging.getLogger("dither.collector")


def tell(event: str, **facts: object) -> None:
    """One line: the day, what happened, and public facts about it."""
    if LOG.isEnabledFor(logging.INFO):
        line = {"day": clock.today().isoformat(), "event": event} | facts
        LOG.info(json.dumps(line))
