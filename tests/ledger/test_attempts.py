"""Attempts at a run, on both backends: each step is taken once, and a lost attempt is a
failure.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import dither
from dither.errors import AccountFrozen, BudgetExceeded, LedgerError
from dither.ledger import Account, Attempt, Ledger, Pinned, Policy, Receipt, verify
from dither.ledger.attempts import charged, is_stored, standing_of
from dither.ledger.export import export, recheck
from dither.privacy import GaussianDP, PoissonSampled
from tests.ledger.test_race import race

STEPS = 10
RUN = PoissonSampled(0.1, GaussianDP(0.2), STEPS)
PINNED = Pinned(STEPS, "0" * 64)
POLICY = Policy(failures=3, failures_in_all=5, deadline=600)


@pytest.fixture
def account(ledger: Ledger) -> Account:
    return ledger.account("clinic", epsilon=20, delta=1e-6, policy=POLICY)


@pytest.fixture
def receipt(account: Account) -> Receipt:
    return account.charge(RUN, run=PINNED)


def failures(account: Account) -> int:
    return account._there().accounts[account.name].failures


def waiting(account: Account) -> list[int]:
    with account._ledger.store.reading() as run:
        return [seq for (seq,) in run("SELECT seq FROM pending ORDER BY seq")]


def test_steps_are_taken_once_and_in_order(
    account: Account, receipt: Receipt, ledger: Ledger
) -> None:
    attempt = Attempt.first(account, receipt)
    attempt.claim(1, 4)
    for first, last in ((1, 4), (4, 5), (6, 7), (5, 4), (5, STEPS + 1), (0, 0)):
        with pytest.raises(LedgerError):
            attempt.claim(first, last)
    attempt.claim(5, STEPS)
    with pytest.raises(LedgerError):
        attempt.claim(STEPS + 1, STEPS + 1)
    assert standing_of(account, receipt).claimed == STEPS
    assert verify(ledger, whole=True)
    recheck(export(ledger))


def test_claims_settle_nothing(account: Account, receipt: Receipt) -> None:
    Attempt.first(account, receipt).claim(1, STEPS)
    assert waiting(account) == [receipt.number]
    assert failures(account) == 0


def test_a_lost_attempt_is_a_failure_though_another_finishes(
    account: Account, receipt: Receipt, ledger: Ledger
) -> None:
    Attempt.first(account, receipt).claim(1, 4)
    again = Attempt.again(account, receipt, known=receipt.number, claimed=4)
    assert failures(account) == 1
    assert waiting(account) == [again.number]
    with again.going_on():
        again.claim(5, STEPS)
        again.store("weights", "of the run")
    assert (waiting(account), failures(account)) == ([], 1)
    ends = [one.body["charge"] for one in ledger.entries() if one.kind == "settle"]
    assert ends == [again.number]
    assert is_stored(account, "weights")
    assert verify(ledger, whole=True)


def test_every_attempt_that_fails_counts(account: Account, receipt: Receipt) -> None:
    known = receipt.number
    account.fail(receipt, "OSError")
    for _ in range(2):
        attempt = Attempt.again(account, receipt, known=known, claimed=0)
        known = attempt.number
        with pytest.raises(OSError, match="disk"), attempt.going_on():
            raise OSError("disk")
    assert "failures" in account.frozen
    with pytest.raises(AccountFrozen):
        Attempt.again(account, receipt, known=known, claimed=0)
    assert waiting(account) == []


def test_a_failure_too_many_is_noted_and_nothing_goes_on(
    account: Account, receipt: Receipt, ledger: Ledger
) -> None:
    for _ in range(2):
        account.fail(account.charge(RUN), "Timeout")
    with pytest.raises(AccountFrozen, match="failures"):
        Attempt.again(account, receipt, known=receipt.number, claimed=0)
    assert failures(account) == 3
    assert waiting(account) == []
    assert not [one for one in ledger.entries() if one.kind == "resume"]
    account.thaw("looked at it")
    Attempt.again(account, receipt, known=receipt.number, claimed=0).claim(1, STEPS)
    assert verify(ledger, whole=True)


def test_an_older_attempt_ends_with_the_next(
    account: Account, receipt: Receipt, ledger: Ledger
) -> None:
    old = Attempt.first(account, receipt)
    old.claim(1, 4)
    new = Attempt.again(account, receipt, known=old.number, claimed=4)
    with pytest.raises(LedgerError, match="another process"):
        old.claim(5, 6)
    with pytest.raises(LedgerError, match="another process"):
        old.store("weights", "of the old")
    account.fail(receipt, "Timeout")  # it was counted when the new one began
    account.settle(receipt)
    assert failures(account) == 1
    assert waiting(account) == [new.number]
    new.claim(5, 6)
    assert verify(ledger)


def test_one_checkpoint_is_gone_on_with_once(
    account: Account, receipt: Receipt
) -> None:
    Attempt.again(account, receipt, known=receipt.number, claimed=0)
    with pytest.raises(LedgerError, match="another process is running this run"):
        Attempt.again(account, receipt, known=receipt.number, claimed=0)
    assert failures(account) == 1  # the refused one changed nothing


def test_what_is_left_by_an_ended_attempt_is_for_anybody(
    account: Account, receipt: Receipt
) -> None:
    new = Attempt.again(account, receipt, known=receipt.number, claimed=0)
    with new.going_on():
        new.claim(1, 3)
    with pytest.raises(LedgerError, match="check its remaining steps"):
        Attempt.again(account, receipt, known=receipt.number, claimed=0)
    Attempt.again(account, receipt, known=receipt.number, claimed=3).claim(4, 5)


def test_an_attempt_that_says_nothing_lapses(
    account: Account, receipt: Receipt, monkeypatch: pytest.MonkeyPatch
) -> None:
    Attempt.again(account, receipt, known=receipt.number, claimed=0)
    monkeypatch.setattr("dither.ledger.clock.now", lambda: "2999-01-01T00:00:00+00:00")
    Attempt.again(account, receipt, known=receipt.number, claimed=0)
    assert failures(account) == 2


def test_nothing_is_taken_while_an_account_is_frozen(
    account: Account, receipt: Receipt, ledger: Ledger
) -> None:
    attempt = Attempt.first(account, receipt)
    account.freeze("looked at")
    with pytest.raises(AccountFrozen):
        attempt.claim(1, 1)
    account.thaw("seen")
    attempt.claim(1, 1)
    account.write_off("withdrawn")
    with pytest.raises(BudgetExceeded, match="written off"):
        Attempt.again(account, receipt, known=receipt.number, claimed=STEPS)
    assert verify(ledger)


def test_an_analyst_who_is_stopped_takes_nothing(account: Account) -> None:
    receipt = account.charge(RUN, by="ana", run=PINNED)
    attempt = Attempt.first(account, receipt)
    attempt.claim(1, 1)
    account.freeze("looked at", analyst="ana")
    with pytest.raises(AccountFrozen, match="ana"):
        attempt.claim(2, 2)
    with pytest.raises(AccountFrozen, match="ana"):
        Attempt.again(account, receipt, known=receipt.number, claimed=1)


def test_failures_are_of_whoever_asked(account: Account) -> None:
    receipt = account.charge(RUN, by="ana", run=PINNED)
    Attempt.again(account, receipt, known=receipt.number, claimed=0)
    assert {one.name: one.failures for one in account.analysts()} == {"ana": 1}


def test_receipts_are_found_by_number_and_hash(
    account: Account, receipt: Receipt, ledger: Ledger
) -> None:
    assert charged(account, receipt.number, receipt.head) == receipt
    assert charged(account, receipt.number, "0" * 64) is None
    plain = account.charge(RUN)
    assert charged(account, plain.number, plain.head) is None
    other = ledger.account("survey", epsilon=1)
    assert charged(other, receipt.number, receipt.head) is None


def test_a_name_is_charged_once_with_its_run(account: Account) -> None:
    one = account.charge(RUN, run=PINNED, once="mine")
    assert account.charge(RUN, run=PINNED, once="mine") == one
    assert standing_of(account, one).steps == STEPS
    with pytest.raises(LedgerError, match="another charge"):
        account.charge(RUN, once="mine")


def test_processes_that_go_on_at_once(place: str) -> None:
    """Of eight that hold the same checkpoint, one goes on, and takes each step once."""
    with Ledger.open(place) as ledger:
        account = ledger.account("clinic", epsilon=20, delta=1e-6)
        receipt = account.charge(RUN, run=PINNED)

    def work() -> int:
        with Ledger.open(place) as book:
            mine = book.account("clinic")
            try:
                one = Attempt.again(mine, receipt, known=receipt.number, claimed=0)
            except LedgerError:
                return 0
            for step in range(1, STEPS + 1):
                one.claim(step, step)
            return STEPS

    assert sorted(race(work))[-2:] == [0, STEPS]
    with Ledger.open(place) as ledger:
        account = ledger.account("clinic")
        assert standing_of(account, receipt).claimed == STEPS
        assert failures(account) == 1
        assert verify(ledger, whole=True)


def test_one_attempt_in_many_processes_takes_each_step_once(place: str) -> None:
    with Ledger.open(place) as ledger:
        receipt = ledger.account("clinic", epsilon=20, delta=1e-6).charge(
            RUN, run=PINNED
        )

    def work() -> int:
        taken = 0
        with Ledger.open(place) as book:
            mine = Attempt.first(book.account("clinic"), receipt)
            for step in range(1, STEPS + 1):
                try:
                    mine.claim(step, step)
                    taken += 1
                except LedgerError:
                    pass
        return taken

    assert sum(race(work)) == STEPS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A book with a run under way, and a backup of it from before its last claim."""
    with Ledger.open(tmp_path / "book.db") as ledger:
        account = ledger.account("clinic", epsilon=20, delta=1e-6)
        receipt = account.charge(RUN, run=PINNED)
        attempt = Attempt.first(account, receipt)
        attempt.claim(1, 2)
        ledger.backup(tmp_path / "copy.db")
        for path in tmp_path.glob("book.db*"):
            shutil.copy(path, tmp_path / path.name.replace("book", "theft"))
        attempt.claim(3, 4)
    return tmp_path


