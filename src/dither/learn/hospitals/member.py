"""A hospital that takes part in a run: it pays for all of its rounds before the first,
and answers each of them once (rule R24).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import nn

from dither.errors import ArgumentError
from dither.learn.draws import secretly
from dither.learn.heap import keep_memory
from dither.learn.hospitals.hospital import Hospital
from dither.learn.hospitals.joining import charged, named_run, prepared_at
from dither.learn.hospitals.settings import RoundsSettings
from dither.learn.hospitals.update import Update
from dither.learn.hospitals.weights import (
    Arrays,
    arrays_of,
    digest_of,
    put,
    shapes_of,
)
from dither.learn.loop import Loop
from dither.learn.preparing import Ready, differentiating
from dither.learn.rows import units_of
from dither.learn.silence import silently
from dither.ledger import Account, Attempt, Receipt
from dither.ledger.attempts import check_process, standing_of
from dither.privacy import Guarantee

__all__ = ["Member", "joined"]


@dataclass(eq=False)
class Member:
    """A hospital in a run that is paid for: `update` answers its rounds.

    Guarantee: all updates together promise `guarantee`, for one unit with all of its
    rows in this hospital, whatever weights anybody sends.
    Why: each of the steps is one of those that were declared with the charge; weights
    are known before a step, and what is done with noisy sums is post-processing
    (docs/proofs/hospitals.md).
    Assumes: what `train` assumes; one book counts the rounds of this hospital.
    """

    hospital: Hospital
    run: str
    account: Account
    receipt: Receipt
    ready: Ready = field(repr=False)
    each: int
    _loop: Loop | None = field(default=None, init=False, repr=False)
    _last: tuple[str, Update] | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(
        default_factory=threading.Lock, init=False, repr=False
    )

    @property
    def name(self) -> str:
        return self.hospital.name

    @property
    def guarantee(self) -> Guarantee:
        """What all rounds promise together."""
        return self.ready.plan.promised

    @property
    def delta(self) -> float:
        return self.ready.plan.delta

    @property
    def last(self) -> int:
        """The number of the last round."""
        return self.hospital.since + self.ready.plan.epochs - 1

    def next(self) -> int:
        """The next round that it can answer, by its book; one more than the last where
        none is left.
        """
        claimed = standing_of(self.account, self.receipt).claimed
        return self.hospital.since + -(-claimed // self.each)

    def after(self, number: int) -> Guarantee | None:
        """What the rounds up to this one promise; None before the first."""
        done = min(number, self.last) - self.hospital.since + 1
        return self.ready.plan.after(done * self.each) if done > 0 else None

    def update(self, weights: Any, number: int | None = None) -> Update:
        """The noisy change of these weights by the records of this hospital, in the
        round with this number (the next one, if not given).

        The round is claimed in the book before any record is read. Asked again with the
        same weights, while it is the last one, it is the same update. No other is made
        for a round: one that was lost in a crash is lost, and so are those that are
        passed over.
        """
        with self._lock:
            check_process(self.ready.process)
            given = arrays_of(weights, shapes_of(self.ready.model))
            wanted = self.next() if number is None else self._check(number)
            return self._told(given, wanted) or self._claimed(given, wanted)

    def _check(self, number: int) -> int:
        first, last = self.hospital.since, self.last
        fine = isinstance(number, int) and not isinstance(number, bool)
        if not fine or not first <= number <= last:
            raise ArgumentError(
                "number",
                f"{self.name} takes part in rounds {first} to {last}; pass one of them",
            )
        return number

    def _told(self, given: Arrays, number: int) -> Update | None:
        """The last update, for whoever did not get it."""
        if self._last is None or self._last[1].round != number:
            return None
        begun, found = self._last
        return found if begun == digest_of(given) else None

    def _claimed(self, given: Arrays, number: int) -> Update:
        end = (number - self.hospital.since + 1) * self.each
        run = standing_of(self.account, self.receipt)
        if run.claimed > end - self.each or end > run.steps:
            raise ArgumentError(
                "number",
                f"{self.name} has answered round {min(number, self.last)}, or lost it "
                "in a crash: a second answer would be a second look at the records; go "
                "on with a later round, or join under a new run= and a new charge",
            )
        attempt = Attempt.again(
            self.account, self.receipt, known=run.attempt, claimed=run.claimed
        )
        with attempt.going_on():
            # With the rounds that were passed over: steps are claimed in order.
            attempt.claim(run.claimed + 1, end)
            found = Update(self.name, number, self._answer(given, end))
            key = f"training {self.receipt.number}, round {number}"
            attempt.store(key, f"sha256 {found.digest}")
        self._last = digest_of(given), found
        return found

    def _answer(self, given: Arrays, end: int) -> Arrays:
        """Take the steps of a round from these weights."""
        ready = self.ready
        put(given, ready.model)
        # Momentum of another round is about other weights.
        ready.optimizer.state.clear()
        with differentiating(ready.model, ready.settings.precision):
            self._loop = self._loop or self._read()
            self._loop.run(end - self.each + 1, end)
        found = {name: one.detach().cpu() for name, one in _parameters(ready.model)}
        moved = {name: found[name].numpy() - one for name, one in given.items()}
        return {name: one.astype(np.float32) for name, one in moved.items()}

    def _read(self) -> Loop:
        keep_memory()
        with secretly(self.ready.device), silently():
            rows, owners = self.ready.source.read(self.receipt)
            units = units_of(rows, owners, self.ready.plan.rows)
        return Loop(self.ready, units)


def _parameters(model: nn.Module) -> list[tuple[str, nn.Parameter]]:
    return [(name, one) for name, one in model.named_parameters() if one.requires_grad]


def joined(
    hospital: Hospital, model: Any, asked: RoundsSettings, run: str | None
) -> Member:
    """A hospital that has paid for a run."""
    name = named_run(run)
    ready = prepared_at(hospital, model, asked)
    return member_of(hospital, ready, asked, name)


def member_of(
    hospital: Hospital, ready: Ready, asked: RoundsSettings, run: str
) -> Member:
    account, receipt = charged(hospital, ready, asked, run)
    return Member(hospital, run, account, receipt, ready, asked.steps)
