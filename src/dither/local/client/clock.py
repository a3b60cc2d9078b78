"""The device's clock. Periods begin at midnight UTC, so that they are the same for all
devices and a message does not show a time zone.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time

__all__ = ["midnight", "now"]


def now() -> datetime:
    return datetime.now(UTC)


def midnight(day: date) -> datetime:
    """The moment at which a day begins."""
    return datetime.combine(day, time(), UTC)
