"""What a curator does with a book from the shell: each command does what it says, and
says what it did.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither.cli import main
from dither.errors import AccountFrozen, BudgetExceeded
from dither.ledger import Account, Ledger, Policy, clock, verify
from dither.privacy import PureDP


@pytest.fixture(autouse=True)
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "book.db"
    with Ledger.open(path) as ledger:
        ledger.account("clinic", epsilon=2).charge(PureDP(0.5), by="ana")
    return path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def done(*words: str) -> str:
    """What a command prints that does what it is told."""
    found = run(*words)
    assert (found.exit_code, found.stderr) == (0, "")
    return found.stdout


def refused(*words: str) -> str:
    found = run(*words)
    assert (found.exit_code, found.stdout) == (2, "")
    return found.stderr


def second(book: Path) -> None:
    with Ledger.open(book) as ledger:
        ledger.account("survey", epsilon=1)


def account(ledger: Ledger, name: str = "clinic") -> Account:
    return ledger.account(name)


def test_amend(book: Path) -> None:
    said = done("amend", "--epsilon", "3", "--reason", "the board agreed")
    assert "ε = 2 (pure)" in said or "ε = 2" in said
    assert "from now on" in said
    with Ledger.open(book) as ledger:
        assert account(ledger).epsilon == 3
        assert verify(ledger)
    assert "the board agreed" in done("log", "--last", "1")


def test_amend_takes_no_promise_back() -> None:
    assert "has already spent more than that" in refused(
        "amend", "--epsilon", "0.1", "--reason", "no"
    )
    assert "pass the new total" in refused("amend", "--reason", "no")
    assert "--reason" in refused("amend", "--epsilon", "3")


def test_share(book: Path) -> None:
    said = done("share", "book.db", "ana", "0.5")
    assert "ana may spend 0.5 of clinic\nremaining: 25 % of the account" in said
    with Ledger.open(book) as ledger:
        assert account(ledger).shares() == {"ana": 0.5}
        with pytest.raises(BudgetExceeded, match="does not have a share"):
            account(ledger).charge(PureDP(0.1), by="bob")
    assert "PART must lie from 0 to 1" in refused("share", "book.db", "bob", "1.5")


def test_an_account_is_named_where_there_are_several(book: Path) -> None:
    second(book)
    for words in (
        ["amend", "--epsilon", "3", "--reason", "why"],
        ["share", "book.db", "ana", "0.5"],
        ["thaw", "--reason", "why"],
        ["renew", "--reason", "why"],
        ["write-off", "--reason", "why"],
    ):
        assert (
            "book.db has 2 accounts (clinic, survey); choose one with --account"
            in refused(*words)
        )
    assert "survey" in done("share", "book.db", "--account", "survey", "ana", "0.5")
    assert "the account 'other' does not exist" in refused(
        "freeze", "--account", "other", "--reason", "why"
    )


def test_freeze_and_thaw(book: Path) -> None:
    assert done("freeze", "--reason", "we look") == "frozen: clinic\n"
    with Ledger.open(book) as ledger, pytest.raises(AccountFrozen, match="we look"):
        account(ledger).charge(PureDP(0.1))
    assert "thawed: clinic" in done("thaw", "--reason", "all is well")
    with Ledger.open(book) as ledger:
        account(ledger).charge(PureDP(0.1))
        assert verify(ledger)


def test_freeze_stops_the_whole_book(book: Path) -> None:
    second(book)
    assert done("freeze", "--reason", "we look") == "frozen: clinic, survey\n"
    assert "thawed: survey" in done("thaw", "--account", "survey", "--reason", "seen")
    with Ledger.open(book) as ledger:
        assert (account(ledger).frozen, account(ledger, "survey").frozen) == (
            "we look",
            "",
        )


def test_freeze_one_analyst(book: Path) -> None:
    assert (
        done("freeze", "--analyst", "ana", "--reason", "too many failures")
        == "ana is stopped in: clinic\n"
    )
    with Ledger.open(book) as ledger:
        with pytest.raises(AccountFrozen, match="ana is stopped"):
            account(ledger).charge(PureDP(0.1), by="ana")
        account(ledger).charge(PureDP(0.1), by="bob")
    assert "does not have an analyst 'anna'" in refused(
        "thaw", "--analyst", "anna", "--reason", "seen"
    )
    assert "thawed: ana in clinic" in done(
        "thaw", "--analyst", "ana", "--reason", "seen"
    )
    with Ledger.open(book) as ledger:
        account(ledger).charge(PureDP(0.1), by="ana")


def test_an_analyst_thawed_in_a_frozen_account_is_told() -> None:
    done("freeze", "--reason", "we look")
    assert "clinic itself is still frozen (we look)" in done(
        "thaw", "--analyst", "ana", "--reason", "seen"
    )


def moved(book: Path) -> None:
    """Leave the note behind."""
    Path(f"{book}-note").unlink()


def test_thaw_a_book_that_was_frozen_as_a_whole(book: Path) -> None:
    second(book)
    done("freeze", "--account", "survey", "--reason", "we look")
    moved(book)
    assert "nothing: frozen" in done("budget", "--account", "clinic")
    said = done("thaw", "--reason", "it was only moved")
    assert (
        "the ledger is no longer frozen (the reason was: the ledger does not have its note"
        in said
    )
    assert "thawed: clinic\n" in said
    assert "survey stays frozen (we look)" in said
    with Ledger.open(book) as ledger:
        account(ledger).charge(PureDP(0.1))
        assert ledger.account("new", epsilon=1).frozen == ""
        assert verify(ledger, whole=True)


def test_thaw_after_two_doubts(book: Path) -> None:
    """What was frozen the first time has the first reason."""
    moved(book)
    done("budget")
    shutil.copy(book, "other.db")
    shutil.move("other.db", book)  # another file under the same name
    assert done("thaw", "--reason", "seen").endswith("thawed: clinic\n")
    with Ledger.open(book) as ledger:
        account(ledger).charge(PureDP(0.1))


def test_thaw_one_account_of_such_a_book(book: Path) -> None:
    second(book)
    moved(book)
    said = done("thaw", "--account", "clinic", "--reason", "seen")
    assert (
        "the ledger itself is still frozen (the ledger does not have its note" in said
    )
    with Ledger.open(book) as ledger:
        assert (account(ledger).frozen, bool(account(ledger, "survey").frozen)) == (
            "",
            True,
        )
        assert ledger.account("new", epsilon=1).frozen != ""
    assert "thawed: new, survey" in done("thaw", "--reason", "seen")
    assert "has 3 accounts" in refused("thaw", "--reason", "seen")


def test_renew(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "does not have a renewal window" in refused(
        "renew", "--reason", "a new year"
    )
    with Ledger.open(book) as ledger:
        ledger.amend("clinic", policy=Policy(renew_days=1), reason="yearly")
    later = iter([2.0, 3.0])
    real = clock.now
    for refusal in ("has not been used on this date before", ""):
        days = next(later)
        monkeypatch.setattr(
            clock, "now", lambda days=days: clock.after(real(), 86_400 * days)
        )
        found = run("renew", "--reason", "a new year")
        assert refusal in found.stderr
        assert found.exit_code == (2 if refusal else 0)
    assert (
        "period: 2; people whose data was here in all periods have this guarantee 2 times"
        in found.stdout
    )


def test_what_was_done_as_data(book: Path) -> None:
    second(book)
    frozen = json.loads(done("freeze", "--reason", "we look", "--json"))
    assert [(one["account"], one["frozen"]) for one in frozen] == [
        ("clinic", "we look"),
        ("survey", "we look"),
    ]
    one = ("--account", "clinic", "--reason", "why", "--json")
    (thawed,) = json.loads(done("thaw", *one))
    assert (thawed["account"], thawed["frozen"]) == ("clinic", "")
    (stopped,) = json.loads(done("freeze", "--analyst", "ana", *one))
    assert (stopped["analyst"], stopped["frozen"]) == ("ana", "why")
    (amended,) = json.loads(done("amend", "--epsilon", "4", *one))
    assert (amended["epsilon"], amended["remaining"]) == (4, 0.875)
    (shared,) = json.loads(
        done("share", "book.db", "ana", "0.5", "--account", "clinic", "--json")
    )
    assert (shared["analyst"], shared["part"]) == ("ana", 0.5)
    (closed,) = json.loads(done("write-off", *one))
    assert closed["largest_epsilon"] == 0


def test_write_off(book: Path) -> None:
    assert "is written off, permanently" in done(
        "write-off", "--reason", "receipts were lost"
    )
    with (
        Ledger.open(book) as ledger,
        pytest.raises(BudgetExceeded, match="written off"),
    ):
        account(ledger).charge(PureDP(0.1))
    assert "was written off, which cannot be undone" in refused(
        "amend", "--epsilon", "9", "--reason", "more"
    )


@pytest.mark.parametrize(
    "words", [["amend", "nowhere.db", "--epsilon", "1"], ["freeze", "nowhere.db"]]
)
def test_a_missing_book_stays_missing(words: list[str], tmp_path: Path) -> None:
    assert "there is no ledger at nowhere.db" in refused(*words, "--reason", "why")
    assert not (tmp_path / "nowhere.db").exists()
