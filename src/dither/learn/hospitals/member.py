"""A hospital that takes part in a run: everything is checked, then it pays for all of its
rounds before the first, and answers each of them once (rule R24).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from torch import nn

from dither.errors import ArgumentError
from dither.learn.hospitals.hospital import Hospital, RoundsSettings
from dither.learn.hospitals.update import Update
from dither.learn.hospitals.weights import (
    Arrays,
    arrays_of,
    digest_of,
    put,
    shapes_of,
)
from dither.learn.loop import Loop
from dither.learn.pinning import pinned, texts_of
from dither.learn.preparing import differentiating, prepared
from dither.learn.ready import Ready
from dither.learn.rows import Units, units_of
from dither.learn.run.course import read
from dither.ledger import Account, Attempt, Pinned, Receipt
from dither.ledger.attempts import check_process, standing_of
from dither.ledger.balance import named
from dither.noise import secret_bytes
from dither.privacy import Guarantee

__all__ = ["Member", "is_paid", "joined", "member_of", "named_run", "prepared_at"]


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
                f"must be a round of {self.name!r}, which takes part in rounds {first} "
                f"to {last}; pass one of them",
            )
        return number

    def _told(self, given: Arrays, number: int) -> Update | None:
        """The last update, for anyone who did not get it."""
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
                f"{self.name!r} has answered round {min(number, self.last)}, or lost "
                "it in a crash, and a second answer would be a second look at the "
                "records; pass a later round, or join under a new run= with a new "
                "charge",
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
        ready = self.ready

        def units() -> Units:
            return units_of(*ready.source.read(self.receipt), ready.plan.rows)

        return Loop(ready, read(ready.device, units))


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


def named_run(run: str | None) -> str:
    """The name of a run; without one it is a new run."""
    if run is None:
        return secret_bytes(8).hex()
    try:
        return named(run)
    except ArgumentError:
        raise ArgumentError(
            "run",
            "must be a short name of plain letters, digits, dots and hyphens; pass one "
            'such as "run-1"',
        ) from None


def prepared_at(hospital: Hospital, model: Any, asked: RoundsSettings) -> Ready:
    """Check a run at a hospital; nothing is charged, and no record is read."""
    settings = hospital.settings(asked)
    ready = prepared(model, hospital.data, settings, each=asked.steps)
    account_of(hospital, ready)
    return ready


def account_of(hospital: Hospital, ready: Ready) -> Account:
    found = ready.plan.question.account
    if not isinstance(found, Account):
        raise ArgumentError(
            "budget",
            f"is missing for {hospital.name!r}, but a hospital pays from an "
            "account of its own, whose ledger counts its rounds; pass budget=",
        )
    return found


def charged(
    hospital: Hospital, ready: Ready, asked: RoundsSettings, run: str
) -> tuple[Account, Receipt]:
    """The charge of a whole run, made once under its name."""
    account, plan = account_of(hospital, ready), ready.plan
    declared = _pinned(hospital, ready, asked)
    question = replace(plan.question, run=declared)
    receipt = question.charged_once(plan.charged, _name(hospital, run))
    _check_same(account, receipt, declared, hospital)
    return account, receipt


def is_paid(hospital: Hospital, ready: Ready, run: str) -> bool:
    """Whether the hospital has joined this run before."""
    return account_of(hospital, ready).charged(_name(hospital, run)) is not None


def _name(hospital: Hospital, run: str) -> str:
    return f"{run}:{hospital.name}"


def _pinned(hospital: Hospital, ready: Ready, asked: RoundsSettings) -> Pinned:
    about = (ready.settings, ready.plan, ready.radius)
    texts = texts_of(ready.model, ready.source, None, *about)
    own = {"hospital": hospital.name, "since": hospital.since, "steps": asked.steps}
    return pinned({**texts, **own})


def _check_same(
    account: Account, receipt: Receipt, declared: Pinned, hospital: Hospital
) -> None:
    found = standing_of(account, receipt)
    same = (found.steps, found.plan) == (declared.steps, declared.plan)
    if not same or receipt.by != hospital.by:
        raise ArgumentError(
            "run",
            f"is the name of another run that {hospital.name!r} has paid for; pass "
            "what that run began with, or a new name for a new charge",
        )
