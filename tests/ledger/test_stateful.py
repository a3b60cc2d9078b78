"""Anything that can happen to a book, in any order, beside a plain model of what it
must then say.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from dither.errors import AccountFrozen, BudgetExceeded, LedgerError
from dither.ledger import Account, Ledger, Policy, Receipt, verify
from dither.ledger.terms import Terms
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    Guarantee,
    PureDP,
)

TOTALS = {
    "plain": (1.0, 0.0, "pure"),
    "clinic": (1.0, 1e-5, "renyi"),
    "curve": (1.5, 1e-5, "gdp"),
}
FAILURES = 3

names = st.sampled_from(sorted(TOTALS))
analysts = st.sampled_from([None, "ana", "bob"])
sizes = st.sampled_from([1e-9, 0.01, 0.1, 0.25, 0.5, 1.0])
guarantees = st.one_of(
    st.builds(PureDP, sizes),
    st.builds(BoundedRange, sizes),
    st.builds(ApproxDP, sizes, st.sampled_from([0.0, 4e-6])),
    st.builds(GaussianDP, sizes, st.sampled_from([0.0, 4e-6])),
    st.builds(lambda one, two: Composed([PureDP(one), GaussianDP(two)]), sizes, sizes),
    st.builds(lambda one, two: Composed([PureDP(one), PureDP(two)]), sizes, sizes),
)


@dataclass
class Purse:
    """Caps and three plain sums, with the rule of R17 written out once more."""

    caps: tuple[int, int, int]
    pure: int = 0
    loss: int = 0
    delta: int = 0
    others: int = 0

    def room(self, pure: int | None, loss: int, delta: int) -> bool:
        if pure is not None and not self.others and self.pure + pure <= self.caps[0]:
            return True
        return (
            0 < self.caps[1] >= self.loss + loss and self.delta + delta <= self.caps[2]
        )

    def spend(self, pure: int | None, loss: int, delta: int) -> None:
        self.pure += pure or 0
        self.loss += loss
        self.delta += delta
        self.others += pure is None

    @property
    def sums(self) -> tuple[int, int, int, int]:
        return self.pure, self.loss, self.delta, self.others


@dataclass
class Model:
    """One account as it must be."""

    terms: Terms
    purse: Purse
    analysts: dict[str, Purse] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    charges: list[int] = field(default_factory=list)
    stored: dict[str, str] = field(default_factory=dict)
    frozen: bool = False
    failures: int = 0
    over: bool = False  # a recovered charge may lie beyond the caps

    def grants(self, by: str | None, cost: tuple[int | None, int, int]) -> bool:
        if by is not None and self.parts and by not in self.parts:
            return False
        mine = self.analysts[by] if by in self.parts else None
        return self.purse.room(*cost) and (mine is None or mine.room(*cost))

    def spend(
        self, by: str | None, cost: tuple[int | None, int, int], number: int
    ) -> None:
        self.purse.spend(*cost)
        self.charges.append(number)
        self.spend_by(by, cost)

    def spend_by(self, by: str | None, cost: tuple[int | None, int, int]) -> None:
        if by is not None:
            self.analysts.setdefault(by, Purse((0, 0, 0))).spend(*cost)

    def set_shares(self) -> None:
        for analyst, part in self.parts.items():
            pure, loss, delta = (int(cap * part) for cap in caps_of(self.terms))
            self.analysts[analyst].caps = (pure, loss, delta)


def caps_of(terms: Terms) -> tuple[int, int, int]:
    return terms.pure_cap, terms.loss_cap, terms.delta_cap


class Book(RuleBasedStateMachine):
    """A SQLite book in a folder of its own, and the model beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.place = Path(self.folder.name) / "book.db"
        self.ledger = Ledger.open(self.place)
        self.models: dict[str, Model] = {}
        self.receipts: dict[str, list[Receipt]] = {name: [] for name in TOTALS}
        self.copied: dict[str, Model] | None = None
        self.later: dict[str, list[Receipt]] = {}
        self.copies = 0

    @initialize()
    def open_accounts(self) -> None:
        for name, (epsilon, delta, accounting) in TOTALS.items():
            policy = Policy(failures=FAILURES)
            account = self.ledger.account(
                name, epsilon=epsilon, delta=delta, accounting=accounting, policy=policy
            )
            self.models[name] = Model(account.terms, Purse(caps_of(account.terms)))

    def account(self, name: str) -> Account:
        return self.ledger.account(name)

    def _try(
        self,
        name: str,
        by: str | None,
        guarantee: Guarantee,
        act: Callable[[], Receipt],
    ) -> Receipt | None:
        """Charge, and see that it is granted exactly when the model says so, and that a
        refusal changes nothing.
        """
        model = self.models[name]
        found = model.terms.cost(guarantee)
        cost = (found.pure, found.loss, found.delta)
        before = self.ledger.head
        if model.frozen or not model.grants(by, cost):
            with pytest.raises(AccountFrozen if model.frozen else BudgetExceeded):
                act()
            assert self.ledger.head == before
            return None
        receipt = act()
        model.spend(by, cost, receipt.number)
        self.receipts[name].append(receipt)
        if self.copied is not None:
            self.later.setdefault(name, []).append(receipt)
        return receipt

    @rule(name=names, guarantee=guarantees, by=analysts)
    def charge(self, name: str, guarantee: Guarantee, by: str | None) -> None:
        if name == "plain" and _impure(guarantee):
            with pytest.raises(ValueError, match="not pure"):
                self.account(name).charge(guarantee)
            return
        self._try(
            name,
            by,
            guarantee,
            lambda: self.account(name).charge(guarantee, by=by, purpose="asked"),
        )

    @rule(name=names, guarantee=guarantees)
    def charge_without_a_name(self, name: str, guarantee: Guarantee) -> None:
        self.charge(name, guarantee, None)

    @rule(name=names, guarantee=guarantees)
    def charge_once_more(self, name: str, guarantee: Guarantee) -> None:
        self.charge(name, guarantee, None)

    @rule(name=names, size=sizes, keys=st.integers(1, 3), by=analysts)
    def charge_disjoint(
        self, name: str, size: float, keys: int, by: str | None
    ) -> None:
        parts = [PureDP(size)] * keys
        self._try(
            name, by, parts[0], lambda: self.account(name).charge_disjoint(parts, by=by)
        )

    @rule(name=names, size=sizes, fails=st.booleans())
    def run_to_its_end_or_not(self, name: str, size: float, fails: bool) -> None:
        def act() -> Receipt:
            try:
                with self.account(name).spending(PureDP(size)) as receipt:
                    if fails:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                pass
            return receipt

        model = self.models[name]
        if self._try(name, None, PureDP(size), act) is not None and fails:
            model.failures += 1
            model.frozen |= model.failures >= FAILURES

    @rule(name=names, key=st.sampled_from("abc"))
    def store_or_replay(self, name: str, key: str) -> None:
        model, account = self.models[name], self.account(name)
        if model.frozen and key in model.stored:
            with pytest.raises(AccountFrozen):
                account.stored(key)
        else:
            assert account.stored(key) == model.stored.get(key)
        if not model.charges:
            return
        receipt = next(r for r in account.history() if r.number == model.charges[-1])
        if key in model.stored:
            with pytest.raises(LedgerError, match="already stored"):
                account.store(receipt, key, "another")
        else:
            model.stored[key] = f"release {receipt.number}"
            account.store(receipt, key, model.stored[key])

    @rule(
        name=names,
        analyst=st.sampled_from(["ana", "bob"]),
        part=st.sampled_from([0.0, 0.25, 0.75, 1.0]),
    )
    def share(self, name: str, analyst: str, part: float) -> None:
        model = self.models[name]
        self.account(name).share(analyst, part)
        model.parts[analyst] = part
        model.analysts.setdefault(analyst, Purse((0, 0, 0)))
        model.set_shares()

    @rule(name=names)
    def freeze(self, name: str) -> None:
        self.account(name).freeze("a look")
        self.models[name].frozen = True

    @rule(name=names)
    def thaw(self, name: str) -> None:
        self.account(name).thaw("seen")
        self.models[name].frozen, self.models[name].failures = False, 0

    @rule(name=names, factor=st.sampled_from([0.5, 1.0, 1.5]))
    def amend(self, name: str, factor: float) -> None:
        epsilon, delta, _ = TOTALS[name]
        model = self.models[name]
        terms = Terms.of(
            model.terms.accounting,
            ApproxDP(epsilon * factor, delta),
            model.terms.order or None,
        )
        if not replace(model.purse, caps=caps_of(terms)).room(0, 0, 0):
            with pytest.raises(LedgerError, match="spent more"):
                self.ledger.amend(
                    name, epsilon=epsilon * factor, delta=delta, reason="a new promise"
                )
            return
        model.terms = self.ledger.amend(
            name, epsilon=epsilon * factor, reason="a new promise"
        ).terms
        model.purse.caps = caps_of(model.terms)
        model.set_shares()
        model.over = False

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = Ledger.open(self.place)

    @rule()
    def copy(self) -> None:
        self.copies += 1
        self.ledger.backup(self.place.with_name(f"copy{self.copies}.db"))
        self.copied, self.later = copy.deepcopy(self.models), {}

    @precondition(lambda self: self.copied is not None)
    @rule()
    def restore_and_recover(self) -> None:
        """Put the copy in place; it is frozen, and with the receipts that were kept it
        says what the lost book said.
        """
        assert self.copied is not None
        self.ledger.close()
        moved = self.place.with_name(f"book{self.copies}.db")
        self.place.rename(moved)
        self.copies += 1
        self.ledger = Ledger.restore(
            moved.with_name(f"copy{self.copies - 1}.db"), self.place
        )
        spent = {name: model.purse.sums for name, model in self.models.items()}
        self.models = self.copied
        for name, model in self.models.items():
            assert self.account(name).frozen
            model.frozen = True
            for receipt in self.later.get(name, []):
                parts = receipt.guarantee.parts if receipt.disjoint else ()
                cost = (
                    model.terms.disjoint(parts)
                    if parts
                    else model.terms.cost(receipt.guarantee)
                )
                model.purse.spend(cost.pure, cost.loss, cost.delta)
                model.spend_by(receipt.by, (cost.pure, cost.loss, cost.delta))
                model.over = True
            self.account(name).recover(self.receipts[name])
            assert model.purse.sums == spent[name]
        self.receipts = {name: list(self.account(name).history()) for name in TOTALS}
        self.copied, self.later = None, {}

    @invariant()
    def the_book_says_what_the_model_says(self) -> None:
        for name, model in self.models.items():
            account = self.account(name)
            state = account.remaining.state
            assert (
                state.pure_spent,
                state.loss_spent,
                state.delta_spent,
                state.impure,
            ) == model.purse.sums
            assert (state.pure_cap, state.loss_cap, state.delta_cap) == model.purse.caps
            assert [receipt.number for receipt in account.history()] == model.charges
            assert bool(account.frozen) == model.frozen
            spent = {
                one.name: one.remaining.shares[-1].spent
                for one in account.analysts()
                if one.part is not None
            }
            assert spent == {who: model.analysts[who].sums for who in model.parts}
            assert 0 <= account.remaining.share <= 1

    @invariant()
    def nothing_is_overspent(self) -> None:
        for model in self.models.values():
            purse = model.purse
            plain = not purse.others and purse.pure <= purse.caps[0]
            assert (
                model.over
                or plain
                or (purse.loss <= purse.caps[1] and purse.delta <= purse.caps[2])
            )

    @invariant()
    def the_book_verifies(self) -> None:
        receipts = [receipt for found in self.receipts.values() for receipt in found]
        verify(self.ledger, receipts)

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()


def _impure(guarantee: Guarantee) -> bool:
    if isinstance(guarantee, Composed):
        return any(map(_impure, guarantee.parts))
    return isinstance(guarantee, GaussianDP) or (
        isinstance(guarantee, ApproxDP) and guarantee.delta > 0
    )


ANYWAY = settings(
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


class TestBook(Book.TestCase):
    settings = settings(ANYWAY, max_examples=20)


@pytest.mark.full
class TestBookOften(Book.TestCase):
    settings = settings(ANYWAY, max_examples=200)
