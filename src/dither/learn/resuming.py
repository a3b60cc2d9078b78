"""Runs that can be resumed: their steps are claimed in the book a block at a time, and
a checkpoint is written after each block (rule R24).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError
from dither.learn.checkpoints import Saved, check_place, kind_of, read, write
from dither.learn.gradients.oracle import trained
from dither.learn.history import Epoch
from dither.learn.pinning import noises_in, pinned
from dither.learn.planning import Paid as PaidRun
from dither.learn.planning import Plan
from dither.learn.settings import Settings
from dither.learn.source import Source
from dither.ledger import Account, Attempt, Receipt
from dither.ledger.attempts import charged, check_process, is_stored, standing_of
from dither.ledger.facts import RunFacts
from dither.privacy.numbers import whole
from dither.progress import working
from dither.question import Paid, payer
from dither.release import Source as Promised

if TYPE_CHECKING:
    from dither.learn.ready import Ready

__all__ = [
    "Resumed",
    "account_of",
    "blocks",
    "every_of",
    "keep",
    "kept_at",
    "key_of",
    "paying",
    "resumed",
]


@dataclass(frozen=True)
class Resumed:
    """The state to resume a run from: the content of its checkpoint, who paid, and the
    claimed steps in the book.
    """

    saved: Saved
    account: Account
    receipt: Receipt
    run: RunFacts

    @property
    def left(self) -> int:
        return self.run.steps - self.run.claimed

    @property
    def lost(self) -> int:
        """Steps that were claimed, and are not in the weights."""
        return self.saved.lost + self.run.claimed - self.saved.done

    @property
    def paid(self) -> PaidRun:
        texts = self.saved.pinned
        return PaidRun(texts["rate"], noises_in(texts), self.receipt.guarantee)


def account_of(source: Source, settings: Settings) -> Account:
    """The account whose book counts the steps."""
    dataset, found = source.dataset, settings.budget
    if dataset is not None:
        found = payer(dataset, found)
    if not isinstance(found, Account):
        raise ArgumentError(
            "checkpoint" if settings.resume is None else "resume",
            "needs an account, whose ledger counts the steps; pass budget=",
        )
    return found


def resumed(account: Account, settings: Settings) -> Resumed | None:
    """The run of a checkpoint, if this account paid for it and is not done with it.
    Nothing is changed.
    """
    if settings.resume is None:
        return None
    saved = read(settings.resume)
    receipt = charged(account, saved.number, saved.head)
    if receipt is None:
        raise ArgumentError(
            "resume",
            f"the account {account.name!r} in {account.place} has not paid for the run "
            "of the checkpoint; pass the account that paid for it",
        )
    found = Resumed(saved, account, receipt, standing_of(account, receipt))
    _check(found, settings.by)
    return found


def _check(found: Resumed, by: str | None) -> None:
    saved, run = found.saved, found.run
    if pinned(saved.pinned).to_json() != {"steps": run.steps, "plan": run.plan}:
        raise ArgumentError(
            "resume",
            "the checkpoint holds another run than was paid for; pass an intact copy "
            "as resume=",
        )
    if not 0 <= saved.lost <= saved.done <= run.claimed:
        raise ArgumentError(
            "resume",
            "the checkpoint is ahead of the ledger, which may be an older copy; use "
            "the newest copy of the ledger",
        )
    if by != found.receipt.by:
        raise ArgumentError(
            "by", "must be the name that the run began with; pass that name"
        )
    key = key_of(found.receipt, run.attempt)
    if not found.left and is_stored(found.account, key):
        why = "is finished"
        if run.ended:
            why = "was ended by a renewal of the account or a copy of its ledger"
        raise ArgumentError(
            "resume",
            f"the run of the checkpoint {why}: no steps remain, and its weights were "
            "released; leave resume out to start a new run with a new charge",
        )


def kept_at(source: Source, settings: Settings) -> Resumed | None:
    """The place where checkpoints are written, if any, and the checkpoint to resume
    from.
    """
    if not settings.keeps:
        return None
    if settings.validation is not None and settings.validation.part is not None:
        raise ArgumentError(
            "validation",
            "cannot be a part of the units if checkpoints are written, because a "
            "resumed run draws this part again and would measure on units that it was "
            "trained on; pass other records, or leave checkpoint out",
        )
    account = account_of(source, settings)
    found = resumed(account, settings)
    check_place(settings.place, settings.resume)
    return found


def every_of(settings: Settings, plan: Plan) -> int:
    """Steps between two checkpoints: an epoch, unless told otherwise."""
    if settings.every is None:
        return plan.steps_per_epoch
    return whole("every", settings.every, "pass a number of steps such as 100")


def key_of(receipt: Receipt, attempt: int) -> str:
    """Under what the hash of weights is noted: they come out once for each attempt."""
    key = f"training {receipt.number}, weights"
    return key if attempt == receipt.number else f"{key} of {attempt}"


@contextmanager
def paying(ready: Ready) -> Iterator[tuple[Paid, Attempt | None]]:
    """Charge a run before it reads anything; or resume one that is paid for."""
    plan, found = ready.plan, ready.resumed
    if found is not None:
        claimed, known = found.run.claimed, found.saved.attempt
        attempt = Attempt.again(
            found.account, found.receipt, known=known, claimed=claimed
        )
        with attempt.going_on() as receipt, working(plan.question.what) as tell:
            yield Paid(Promised(plan.charged, receipt), tell=tell), attempt
        return
    run = None if ready.texts is None else pinned(ready.texts)
    with replace(plan.question, run=run).paying(plan.charged) as paid:
        yield paid, None if run is None else _first(ready, paid)


def _first(ready: Ready, paid: Paid) -> Attempt:
    account, receipt = ready.plan.question.account, paid.receipt
    assert isinstance(account, Account)  # checked before the charge
    assert receipt is not None
    return Attempt.first(account, receipt)


def blocks(ready: Ready) -> Iterator[tuple[int, int]]:
    """Steps that are claimed together, and followed by a checkpoint."""
    steps, every = ready.plan.steps, ready.every
    first = 1 if ready.resumed is None else ready.resumed.run.claimed + 1
    for start in range(first, steps + 1, every):
        yield start, min(start + every - 1, steps)


def keep(
    ready: Ready, attempt: Attempt, epochs: list[Epoch], done: int, lost: int
) -> None:
    """Write a checkpoint of where a run stands."""
    check_process(ready.process)
    weights = trained(ready.model)
    receipt = attempt.receipt
    held: dict[str, Any] = {
        "pinned": ready.texts,
        "number": receipt.number,
        "head": receipt.head,
        "attempt": attempt.number,
        "done": done,
        "lost": lost,
        "epochs": tuple(epochs),
        "radius": float(ready.radius.clipping.radius),
        "weights": {name: one.detach().clone() for name, one in weights.items()},
        "optimizer": kind_of(ready.optimizer),
        "state": ready.optimizer.state_dict()["state"],
    }
    write(ready.settings.place, Saved(**held))
