"""Runs that can be gone on with: their steps are claimed in the book a block at a time,
and a checkpoint is written after each block (rule R24).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError
from dither.learn.checkpoints import Saved, kind_of, read, write
from dither.learn.gradients.oracle import trained
from dither.learn.history import Epoch
from dither.learn.pinning import noises_in, pinned
from dither.learn.planning import Paid as PaidRun
from dither.learn.settings import Settings
from dither.learn.source import Source
from dither.ledger import Account, Attempt, Receipt
from dither.ledger.attempts import charged, check_process, is_stored, standing_of
from dither.ledger.facts import RunFacts
from dither.progress import working
from dither.question import Paid, payer
from dither.release import Source as Promised

if TYPE_CHECKING:
    from dither.learn.preparing import Ready

__all__ = ["Resumed", "account_of", "blocks", "keep", "key_of", "paying", "resumed"]


@dataclass(frozen=True)
class Resumed:
    """Where a run goes on: what its checkpoint holds, who paid, and what the book says
    of its steps.
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
            "needs an account, whose book counts the steps; pass budget=",
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
            f"is of a run that {account.name} in {account.place} has not paid for; pass "
            "the account that did",
        )
    found = Resumed(saved, account, receipt, standing_of(account, receipt))
    _check(found, settings.by)
    return found


def _check(found: Resumed, by: str | None) -> None:
    saved, run = found.saved, found.run
    if pinned(saved.pinned).to_json() != {"steps": run.steps, "plan": run.plan}:
        raise ArgumentError(
            "resume", "is of another run than was paid for; get a good copy of it"
        )
    if not 0 <= saved.lost <= saved.done <= run.claimed:
        raise ArgumentError(
            "resume",
            "is ahead of the book, which may be an older copy; pass the newest book",
        )
    if by != found.receipt.by:
        raise ArgumentError("by", "is not who began the run; pass the same name")
    key = key_of(found.receipt, run.attempt)
    if not found.left and is_stored(found.account, key):
        why = "is finished"
        if run.ended:
            why = "a renewal of the account, or a copy of its book, has ended"
        raise ArgumentError(
            "resume",
            f"is of a run that {why}: no step is left, and its weights came out; "
            "leave resume out for a new run and a new charge",
        )


def key_of(receipt: Receipt, attempt: int) -> str:
    """Under what the hash of weights is noted: they come out once for each attempt."""
    key = f"training {receipt.number}, weights"
    return key if attempt == receipt.number else f"{key} of {attempt}"


@contextmanager
def paying(ready: Ready) -> Iterator[tuple[Paid, Attempt | None]]:
    """Charge a run before it reads anything; or go on with one that is paid for."""
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
