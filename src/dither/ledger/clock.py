"""The time as a book writes it: UTC, to the microsecond, as text that sorts like the
time.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from functools import lru_cache

__all__ = ["after", "deadline", "now"]


def now() -> str:
    """The time now."""
    return _text(time.time_ns() // 1000)


def after(moment: str, seconds: float) -> str:
    """The time this number of seconds later, or earlier."""
    later = datetime.fromisoformat(moment) + timedelta(seconds=seconds)
    return later.isoformat(timespec="microseconds")


def deadline(moment: str, seconds: float) -> str:
    """The end of the second that is this number of seconds later: charges of one second
    share it.
    """
    return _deadline(moment[:19], seconds)


@lru_cache(maxsize=8)
def _deadline(second: str, seconds: float) -> str:
    return after(f"{second}+00:00", seconds + 1)


def _text(microseconds: int) -> str:
    seconds, rest = divmod(microseconds, 10**6)
    return f"{_second(seconds)}.{rest:06d}+00:00"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
