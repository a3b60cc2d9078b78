"""The agreements of a device: versions of a task, and what each reserves."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from dither.errors import ArgumentError
from dither.local.client.memo import memo_id
from dither.local.client.rows import JoinedTask, KeptMemo, Rows
from dither.local.client.store import SECRET
from dither.local.task import Task
from dither.noise import secret_bytes
from dither.privacy.numbers import written

__all__ = [
    "asks_more",
    "check_successor",
    "check_unanswered",
    "in_epsilon",
    "joined",
    "nano_down",
    "needed",
    "stop",
]

NANO = 10**9  # a budget is counted in units of 1e-9 ε


def needed(rows: Rows, task: Task) -> tuple[KeptMemo, int]:
    """The memo that a task uses, and what has to be reserved in addition for it.

    Tasks that share a memo share its reservation: the largest of theirs.
    """
    known, cost = memo_id(task), cost_of(task)
    found = rows.memo(known)
    if found is None:
        return KeptMemo(known, secret_bytes(SECRET), task.distinct, cost), cost
    cost = max(cost, found.cost)
    told_apart = max(task.distinct, found.told_apart)
    return replace(found, told_apart=told_apart, cost=cost), cost - found.cost


def cost_of(task: Task) -> int:
    lost = task.oracle.epsilon_for_ever
    return math.ceil(task.values * max(written(lost), Fraction(lost)) * NANO)


def joined(task: Task, state: str, until: str) -> JoinedTask:
    about = (task.name, task.version, task.document, state)
    return JoinedTask(*about, memo_id(task), until)


def asks_more(task: Task, agreed: Task) -> bool:
    """Whether messages lose more, say more, come more often or for longer than in an
    agreed version, or are about something else.
    """
    pairs = (
        (task.once.epsilon, agreed.once.epsilon),
        (task.lifetime.epsilon, agreed.lifetime.epsilon),
        (task.oracle.epsilon_instant, agreed.oracle.epsilon_instant),
        (_each_day(task), _each_day(agreed)),
        (task.expires, agreed.expires),
    )
    # strata are sent as they are
    more: bool = any(wanted > allowed for wanted, allowed in pairs)  # type: ignore[operator]
    # another task may have paid for the memo: that is no consent to be asked through
    # this one, which may come more often
    return more or task.strata != agreed.strata or memo_id(task) != memo_id(agreed)


def _each_day(task: Task) -> Fraction:
    return Fraction(task.messages, task.every) if task.every else Fraction(0)


def stop(rows: Rows, task: Task, known: JoinedTask | None) -> None:
    """Also for a task that was never joined, so that an old version cannot be."""
    if known is not None and known.state == "stopped":
        return
    if known is not None:
        check_successor(known, task)
    rows.put_task(joined(task, "stopped", known.until if known else ""))
    rows.forget_unused_memos()


def check_successor(known: JoinedTask, task: Task) -> None:
    """One name is one line of versions, and each version one document."""
    if known.state == "stopped":
        raise ArgumentError(
            "task", "was stopped permanently; use a task with another name"
        )
    if task.version < known.version:
        raise ArgumentError(
            "task",
            f"is older than version {known.version}, which this device knows; pass the "
            "newest version",
        )
    if task.version == known.version and task.document != known.document:
        raise ArgumentError(
            "task",
            f"is another document than the version {known.version} that this device "
            "knows; make a changed task with task.changed(…)",
        )


def check_unanswered(rows: Rows, known: JoinedTask, task: Task) -> None:
    """Nothing is reserved for a task that has no period left to ask for."""
    last = task.first_day(task.periods - 1)
    until = max(known.until, rows.last_answered(task.name))
    if last.isoformat() < until:
        raise ArgumentError(
            "task",
            "has no period left that this device has not answered; use a task that "
            "expires later",
        )


def nano_down(epsilon: float) -> int:
    return math.floor(written(epsilon) * NANO)


def in_epsilon(nano: int) -> float:
    return nano / NANO
