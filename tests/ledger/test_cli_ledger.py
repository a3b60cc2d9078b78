"""`dither budget` and `dither log`: what they show, and how they end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from typing import IO

import pytest
from click.testing import CliRunner, Result

from dither.cli import budget, main
from dither.ledger import Ledger
from dither.privacy import PureDP
from tests.clock import PATIENCE

GOLDEN = Path(__file__).parent / "golden" / "book-v1.db"


@pytest.fixture(autouse=True)
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setattr(budget, "PAUSE", 0.01)
    return Path(shutil.copy(GOLDEN, tmp_path / "book.db"))


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=text)


def test_budget_shows_every_account() -> None:
    shown = run("budget")
    assert shown.exit_code == 0
    words = ("clinic", "survey", "curve", "closed", "ε = 3, δ = 1e-06", "counts within ±10", "█", "it is spent")
    assert [word for word in words if word not in shown.stdout] == []


def test_budget_of_one_account() -> None:
    shown = run("budget", "--account", "survey")
    assert "survey" in shown.stdout
    assert "clinic" not in shown.stdout
    assert "50 %" in shown.stdout


def test_budget_as_data_is_what_the_account_says(book: Path) -> None:
    found = {data["account"]: data for data in json.loads(run("budget", "--json").stdout)}
    with Ledger.open(book) as ledger:
        left = ledger.account("clinic").remaining
    assert found["clinic"]["left"] == left.share
    assert found["clinic"]["largest_epsilon"] == left.epsilon
    assert found["clinic"]["counts_within_10"] == left.counts(10)
    assert len(found["clinic"]["burn_down"]) == found["clinic"]["charges"] + 1


def test_budget_of_a_frozen_account_says_why(book: Path) -> None:
    with Ledger.open(book) as ledger:
        ledger.account("survey").freeze("the curator looks")
    assert "the curator looks" in run("budget", "--account", "survey").stdout


def test_watching_looks_again() -> None:
    shown = run("budget", "book.db", "--watch", "--times", "3")
    assert shown.exit_code == 0
    assert "clinic" in shown.stdout


def read_until(stream: IO[str], sign: str) -> None:
    for line in stream:
        if sign in line:
            return
    raise AssertionError(f"it ended before it showed {sign}")


def test_watching_sees_a_charge_and_ends_on_interrupt(book: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "dither.cli", "budget", "--watch", "--account", "survey"]
    environment = os.environ | {"TERM": "xterm", "FORCE_COLOR": "1"}
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True, env=environment) as watching:
        assert watching.stdout is not None
        try:
            read_until(watching.stdout, "50 %")
            with Ledger.open(book) as ledger:
                survey = ledger.account("survey")
                survey.charge(PureDP(0.25, unit=survey.unit))
            read_until(watching.stdout, "25 %")
        finally:
            watching.send_signal(signal.SIGINT)
        _, errors = watching.communicate(timeout=PATIENCE)
    assert (watching.returncode, errors) == (0, "")


def test_log_shows_every_line(book: Path) -> None:
    shown = run("log")
    assert shown.exit_code == 0
    assert "Umfrage «größer»" in shown.stdout
    assert "by ana: count of visits" in shown.stdout
    with Ledger.open(book) as ledger:
        assert shown.stdout.endswith("head {}:{}\n".format(*ledger.head))
    assert shown.stdout == run("log", "book.db").stdout == run("log", "show", "book.db").stdout


def test_log_of_one_account_and_as_data() -> None:
    lines = [json.loads(line) for line in run("log", "--account", "survey", "--json").stdout.splitlines()]
    assert [line["kind"] for line in lines] == ["open", "charge", "freeze", "thaw"]


def test_verify(book: Path) -> None:
    with Ledger.open(book) as ledger:
        head = "{}:{}".format(*ledger.head)
    assert "25 lines, 1 anchors" in run("log", "verify", "--anchor", head).stdout
    missing = run("log", "verify", "book.db", "--anchor", f"99:{'0' * 64}")
    assert (missing.exit_code, missing.stdout, missing.stderr.count("\n")) == (1, "", 1)
    assert run("log", "verify", "--anchor", "nonsense").exit_code == 2


def test_verify_of_a_changed_book_ends_with_one(book: Path) -> None:
    with closing(sqlite3.connect(book)) as connection, connection:
        connection.execute("UPDATE account SET pure_spent = 0 WHERE name = 'clinic'")
    changed = run("log", "verify")
    assert (changed.exit_code, changed.stdout) == (1, "")
    assert changed.stderr.startswith("Error: the log and the table")


def test_export_and_recheck(tmp_path: Path) -> None:
    lines = run("log", "export").stdout
    (tmp_path / "book.jsonl").write_text(lines)
    shown = run("log", "recheck", "book.jsonl")
    assert shown.exit_code == 0
    assert shown.stdout.count("within") == 4
    assert run("log", "recheck", "-", text=lines).stdout == shown.stdout
    forged = "\n".join(line for line in lines.splitlines() if "Umfrage" not in line)
    found = run("log", "recheck", "-", text=forged)
    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.startswith("Error: line 18")


def test_recheck_of_an_overdrawn_book_ends_with_one(book: Path) -> None:
    with Ledger.open(":memory:") as other:
        receipt = other.account("closed", epsilon=9).charge(PureDP(9))
    with Ledger.open(book) as ledger:
        ledger.account("closed").recover([receipt])
    shown = run("log", "recheck", "-", text=run("log", "export").stdout)
    assert shown.exit_code == 1
    assert "EXCEEDED" in shown.stdout


@pytest.mark.parametrize("arguments", [["budget"], ["log"], ["log", "verify"], ["log", "export"]])
def test_a_missing_book_is_an_error_and_stays_missing(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, "nowhere.db")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "there is no book at nowhere.db" in done.stderr
    assert not (tmp_path / "nowhere.db").exists()


@pytest.mark.parametrize("content", [b"", b"not a book at all, only text of some length" * 100])
def test_a_file_that_is_no_book_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other.db").write_bytes(content)
    for arguments in (["budget"], ["log"], ["log", "verify"]):
        done = run(*arguments, "other.db")
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert (tmp_path / "other.db").read_bytes() == content


def test_an_unknown_account_is_an_error() -> None:
    for arguments in (["budget", "--account", "nobody"], ["log", "--account", "nobody"]):
        done = run(*arguments)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert "nobody" in done.stderr


def test_help_names_the_parts() -> None:
    shown = run("log", "--help").stdout
    assert all(name in shown for name in ("verify", "export", "recheck"))
    assert all(name in run("--help").stdout for name in ("budget", "log"))


def test_a_burn_down_is_never_wider_than_its_column() -> None:
    for many in (1, 2, 24, 25, 1000):
        line = budget.burn_down([1 - k / many for k in range(many + 1)])
        assert 0 < len(line) <= budget.WIDTH
        assert line[-1] == " "
