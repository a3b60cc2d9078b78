"""`dither backup` and `dither restore`: a book is copied and put back, frozen until its
curator has looked.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither.cli import main
from dither.ledger import Ledger, verify
from dither.privacy import PureDP


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    with Ledger.open("book.db") as ledger:
        ledger.account("clinic", epsilon=2).charge(PureDP(0.5))
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_a_backup_of_a_book_in_use(here: Path) -> None:
    with Ledger.open("book.db") as ledger:
        account = ledger.account("clinic")
        done = run("backup", "book.db", "copy.db")
        assert (done.exit_code, done.stderr) == (0, "")
        assert (
            "contains at least the lines up to 3 of book.db; the head was 3:"
            in done.stdout
        )
        account.charge(PureDP(0.5))
        assert verify(ledger) == 4
    assert sorted(path.name for path in here.iterdir()) == [
        "book.db",
        "book.db-note",
        "copy.db",
    ]


def test_a_backup_replaces_nothing() -> None:
    Path("copy.db").write_text("mine")
    done = run("backup", "book.db", "copy.db")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "copy.db exists already" in done.stderr
    assert Path("copy.db").read_text() == "mine"


def test_restoring_step_by_step() -> None:
    run("backup", "book.db", "copy.db")
    with Ledger.open("book.db") as ledger:
        later = ledger.account("clinic").charge(PureDP(0.25))
    assert "book.db exists already" in run("restore", "copy.db", "book.db").stderr
    Path("book.db").rename("damaged.db")
    done = run("restore", "copy.db", "book.db")
    assert (done.exit_code, done.stderr) == (0, "")
    for words in (
        "restored from copy.db, and frozen",
        "accounts: clinic",
        "recover(receipts)",
        "dither thaw book.db --reason",
    ):
        assert words in done.stdout
    assert "restored from a backup" in run("budget").stdout
    with Ledger.open("book.db") as ledger:
        ledger.account("clinic").recover([later])
    assert (
        "thawed: clinic" in run("thaw", "--reason", "the receipts are entered").stdout
    )
    with Ledger.open("book.db") as ledger:
        assert ledger.account("clinic").remaining.epsilon == 1.25
        assert verify(ledger, whole=True)


def test_restoring_without_the_receipts() -> None:
    run("backup", "book.db", "copy.db")
    Path("book.db").unlink()
    run("restore", "copy.db", "book.db")
    assert run("write-off", "--reason", "receipts were lost").exit_code == 0
    assert run("thaw", "--reason", "written off").exit_code == 0
    assert "nothing: the budget is spent" in run("budget").stdout


def test_a_catalogue_says_where_its_book_is() -> None:
    run("backup", "book.db", "copy.db")
    text = 'name = "clinic"\nunit = "row"\nbook = "{}"\n[budget]\nepsilon = 2.0\n[tables.visits]\nsource = "visits.csv"\n'
    text += '[tables.visits.columns]\nage = "integer"\n'
    Path("clinic.toml").write_text(text.format("new.db"), encoding="utf-8")
    assert run("restore", "copy.db", "clinic.toml").exit_code == 0
    assert "clinic" in run("budget", "new.db").stdout
    Path("clinic.toml").write_text(
        text.format("postgresql://host/book"), encoding="utf-8"
    )
    assert "restored with pg_restore" in run("restore", "copy.db", "clinic.toml").stderr


@pytest.mark.parametrize(
    "words", [["backup", "nowhere.db", "copy.db"], ["restore", "nowhere.db", "new.db"]]
)
def test_what_is_not_there(words: list[str], here: Path) -> None:
    done = run(*words)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert sorted(path.name for path in here.iterdir()) == ["book.db", "book.db-note"]
