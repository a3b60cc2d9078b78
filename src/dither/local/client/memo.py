"""What a device draws once and keeps: not as a table, but as a function of its secret.

Each memo has a salt of its own, which is deleted when its task is left. Everything
else follows from the secret, the salt and the task, so a restored copy answers alike.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.local.domain import canonical
from dither.local.hashes import digests
from dither.local.oracles import Longitudinal, Randomizer, Sampled
from dither.local.parcels import ID
from dither.local.task import Task
from dither.local.vocabulary import NOTHING
from dither.local.words import Keyed, below

__all__ = [
    "LONGEST",
    "NONE",
    "Answer",
    "Memo",
    "framed",
    "memo_id",
    "message_id",
    "permanent_digest",
]

Packed = NDArray[np.uint8]

LONGEST = 1024
"""Bytes of the longest text that an open vocabulary counts: hashing a book would take
time, and a server could ask nothing about it.
"""


def framed(*parts: bytes) -> bytes:
    """Parts, each behind its length in four bytes (the largest first): no two lists of
    parts give the same bytes.
    """
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def permanent_digest(task: Task) -> bytes:
    """Of everything that a kept answer depends on, and the domain that numbers values.

    Two rates on one stream of noise would tell the answer for sure, so another rate
    must be another stream (rule R28).
    """
    whole = json.loads(task.document)
    kept = {"domain": whole["domain"], "oracle": task.oracle.permanent_parameters}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def memo_id(task: Task) -> bytes:
    """Which memo a task uses. Tasks that differ only in their instantaneous noise, their
    dates or their limits share one.

    A task that is answered once has its own: its message may have no instantaneous
    noise and come in any number of kinds, and would link the tasks that share it.
    """
    parts = [task.attribute.encode(), permanent_digest(task)]
    if not task.every:
        parts += [task.name.encode(), task.starts.isoformat().encode()]
    return hashlib.sha256(framed(*parts)).digest()


def message_id(secret: bytes, task: str, first: date, slot: int) -> bytes:
    """What a message is known by until its period closes: 16 bytes that follow from
    the device's secret. A retry has the same, and so has a restored copy of the
    device; ids of different tasks, periods or slots cannot be linked.
    """
    parts = (task.encode(), first.isoformat().encode(), slot.to_bytes(4, "big"))
    text = framed(b"message id", *parts)
    return hmac.new(secret, text, hashlib.sha256).digest()[:ID]


@dataclass(frozen=True)
class Answer:
    """The answer of a device: the canonical bytes of a value, and its number in the
    domain (−1 for a value outside it).
    """

    known: bytes
    place: int = -1

    @classmethod
    def of(cls, task: Task, value: object, part: int = 0) -> Answer:
        """The value's answer to one part of the question, or "none" if it has none.

        Whatever an app passes, there is an answer: an error would tell something
        about the value (rule R1).
        """
        try:
            if task.domain is None:
                known = canonical(value)
                return cls(known) if known and len(known) <= LONGEST else NONE
            known, place = task.domain.answer(value, part)
            return NONE if known is None else cls(known, place)
        except Exception:  # an object can do anything when it is looked at
            return NONE


NONE = Answer(NOTHING)


@dataclass(frozen=True)
class Memo:
    """The source of everything a device keeps about one attribute under one set of
    permanent parameters.
    """

    secret: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    attribute: str
    permanent: bytes

    @classmethod
    def of(cls, task: Task, secret: bytes, salt: bytes) -> Memo:
        return cls(secret, salt, task.attribute, permanent_digest(task))

    def key(self, purpose: str, *parts: bytes) -> bytes:
        """A key for one purpose: HMAC-SHA256 under the device's secret."""
        start = (self.salt, self.attribute.encode(), self.permanent, purpose.encode())
        return hmac.new(self.secret, framed(*start, *parts), hashlib.sha256).digest()

    def words(self, purpose: str, *parts: bytes) -> Keyed:
        return Keyed(self.key(purpose, *parts))

    def part(self, task: Task) -> tuple[int, Randomizer]:
        """The part of the question that the device answers, fixed permanently."""
        if not isinstance(task.oracle, Sampled):
            return 0, task.oracle
        number = int(task.oracle.draw(self.words("part"), 1)[0])
        return number, task.oracle.parts[number]

    def answer(self, task: Task, value: object) -> Answer:
        """The device's answer about a value. Values that are rounded to one number are
        one answer.
        """
        number, oracle = self.part(task)
        found = Answer.of(task, value, number)
        if found == NONE or not isinstance(oracle, Longitudinal) or not oracle.rounds:
            return found
        side = int(oracle.memo_keys(np.array([found.place]), self.seeds(task))[0])
        return Answer(b"i:%d" % side, side)

    def seeds(self, task: Task) -> NDArray[np.int64]:
        """The device's hash function, cohort or threshold: one for all answers."""
        _, oracle = self.part(task)
        assert isinstance(oracle, Longitudinal)
        return oracle.seeds(self.words("seed"), 1)

    def item(self, task: Task, answer: Answer) -> NDArray[Any]:
        """The answer as the oracle knows it, in an array of one.

        Where the domain has no "none", it is a random item, the same for ever, with
        noise of its own.
        """
        number, oracle = self.part(task)
        if not oracle.items:
            return digests([answer.known])
        if answer != NONE:
            return np.array([answer.place])
        assert task.domain is not None
        nothing = task.domain.nothing(number)
        if nothing is not None:
            return np.array([nothing])
        return below(self.words("none"), oracle.items, 1)

    def permanent_answer(self, task: Task, answer: Answer) -> NDArray[Any]:
        """The noise that is kept permanently about an answer: the first layer."""
        _, oracle = self.part(task)
        assert isinstance(oracle, Longitudinal)
        item = self.item(task, answer)
        rounded = oracle.rounds and answer != NONE
        keys = item if rounded else oracle.memo_keys(item, self.seeds(task))
        return oracle.permanent(keys, self.words("permanent", answer.known))

    def record(self, task: Task, answer: Answer, period: int, slot: int) -> Packed:
        """The record of one message. Without instantaneous noise, it is the same in
        every period.
        """
        number, oracle = self.part(task)
        if isinstance(oracle, Longitudinal):
            said = self._said_again(task, oracle, answer, period, slot)
        else:
            item = self.item(task, answer)
            said = oracle.randomize(item, self.words("once", answer.known))
        whole = task.oracle
        return whole.wrapped(number, said) if isinstance(whole, Sampled) else said

    def _said_again(
        self, task: Task, oracle: Longitudinal, answer: Answer, period: int, slot: int
    ) -> Packed:
        kept = self.permanent_answer(task, answer)
        numbers = (period.to_bytes(4, "big"), slot.to_bytes(4, "big"))
        # the whole digest: documents with equal tags can be made in minutes, and one
        # stream under two rates tells what is kept for sure (rule R28)
        words = self.words("instant", task.digest, *numbers, answer.known)
        return oracle.instant(kept, self.seeds(task), words)
