"""One budget for one dataset and unit: charge before reading, settle after."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dither.errors import AccountFrozen, ArgumentError, BudgetExceeded, LedgerError
from dither.ledger import clock
from dither.ledger.curator import Curated
from dither.ledger.entry import canonical
from dither.ledger.left import Remaining
from dither.ledger.policy import Policy
from dither.ledger.receipt import Receipt, check_text, receipt_of
from dither.ledger.state import Price, State
from dither.ledger.store import Charge
from dither.ledger.tables import LINES, PENDING, entries, load
from dither.ledger.terms import Terms
from dither.ledger.transitions import Refusal, refusal, standing
from dither.ledger.wire import to_json
from dither.privacy import Composed, Guarantee, Unit

if TYPE_CHECKING:
    from dither.ledger.entry import Entry
    from dither.ledger.facts import Facts
    from dither.ledger.ledger import Ledger
    from dither.ledger.promise import Promise
    from dither.ledger.store import Run

__all__ = ["Account", "Receipt"]

POINTS = 48
"""How many moments a burn-down shows."""


class Account(Curated):
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

    @property
    def unit(self) -> Unit:
        """Whom the promise protects."""
        return self.terms.unit

    @property
    def epsilon(self) -> float:
        """The total ε."""
        return self.terms.total.epsilon

    @property
    def place(self) -> str:
        """Where the book is."""
        return self._ledger.store.place

    def charge(
        self,
        guarantee: Guarantee,
        *,
        by: str | None = None,
        purpose: str = "",
        within: float | None = None,
        once: str | None = None,
    ) -> Receipt:
        """Spend a guarantee, or raise `BudgetExceeded` and spend nothing.

        Settle the receipt when the answer is given: if that does not happen `within` so
        many seconds (the policy's deadline if not given), the charge counts as a
        failure. `once` is a name of the caller's for this charge: asked again under
        that name, it gives the same receipt and spends nothing.
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

    def _check(self, guarantee: Guarantee) -> None:
        if not isinstance(guarantee, Guarantee):
            raise ArgumentError(
                "guarantee",
                f"must be one, such as PureDP(0.5), not {type(guarantee).__name__}",
            )
        self._check_unit(guarantee)

    def _charge(
        self,
        price: Price,
        promise: dict[str, Any],
        guarantee: Guarantee,
        by: str | None,
        purpose: str,
        within: float | None,
        once: str | None,
    ) -> Receipt:
        self.policy.check(price, self.terms)
        check_text("purpose", purpose)
        if by is not None:
            check_text("by", by, needed=True)
        self._check_asker(by)
        asked = self._asked(price, promise, by, purpose, within, once)
        # Only the ordinary way opens an account, or finds out that another process
        # opened it with other terms.
        quick = once is None and self._promise is None
        entry = self._ledger.charge(asked) if quick else None
        if entry is None:
            entry = self._charge_slowly(asked, price, guarantee, again=once is not None)
        return receipt_of(entry, self.place, guarantee)

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
        name = self._ledger.new_name() if once is None else _named(once)
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
    ) -> Entry:
        """The ordinary way: it says why a charge is refused, and knows analysts that
        are new.
        """
        self._lapse(asked.time)
        with self._opening() as run:
            facts = load(run, self.name)
            if again and (found := self._find(run, asked.id)) is not None:
                self._refuse(self._barred(facts, asked.by), facts, asked.by, guarantee)
                return _the_same(run, found, asked)
            self._follow(facts.accounts[self.name].policy, price)
            self._refuse(
                refusal(facts, self.name, asked.by, price), facts, asked.by, guarantee
            )
            spent = facts.accounts[self.name].state.plus(price).spent
            return self._ledger.write(
                run, "charge", self.name, {**asked.body, "spent": list(spent)}
            )

    def _follow(self, policy: str, price: Price) -> None:
        """The policy may have been amended since this account was opened here."""
        if policy != self._rules:
            self._rules, self.policy = policy, Policy.of(json.loads(policy))
            self.policy.check(price, self.terms)

    def _barred(self, facts: Facts, by: str | None) -> Refusal | None:
        """Whether nobody, or not this analyst, may have anything from the account now."""
        return (
            Refusal.FROZEN
            if facts.accounts[self.name].frozen
            else standing(facts.of(self.name), by)
        )

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

    def _check_asker(self, by: str | None) -> None:
        """Whoever opened the book is its curator, and needs no name. A process forked
        from that one is not.
        """
        if by is None and os.getpid() != self._ledger.opened_in and self.shares():
            raise BudgetExceeded(
                f"{self.name} has shares: say who asks (by=). Nothing was spent."
            )

    def _refuse(
        self,
        why: Refusal | None,
        facts: Facts,
        by: str | None,
        guarantee: Guarantee | None,
    ) -> None:
        account = facts.accounts.get(self.name)
        match why:
            case None:
                return
            case Refusal.FROZEN:
                assert account is not None
                raise AccountFrozen(
                    f"{self.name} is frozen ({account.frozen}); its curator can "
                    "look "
                    "at it and thaw it"
                )
            case Refusal.STOPPED:
                reason = facts.analysts[self.name, by or ""].frozen
                raise AccountFrozen(
                    f"{by} is stopped in {self.name} ({reason}); its curator can "
                    "look "
                    "at it and thaw it"
                )
            case Refusal.NO_SHARE:
                raise BudgetExceeded(
                    f"{by} has no share of {self.name}; its curator can give one. "
                    "Nothing was spent."
                )
            case Refusal.WRITTEN_OFF:
                raise BudgetExceeded(
                    f"{self.name} was written off, which is final. Nothing was spent."
                )
        assert guarantee is not None
        into = f"the share of {by}" if why is Refusal.SHARE_SPENT else ""
        raise BudgetExceeded(self._remaining(facts, by).refusal(guarantee, into))

    def charged(self, once: str) -> Receipt | None:
        """The receipt of the charge with this name, if it was made: for a client that
        lost the answer.
        """
        with self._ledger.store.reading() as run:
            found = self._find(run, _named(once))
        return None if found is None else receipt_of(found, self.place)

    def _find(self, run: Run, name: str) -> Entry | None:
        rows = run(
            f"SELECT {PENDING} FROM pending WHERE account = ? AND id = ?",
            (self.name, name),
        )
        where = "seq = ?" if rows else "account = ? AND kind = 'charge' AND body LIKE ?"
        values = (rows[0][0],) if rows else (self.name, f'%"id":"{name}"%')
        found = entries(run(f"{LINES} WHERE {where}", values))
        return next((entry for entry in found if entry.body.get("id") == name), None)

    @contextmanager
    def spending(
        self, guarantee: Guarantee, *, by: str | None = None, purpose: str = ""
    ) -> Iterator[Receipt]:
        """Charge, run what is inside, settle. The charge stays whatever happens;
        failures inside are counted.
        """
        receipt = self.charge(guarantee, by=by, purpose=purpose)
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
            if not self._waits(run, receipt):
                return
        with self._ledger.changing() as run:
            if self._waits(run, receipt):  # another thread may have been faster
                self._ledger.write(run, kind, self.name, body)

    def _waits(self, run: Run, receipt: Receipt) -> bool:
        return bool(run("SELECT 1 FROM pending WHERE seq = ?", (receipt.number,)))

    def _check_known(self, run: Run, receipt: Receipt) -> None:
        rows = run(
            "SELECT kind, account, hash FROM log WHERE seq = ?", (receipt.number,)
        )
        if rows != [("charge", self.name, receipt.head)]:
            raise LedgerError(f"{receipt} is not of a charge in this book")

    def holds(self, receipt: Receipt) -> bool:
        """Whether a receipt is of a charge to this account, in this book."""
        self._check_receipt(receipt)
        with self._ledger.store.reading() as run:
            try:
                self._check_known(run, receipt)
            except LedgerError:
                return False
        return True

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
            if self._waits(run, receipt):
                self._ledger.write(run, "settle", self.name, {"charge": receipt.number})

    def stored(self, key: str, *, by: str | None = None) -> str | None:
        """The release that was stored under a replay key, if there is one; it costs
        nothing (rule R19).

        Whoever may not charge may not replay either, but for what is left: the account
        is not frozen, and `by` is not stopped and has a share if any analyst has one.
        """
        self._check_asker(by)
        with self._ledger.store.reading() as run:
            rows = run(
                "SELECT body, line FROM replay WHERE account = ? AND name = ?",
                (self.name, key),
            )
            if not rows:
                return None
            facts = self._told(run)
            self._refuse(self._barred(facts, by), facts, by, None)
            _check_release(run, key, *rows[0])
        return str(rows[0][0])

    def affords(self, guarantee: Guarantee, *, by: str | None = None) -> bool:
        """Whether a charge would be granted now; nothing is spent."""
        self._check(guarantee)
        price = self._cost(guarantee)
        try:
            self.policy.check(price, self.terms)
            self._check_asker(by)
        except BudgetExceeded:
            return False
        return refusal(self._facts(), self.name, by, price) is None

    @property
    def remaining(self) -> Remaining:
        """What can still be asked: `.share`, `.epsilon`, `.counts(error=10)`."""
        return self._remaining(self._there())

    def remaining_for(self, by: str | None) -> Remaining:
        """What an analyst can still ask."""
        return self._remaining(self._there(), by)

    def _there(self) -> Facts:
        facts = self._facts()
        if self.name not in facts.accounts:
            raise LedgerError(f"the account {self.name} is no longer in {self.place}")
        return facts

    @property
    def spent(self) -> float:
        """The share of the account that is spent."""
        return 1 - self.remaining.share

    @property
    def charges(self) -> int:
        """How many charges were made, in all periods."""
        return self._there().accounts[self.name].charges

    @property
    def frozen(self) -> str:
        """Why the account grants nothing; empty if it does."""
        return self._there().accounts[self.name].frozen

    def history(self) -> tuple[Receipt, ...]:
        """All charges, oldest first."""
        found = self._ledger.entries(account=self.name, kind="charge")
        return tuple(receipt_of(entry, self.place) for entry in found)

    def burn_down(self, points: int = POINTS) -> list[float]:
        """The share left at the beginning of this period, at some moments spread over
        it, and now.
        """
        with self._ledger.store.reading() as run:
            account = self._told(run).accounts[self.name]
            states = [
                account.state.emptied(),
                *self._moments(run, account.began, account.state, points),
            ]
        if states[-1] != account.state:
            states.append(account.state)
        return [Remaining(self.terms, state).share for state in states]

    def _moments(
        self, run: Run, began: int, now: State, points: int
    ) -> Iterator[State]:
        """What was spent after some of the charges; each says so itself."""
        last = (
            run("SELECT max(seq) FROM log WHERE account = ?", (self.name,))[0][0]
            or began
        )
        seen = began
        for point in range(points):
            target = max(seen + 1, began + (last - began) * point // points)
            where = "account = ? AND seq >= ? AND kind = 'charge' ORDER BY seq LIMIT 1"
            rows = run(f"SELECT seq, body FROM log WHERE {where}", (self.name, target))
            if not rows:
                return
            seen, spent = rows[0][0], json.loads(rows[0][1]).get("spent")
            if spent is not None:
                yield replace(now.emptied(), **dict(zip(SPENT, spent, strict=True)))

    def __str__(self) -> str:
        facts = self._there()
        account, left = facts.accounts[self.name], self._remaining(facts)
        bar = "█" * int(20 * (1 - left.share))
        lines = [
            (
                f"{self.name}: {self.terms.total}, {self.terms.accounting} "
                f"accounting ({self.place})"
            ),
            f"{bar:·<20} {1 - left.share:.0%} spent, charges: "
            f"{account.charges}; {left.in_words()}",
        ]
        if account.period > 1:
            times = f"{account.period} times over"
            lines.append(
                f"period {account.period}: whoever was there in all periods was "
                f"promised this {times}"
            )
        if self._promise is not None:
            lines.append(
                "not open yet: its first charge opens it, and until then it can "
                "be declared otherwise"
            )
        return "\n".join(
            [*lines, *([f"frozen: {account.frozen}"] if account.frozen else [])]
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.spent:.0%} spent>"

    def _repr_html_(self) -> str:
        from dither.ledger.picture import burn_down

        return burn_down(self)


NAME = re.compile(r"[A-Za-z0-9.:-]{1,200}")
SPENT = ("pure_spent", "loss_spent", "delta_spent", "impure")


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
            "within", "must be the seconds that the answer may take, such as 600"
        )
    return within


