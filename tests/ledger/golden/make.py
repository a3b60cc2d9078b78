"""Writes the golden book of this schema version: `python tests/ledger/golden/make.py
FILE`.

A later version of Dither must open what this wrote, so a committed book is never
written again: a new schema gets a file of its own. Times and hashes differ from run to
run; what was charged does not.
"""

from __future__ import annotations

import sys

from dither.ledger import Ledger, Policy
from dither.privacy import (
    ApproxDP,
    BoundedRange,
    Composed,
    GaussianDP,
    PoissonSampled,
    PureDP,
    RenyiDP,
    Unit,
)
from dither.privacy import ZeroConcentratedDP as Concentrated

PATIENT = Unit("patient_id", "replace")


def fill(ledger: Ledger) -> None:
    clinic = ledger.account(
        "clinic", epsilon=3.0, delta=1e-6, policy=Policy(ceiling=2.0, renew_days=365)
    )
    clinic.share("ana", 0.5)
    clinic.share("bob", 0.75)
    receipt = clinic.charge(PureDP(0.25), by="ana", purpose="count of visits")
    clinic.settle(receipt)
    clinic.store(receipt, "replay key 1", '{"value": 1750}')
    clinic.charge(GaussianDP(0.1), by="bob", purpose="wards")
    clinic.charge(ApproxDP(0.1, 1e-8), by="bob")
    clinic.charge(Concentrated(0.001), purpose="census")
    clinic.charge(BoundedRange(0.2), purpose="median")
    clinic.charge(PoissonSampled(0.01, GaussianDP(0.5), 100), purpose="training")
    clinic.charge(RenyiDP({4: 0.001, 16: 0.01}), purpose="other")
    clinic.charge(Composed([PureDP(0.1), GaussianDP(0.05, 1e-9)]), purpose="several")
    clinic.fail(clinic.charge_disjoint([PureDP(0.1), PureDP(0.2)], by="ana"), "Timeout")
    survey = ledger.account("survey", epsilon=1.0, unit=PATIENT, dataset="survey 2024")
    survey.charge(PureDP(0.5, unit=PATIENT), purpose="Umfrage «größer»")
    survey.freeze("curator looks")
    survey.thaw("seen")
    curve = ledger.account("curve", epsilon=2.0, delta=1e-5, accounting="gdp")
    curve.charge(GaussianDP(0.2), purpose="maps")
    ledger.amend("curve", epsilon=2.5, delta=1e-5, reason="a new promise")
    ledger.account("closed", epsilon=0.5).write_off("withdrawn")


if __name__ == "__main__":
    with Ledger.open(sys.argv[1]) as book:
        fill(book)
