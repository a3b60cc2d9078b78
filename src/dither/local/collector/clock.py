"""The collector's clock: days in UTC, as devices have them, and nothing finer."""

from __future__ import annotations

from datetime import UTC, date, datetime

__all__ = ["today"]


def today() -> date:
    return datetime.now(UTC).date()
