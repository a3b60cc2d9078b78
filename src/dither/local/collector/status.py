"""Status of a collector: counts of a task and period only if they reach the task's
minimum.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

__all__ = ["PeriodStatus", "RelayStatus", "Status", "TaskStatus"]


@dataclass(frozen=True)
class PeriodStatus:
    """A period of a version. `messages` and `invalid` are those of strata that reach
    the minimum, and None if none does.
    """

    period: int
    first: date
    closes: date
    open: bool
    messages: int | None
    invalid: int | None


@dataclass(frozen=True)
class TaskStatus:
    """One version of a task. `state` is live, stopped, retired or expired."""

    name: str
    version: int
    state: str
    minimum: int
    periods: tuple[PeriodStatus, ...]


@dataclass(frozen=True)
class RelayStatus:
    """A relay: its quota, and what it has used of it in open periods, by task and
    first day: whole multiples of the task's minimum, and None below it.
    """

    name: str
    state: str
    quota: int
    used: dict[str, int | None]


@dataclass(frozen=True)
class Status:
    """What is collected, and where it is kept."""

    place: str
    tasks: tuple[TaskStatus, ...]
    relays: tuple[RelayStatus, ...]
    direct: RelayStatus

    def to_dict(self) -> dict[str, Any]:
        """For JSON: days as text."""
        written: dict[str, Any] = _plain(asdict(self))
        return written


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, date) else value
