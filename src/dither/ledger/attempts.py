"""Attempts at a run: one charge pays for its steps, and each is claimed in the book before
it reads anything (rule R24).

Anyone who resumes a run that stopped makes a new attempt. The old one is treated as a
failure if it had not ended (rule R5), and can claim nothing more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dither.errors import LedgerError
from dither.ledger import clock
from dither.ledger.account import Account, waits
from dither.ledger.facts import RunFacts
from dither.ledger.receipt import Receipt, check_text, receipt_of
from dither.ledger.tables import LINES, entries, load, run_of
from dither.ledger.transitions import Refusal

if TYPE_CHECKING:
    from dither.ledger.facts import Facts
    from dither.ledger.store import Run

__all__ = ["Attempt", "Pinned", "charged", "check_process", "is_stored", "standing_of"]

FAILED = "the run was resumed before this attempt had ended"


@dataclass(frozen=True)
class Pinned:
    """What a charge pins down of a run: how many steps it has, and the hash of all else
    that was declared (noise of each step, sampling, clipping, model, data).
    """

    steps: int
    plan: str

    def to_json(self) -> dict[str, Any]:
        return {"steps": self.steps, "plan": self.plan}


@dataclass(frozen=True)
class Attempt:
    """One process at work on a run. `number` is the line that began it: the charge, or
    the one by which the run was resumed.
    """

    account: Account
    receipt: Receipt
    number: int
    process: int = field(default_factory=os.getpid, repr=False, compare=False)

    @classmethod
    def first(cls, account: Account, receipt: Receipt) -> Attempt:
        """The attempt of the process that made the charge."""
        return cls(account, receipt, receipt.number)

    @classmethod
    def again(
        cls, account: Account, receipt: Receipt, *, known: int, claimed: int
    ) -> Attempt:
        """Go on with a run that stopped, of which so many steps are claimed.

        An attempt that has not ended is treated as failed now. Only anyone who knows
        its number may end it: another one may be at work until its deadline.
        """
        account._check_asker(receipt.by)
        ledger, now = account._ledger, clock.now()
        account._lapse(now)
        deadline = clock.deadline(
            max(now, ledger.store.latest), account.policy.deadline
        )
        with ledger.changing() as run:
            account._check_known(run, receipt)
            found = _found(run, account, receipt.number)
            _check_alone(run, found, known, claimed)
            facts = load(run, account.name)
            refused = _refused(account, facts, receipt.by)
            if refused is None and waits(run, found.attempt):
                body = {"charge": found.attempt, "reason": FAILED}
                ledger.write(run, "fail", account.name, body)
                # That failure may have been one too many
                facts = load(run, account.name)
                refused = _refused(account, facts, receipt.by)
            number = 0
            if refused is None:
                begun = {"charge": receipt.number, "deadline": deadline}
                # No charge can have such a name: those hold no blanks
                begun |= {"id": f"run {receipt.number}"}
                number = ledger.write(run, "resume", account.name, begun).seq
        account._refuse(refused, facts, receipt.by, None)
        return cls(account, receipt, number)

    def claim(self, first: int, last: int) -> None:
        """Take steps, numbered from 1: the next ones, and never again. Durable when this
        returns, so read only then.
        """
        check_process(self.process)
        account, number = self.account, self.receipt.number
        body = {
            "charge": number,
            "attempt": self.number,
            "first": first,
            "last": last,
        }
        with account._ledger.changing() as run:
            self._check_mine(run)
            facts = load(run, account.name)
            refused = account._barred(facts, self.receipt.by)
            account._refuse(refused, facts, self.receipt.by, None)
            account._ledger.write(run, "claim", account.name, body)

    def _check_mine(self, run: Run) -> None:
        found = _found(run, self.account, self.receipt.number)
        if found.attempt != self.number:
            raise LedgerError(
                "another process has resumed this run, so it ends here; wait for that "
                "process, which runs the steps that were not claimed here"
            )

    def store(self, key: str, release: str) -> None:
        """Keep what came out, and settle this attempt, in one step."""
        check_process(self.process)
        check_text("key", key, needed=True)
        account = self.account
        with account._ledger.changing() as run:
            self._check_mine(run)
            account._ledger.keep(run, account.name, self.receipt.number, key, release)
            self._end(run, "settle", {})

    @contextmanager
    def going_on(self) -> Iterator[Receipt]:
        """Run what is inside; a failure is counted, as `spending` does."""
        try:
            yield self.receipt
        except BaseException as error:
            with self.account._ledger.changing() as run:
                self._end(run, "fail", {"reason": type(error).__name__})
            raise
        with self.account._ledger.changing() as run:
            self._end(run, "settle", {})

    def _end(self, run: Run, kind: str, more: dict[str, Any]) -> None:
        if waits(run, self.number):
            body = {"charge": self.number, **more}
            self.account._ledger.write(run, kind, self.account.name, body)


def check_process(began: int) -> None:
    """Refuse to continue in a process that was forked off the one which began a run:
    both would answer the same steps, each with noise of its own.
    """
    if os.getpid() != began:
        raise LedgerError(
            "a run continues only in the process that began it, and this process was "
            "forked from that one; end this process, and do not fork during training"
        )


def charged(account: Account, number: int, head: str) -> Receipt | None:
    """The receipt of a charge that declared a run, by its number and hash; None if this
    book has no such charge to this account.
    """
    where = "seq = ? AND account = ? AND kind = 'charge' AND hash = ?"
    with account._ledger.store.reading() as run:
        rows = run(f"{LINES} WHERE {where}", (number, account.name, head))
    found = next(iter(entries(rows)), None)
    if found is None or "run" not in found.body:
        return None
    return receipt_of(found, account.place)


def standing_of(account: Account, receipt: Receipt) -> RunFacts:
    """Number of claimed steps of a run, and who claimed them. Nothing is changed."""
    with account._ledger.store.reading() as run:
        return _found(run, account, receipt.number)


def is_stored(account: Account, key: str) -> bool:
    """Whether something came out under this key."""
    where = "account = ? AND name = ?"
    with account._ledger.store.reading() as run:
        return bool(run(f"SELECT 1 FROM replay WHERE {where}", (account.name, key)))


def _found(run: Run, account: Account, number: int) -> RunFacts:
    found = run_of(run, account.name, number)
    if found is None:
        raise LedgerError(
            f"the charge {number} does not pay for a run; pass the receipt of a run"
        )
    return found


def _check_alone(run: Run, found: RunFacts, known: int, claimed: int) -> None:
    if found.attempt != known and waits(run, found.attempt):
        rows = run("SELECT deadline FROM pending WHERE seq = ?", (found.attempt,))
        raise LedgerError(
            "another process is running this run; if that process crashed, wait until "
            f"{rows[0][0][:19]} (UTC), or use the checkpoint that it wrote"
        )
    if found.claimed != claimed:
        raise LedgerError(
            "another process has resumed this run just now; check its remaining steps, "
            "and try again"
        )


def _refused(account: Account, facts: Facts, by: str | None) -> Refusal | None:
    if facts.accounts[account.name].written_off:
        return Refusal.WRITTEN_OFF
    return account._barred(facts, by)
