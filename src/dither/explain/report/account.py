"""The report on an account: the remaining budget, its guarantee, and all charges."""

from __future__ import annotations

from typing import Any

from dither.details import Details
from dither.errors import ArgumentError
from dither.explain.picture import Axis, Panel, document, percents
from dither.explain.report import book
from dither.explain.report.promise import Promise, whom
from dither.explain.report.registry import (
    ACCOUNT,
    BOTH,
    FLEETING_ACCOUNT,
    MODEL,
    STATISTICS,
    registry,
)
from dither.explain.report.report import Report
from dither.explain.report.section import Section
from dither.explain.report.verify import MEMORY, limits, placed, verify
from dither.explain.words import at_least, at_most
from dither.ledger import Account, Ledger, Receipt

__all__ = ["of_account"]

SIZE = (560, 250)
TRAINING = frozenset({"training", "search"})
"""The purposes of charges for models that are trained in float arithmetic."""


def of_account(account: Any) -> Report:
    """The report on an account of a book."""
    if not isinstance(account, Account):
        kind = type(account).__name__
        raise ArgumentError(
            "account",
            f"must be an account of a ledger, not {kind}; pass ledger.account(name)",
        )
    ledger = account._ledger
    book.check_order(ledger, account)
    promise = Promise(account.terms.total, account.terms.total.delta)
    receipts = account.history()
    left = account.remaining
    title = f"Report on the account {account.name}"
    lead = (
        f"{at_most(account.spent)} of {promise.in_numbers} is spent, by "
        f"{len(receipts):,} charges. Remaining: {left.in_words()}.",
    )
    sections = (
        _remaining(account),
        _burn_down(account),
        whom(account.unit),
        promise.section("What is promised for all releases together"),
        _charges(ledger, account, receipts),
        book.same_people(ledger, (account,)),
        limits(),
        verify(receipts[-1:], ledger),
        placed(account.epsilon),
        registry(
            f"account {account.name}",
            account.terms.total,
            promise.pair,
            Details(mechanism=("one for each release",)),
            many=True,
            product=_product(receipts),
            composition=FLEETING_ACCOUNT if ledger.store.place == MEMORY else ACCOUNT,
            afterwards="as the report on each release says",
        ),
    )
    return Report("account", title, lead, sections)


def _product(receipts: tuple[Receipt, ...]) -> str:
    """The kind of the releases, by the purposes of their charges."""
    trained = [one.purpose in TRAINING for one in receipts]
    if any(trained):
        return MODEL if all(trained) else BOTH
    return STATISTICS


def _burn_down(account: Account) -> Section:
    shares = account.burn_down()
    points = list(enumerate(shares))
    last = max(len(points) - 1, 1)
    ticks = tuple((float(one), str(one)) for one in sorted({0, last // 2, last}))
    across = Axis("steps of this period, from its beginning to now", 0.0, last, ticks)
    panel = Panel(60, 30, 470, 150, across, percents("remaining part of the account"))
    steps = [
        place
        for (x, share), after in zip(points, [*points[1:], points[-1]], strict=True)
        for place in ((float(x), share), (float(after[0]), share))
    ]
    panel = panel.line(steps, accent=True).dot((float(points[-1][0]), points[-1][1]))
    title = "Remaining part of the account"
    told = (
        f"The remaining part fell from {at_least(shares[0])} to "
        f"{at_least(shares[-1])}, in {len(shares) - 1} steps that are shown."
    )
    return Section(
        "burn-down",
        "Remaining budget over time",
        (told,),
        heading=("step", "remaining"),
        rows=tuple((str(place), at_least(share)) for place, share in points),
        picture=document(title, told, SIZE, [panel]),
        data={"remaining": shares},
    )


def _remaining(account: Account) -> Section:
    left = account.remaining
    words = f"Remaining: {left.in_words()}."
    facts = (
        ("remaining", left.share_in_words),
        ("largest Laplace answer", f"ε = {left.epsilon:.6g}"),
        ("largest Gaussian answer", f"ρ = {left.rho:.6g}"),
        ("counts of units within ±10", f"{left.counts():,}"),
        ("accounting", str(account.terms.accounting)),
    )
    data = {
        "share": left.share,
        "epsilon": left.epsilon,
        "rho": left.rho,
        "delta": left.delta,
        "counts_within_10": left.counts(),
    }
    return Section("remaining", "Remaining budget", (words,), facts, data=data)


def _charges(
    ledger: Ledger, account: Account, receipts: tuple[Receipt, ...]
) -> Section:
    """All charges, oldest first; the words of each question are its purpose."""
    ended: dict[int, str] = {}
    parts: dict[int, str] = {}
    for entry in ledger.entries(account=account.name):
        if entry.kind == "charge":
            parts[entry.seq] = book.part_of(entry, account)
        elif entry.kind in book.ENDS:
            ended[entry.body["charge"]] = book.ENDS[entry.kind]
    rows = tuple(
        (
            str(one.number),
            one.time[:16].replace("T", " "),
            one.by or "",
            one.purpose,
            one.guarantee.measure,
            parts[one.number],
            ended.get(one.number, "not settled yet"),
        )
        for one in receipts
    )
    heading = ("receipt", "UTC", "by", "what", "guarantee", "part", "state")
    data = {"receipts": [{"number": one.number, "head": one.head} for one in receipts]}
    words = () if rows else ("Nothing was charged yet.",)
    return Section("charges", "All releases", words, (), heading, rows, data=data)