@pytest.mark.parametrize("way", ["restored", "copied"])
def test_an_older_copy_of_a_book_takes_nothing_more(folder: Path, way: str) -> None:
    if way == "restored":
        (folder / "book.db").rename(folder / "gone.db")
        book = Ledger.restore(folder / "copy.db", folder / "book.db")
    else:
        book = Ledger.open(folder / "theft.db")
    with book:
        account = book.account("clinic")
        (receipt,) = account.history()
        assert account.frozen
        with pytest.raises(AccountFrozen):
            Attempt.first(account, receipt).claim(3, 4)
        account.thaw("the curator has looked")
        with pytest.raises(LedgerError):
            Attempt.first(account, receipt).claim(3, 4)
        found = standing_of(account, receipt)
        assert found.claimed == found.steps
        assert verify(book, whole=True)


def test_an_attempt_of_another_account_is_refused(
    ledger: Ledger, account: Account, receipt: Receipt
) -> None:
    other = ledger.account("survey", epsilon=20, delta=1e-6)
    with pytest.raises(dither.LedgerError):
        Attempt.first(other, receipt).claim(1, 1)
    with pytest.raises(dither.LedgerError):
        Attempt.again(other, receipt, known=receipt.number, claimed=0)
    assert standing_of(account, receipt).claimed == 0
