"""How a hospital joins a run: everything is checked, then charged once, and nothing is
read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dither.errors import ArgumentError
from dither.learn.hospitals.hospital import Hospital
from dither.learn.hospitals.settings import RoundsSettings
from dither.learn.pinning import pinned, texts_of
from dither.learn.preparing import Ready, prepared
from dither.ledger import Account, Pinned, Receipt
from dither.ledger.attempts import standing_of
from dither.ledger.balance import named
from dither.noise import secret_bytes

__all__ = ["account_of", "charged", "is_paid", "named_run", "prepared_at"]


def named_run(run: str | None) -> str:
    """The name of a run; without one it is a new run."""
    if run is None:
        return secret_bytes(8).hex()
    try:
        return named(run)
    except ArgumentError:
        raise ArgumentError(
            "run", "must be a short name of plain letters, digits, dots and hyphens"
        ) from None


def prepared_at(hospital: Hospital, model: Any, asked: RoundsSettings) -> Ready:
    """Check a run at a hospital; nothing is charged, and no record is read."""
    settings = hospital.settings(asked)
    ready = prepared(model, hospital.data, settings, each=asked.steps)
    account_of(hospital, ready)
    return ready


def account_of(hospital: Hospital, ready: Ready) -> Account:
    found = ready.plan.question.account
    if not isinstance(found, Account):
        raise ArgumentError(
            "budget",
            f"is missing for {hospital.name}: a hospital pays from an account of its "
            "own, whose book counts its rounds; pass budget=",
        )
    return found


def charged(
    hospital: Hospital, ready: Ready, asked: RoundsSettings, run: str
) -> tuple[Account, Receipt]:
    """The charge of a whole run, made once under its name."""
    account, plan = account_of(hospital, ready), ready.plan
    declared = _pinned(hospital, ready, asked)
    question = replace(plan.question, run=declared)
    receipt = question.charged_once(plan.charged, _name(hospital, run))
    _check_same(account, receipt, declared, hospital)
    return account, receipt


def is_paid(hospital: Hospital, ready: Ready, run: str) -> bool:
    """Whether the hospital has joined this run before."""
    return account_of(hospital, ready).charged(_name(hospital, run)) is not None


def _name(hospital: Hospital, run: str) -> str:
    return f"{run}:{hospital.name}"


def _pinned(hospital: Hospital, ready: Ready, asked: RoundsSettings) -> Pinned:
    about = (ready.settings, ready.plan, ready.radius)
    texts = texts_of(ready.model, ready.source, None, *about)
    own = {"hospital": hospital.name, "since": hospital.since, "steps": asked.steps}
    return pinned({**texts, **own})


def _check_same(
    account: Account, receipt: Receipt, declared: Pinned, hospital: Hospital
) -> None:
    found = standing_of(account, receipt)
    same = (found.steps, found.plan) == (declared.steps, declared.plan)
    if not same or receipt.by != hospital.by:
        raise ArgumentError(
            "run",
            f"is the name of another run that {hospital.name} has paid for; pass what "
            "that one began with, or a new name for a new charge",
        )
