"""One budget for one dataset and unit: charge before reading, settle after."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError, LedgerError
from dither.ledger import clock
from dither.ledger.balance import Balance, named
from dither.ledger.entry import canonical
from dither.ledger.policy import Policy
from dither.ledger.receipt import Receipt, check_text, receipt_of
from dither.ledger.state import Price, State
from dither.ledger.store import Charge
from dither.ledger.tables import load
from dither.ledger.terms import Terms
from dither.ledger.transitions import refusal
from dither.ledger.wire import to_json
from dither.privacy import Composed, Guarantee

if TYPE_CHECKING:
    from dither.ledger.attempts import Pinned
    from dither.ledger.entry import Entry
    from dither.ledger.ledger import Ledger
    from dither.ledger.promise import Promise
    from dither.ledger.store import Run

__all__ = ["Account", "Receipt", "waits"]


class Account(Balance):
    """A budget in a book. Every charge is durable before it returns; a refused one
    spends nothing.
    """

    def __init__(
        self,
        ledger: Ledger,
        name: str,
        terms: Terms,
        policy: Policy,
        rules: str | None = None,
        promise: Promise | None = None,
    ) -> None:
        self.name, self.terms, self.policy = name, terms, policy
        # what the first charge opens the account with; None once it is open
        self._promise = promise
        self._ledger, self._rules = (
            ledger,
            canonical(policy.to_json()) if rules is None else rules,
        )
        self._cost = lru_cache(maxsize=256)(terms.cost)
        self._json = lru_cache(maxsize=256)(to_json)

    def charge(
        self,
        guarantee: Guarantee,
        *,
        by: str | None = None,
        purpose: str = "",
        within: float | None = None,
        once: str | None = None,
        run: Pinned | None = None,
    ) -> Receipt:
        """Spend a guarantee, or raise `BudgetExceeded` and spend nothing.

        Settle the receipt when the answer is given: if that does not happen `within` so
        many seconds (the policy's deadline if not given), the charge counts as a
        failure. `once` is a name of the caller's for this charge: asked again under
        that name, it gives the same receipt and spends nothing. `run` declares steps
        that are claimed one after the other (`Attempt`).
        """
        self._check(guarantee)
        return self._charge(
            self._cost(guarantee),
            self._json(guarantee),
            guarantee,
            by,
            purpose,
            within,
            once,
            run,
        )

    def charge_disjoint(
        self,
        guarantees: Sequence[Guarantee],
        *,
        by: str | None = None,
        purpose: str = "",
    ) -> Receipt:
        """Spend what answers about disjoint keys of *one* plan cost together (rule
        R13); separate questions add up.
        """
        for guarantee in guarantees:
            self._check(guarantee)
        price = self.terms.disjoint(guarantees)
        body = {
            "kind": "disjoint",
            "parts": [to_json(guarantee) for guarantee in guarantees],
        }
        return self._charge(price, body, Composed(guarantees), by, purpose, None, None)

    def _charge(
        self,
        price: Price,
        promise: dict[str, Any],
        guarantee: Guarantee,
        by: str | None,
        purpose: str,
        within: float | None,
        once: str | None,
        run: Pinned | None = None,
    ) -> Receipt:
        self.policy.check(price, self.terms)
        check_text("purpose", purpose)
        if by is not None:
            check_text("by", by, needed=True)
        self._check_asker(by)
        asked = self._asked(price, promise, by, purpose, within, once)
        if run is not None:
            asked = replace(asked, body={**asked.body, "run": run.to_json()})
        # Only the ordinary way opens an account, or finds out that another process
        # opened it with other terms; and it checks what a run declares.
        quick = once is None and run is None and self._promise is None
        made = self._ledger.charge(asked) if quick else None
        if made is None:
            made = self._charge_slowly(asked, price, guarantee, again=once is not None)
        entry, states = made
        taken = self._remaining_of(states).taken(price) if states else None
        return receipt_of(entry, self.place, guarantee, taken)

    def _asked(
        self,
        price: Price,
        promise: dict[str, Any],
        by: str | None,
        purpose: str,
        within: float | None,
        once: str | None,
    ) -> Charge:
        now = clock.now()
        # From the latest time in the book: a process whose clock is behind would be
        # late before it begins.
        deadline = clock.deadline(
            max(now, self._ledger.store.latest), _seconds(within, self.policy.deadline)
        )
        name = self._ledger.new_name() if once is None else named(once)
        body = {
            "by": by,
            "cost": [price.pure, price.loss, price.delta],
            "deadline": deadline,
            "guarantee": promise,
            "id": name,
            "purpose": purpose,
        }
        return Charge(
            self.name, by, _units(price), now, deadline, name, body, self._rules
        )

    def _charge_slowly(
        self, asked: Charge, price: Price, guarantee: Guarantee, *, again: bool
    ) -> tuple[Entry, tuple[State, ...]]:
        """The ordinary way: it says why a charge is refused, and knows analysts that
        are new.
        """
        self._lapse(asked.time)
        with self._opening() as run:
            facts = load(run, self.name)
            if again and (found := self._find(run, asked.id)) is not None:
                self._refuse(self._barred(facts, asked.by), facts, asked.by, guarantee)
                return _the_same(run, found, asked), ()
            self._follow(facts.accounts[self.name].policy, price)
            self._refuse(
                refusal(facts, self.name, asked.by, price), facts, asked.by, guarantee
            )
            states = [state.plus(price) for state in self._states(facts, asked.by)]
            body = {**asked.body, "spent": list(states[0].spent)}
            return self._ledger.write(run, "charge", self.name, body), tuple(states)

    def _follow(self, policy: str, price: Price) -> None:
        """The policy may have been amended since this account was opened here."""
        if policy != self._rules:
            self._rules, self.policy = policy, Policy.of(json.loads(policy))
            self.policy.check(price, self.terms)

    def _lapse(self, now: str) -> None:
        """Count the charges that were not settled in time: their process may have died
        on what it read (rule R5).
        """
        overdue = (
            "SELECT seq FROM pending WHERE account = ? AND deadline <= ? ORDER BY seq"
        )
        with self._ledger.store.reading() as run:
            if not run(f"{overdue} LIMIT 1", (self.name, now)):
                return
        with self._ledger.changing() as run:
            for (seq,) in run(overdue, (self.name, now)):
                self._ledger.write(run, "lapse", self.name, {"charge": seq})

    @contextmanager
    def spending(
        self,
        guarantee: Guarantee,
        *,
        by: str | None = None,
        purpose: str = "",
        run: Pinned | None = None,
    ) -> Iterator[Receipt]:
        """Charge, run what is inside, settle. The charge stays whatever happens;
        failures inside are counted.
        """
        receipt = self.charge(guarantee, by=by, purpose=purpose, run=run)
        try:
            yield receipt
        except BaseException as error:
            self.fail(receipt, type(error).__name__)
            raise
        self.settle(receipt)

    def settle(self, receipt: Receipt) -> None:
        """Note that the answer was given. A charge that is settled, has failed or has
        lapsed stays as it is.
        """
        self._end(receipt, "settle", {"charge": receipt.number})

    def fail(self, receipt: Receipt, reason: str) -> None:
        """Note that there was no answer after data was read. Too many of these stop
        whoever asked (rule R5).
        """
        check_text("reason", reason, needed=True)
        self._end(receipt, "fail", {"charge": receipt.number, "reason": reason})

    def _end(self, receipt: Receipt, kind: str, body: dict[str, Any]) -> None:
        """End the waiting of a charge, if it still waits; refused if the book has no
        such charge.
        """
        self._check_receipt(receipt)
        with self._ledger.store.reading() as run:
            self._check_known(run, receipt)
            if not waits(run, receipt.number):
                return
        with self._ledger.changing() as run:
            if waits(run, receipt.number):  # another thread may have been faster
                self._ledger.write(run, kind, self.name, body)

    def store(self, receipt: Receipt, key: str, release: str) -> None:
        """Keep a release for replay, and settle its charge. It is durable when this
        returns, so show it only then.
        """
        self._check_receipt(receipt)
        check_text("key", key, needed=True)
        check_text("release", release)
        with self._ledger.changing() as run:
            self._check_known(run, receipt)
            self._ledger.keep(run, self.name, receipt.number, key, release)
            if waits(run, receipt.number):
                self._ledger.write(run, "settle", self.name, {"charge": receipt.number})


def waits(run: Run, number: int) -> bool:
    """Whether the charge, or the attempt at a run, of this line waits for its end."""
    return bool(run("SELECT 1 FROM pending WHERE seq = ?", (number,)))


def _units(price: Price) -> tuple[int, int, int, int]:
    return price.pure or 0, price.loss, price.delta, int(price.pure is None)


def _seconds(within: float | None, default: float) -> float:
    if within is None:
        return default
    if (
        isinstance(within, bool)
        or not isinstance(within, int | float)
        or not 0 < within < 1e9
    ):
        raise ArgumentError(
            "within",
            "must be a positive number of seconds below 1e9; pass for example 600",
        )
    return within


def _the_same(run: Run, found: Entry, asked: Charge) -> Entry:
    """A charge that was made under this name and still waits for its answer: it pays
    for one, and no more.
    """
    if not run("SELECT 1 FROM pending WHERE seq = ?", (found.seq,)):
        raise LedgerError(
            f"the charge {asked.id!r} has paid for its answer, or has failed; call "
            f"charged({asked.id!r}) for its receipt, or pass another name for another "
            "answer"
        )
    same = ("guarantee", "cost", "by", "run")
    if any(found.body.get(name) != asked.body.get(name) for name in same):
        raise LedgerError(
            f"the name {asked.id!r} belongs to another charge; pass another name"
        )
    return found
