"""The entries of a book about a receipt and about the accounts on the same people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dither.errors import AccountFrozen, ArgumentError, LedgerError
from dither.explain.report.section import Section
from dither.explain.words import at_most, tiny
from dither.ledger import Account, Ledger, Receipt
from dither.ledger.devices import promised
from dither.ledger.entry import Entry
from dither.ledger.facts import AccountFacts
from dither.ledger.receipt import receipt_of
from dither.ledger.store import connect
from dither.ledger.tables import load
from dither.text import percent

__all__ = [
    "ENDS",
    "Kept",
    "Place",
    "check_order",
    "found",
    "line_of",
    "numbered",
    "opened",
    "part_of",
    "same_people",
    "shown",
    "state_of",
]

Place = str | Path | Ledger | Account
ENDS = {
    "settle": "answered",
    "fail": "charged, but no answer was given",
    "lapse": "charged, but no answer was given in time",
}


@contextmanager
def opened(book: Place) -> Iterator[Ledger]:
    """The book that is meant. One that is opened here is closed again, and none is
    begun.
    """
    if isinstance(book, Account):
        yield book._ledger
    elif isinstance(book, Ledger):
        yield book
    elif isinstance(book, str | Path):
        with _existing(str(book)) as ledger:
            yield ledger
    else:
        raise ArgumentError(
            "book",
            "must be the path or address of a ledger, an open Ledger, or one of its "
            "accounts",
        )


def _existing(place: str) -> Ledger:
    if "://" not in place and not Path(place).is_file():
        raise LedgerError(
            f"there is no ledger at {place}; pass its current place as book="
        )
    store = connect(place)
    if store.version() is None:
        store.close()
        raise LedgerError(f"there is no ledger at {place}; pass its place as book=")
    return Ledger(store)


def shown(place: str) -> str:
    """A book as a page names it: folders, hosts and users are facts about a machine."""
    if "://" not in place:
        return Path(place).name
    parts = urlsplit(place)
    return f"{parts.scheme}://…{parts.path}"


def found(ledger: Ledger, receipt: Receipt) -> Account:
    """The account that was charged; refused where this book has no such charge."""
    names = [one.name for one in ledger.accounts()]
    account = ledger.account(receipt.account) if receipt.account in names else None
    if account is None or not account.holds(receipt):
        raise LedgerError(
            f"{receipt} does not belong to a charge in {ledger.store.place}: it comes from "
            "another ledger, or this ledger was cut or replaced; pass the ledger of the "
            "receipt as book="
        )
    _check_words(ledger, receipt)
    check_order(ledger, account)
    return account


def _check_words(ledger: Ledger, receipt: Receipt) -> None:
    """A hash stands for the line in the book, not for the words of a receipt, which
    could be made up.
    """
    kept = receipt_of(line_of(ledger, receipt), receipt.book)
    for name in ("purpose", "by", "time"):
        if getattr(kept, name) != getattr(receipt, name):
            raise LedgerError(
                f"receipt {receipt.number} has another {name} in {ledger.store.place}, so "
                "the receipt was changed; pass the receipt as the release returned it"
            )


def numbered(ledger: Ledger, number: int, head: str = "") -> Receipt:
    """The receipt of a line; `head` is its hash, where it was kept elsewhere."""
    lines = ledger.entries(after=number - 1)
    entry = next(lines, None) if number > 0 else None
    if entry is None or entry.seq != number or entry.kind != "charge":
        raise LedgerError(
            f"{ledger.store.place} does not have a charge with receipt {number}; list its "
            f"charges with `dither log show {ledger.store.place}`"
        )
    if head and entry.hash != head:
        raise LedgerError(
            f"receipt {number} has another hash in {ledger.store.place}: it comes from "
            "another ledger, or this ledger was cut or replaced; pass the ledger of the "
            "receipt"
        )
    return receipt_of(entry, ledger.store.place)


def check_order(ledger: Ledger, account: Account) -> None:
    """A report on an account that may lack charges would say too little was spent."""
    with ledger.store.reading() as run:
        mark = load(run, account.name).mark
    if mark:
        raise AccountFrozen(
            f"{ledger.store.place} may lack charges ({mark}), so a report cannot say what "
            "was spent; ask its curator to enter later receipts and clear the ledger"
        )
    if account.frozen:
        raise AccountFrozen(
            f"the account {account.name!r} is frozen ({account.frozen}); ask its curator "
            "to look at it and thaw it, then make the report again"
        )


def state_of(ledger: Ledger, number: int, account: str) -> str:
    """How a charge ended. Why it failed may tell of the data, and is not shown."""
    for entry in ledger.entries(account=account, after=number):
        if entry.kind in ENDS and entry.body.get("charge") == number:
            return ENDS[entry.kind]
    return "charged, and not settled yet"


@dataclass(frozen=True)
class Kept:
    """One account as a report lists it."""

    name: str
    dataset: str
    unit: str
    total: str
    spent: float
    charges: int
    period: int

    @classmethod
    def of(cls, account: Account, facts: AccountFacts) -> Kept:
        total = account.terms.total
        missed = f", δ = {tiny(total.delta)}" if total.delta else ""
        promised = f"ε = {tiny(total.epsilon)}{missed}"
        times = f", {facts.period} times over" if facts.period > 1 else ""
        return cls(
            account.name,
            facts.dataset,
            str(account.unit),
            f"{promised}{times}",
            account.spent,
            facts.charges,
            facts.period,
        )

    def cells(self) -> tuple[str, ...]:
        return (
            self.name,
            self.dataset,
            self.unit,
            self.total,
            at_most(self.spent),
            f"{self.charges:,}",
        )

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


def same_people(ledger: Ledger, mine: tuple[Account, ...]) -> Section:
    """All accounts of the ledger, those of the same dataset first (rule R7)."""
    accounts = ledger.accounts()
    with ledger.store.reading() as run:
        known = {one.name: load(run, one.name).accounts[one.name] for one in accounts}
    listed = [Kept.of(one, known[one.name]) for one in accounts]
    datasets = {known[one.name].dataset for one in mine if one.name in known}
    listed.sort(key=lambda one: (one.dataset not in datasets, one.name))
    same = sum(one.dataset in datasets for one in listed)
    about = (
        f"{same} of {len(listed)} accounts in this ledger name the same dataset, so they "
        "are about the same people. The guarantees of different accounts add up for "
        "people who are in several of them. This page does not cover other ledgers."
        if listed
        else "No account is open in this ledger yet: the first charge opens it."
    )
    tasks = tuple(f"Promised to devices: {one}." for one in promised(ledger))
    words = (about, *_raised(ledger, mine), *tasks)
    heading = ("account", "dataset", "one unit", "guarantee", "spent", "charges")
    return Section(
        "accounts",
        "All accounts on the same people",
        words,
        heading=heading,
        rows=tuple(one.cells() for one in listed),
        data={"accounts": [one.to_dict() for one in listed]},
    )


def _raised(ledger: Ledger, mine: tuple[Account, ...]) -> Iterator[str]:
    """Totals that were changed: both promises count (rule R21)."""
    for account in mine:
        first = next(ledger.entries(account=account.name, kind="open"), None)
        totals = [first.body] if first is not None else []
        totals += [
            one.body for one in ledger.entries(account=account.name, kind="amend")
        ]
        if len(totals) > 1:
            said = ", then ".join(
                f"ε = {one['epsilon']}, δ = {one['delta']}" for one in totals
            )
            yield f"{account.name} was amended: it promised {said}."


def part_of(entry: Entry, account: Account) -> str:
    """The part of the account that a charge took, as `spent` counts it: of the sum of
    losses, if all charges up to this one are within its cap, and of that of ε otherwise.
    """
    pure, loss, _ = entry.body["cost"]
    _, losses, deltas, _ = entry.body["spent"]
    terms = account.terms
    within = losses <= terms.loss_cap and deltas <= terms.delta_cap
    if terms.loss_cap and (pure is None or within):
        return percent(loss / terms.loss_cap)
    if pure is None or not terms.pure_cap:
        return "not known"
    of_epsilon = " of its ε" if terms.loss_cap else ""
    return f"{percent(pure / terms.pure_cap)}{of_epsilon}"


def line_of(ledger: Ledger, receipt: Receipt) -> Entry:
    """The line of a receipt that the book holds."""
    return next(iter(ledger.entries(after=receipt.number - 1)))
