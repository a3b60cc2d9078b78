"""The state of an account: the remaining budget, the charges, the stored answers."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from dither.errors import AccountFrozen, ArgumentError, BudgetExceeded, LedgerError
from dither.ledger.curator import Curated
from dither.ledger.left import Remaining
from dither.ledger.receipt import Receipt, receipt_of
from dither.ledger.state import Price, State
from dither.ledger.tables import LINES, PENDING, entries
from dither.ledger.transitions import Refusal, refusal, standing
from dither.privacy import Guarantee, Unit

if TYPE_CHECKING:
    from dither.explain.report import Report
    from dither.ledger.entry import Entry
    from dither.ledger.facts import Facts
    from dither.ledger.store import Run

__all__ = ["Balance", "named"]

POINTS = 48
"""Number of moments in a burn-down."""

NAME = re.compile(r"[A-Za-z0-9.:-]{1,200}")
SPENT = ("pure_spent", "loss_spent", "delta_spent", "impure")


class Balance(Curated):
    """An account, as far as one looks at it. Nothing here spends."""

    _cost: Callable[[Guarantee], Price]

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

    def _check(self, guarantee: Guarantee) -> None:
        if not isinstance(guarantee, Guarantee):
            raise ArgumentError(
                "guarantee",
                f"must be a guarantee, not {type(guarantee).__name__}; pass one such as "
                "PureDP(0.5)",
            )
        self._check_unit(guarantee)

    def _barred(self, facts: Facts, by: str | None) -> Refusal | None:
        """Whether nobody, or not this analyst, may have anything from the account now."""
        return (
            Refusal.FROZEN
            if facts.accounts[self.name].frozen
            else standing(facts.of(self.name), by)
        )

    def _check_asker(self, by: str | None) -> None:
        """Anyone who opened the book is its curator, and needs no name. A process
        forked from that one is not.
        """
        if by is None and os.getpid() != self._ledger.opened_in and self.shares():
            raise BudgetExceeded(
                f"the account {self.name} has shares, so a charge must name its analyst; "
                'pass its name, such as by="ana". Nothing was spent.'
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
                    f"the account {self.name} is frozen ({account.frozen}); ask its curator to "
                    "check the ledger and thaw the account"
                )
            case Refusal.STOPPED:
                reason = facts.analysts[self.name, by or ""].frozen
                raise AccountFrozen(
                    f"{by} is stopped in the account {self.name} ({reason}); ask its curator "
                    f"to check the ledger and thaw {by}"
                )
            case Refusal.NO_SHARE:
                raise BudgetExceeded(
                    f"{by} does not have a share of the account {self.name}; ask its curator "
                    "for one. Nothing was spent."
                )
            case Refusal.WRITTEN_OFF:
                raise BudgetExceeded(
                    f"the account {self.name} was written off, which cannot be undone. "
                    "Nothing was spent."
                )
        assert guarantee is not None
        into = f"the share of {by}" if why is Refusal.SHARE_SPENT else ""
        raise BudgetExceeded(self._remaining(facts, by).refusal(guarantee, into))

    def charged(self, once: str) -> Receipt | None:
        """The receipt of the charge with this name, if it was made: for a client that
        lost the answer.
        """
        with self._ledger.store.reading() as run:
            found = self._find(run, named(once))
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

    def _check_known(self, run: Run, receipt: Receipt) -> None:
        rows = run(
            "SELECT kind, account, hash FROM log WHERE seq = ?", (receipt.number,)
        )
        if rows != [("charge", self.name, receipt.head)]:
            raise LedgerError(
                f"{receipt} does not belong to a charge of the account {self.name}; pass "
                "a receipt that this account gave"
            )

    def holds(self, receipt: Receipt) -> bool:
        """Whether a receipt is of a charge to this account, in this book."""
        self._check_receipt(receipt)
        select = "SELECT kind, account, hash, body FROM log WHERE seq = ?"
        with self._ledger.store.reading() as run:
            rows = run(select, (receipt.number,))
        if not rows or rows[0][:3] != ("charge", self.name, receipt.head):
            return False
        # The hash stands for the line, not for the receipt, whose guarantee could be
        # made up.
        return bool(json.loads(rows[0][3])["guarantee"] == receipt.promise())

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
        """The remaining budget: `.share`, `.epsilon`, `.counts(error=10)`."""
        return self._remaining(self._there())

    def remaining_for(self, by: str | None) -> Remaining:
        """The remaining budget of an analyst."""
        return self._remaining(self._there(), by)

    def _there(self) -> Facts:
        facts = self._facts()
        if self.name not in facts.accounts:
            raise LedgerError(
                f"the account {self.name} is no longer in {self.place}; open the ledger "
                "again"
            )
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

    def report(self) -> Report:
        """The page that explains this account: what it promises, its burn-down, all
        charges, what is left, and how to verify it. `save("report.html")` writes it.
        """
        made: Report = import_module("dither.explain.report").of_account(self)
        return made

    def __str__(self) -> str:
        facts = self._there()
        account, left = facts.accounts[self.name], self._remaining(facts)
        charges = "1 charge" if account.charges == 1 else f"{account.charges:,} charges"
        bar = f"{'█' * int(20 * left.metered):·<20}"
        lines = [f"{self.name}: {bar} after {charges}"]
        if account.frozen:
            lines.append(f"frozen: {account.frozen}")
        lines += [
            f"remaining: {left.in_words()}",
            f"guarantee: {self.terms.total}, for all charges together",
            f"ledger: {self.place}, {self.terms.accounting} accounting",
        ]
        if account.period > 1:
            lines.append(
                f"period: {account.period}; people whose data was here in all periods "
                f"have this guarantee {account.period} times"
            )
        if self._promise is not None:
            lines.append(
                "note: the first charge opens the account; until then you can declare "
                "other terms"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        left = self.remaining.share_in_words
        return f"<{type(self).__name__} {self.name}: {left} remains>"

    def _repr_html_(self) -> str:
        from dither.ledger.picture import burn_down

        return burn_down(self)


def named(once: str) -> str:
    """The caller's name for a charge. The log is searched for it with LIKE, so it holds
    no character that LIKE or JSON reads otherwise.
    """
    if not isinstance(once, str) or not NAME.fullmatch(once):
        raise ArgumentError(
            "once",
            "must be a name of at most 200 letters (A-Z), digits, dots, colons and "
            "hyphens; pass for example 'run-7'",
        )
    return once


def _check_release(run: Run, key: str, release: str, line: int) -> None:
    """A stored release must be the one whose hash is in the log."""
    rows = run("SELECT kind, body FROM log WHERE seq = ?", (line,))
    body = json.loads(rows[0][1]) if rows and rows[0][0] == "store" else {}
    if (body.get("key"), body.get("sha256")) != (
        key,
        hashlib.sha256(release.encode()).hexdigest(),
    ):
        raise LedgerError(
            "the stored release differs from the one that was charged, so the ledger "
            "was changed; restore it from a backup"
        )
