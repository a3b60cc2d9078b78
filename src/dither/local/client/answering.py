"""When a task is answered, and which answers are kept."""

from __future__ import annotations

from datetime import date, timedelta

from dither.errors import ArgumentError
from dither.local.client.agreement import check_successor
from dither.local.client.memo import NONE, Answer, Memo
from dither.local.client.rows import JoinedTask, Rows
from dither.local.task import Task

__all__ = ["allowed", "check_slot", "days_of", "joined_as", "memo_of", "open_period"]


def joined_as(rows: Rows, task: Task) -> JoinedTask:
    """The known version of the task; an error if it may not be answered as it is."""
    known = rows.task(task.name)
    if known is None:
        raise ArgumentError(
            "task",
            "has not been joined; ask the owner of the device, then call "
            "client.join(task)",
        )
    if known.state == "stopped":
        raise ArgumentError(
            "task", "was stopped permanently; do not answer it any more"
        )
    if known.state == "left":
        raise ArgumentError(
            "task",
            "was left by this device; ask the owner of the device, then call "
            "client.join(task)",
        )
    check_successor(known, task)
    if task.version > known.version:
        raise ArgumentError(
            "task", "is newer than the joined version; call client.update(task) first"
        )
    return known


def days_of(task: Task, day: date) -> tuple[date, date]:
    """The first day of a day's period, and the day after its last."""
    if day < task.starts:
        raise ArgumentError("task", f"has not begun; answer it from {task.starts} on")
    if day >= task.expires:
        raise ArgumentError(
            "task",
            f"has ended: it ran until before {task.expires}; do not answer it any more",
        )
    first = task.first_day(task.period(day))
    if not task.every:
        return first, task.expires
    return first, min(first + timedelta(days=task.every), task.expires)


def open_period(
    rows: Rows, known: JoinedTask, task: Task, day: date
) -> tuple[date, date]:
    """The period of a day, if it may still be answered.

    Where a later day has been answered, the clock has gone back, or a new version
    counts periods in another way. Such a period had its chance: to answer it now would
    be one more message than time allows, asked for by anyone who sets the clock.
    """
    first, until = days_of(task, day)
    answered = max(known.until, rows.answered(task.name, first, until))
    if first.isoformat() < answered:
        raise ArgumentError(
            "task",
            f"was answered until before {answered}; answer it in a period that begins "
            "on this day or later",
        )
    return first, until


def check_slot(task: Task, slot: int) -> None:
    whole = isinstance(slot, int) and not isinstance(slot, bool)
    if not whole or not 0 <= slot < task.messages:
        raise ArgumentError(
            "slot", f"must be a whole number from 0 to {task.messages - 1}"
        )


def memo_of(rows: Rows, known: JoinedTask, task: Task) -> Memo:
    kept = rows.memo(known.memo)
    assert kept is not None  # a joined task has one
    return Memo.of(task, rows.device.secret, kept.salt)


def allowed(
    rows: Rows, known: JoinedTask, task: Task, memo: Memo, answer: Answer
) -> Answer:
    """The answer, or "none" where the device has used up its distinct values.

    A task keeps to its own number; all tasks of a memo together keep to the largest,
    for which the reservation was made.
    """
    if answer == NONE:
        return answer
    kept = rows.memo(known.memo)
    assert kept is not None
    mark = memo.key("mark", answer.known)
    own, everyone = rows.marks(kept.id, task.name), rows.all_marks(kept.id)
    if mark in own[: task.distinct]:
        return answer
    fits = mark in everyone or len(everyone) < kept.told_apart
    if mark in own or len(own) >= task.distinct or not fits:
        return NONE
    rows.put_mark(kept.id, task.name, mark)
    return answer
