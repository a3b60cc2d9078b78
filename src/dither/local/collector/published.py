"""The tasks and the relays of a collector."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from dither.errors import ArgumentError
from dither.local.task import Task

__all__ = ["DIRECT", "LIVE", "RETIRED", "Published", "Relay", "hashed"]

LIVE, RETIRED, REVOKED = "live", "retired", "revoked"
DIRECT = 0
"""The number under which messages are counted that come without a relay."""
MOST = 8
"""Number of tasks that an error names if a task is not found."""


def hashed(token: str) -> str:
    """The stored form of a token. It has 32 random bytes, so one plain hash hides it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Relay:
    """Somebody who hands on batches: a name, and how many messages of a task and
    period they may bring.
    """

    number: int
    name: str
    hash: str = field(repr=False)
    quota: int
    state: str = LIVE


@dataclass(frozen=True)
class Published:
    """Tasks and relays as they were read from the store; `facts` counts their changes."""

    facts: int = -1
    tasks: dict[bytes, Task] = field(default_factory=dict)
    retired: frozenset[str] = frozenset()
    relays: tuple[Relay, ...] = ()
    stopped: frozenset[str] = frozenset()
    tokens: dict[str, Relay] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        facts: int,
        tasks: Iterable[Task],
        retired: Iterable[str],
        relays: Iterable[Relay],
    ) -> Published:
        known = {task.tag: task for task in tasks}
        stopped = frozenset(task.name for task in known.values() if task.stopped)
        every = tuple(relays)
        tokens = {relay.hash: relay for relay in every if relay.state == LIVE}
        return cls(facts, known, frozenset(retired), every, stopped, tokens)

    def versions(self, name: str) -> list[Task]:
        """Every version of a task, oldest first."""
        found = [task for task in self.tasks.values() if task.name == name]
        return sorted(found, key=lambda task: task.version)

    def latest(self, name: str) -> Task:
        """The newest version of a task."""
        found = self.versions(name)
        if not found:
            names = sorted({task.name for task in self.tasks.values()})
            known = f", or pass one of: {', '.join(names[:MOST])}" if names else ""
            raise ArgumentError(
                "task", f"is not collected here; publish it first{known}"
            )
        return found[-1]

    @property
    def names(self) -> list[str]:
        return sorted({task.name for task in self.tasks.values()})

    def state(self, task: Task) -> str:
        """Why messages of a task are refused, as a code; empty if they are not."""
        if task.name in self.retired:
            return "task-retired"
        if task.name in self.stopped:
            return "task-stopped"
        return ""

    def check_new(self, task: Task) -> bool:
        """Whether a task is not known yet; an error if it cannot follow what is."""
        if task.tag in self.tasks:
            return False
        if task.name in self.stopped:
            raise ArgumentError("task", "was stopped permanently; use another name")
        before = self.versions(task.name)
        if before and before[-1].version >= task.version:
            raise ArgumentError(
                "task",
                f"has version {task.version}, but version {before[-1].version} is "
                "already collected; make the next one with task.changed(…)",
            )
        return True
