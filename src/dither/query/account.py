"""Which account pays for a dataset, and where its book is (rule R18)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dither.errors import ArgumentError
from dither.ledger import Account, Ledger, Policy
from dither.ledger.promise import Promise, accounting_of
from dither.ledger.terms import Terms
from dither.privacy import ApproxDP
from dither.privacy.numbers import fraction, written
from dither.query.catalogue.model import Catalogue

__all__ = ["Book", "account_of", "beside", "book_of", "check_book", "promise_of"]

BOOK = ".dither.db"
MEMORY = ":memory:"


def check_book(kept: bool, budget: Any, ledger: Any) -> None:
    """Data that is kept without a place beside it: a budget that starts again in each
    process protects nobody.
    """
    if kept and ledger is None and not isinstance(budget, Account):
        raise ArgumentError(
            "ledger",
            "is missing; pass the place where the account is kept, such as "
            'ledger="clinic.dither.db" or the address of a database',
        )


def promise_of(budget: Any, delta: float | None) -> tuple[float | None, float | None]:
    """The ε and δ of a budget that is stated as numbers."""
    if budget is None or isinstance(budget, Account):
        return None, delta
    epsilon, stated = (
        budget if isinstance(budget, tuple) and len(budget) == 2 else (budget, delta)
    )
    if isinstance(epsilon, tuple) or (epsilon is not budget and delta is not None):
        raise ArgumentError(
            "budget", "must be ε, or ε and δ as one pair such as (3.0, 1e-6)"
        )
    if (
        isinstance(epsilon, bool)
        or not fraction("budget", epsilon, "pass ε as a number, such as budget=3.0") > 0
    ):
        raise ArgumentError(
            "budget", "must be a positive ε; pass a number such as budget=3.0"
        )
    return epsilon, stated


def beside(path: Path | None) -> Path | None:
    """The book of a file: named after it, beside it."""
    if path is None or any(sign in str(path) for sign in "*?["):
        return None
    return path.with_name(path.name.partition(".")[0] + BOOK)


Book = str | Path | Ledger


def book_of(
    catalogue: Catalogue, ledger: Any, beside: str | Path | None, way_out: str
) -> Book:
    """Where the account is kept: there must be a budget, or a book that knows one."""
    if not isinstance(ledger, str | Path | Ledger | None) or "\0" in str(ledger):
        raise ArgumentError(
            "ledger",
            "must be the path of a ledger file, the address of a database, or an open "
            "Ledger",
        )
    there = ledger is not None or (
        beside is not None and ("://" in str(beside) or Path(beside).exists())
    )
    if catalogue.epsilon is None and not there:
        raise ArgumentError("budget", f"is missing; {way_out}")
    return next((book for book in (ledger, beside) if book is not None), MEMORY)


def account_of(
    catalogue: Catalogue, book: Book | Account, way_out: str
) -> tuple[Account, Ledger | None]:
    """The account and, where it was opened here, its book, to be closed with the
    dataset.
    """
    if isinstance(book, Account):
        return book, None
    opened = book if isinstance(book, Ledger) else Ledger.open(book)
    mine = None if opened is book else opened
    try:
        return _declared(catalogue, opened, way_out), mine
    except BaseException:
        if mine is not None:
            mine.close()
        raise


def _declared(catalogue: Catalogue, book: Ledger, way_out: str) -> Account:
    """The account that the book has, or that the first charge opens as the catalogue
    declares it.
    """
    if catalogue.epsilon is not None:
        return book.promised(catalogue.name, _promised(catalogue, catalogue.epsilon))
    if catalogue.name not in [one.name for one in book.accounts()]:
        place = book.store.place
        raise ArgumentError(
            "budget",
            f"is missing, and {place} has no account {catalogue.name!r} yet; {way_out}",
        )
    return book.account(catalogue.name)


def _promised(catalogue: Catalogue, epsilon: float) -> Promise:
    total = ApproxDP(epsilon, catalogue.delta, unit=catalogue.unit)
    return Promise(
        Terms.of(accounting_of(None, catalogue.delta), total),
        policy=None
        if catalogue.policy == Policy()
        else catalogue.policy,  # not declared: as it is
        shares={
            analyst: written(float(part))
            for analyst, part in catalogue.analysts.items()
        },
    )
