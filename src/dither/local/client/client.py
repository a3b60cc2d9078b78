"""A device: it agrees to tasks, answers them, and never promises more than its budget."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import partial

from dither.errors import ArgumentError, BudgetExceeded
from dither.local.client import clock
from dither.local.client.memo import NONE, Answer, Memo, memo_id
from dither.local.client.rows import JoinedTask, KeptMemo, Rows
from dither.local.client.sent import Sent, in_words
from dither.local.client.store import SECRET, Store
from dither.local.signing import public_key, verify
from dither.local.task import Task
from dither.local.wire import Header
from dither.local.words import ONE, below
from dither.noise import secret_bytes
from dither.privacy.numbers import positive, written

__all__ = ["Client"]

NANO = 10**9  # a budget is counted in units of 1e-9 ε

refused = partial(ArgumentError, "task")


class Client:
    """A device that answers tasks: consent, memo, budget, and what was sent, in one
    durable file.

    Guarantee: for each memo, all messages together lose at most what `join` reserved
    for it, (distinct + 1)·ε∞, against every other history of answers that change at
    the same times; all reservations together stay within `budget`. Against histories
    that change at other times, a message loses at most what its instantaneous noise
    alone allows (`task.promise` says both).
    Why: everything drawn for an answer is drawn once (HMAC of secret, salt, attribute,
    permanent parameters, purpose and value), so k answers are k applications of an
    ε∞-private function, and messages are functions of their results; after `distinct`
    values there is only "none". A message is on the disk before it is returned.
    Assumes: HMAC-SHA256 is a pseudorandom function; the file is kept, and kept secret.
    A lost file is a new device with a new budget. A copy answers like the original.
    The app calls `answer` on a schedule that does not depend on the value.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, budget: float, trust: str
    ) -> None:
        """Open the device at `path`, or make a new one there.

        `budget` is the ε of everything it ever joins, `trust` the public key whose
        tasks it accepts; both are fixed when the file is made.
        """
        limit = _nano_down(positive("budget", budget, "pass an ε such as 8.0"))
        self._key = public_key(trust)
        self._trust = self._key.public_bytes_raw().hex()
        self._store = Store.at(path)
        self._store.create(self._trust, limit)
        with self._change() as rows:
            if rows.device.budget != limit:
                raise ArgumentError(
                    "budget",
                    f"is {_epsilon(rows.device.budget)} for this device, and stays "
                    "so; pass that",
                )
            self._budget = _epsilon(rows.device.budget)
        self._store.protect()

    @property
    def budget(self) -> float:
        """The ε that all tasks of this device may reserve together."""
        return self._budget

    @property
    def left(self) -> float:
        """What of the budget is not reserved."""
        with self._change() as rows:
            return _epsilon(rows.device.budget - rows.reserved)

    @contextmanager
    def _change(self) -> Iterator[Rows]:
        with self._store.change() as rows:
            if rows.device.trust != self._trust:
                raise ArgumentError(
                    "trust", "is not the key that this device was made with; pass that"
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
            raise refused("was stopped; there is nothing to join")
        with self._change() as rows:
            today = clock.now().date()
            if today >= task.expires:
                raise refused(f"ended before {task.expires}; it cannot be joined")
            known = rows.task(task.name)
            if known is not None:
                _check_successor(known, task)
                if known.state == "joined" and known.version == task.version:
                    return
                _check_unanswered(rows, known, task)
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
                _stop(rows, task, known)
                return
            if known is None or known.state == "left":
                raise refused("has not been joined; ask its owner, then join(task)")
            _check_successor(known, task)
            if known.version == task.version:
                return
            agreed = Task.from_document(known.document)
            if _needed(rows, task)[1] or _asks_more(task, agreed):
                raise refused(
                    "asks for more than its owner agreed to; ask again, then join(task)"
                )
            self._agree(rows, task, known, clock.now().date())

    def leave(self, task: Task) -> None:
        """Delete the messages of a task, and its memo if no other task shares it.

        What was reserved stays reserved: what was sent cannot be taken back.
        """
        with self._change() as rows:
            known = rows.task(task.name)
            if known is None or known.state == "left":
                raise refused("has not been joined, or was left already")
            until = max(known.until, rows.last_answered(task.name))
            state = "stopped" if known.state == "stopped" else "left"
            rows.put_task(replace(known, state=state, until=until))
            rows.forget_messages(task.name)
            rows.forget_unused_memos()

    def _verify(self, task: Task) -> None:
        if not isinstance(task, Task):
            raise refused("must be a task; read one with Task.from_json(text)")
        verify(task.document, task.signature, self._key)

    def _agree(
        self, rows: Rows, task: Task, known: JoinedTask | None, today: date
    ) -> None:
        memo, extra = _needed(rows, task)
        left = rows.device.budget - rows.reserved
        if extra > left:
            raise BudgetExceeded(
                f"{task.name} reserves ε = {_epsilon(extra):.9g} for its lifetime; "
                f"{_epsilon(left):.9g} of this device's {self.budget:.9g} is left"
            )
        if extra:
            rows.reserve(today, task.name, extra)
        rows.put_memo(memo)
        until = known.until if known else ""
        rows.put_task(_joined(task, "joined", until))
        rows.forget_unused_memos()

    # answers

    def answer(
        self, task: Task, value: object, *, slot: int = 0, stratum: str | None = None
    ) -> bytes:
        """The message for this period: the same bytes whatever is asked again.

        Ask in every period, also when there is nothing to say (None): a device that
        is silent would tell so. `slot` counts the messages of a period from 0.
        """
        _check_slot(task, slot)
        section = task.stratum(stratum)
        with self._change() as rows:
            known, now = _joined_as(rows, task), clock.now()
            stored = rows.message(task.name, slot, now.date())
            if stored is not None:
                return stored
            first, until = _open_period(rows, known, task, now.date())
            period = task.period(first)
            memo = _memo(rows, known, task)
            answer = _allowed(rows, known, task, memo, Answer.of(task, value))
            record = memo.record(task, answer, period, slot)
            header = Header(task.tag, task.version, period, section)
            message = header.to_bytes() + record.tobytes()
            about = (now, task.name, task.version, first, until, slot)
            said = in_words(task, record)
            rows.put_message(Sent(*about, said, task.once.epsilon, message))
        return message

    def when(self, task: Task, *, slot: int = 0) -> datetime:
        """When to send the message of this period: a moment that is drawn once, from
        what was left of the period when it was first asked for.
        """
        _check_slot(task, slot)
        with self._change() as rows:
            known, now = _joined_as(rows, task), clock.now()
            first, until = _days(task, now.date())
            stored = rows.moment(task.name, slot, first)
            if stored is not None:
                return stored
            _open_period(rows, known, task, now.date())
            seconds = int((clock.midnight(until) - now).total_seconds())
            numbers = (task.period(first).to_bytes(4, "big"), slot.to_bytes(4, "big"))
            words = _memo(rows, known, task).words("when", task.tag, *numbers)
            later = int(below(words, min(max(seconds, 1), ONE), 1)[0])
            moment = now.replace(microsecond=0) + timedelta(seconds=later)
            rows.put_moment(task.name, slot, first, moment)
        return moment

    def sent(self) -> list[Sent]:
        """What left this device, oldest first, for its owner to read."""
        with self._change() as rows:
            return rows.messages()


# what a task needs


def _needed(rows: Rows, task: Task) -> tuple[KeptMemo, int]:
    """The memo that a task uses, and what has to be reserved in addition for it.

    Tasks that share a memo share its reservation: the largest of theirs.
    """
    known, cost = memo_id(task), _cost(task)
    found = rows.memo(known)
    if found is None:
        return KeptMemo(known, secret_bytes(SECRET), task.distinct, cost), cost
    cost = max(cost, found.cost)
    told_apart = max(task.distinct, found.told_apart)
    return replace(found, told_apart=told_apart, cost=cost), cost - found.cost


def _cost(task: Task) -> int:
    lost = task.oracle.epsilon_for_ever
    return math.ceil(task.values * max(written(lost), Fraction(lost)) * NANO)


def _joined(task: Task, state: str, until: str) -> JoinedTask:
    about = (task.name, task.version, task.document, state)
    return JoinedTask(*about, memo_id(task), until)


def _asks_more(task: Task, agreed: Task) -> bool:
    """Whether messages lose more, or come more often, than in an agreed version."""
    pairs = (
        (task.once.epsilon, agreed.once.epsilon),
        (task.oracle.epsilon_instant, agreed.oracle.epsilon_instant),
        (_each_day(task), _each_day(agreed)),
    )
    return any(wanted > allowed for wanted, allowed in pairs)


def _each_day(task: Task) -> Fraction:
    return Fraction(task.messages, task.every) if task.every else Fraction(0)


def _stop(rows: Rows, task: Task, known: JoinedTask | None) -> None:
    """Also for a task that was never joined, so that an old version cannot be."""
    if known is not None and known.state == "stopped":
        return
    if known is not None:
        _check_successor(known, task)
    rows.put_task(_joined(task, "stopped", known.until if known else ""))
    rows.forget_unused_memos()


def _check_successor(known: JoinedTask, task: Task) -> None:
    """One name is one line of versions, and each version one document."""
    if known.state == "stopped":
        raise refused("was stopped for good; use a task of another name")
    if task.version < known.version:
        raise refused(f"is older than version {known.version}, which is known here")
    if task.version == known.version and task.document != known.document:
        raise refused(
            f"is another document than version {known.version} that is known here; "
            "a changed task needs a higher version"
        )


def _check_unanswered(rows: Rows, known: JoinedTask, task: Task) -> None:
    """Nothing is reserved for a task that has no period left to ask for."""
    last = task.first_day(task.periods - 1)
    until = max(known.until, rows.last_answered(task.name))
    if last.isoformat() < until:
        raise refused("has been answered already; it has no period left to answer")


# when a task is answered


def _joined_as(rows: Rows, task: Task) -> JoinedTask:
    """What is known of the task; an error if it may not be answered as it is."""
    known = rows.task(task.name)
    if known is None:
        raise refused("has not been joined; ask its owner, then join(task)")
    if known.state == "stopped":
        raise refused("was stopped for good; it is not answered any more")
    if known.state == "left":
        raise refused("was left; ask its owner, then join(task)")
    _check_successor(known, task)
    if task.version > known.version:
        raise refused("is newer than what was joined; update(task) first")
    return known


def _days(task: Task, day: date) -> tuple[date, date]:
    """The first day of a day's period, and the day after its last."""
    if day < task.starts:
        raise refused(f"begins on {task.starts}; it is not answered before")
    if day >= task.expires:
        raise refused(f"ended before {task.expires}; it is not answered any more")
    first = task.first_day(task.period(day))
    if not task.every:
        return first, task.expires
    return first, min(first + timedelta(days=task.every), task.expires)


def _open_period(
    rows: Rows, known: JoinedTask, task: Task, day: date
) -> tuple[date, date]:
    """The period of a day, if it may still be answered.

    Where a later day has been answered, the clock has gone back, or a new version
    counts periods in another way. Such a period had its chance: to answer it now
    would be one more message than time allows, asked for by whoever sets the clock.
    """
    first, until = _days(task, day)
    answered = max(known.until, rows.answered(task.name, first, until))
    if first.isoformat() < answered:
        raise refused(
            f"has been answered until before {answered}; it is answered again in "
            "the first period after that"
        )
    return first, until


def _check_slot(task: Task, slot: int) -> None:
    whole = isinstance(slot, int) and not isinstance(slot, bool)
    if not whole or not 0 <= slot < task.messages:
        raise ArgumentError(
            "slot", f"must be a whole number from 0 to {task.messages - 1}"
        )


# which answers are kept


def _memo(rows: Rows, known: JoinedTask, task: Task) -> Memo:
    kept = rows.memo(known.memo)
    assert kept is not None  # a joined task has one
    return Memo.of(task, rows.device.secret, kept.salt)


def _allowed(
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


# amounts of ε


def _nano_down(epsilon: float) -> int:
    return math.floor(written(epsilon) * NANO)


def _epsilon(nano: int) -> float:
    return nano / NANO
