"""Books, terms and states that several tests of the ledger begin with."""

from __future__ import annotations

import dither
from dither.ledger import Account, Ledger
from dither.ledger.state import State
from dither.ledger.terms import Accounting, Terms
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    Guarantee,
    PoissonSampled,
    PureDP,
    RenyiDP,
    Unit,
    ZeroConcentratedDP,
)

ONE = PureDP(1)
PATIENT = Unit("patient")
REPLACED = Unit("row", "replace")
BOTH = [Accounting.RENYI, Accounting.GDP]
EVERY_KIND = (
    PureDP(0.1),
    GaussianDP(0.1),
    GaussianDP(0.1, 1e-8),
    ApproxDP(0.1, 1e-8),
    ZeroConcentratedDP(0.01),
    PoissonSampled(0.01, GaussianDP(0.5), 100),
    BoundedRange(0.2),
    RenyiDP({4: 0.01, 16: 0.1}),
    Composed([PureDP(0.1), GaussianDP(0.1, 1e-8)]),
)


def full(ledger: Ledger) -> Ledger:
    """Charge every kind of guarantee to the three accounts."""
    clinic, curve, plain = ledger.accounts()
    for guarantee in EVERY_KIND:
        clinic.charge(guarantee, by="ana", purpose="test")
    clinic.charge_disjoint([PureDP(0.1), GaussianDP(0.05)])
    for guarantee in (
        PureDP(0.1),
        GaussianDP(0.1),
        ApproxDP(0.1, 1e-8),
        BoundedRange(0.2),
    ):
        curve.charge(guarantee)
    plain.charge(PureDP(0.7))
    return ledger


def opened(terms: Terms) -> State:
    return State(terms.pure_cap, terms.loss_cap, terms.delta_cap)


def terms_of(accounting: Accounting, total: tuple[float, float]) -> Terms:
    return Terms.of(accounting, ApproxDP(*total))


def spend_until_refused(
    account: Account, guarantee: Guarantee, most: int = 100_000, by: str | None = None
) -> int:
    granted = 0
    try:
        while granted < most:
            account.charge(guarantee, by=by)
            granted += 1
    except dither.BudgetExceeded:
        pass
    return granted


def three_accounts() -> Ledger:
    """A book in memory, with one account for each accounting."""
    ledger = Ledger.open(":memory:")
    ledger.account("clinic", epsilon=3, delta=1e-6)
    ledger.account("curve", epsilon=3, delta=1e-6, accounting="gdp")
    ledger.account("plain", epsilon=1)
    return ledger