def _named(once: str) -> str:
    if not isinstance(once, str) or not NAME.fullmatch(once):
        raise ArgumentError(
            "once", "must be a short name of plain letters, digits, dots and hyphens"
        )
    return once


def _the_same(run: Run, found: Entry, asked: Charge) -> Entry:
    """A charge that was made under this name and still waits for its answer: it pays
    for one, and no more.
    """
    if not run("SELECT 1 FROM pending WHERE seq = ?", (found.seq,)):
        raise LedgerError(
            f"the charge {asked.id!r} was made and is settled, or has failed; "
            "`charged` gives its receipt, and another "
            "answer needs another name"
        )
    if any(
        found.body[name] != asked.body[name] for name in ("guarantee", "cost", "by")
    ):
        raise LedgerError(
            f"another charge was made under the name {asked.id!r}; choose a new name"
        )
    return found


def _check_release(run: Run, key: str, release: str, line: int) -> None:
    """A stored release must be the one whose hash is in the log."""
    rows = run("SELECT kind, body FROM log WHERE seq = ?", (line,))
    body = json.loads(rows[0][1]) if rows and rows[0][0] == "store" else {}
    if (body.get("key"), body.get("sha256")) != (
        key,
        hashlib.sha256(release.encode()).hexdigest(),
    ):
        raise LedgerError(
            "the stored release is not the one that was given: the book was changed"
        )
