"""The curator's operations on an account: shares, freezing, recovering what a restored
book lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dither.errors import ArgumentError, LedgerError, UnitMismatch
from dither.ledger.facts import AccountFacts, AnalystFacts
from dither.ledger.left import Remaining
from dither.ledger.promise import terms_of
from dither.ledger.receipt import Receipt, check_receipt, check_text
from dither.ledger.state import State
from dither.ledger.tables import load
from dither.privacy import ROW, Guarantee, Relation, Unit
from dither.privacy.numbers import fraction, written

if TYPE_CHECKING:
    from dither.ledger.facts import Facts
    from dither.ledger.ledger import Ledger
    from dither.ledger.policy import Policy
    from dither.ledger.promise import Promise
    from dither.ledger.state import Price
    from dither.ledger.store import Run
    from dither.ledger.terms import Terms

__all__ = ["Analyst", "Curated"]

NOTHING = State(0, 0, 0)
"""Share of an analyst without a share of their own, if others have shares."""


@dataclass(frozen=True)
class Analyst:
    """How an analyst stands with an account: her part (None if nothing limits her), and
    what she can still ask.
    """

    name: str
    part: float | None
    charges: int
    failures: int
    frozen: str
    remaining: Remaining


class Curated:
    """An account, as far as its curator manages it."""

    name: str
    terms: Terms
    policy: Policy
    _ledger: Ledger
    _promise: Promise | None

    def _facts(self) -> Facts:
        with self._ledger.store.reading() as run:
            return self._told(run)

    def _told(self, run: Run) -> Facts:
        """The book's entry for the account, as it is or as it would be if the account
        were opened now.
        """
        facts = load(run, self.name)
        if self._promise is None:
            return facts
        if self.name not in facts.accounts:
            return self._promise.foretold(run, self.name)
        self._promise.check(
            self.name, facts.accounts[self.name], self._ledger.store.place
        )
        return facts

    @contextmanager
    def _opening(self) -> Iterator[Run]:
        """A transaction that changes the account; it opens it first if that was not
        done.
        """
        with self._ledger.changing() as run:
            if self._promise is not None:
                self._check_opened(
                    self._ledger.open_account(run, self.name, self._promise)
                )
            yield run
        self._promise = None

    def _check_opened(self, found: AccountFacts) -> None:
        """Refuse to continue if the account was opened with other terms: a price at
        another order is not comparable.
        """
        if terms_of(found) != self.terms:
            place = self._ledger.store.place
            raise LedgerError(
                f"{place}: the account {self.name} was amended after it was opened here; "
                "open it again. Nothing was spent."
            )

    def _change(self, kind: str, body: dict[str, Any]) -> None:
        with self._opening() as run:
            self._ledger.write(run, kind, self.name, body)

    def freeze(self, reason: str, *, analyst: str | None = None) -> None:
        """Grant nothing more until thawed: to anybody, or to one analyst."""
        self._change("freeze", _stated(reason, analyst))

    def thaw(self, reason: str, *, analyst: str | None = None) -> None:
        """The curator has looked: grant charges again, and count failures anew; for the
        account, or for one analyst.
        """
        self._change("thaw", _stated(reason, analyst))

    def write_off(self, reason: str) -> None:
        """Give up what is left, for ever: nothing more can be charged, and no renewal
        or new total changes that.
        """
        self._change("write off", _stated(reason, None))

    def share(self, analyst: str, part: float) -> None:
        """Let an analyst spend at most this part of the account; all together never
        spend more than the account.

        What she has spent in this period counts.
        """
        check_text("analyst", analyst, needed=True)
        exact = written(
            float(fraction("part", part, "pass a share of the account such as 0.25"))
        )
        if not 0 <= exact <= 1:
            raise ArgumentError(
                "part", "must lie from 0 to 1; pass a share of the account such as 0.25"
            )
        with self._opening() as run:
            caps = load(run, self.name).accounts[self.name].state.share_caps(exact)
            body = {"analyst": analyst, "part": str(exact), "caps": caps}
            self._ledger.write(run, "share", self.name, body)

    def shares(self) -> dict[str, float]:
        """The part of the account that each analyst may spend; empty where nobody's is
        limited.
        """
        found = sorted(self._facts().of(self.name).items())
        return {name: float(Fraction(one.part)) for name, one in found if one.part}

    def analysts(self) -> tuple[Analyst, ...]:
        """Everybody who has a share or has asked, and how they stand."""
        facts = self._facts()
        return tuple(
            self._view(facts, name, one)
            for name, one in sorted(facts.of(self.name).items())
        )

    def _view(self, facts: Facts, name: str, one: AnalystFacts) -> Analyst:
        part = float(Fraction(one.part)) if one.part else None
        return Analyst(
            name,
            part,
            one.charges,
            one.failures,
            one.frozen,
            self._remaining(facts, name),
        )

    def _states(self, facts: Facts, by: str | None = None) -> list[State]:
        """The state of the account, and that of the analyst's share if there are
        shares.
        """
        states, analysts = [facts.accounts[self.name].state], facts.of(self.name)
        if by is not None and any(one.part for one in analysts.values()):
            mine = analysts.get(by, AnalystFacts())
            states.append(mine.state if mine.part else NOTHING)
        return states

    def _remaining(self, facts: Facts, by: str | None = None) -> Remaining:
        return self._remaining_of(self._states(facts, by))

    def _remaining_of(self, states: Sequence[State]) -> Remaining:
        return Remaining.of(self.terms, *states, policy=self.policy)

    def recover(self, receipts: Sequence[Receipt]) -> None:
        """Enter charges that a restored book has lost, each once. They count even where
        they exceed the account.
        """
        for receipt in receipts:
            self._check_receipt(receipt)
            for guarantee in (receipt.guarantee, *receipt.disjoint):
                self._check_unit(guarantee)
        with self._opening() as run:
            known = _heads(run, self.name)
            for receipt in receipts:
                if receipt.head not in known:
                    known.add(receipt.head)
                    self._ledger.write(run, "recover", self.name, self._lost(receipt))

    def _check_receipt(self, receipt: Receipt) -> None:
        check_receipt(receipt)
        if receipt.account != self.name:
            raise ArgumentError(
                "receipt",
                f"is for the account {receipt.account}, not for {self.name}; pass it to that "
                "account",
            )

    def _check_unit(self, guarantee: Guarantee) -> None:
        mine, other = self.terms.unit, guarantee.unit
        if other != mine:
            words = (
                f"is for {other}, but the account {self.name} is for {mine}; "
                f"{_way_out(other, mine)}"
            )
            raise UnitMismatch("guarantee", words)

    def _lost(self, receipt: Receipt) -> dict[str, Any]:
        price = self._cost_again(receipt)
        about = {
            "number": receipt.number,
            "head": receipt.head,
            "by": receipt.by,
            "purpose": receipt.purpose,
        }
        return {
            "guarantee": receipt.promise(),
            "cost": [price.pure, price.loss, price.delta],
            **about,
        }

    def _cost_again(self, receipt: Receipt) -> Price:
        if receipt.disjoint:
            return self.terms.disjoint(receipt.disjoint)
        return self.terms.cost(receipt.guarantee)


def _way_out(other: Unit, mine: Unit) -> str:
    """The fix for a guarantee for another unit: only another relation and fewer facts
    can be converted (rules R7, R22).
    """
    if other.name == ROW.name != mine.name:
        replaced = ', "replace"' if mine.relation is Relation.REPLACE else ""
        return (
            f'pass unit=Unit("{mine.name}"{replaced}) if each {mine.name} has one '
            "value; otherwise ask the table in SQL, which limits the effect of each "
            f"{mine.name}"
        )
    if other.name != mine.name:
        return f"charge it to an account for one {other.name}"
    if mine.follows_from(other):
        facts = f".for_facts({list(mine.given)})" if mine.given != other.given else ""
        if other.relation is not mine.relation:
            return f"convert it with .for_replacement(){facts}"
        return f"convert it with {facts}"
    if mine.relation is other.relation:
        return (
            "charge it to an account that was opened with the same exact facts "
            "(invariants), because facts cannot be added to an account"
        )
    return (
        "pass a guarantee under add/remove, which does not follow from one under "
        "replace, or charge it to another account"
    )


def _heads(run: Run, account: str) -> set[str]:
    """Hashes of the charges in the book: its own, and those recovered before."""
    from dither.ledger.tables import LINES, entries

    rows = run(
        f"{LINES} WHERE account = ? AND kind IN ('charge', 'recover')", (account,)
    )
    return {str(entry.body.get("head", entry.hash)) for entry in entries(rows)}


def _stated(reason: str, analyst: str | None) -> dict[str, Any]:
    check_text("reason", reason, needed=True)
    if analyst is None:
        return {"reason": reason}
    check_text("analyst", analyst, needed=True)
    return {"reason": reason, "analyst": analyst}
