"""Lines about the steps of a run: what an honest book holds, and forgeries of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dither.errors import LedgerError
from dither.ledger import Account, Attempt, Ledger, Pinned, Receipt, verify
from dither.ledger.claims import begun, followed
from dither.ledger.entry import Entry
from dither.ledger.export import export, recheck
from dither.ledger.facts import Facts, RunFacts
from dither.ledger.tables import run_of, told
from dither.ledger.wire import to_json
from dither.privacy import Composed, GaussianDP, PoissonSampled, PureDP
from tests.ledger.test_transitions import append

STEPS = 10
RUN = PoissonSampled(0.1, GaussianDP(0.2), STEPS)
PLAN = "0" * 64


def declared(ledger: Ledger) -> tuple[Account, Receipt]:
    account = ledger.account("clinic", epsilon=20, delta=1e-6)
    return account, account.charge(RUN, run=Pinned(STEPS, PLAN))


def test_log_and_what_is_looked_up_say_the_same() -> None:
    ledger = Ledger.open(":memory:")
    account, receipt = declared(ledger)
    other = account.charge(RUN, run=Pinned(STEPS, PLAN))
    Attempt.first(account, receipt).claim(1, 4)
    Attempt.first(account, other).claim(1, 9)
    Attempt.again(account, receipt, known=receipt.number, claimed=4).claim(5, 6)
    with ledger.store.reading() as run:
        facts = told(run)
        for one in (receipt, other):
            found = run_of(run, "clinic", one.number)
            assert found == facts.runs[one.number]
            assert run_of(run, "other", one.number) is None
    assert [one.claimed for one in facts.runs.values()] == [6, 9]
    assert Facts.from_json(facts.to_json()).runs == facts.runs


def test_books_that_were_verified_before_there_were_runs_go_on() -> None:
    held = Facts(2).to_json()
    del held["runs"]
    assert Facts.from_json(held).runs == {}


def claims(**more: Any) -> dict[str, Any]:
    return {"charge": 3, "attempt": 3, "first": 5, "last": 6} | more


WAITING = {"charge": 3, "deadline": "2999", "id": "run 3"}
FORGERIES = {
    "a step twice": ("claim", claims(first=4)),
    "a step left out": ("claim", claims(first=6)),
    "backwards": ("claim", claims(first=5, last=4)),
    "more than was paid for": ("claim", claims(last=STEPS + 1)),
    "no number": ("claim", claims(last=True)),
    "of somebody else": ("claim", claims(attempt=4)),
    "of no charge": ("claim", claims(charge=2)),
    "while another is at work": ("resume", WAITING),
    "going on with no charge": ("resume", WAITING | {"charge": 2}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_claims_are_found_by_both_accountants(name: str) -> None:
    ledger = Ledger.open(":memory:")
    account, receipt = declared(ledger)
    assert receipt.number == 3
    Attempt.first(account, receipt).claim(1, 4)
    verify(ledger)
    append(ledger, FORGERIES[name][0], "clinic", FORGERIES[name][1])
    for whole in (False, True):
        with pytest.raises(LedgerError, match="cannot be part of"):
            verify(ledger, whole=whole)
    with pytest.raises(LedgerError, match="cannot be part of"):
        recheck(export(ledger))


def stop(account: Account) -> None:
    account.freeze("looked at")


def renew(account: Account) -> None:
    append(account._ledger, "renew", "clinic", {"reason": "new year"})


def write_off(account: Account) -> None:
    account.write_off("withdrawn")


def mark(account: Account) -> None:
    with account._ledger.changing() as run:
        account._ledger.freeze_all(run, "a copy")


def mark_and_thaw(account: Account) -> None:
    mark(account)
    account.thaw("looked at")


@pytest.mark.parametrize("end", [stop, write_off, mark, mark_and_thaw])
def test_a_line_after_the_end_is_found(end: Callable[[Account], None]) -> None:
    ledger = Ledger.open(":memory:")
    account, receipt = declared(ledger)
    Attempt.first(account, receipt).claim(1, 4)
    end(account)
    verify(ledger)
    append(ledger, "claim", "clinic", claims())
    with pytest.raises(LedgerError, match="cannot be part of"):
        verify(ledger)


@pytest.mark.parametrize("end", [renew, write_off, mark])
def test_a_run_ends_with_its_period_and_its_book(
    end: Callable[[Account], None],
) -> None:
    ledger = Ledger.open(":memory:")
    account, receipt = declared(ledger)
    Attempt.first(account, receipt).claim(1, 4)
    end(account)
    with ledger.store.reading() as run:
        found = run_of(run, "clinic", receipt.number)
    assert found is not None
    assert found.claimed == found.steps


def line(guarantee: Any, run: dict[str, Any]) -> Entry:
    body = {"by": None, "guarantee": to_json(guarantee), "run": run}
    return Entry(3, "", "charge", "clinic", body, "")


@pytest.mark.parametrize(
    ("guarantee", "run", "words"),
    [
        (RUN, {"steps": STEPS + 1, "plan": PLAN}, "more steps"),
        (Composed([RUN, RUN]), {"steps": 2 * STEPS + 1, "plan": PLAN}, "more steps"),
        (Composed([RUN, PureDP(1)]), {"steps": STEPS + 1, "plan": PLAN}, "more steps"),
        (RUN, {"steps": 0, "plan": PLAN}, "without steps"),
        (RUN, {"steps": True, "plan": PLAN}, "without steps"),
        (RUN, {"steps": 1, "plan": None}, "without steps"),
    ],
    ids=["many", "many of two", "many beside", "none", "no number", "no plan"],
)
def test_what_no_run_declares(guarantee: Any, run: dict[str, Any], words: str) -> None:
    with pytest.raises(LedgerError, match=words):
        begun(line(guarantee, run))


def test_steps_of_guarantees_that_name_none_are_declared() -> None:
    for guarantee in (PureDP(1), Composed([GaussianDP(1), PureDP(1)])):
        found = begun(line(guarantee, {"steps": 99, "plan": PLAN}))
        assert found == RunFacts("clinic", None, 99, PLAN, 0, 3)


def test_a_charge_without_steps_has_no_run() -> None:
    ledger = Ledger.open(":memory:")
    account = ledger.account("clinic", epsilon=20, delta=1e-6)
    receipt = account.charge(RUN)
    with ledger.store.reading() as run:
        assert run_of(run, "clinic", receipt.number) is None
    with pytest.raises(LedgerError, match="does not pay for a run"):
        Attempt.first(account, receipt).claim(1, 1)
    assert followed([]) is None
