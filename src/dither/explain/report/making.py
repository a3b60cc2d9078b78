"""The report on a release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dither.errors import ArgumentError
from dither.explain.report import answer, book
from dither.explain.report.answer import Released
from dither.explain.report.promise import Promise, whom
from dither.explain.report.registry import ACCOUNT, CURATOR, FLEETING_ACCOUNT, registry
from dither.explain.report.report import Report
from dither.explain.report.section import Section
from dither.explain.report.verify import MEMORY, limits, placed, verify
from dither.ledger import Account, Ledger, Receipt

__all__ = ["of_file", "of_receipt", "of_release"]

UNCHARGED = (
    "This was not charged to any account. Nothing adds it up with other releases about "
    "the same people, so its guarantee holds for this release alone."
)
FLEETING = (
    "The budget lives in one process only and ends with it; pass its account as book= "
    "to list what was spent."
)


def of_release(release: Any, place: book.Place | None = None) -> Report:
    """The report on a release of any room; its receipts are looked up in their book, or
    in another place of it.
    """
    return _made(answer.of_release(release), place)


def of_file(text: str, place: book.Place | None = None) -> Report:
    """The report on a release that was written to a file. An address in it is not
    followed: the file may come from anywhere.
    """
    released = answer.of_file(text)
    if place is None and any("://" in one.book for one in released.receipts):
        raise ArgumentError(
            "book",
            "the ledger of the file is at an address, which a file cannot choose; pass the "
            "ledger as book=",
        )
    return _made(released, place)


def of_receipt(place: book.Place, number: int, head: str = "") -> Report:
    """The report on a charge by its number in a book."""
    with book.opened(place) as ledger:
        receipt = book.numbered(ledger, number, head)
        return _made(answer.of_receipt(receipt), ledger)


def _made(released: Released, place: book.Place | None) -> Report:
    with _books(released.receipts, place) as ledger:
        charged = {one: book.found(ledger, one) for one in released.receipts if ledger}
        return _report(released, ledger, charged)


@contextmanager
def _books(
    receipts: tuple[Receipt, ...], place: book.Place | None
) -> Iterator[Ledger | None]:
    """The book of the receipts; none if there is none, or only a passing one."""
    places = list(dict.fromkeys(one.book for one in receipts if one.book != MEMORY))
    meant = place if place is not None else next(iter(places), None)
    if meant is None or not receipts:
        yield None
        return
    with book.opened(meant) as ledger:
        yield ledger


def _report(
    released: Released, ledger: Ledger | None, charged: dict[Receipt, Account]
) -> Report:
    accounts = tuple({one.name: one for one in charged.values()}.values())
    delta = max((one.terms.total.delta for one in accounts), default=0.0)
    promise = Promise(released.guarantee, delta)
    pair = promise.pair
    meaning = promise.meaning
    lead = meaning.sentences[:1] if meaning else (str(released.guarantee),)
    sections = (
        _asked(released, ledger, charged),
        *released.numbers(),
        whom(released.guarantee.unit),
        promise.section(),
        _spent(released, ledger, accounts),
        *released.sections(),
        limits(),
        verify(released.receipts, ledger),
        placed(pair[0] if pair and pair[0] > 0 else None),
        registry(
            released.what,
            released.guarantee,
            pair,
            released.known,
            product=released.product,
            local=released.local,
            composition=_composition(released, ledger, accounts),
            afterwards=_afterwards(released),
        ),
    )
    numbers = ", ".join(str(one.number) for one in released.receipts)
    title = f"Report on receipt {numbers}" if numbers else "Report on a release"
    return Report("release", title, lead, sections)


def _composition(
    released: Released, ledger: Ledger | None, accounts: tuple[Account, ...]
) -> str:
    """How costs add up, as far as a book shows it."""
    if ledger is not None and ledger.store.place != MEMORY:
        more = f"{len(accounts)} accounts; each charge is durable before data is read"
        return ACCOUNT if len(accounts) == 1 else more
    if released.receipts:
        return FLEETING_ACCOUNT
    if released.local:
        return "each device adds up the cost of its own answers"
    return "none: not charged to any account"


def _afterwards(released: Released) -> str:
    done = released.done
    return CURATOR if done is None else "; ".join(done) or "none"


def _asked(
    released: Released, ledger: Ledger | None, charged: dict[Receipt, Account]
) -> Section:
    facts = [("question", released.what)]
    for receipt in released.receipts:
        facts.append(("receipt", f"{receipt.number} of {book.shown(receipt.book)}"))
        facts.append(("when", f"{receipt.time[:19].replace('T', ' ')} UTC"))
        if receipt.by:
            facts.append(("asked by", receipt.by))
        if ledger is not None:
            account = charged[receipt]
            state = book.state_of(ledger, receipt.number, account.name)
            facts.append(("state", state))
            facts.append(("account", account.name))
            part = book.part_of(book.line_of(ledger, receipt), account)
            facts.append(("part of the account", part))
    if released.replayed:
        facts.append(("answered from the ledger", "asked before; costs nothing again"))
    data = {"question": released.what, "replayed": released.replayed}
    return Section("asked", "What was asked", facts=tuple(facts), data=data)


def _spent(
    released: Released, ledger: Ledger | None, accounts: tuple[Account, ...]
) -> Section:
    if ledger is not None:
        return book.same_people(ledger, accounts)
    words = FLEETING if released.receipts else UNCHARGED
    return Section("accounts", "All accounts on the same people", (words,))
