"""A device: it agrees to tasks, answers them, and never promises more than its budget."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta

from dither.errors import ArgumentError, BudgetExceeded
from dither.local.client import clock
from dither.local.client.agreement import (
    asks_more,
    check_successor,
    check_unanswered,
    in_epsilon,
    joined,
    nano_down,
    needed,
    stop,
)
from dither.local.client.answering import (
    allowed,
    check_slot,
    days_of,
    joined_as,
    memo_of,
    open_period,
)
from dither.local.client.rows import JoinedTask, Rows
from dither.local.client.sent import Sent, in_words
from dither.local.client.store import Store
from dither.local.parcels import parcel
from dither.local.signing import public_key, verify
from dither.local.task import Task
from dither.local.wire import Header
from dither.local.words import ONE, below
from dither.privacy.numbers import positive

__all__ = ["Client"]


class Client:
    """A device that answers tasks: consent, memo, budget, and what was sent, in one
    durable file.

    Guarantee: for each memo, all messages together lose at most what `join` reserved
    for it, (distinct + 1)·ε∞, against every other history of answers that change and
    return at the same times; all reservations together stay within `budget`.
    Against other histories, a message loses at most what its instantaneous noise
    alone allows (`task.promise` says both).
    Why: everything drawn for an answer is drawn once (HMAC of secret, salt, attribute,
    permanent parameters, purpose and value), so k answers are k applications of an
    ε∞-private function, and messages are functions of their results; after `distinct`
    values there is only "none". A message is on the disk before it is returned.
    Assumes: HMAC-SHA256 is a pseudorandom function; the file is kept, and kept secret.
    A lost file is a new device with a new budget. A copy answers like the original; where
    it holds other values, these cost as much again.
    The app calls `answer` on a schedule that does not depend on the value.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, budget: float, trust: str
    ) -> None:
        """Open the device at `path`, or make a new one there.

        `budget` is the ε of everything it ever joins, `trust` the public key whose
        tasks it accepts; both are fixed when the file is made.
        """
        if not 1e-6 <= positive("budget", budget, "pass an ε such as 8.0") <= 1e6:
            raise ArgumentError("budget", "must lie between 1e-6 and 1e6")
        limit = nano_down(positive("budget", budget, "pass an ε such as 8.0"))
        self._key = public_key(trust)
        self._trust = self._key.public_bytes_raw().hex()
        self._store = Store.at(path)
        self._store.create(self._trust, limit)
        with self._change() as rows:
            if rows.device.budget != limit:
                raise ArgumentError(
                    "budget",
                    f"is {in_epsilon(rows.device.budget)} for this device, and cannot "
                    "be changed; pass this number",
                )
            self._budget = in_epsilon(rows.device.budget)
        self._store.protect()

    def __repr__(self) -> str:
        left = f"ε = {self.left:.6g} of {self.budget:.6g} left"
        return f"<Client {self._store.path.name}: {left}>"

    @property
    def budget(self) -> float:
        """The ε that all tasks of this device may reserve together."""
        return self._budget

    @property
    def left(self) -> float:
        """What of the budget is not reserved."""
        with self._change() as rows:
            return in_epsilon(rows.device.budget - rows.reserved)

    @contextmanager
    def _change(self) -> Iterator[Rows]:
        with self._store.change() as rows:
            if rows.device.trust != self._trust:
                raise ArgumentError(
                    "trust", "must be the public key that this device was made with"
                )
            yield rows

    # consent

    def join(self, task: Task) -> None:
        """Agree to a task, after its owner has: reserve what it may ever lose.

        Joining it again changes nothing. A newer version is joined where it needs
        more than its owner has agreed to; otherwise `update` is enough.
        """
        self._verify(task)
        if task.stopped:
            raise ArgumentError(
                "task", "was stopped and cannot be joined; use a task with another name"
            )
        with self._change() as rows:
            today = clock.now().date()
            if today >= task.expires:
                raise ArgumentError(
                    "task",
                    f"has ended: it ran until before {task.expires} and cannot be "
                    "joined; use a task with another name",
                )
            known = rows.task(task.name)
            if known is not None:
                check_successor(known, task)
                if known.state == "joined" and known.version == task.version:
                    return
                check_unanswered(rows, known, task)
            self._agree(rows, task, known, today)

    def update(self, task: Task) -> None:
        """Take over a newer version. One that is stopped ends all answers for good.

        A version that would reserve more, or whose messages lose more, needs its
        owner's consent: it is refused here, and can be joined.
        """
        self._verify(task)
        with self._change() as rows:
            known = rows.task(task.name)
            if task.stopped:
                stop(rows, task, known)
                return
            if known is None or known.state == "left":
                raise ArgumentError(
                    "task",
                    "has not been joined; ask the owner of the device, then call "
                    "client.join(task)",
                )
            check_successor(known, task)
            if known.version == task.version:
                return
            agreed = Task.from_document(known.document)
            if needed(rows, task)[1] or asks_more(task, agreed):
                raise ArgumentError(
                    "task",
                    "requires more than the owner of the device agreed to; ask again, "
                    "then call client.join(task)",
                )
            self._agree(rows, task, known, clock.now().date())

    def leave(self, task: Task) -> None:
        """Delete the messages of a task, and its memo if no other task shares it.

        What was reserved stays reserved: what was sent cannot be taken back.
        """
        with self._change() as rows:
            known = rows.task(task.name)
            if known is None or known.state == "left":
                raise ArgumentError(
                    "task",
                    "has not been joined, or was left already; there is nothing to "
                    "leave",
                )
            until = max(known.until, rows.last_answered(task.name))
            state = "stopped" if known.state == "stopped" else "left"
            rows.put_task(replace(known, state=state, until=until))
            rows.forget_messages(task.name)
            rows.forget_unused_memos()

    def _verify(self, task: Task) -> None:
        if not isinstance(task, Task):
            raise ArgumentError(
                "task", "must be a Task; read one with Task.from_json(text)"
            )
        verify(task.document, task.signature, self._key)

    def _agree(
        self, rows: Rows, task: Task, known: JoinedTask | None, today: date
    ) -> None:
        memo, extra = needed(rows, task)
        left = rows.device.budget - rows.reserved
        if extra > left:
            raise BudgetExceeded(
                f"the task {task.name!r} reserves ε = {in_epsilon(extra):.9g} for its "
                f"lifetime, but only {in_epsilon(left):.9g} of this device's budget of "
                f"{self.budget:.9g} remains; join a task that needs less"
            )
        if extra:
            rows.reserve(today, task.name, extra)
        rows.put_memo(memo)
        until = known.until if known else ""
        rows.put_task(joined(task, "joined", until))
        rows.forget_unused_memos()

    # answers

    def answer(
        self, task: Task, value: object, *, slot: int = 0, stratum: str | None = None
    ) -> bytes:
        """The message for this period: the same bytes whatever is asked again.

        Ask in every period, also when there is nothing to say (None): a device that
        is silent would tell so. `slot` counts the messages of a period from 0.
        """
        with self._change() as rows:
            return self._answer(rows, task, value, slot, stratum)[1]

    def parcel(
        self, task: Task, value: object, *, slot: int = 0, stratum: str | None = None
    ) -> bytes:
        """The same message with its id in front: the body to POST to a collector,
        which counts it once however often it arrives.
        """
        with self._change() as rows:
            first, message = self._answer(rows, task, value, slot, stratum)
            return parcel(message, rows.message_id(task.name, first, slot))

    def _answer(
        self, rows: Rows, task: Task, value: object, slot: int, stratum: str | None
    ) -> tuple[date, bytes]:
        """The first day of the period, and its message."""
        check_slot(task, slot)
        section = task.stratum(stratum)
        known, now = joined_as(rows, task), clock.now()
        stored = rows.message(task.name, slot, now.date())
        if stored is not None:
            return stored
        first, until = open_period(rows, known, task, now.date())
        period = task.period(first)
        memo = memo_of(rows, known, task)
        answer = allowed(rows, known, task, memo, memo.answer(task, value))
        record = memo.record(task, answer, period, slot)
        header = Header(task.tag, task.version, period, section)
        message = header.to_bytes() + record.tobytes()
        about = (now, task.name, task.version, first, until, slot)
        said = in_words(task, record, stratum)
        rows.put_message(Sent(*about, said, task.once.epsilon, message))
        return first, message

    def when(self, task: Task, *, slot: int = 0) -> datetime:
        """When to send the message of this period: a moment that is drawn once, from
        what was left of the period when it was first asked for.
        """
        check_slot(task, slot)
        with self._change() as rows:
            known, now = joined_as(rows, task), clock.now()
            first, until = days_of(task, now.date())
            stored = rows.moment(task.name, slot, first)
            if stored is not None:
                return stored
            open_period(rows, known, task, now.date())
            seconds = int((clock.midnight(until) - now).total_seconds())
            numbers = (task.period(first).to_bytes(4, "big"), slot.to_bytes(4, "big"))
            words = memo_of(rows, known, task).words("when", task.tag, *numbers)
            later = int(below(words, min(max(seconds, 1), ONE), 1)[0])
            moment = now.replace(microsecond=0) + timedelta(seconds=later)
            rows.put_moment(task.name, slot, first, moment)
        return moment

    def sent(self) -> list[Sent]:
        """What left this device, oldest first, for its owner to read."""
        with self._change() as rows:
            return rows.messages()
