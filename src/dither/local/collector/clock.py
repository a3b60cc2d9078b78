"""The collector's clock: it knows days, in UTC as devices do, and nothing finer."""

from __future__ import annotations

from datetime import UTC, date, datetime

__all__ = ["today"]


def today() -> date:
    return datetime.now(UTC).date()
