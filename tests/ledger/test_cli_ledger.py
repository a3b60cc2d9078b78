"""`dither budget` and `dither log`: what they show, and how they end."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import count, islice
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any

import pytest
from click.testing import CliRunner, Result

from dither.cli import budget, log, main
from dither.ledger import Ledger
from dither.ledger.entry import Entry
from dither.privacy import GaussianDP, PureDP
from tests.clock import PATIENCE
from tests.ledger.golden.make import fill


@pytest.fixture(autouse=True)
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setattr(budget, "PAUSE", 0.01)
    path = tmp_path / "book.db"
    with Ledger.open(path) as ledger:
        fill(ledger)
    return path


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=text)


def test_budget_shows_every_account() -> None:
    shown = run("budget")
    assert shown.exit_code == 0
    words = (
        "clinic",
        "survey",
        "curve",
        "closed",
        "ε = 3, δ = 1e-06",
        "counts within ±10",
        "█",
        "it is spent",
    )
    assert [word for word in words if word not in shown.stdout] == []


def test_budget_of_one_account() -> None:
    shown = run("budget", "--account", "survey")
    assert "survey" in shown.stdout
    assert "clinic" not in shown.stdout
    assert "50 %" in shown.stdout


def test_budget_as_data_is_what_the_account_says(book: Path) -> None:
    found = {
        data["account"]: data for data in json.loads(run("budget", "--json").stdout)
    }
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


def work(ledger: Ledger) -> int:
    """How many steps of its own machine SQLite takes for `dither budget`, analysts and
    all.
    """
    steps = count()
    connection = ledger.store._connection  # type: ignore[attr-defined]
    connection.set_progress_handler(lambda: next(steps) and 0, 1)
    for view in (budget.View(), budget.View(analysts=True), budget.View(by="ana")):
        view.data(ledger)
    connection.set_progress_handler(None, 1)
    return next(steps)


def test_budget_reads_as_much_after_many_charges() -> None:
    with Ledger.open(":memory:") as ledger:
        account = ledger.account("clinic", epsilon=3, delta=1e-6)
        seen = []
        for many in (200, 3_000):
            for _ in range(many):
                account.settle(
                    account.charge(GaussianDP(1e-4), by="ana", purpose="count")
                )
            seen.append(work(ledger))
        assert len(budget.as_data(account)["burn_down"]) <= 50
    assert seen[1] < 1.1 * seen[0]  # sixteen times the charges


def test_budget_says_what_fits_in_each_kind(book: Path) -> None:
    with Ledger.open(book) as ledger:
        left = ledger.account("curve").remaining
    (found,) = json.loads(run("budget", "--account", "curve", "--json").stdout)
    assert (found["largest_epsilon"], found["largest_rho"]) == (left.epsilon, left.rho)
    assert found["largest_gaussian_epsilon"] == left.gaussian_epsilon
    shown = run("budget", "--account", "curve").stdout
    assert "a pure answer of ε = 0.4" in shown
    assert "a Gaussian one of ρ = 0.15" in shown


def test_budget_of_each_analyst(book: Path) -> None:
    with Ledger.open(book) as ledger:
        ledger.account("clinic").freeze("she asked to be", analyst="ana")
    shown = run("budget", "--analysts").stdout
    assert all(
        words in shown for words in ("ana", "0.5", "she asked to be", "bob", "0.75")
    )
    found = {
        data["analyst"]: data
        for data in json.loads(run("budget", "--analysts", "--json").stdout)
    }
    assert sorted(found) == ["ana", "bob"]
    assert [
        found["ana"][name] for name in ("part", "charges", "failures", "may_ask")
    ] == [0.5, 2, 1, True]
    with Ledger.open(book) as ledger:
        left = ledger.account("clinic").remaining_for("bob")
    assert (found["bob"]["left"], found["bob"]["largest_epsilon"]) == (
        left.share,
        left.epsilon,
    )


def test_budget_of_one_analyst() -> None:
    found = json.loads(run("budget", "--by", "bob", "--json").stdout)
    assert [(data["account"], data["charges"]) for data in found][:2] == [
        ("clinic", 2),
        ("closed", 0),
    ]
    assert {data["analyst"] for data in found} == {"bob"}


def test_budget_of_an_analyst_without_a_share() -> None:
    shown = run("budget", "--by", "zoe", "--account", "clinic").stdout
    assert "nothing: no share" in shown
    assert "0 %" in shown
    (found,) = json.loads(
        run("budget", "--by", "zoe", "--account", "clinic", "--json").stdout
    )
    assert [
        found[name] for name in ("may_ask", "left", "largest_epsilon", "largest_rho")
    ] == [False, 0, 0, 0]
    assert (
        "a pure answer of ε = 0.5"
        in run("budget", "--by", "zoe", "--account", "survey").stdout
    )


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
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "dither.cli",
        "budget",
        "--watch",
        "--account",
        "survey",
    ]
    environment = os.environ | {"TERM": "xterm", "FORCE_COLOR": "1"}
    with subprocess.Popen(
        command, stdout=PIPE, stderr=PIPE, text=True, env=environment
    ) as watching:
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
    assert (
        shown.stdout
        == run("log", "book.db").stdout
        == run("log", "show", "book.db").stdout
    )


def test_log_of_one_account_and_as_data() -> None:
    lines = [
        json.loads(line)
        for line in run("log", "--account", "survey", "--json").stdout.splitlines()
    ]
    assert [line["kind"] for line in lines] == ["open", "charge", "freeze", "thaw"]


def longer(book: Path, lines: int) -> None:
    """Make a log longer without charging."""
    with Ledger.open(book) as ledger, ledger.changing() as transaction:
        for _ in range(lines):
            ledger.append(transaction, "clock", {})


def numbers(*arguments: str) -> list[int]:
    shown = run("log", *arguments).stdout.splitlines()
    return [int(line.split()[0]) for line in shown if line.split()[0].isdecimal()]


def test_log_shows_its_last_lines_and_says_so(book: Path) -> None:
    longer(book, 100)
    assert numbers() == list(range(26, 126))
    assert "there are earlier lines: --all shows them" in run("log").stdout
    assert numbers("--last", "3") == [123, 124, 125]
    assert numbers("--after", "120") == [121, 122, 123, 124, 125]
    assert numbers("--after", "20", "--last", "2") == [124, 125]
    assert numbers("--all") == list(range(1, 126))
    for arguments in (["--all"], ["--after", "20"], ["--account", "survey"]):
        assert "earlier lines" not in run("log", *arguments).stdout
    assert "earlier lines" in run("log", "--account", "survey", "--last", "2").stdout
    assert len(run("log", "--json").stdout.splitlines()) == 125
    assert len(run("log", "--json", "--last", "7").stdout.splitlines()) == 7
    assert run("log", "--all", "--last", "3").exit_code == 2


def test_log_of_a_book_without_such_lines() -> None:
    shown = run("log", "--after", "25")
    assert (shown.exit_code, len(shown.stdout.splitlines())) == (0, 2)


def test_log_reads_a_line_only_when_it_prints_it() -> None:
    time = "2024-01-01T00:00:00.000000+00:00"
    entries = (Entry(seq, time, "clock", "", {}, "0" * 64) for seq in range(1, 1_000))
    shown = list(islice(log.written(entries, (6, 19, 9, 7)), 3))
    assert shown == [
        "line    time (UTC)           what       account  details",
        *(f"{seq}       2024-01-01 00:00:00  clock" for seq in (1, 2)),
    ]
    assert next(entries).seq == 3


@pytest.mark.parametrize(
    "words", [["log", "--all"], ["log", "--json"], ["log", "export"]]
)
def test_a_reader_who_has_seen_enough(book: Path, words: list[str]) -> None:
    longer(book, 3_000)
    command = [sys.executable, "-W", "error", "-m", "dither.cli", *words]
    printing = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert printing.stdout is not None
    assert printing.stderr is not None
    assert printing.stdout.readline()
    printing.stdout.close()
    assert printing.stderr.read() == b""
    printing.stderr.close()
    assert printing.wait(timeout=60) == 1


def test_log_obeys_nothing_that_it_shows(book: Path) -> None:
    with Ledger.open(book) as ledger:
        account = ledger.account("closed2", epsilon=1, dataset="other")
        account.charge(
            PureDP(0.1), by="ana\x1b[2J", purpose="one\n25  2024-01-01  thaw"
        )
    shown = run("log", "--last", "1").stdout.splitlines()
    assert len(shown) == 4
    assert "\x1b" not in run("budget", "--analysts").stdout
    assert "by ana\\x1b[2J: one\\n25" in shown[1]


def test_verify(book: Path) -> None:
    with Ledger.open(book) as ledger:
        head = "{}:{}".format(*ledger.head)
    assert "25 lines, 1 anchors" in run("log", "verify", "--anchor", head).stdout
    missing = run("log", "verify", "book.db", "--anchor", f"99:{'0' * 64}")
    assert (missing.exit_code, missing.stdout, missing.stderr.count("\n")) == (1, "", 1)
    assert run("log", "verify", "--anchor", "nonsense").exit_code == 2


def test_verify_says_what_it_read(book: Path) -> None:
    assert "all lines were checked" in run("log", "verify").stdout
    again = run("log", "verify").stdout
    assert (
        "lines 1 to 25 were verified before (--whole checks them again); no line was written since"
        in again
    )
    longer(book, 2)
    assert "the lines from 26 on were checked now" in run("log", "verify").stdout
    assert "all lines were checked" in run("log", "verify", "--whole").stdout


def test_only_the_whole_book_shows_an_old_change(book: Path) -> None:
    run("log", "verify")
    with closing(sqlite3.connect(book)) as connection, connection:
        connection.execute(
            "UPDATE log SET body = replace(body, 'wards', 'words') WHERE seq = 8"
        )
    assert "verified before" in run("log", "verify").stdout
    changed = run("log", "verify", "--whole")
    assert (changed.exit_code, changed.stdout) == (1, "")
    assert "line 8 of the log was changed" in changed.stderr


def test_verify_of_a_changed_book_ends_with_one(book: Path) -> None:
    with closing(sqlite3.connect(book)) as connection, connection:
        connection.execute("UPDATE account SET pure_spent = 0 WHERE name = 'clinic'")
    changed = run("log", "verify")
    assert (changed.exit_code, changed.stdout) == (1, "")
    assert changed.stderr.startswith("Error: book.db: the log and the table")


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


@pytest.mark.parametrize(
    "arguments", [["budget"], ["log"], ["log", "verify"], ["log", "export"]]
)
def test_a_missing_book_is_an_error_and_stays_missing(
    arguments: list[str], tmp_path: Path
) -> None:
    done = run(*arguments, "nowhere.db")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "there is no book at nowhere.db" in done.stderr
    assert not (tmp_path / "nowhere.db").exists()


@pytest.mark.parametrize(
    "content", [b"", b"not a book at all, only text of some length" * 100]
)
def test_a_file_that_is_no_book_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other.db").write_bytes(content)
    for arguments in (["budget"], ["log"], ["log", "verify"]):
        done = run(*arguments, "other.db")
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert (tmp_path / "other.db").read_bytes() == content


def test_an_unknown_account_is_an_error() -> None:
    for arguments in (
        ["budget", "--account", "nobody"],
        ["log", "--account", "nobody"],
    ):
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


def test_a_book_on_a_server(server: Any) -> None:
    place = server.database()
    with Ledger.open(place) as ledger:
        fill(ledger)
    assert (
        run("freeze", place, "--account", "curve", "--reason", "we look").stdout
        == "frozen: curve\n"
    )
    assert "we look" in run("budget", place).stdout
    assert (
        "thawed: curve"
        in run("thaw", place, "--account", "curve", "--reason", "seen").stdout
    )
    assert "0.75" in run("budget", place, "--analysts").stdout
    assert len(run("log", place, "--last", "3").stdout.splitlines()) == 6
    assert "27 lines" in run("log", "verify", place).stdout
    assert "lines 1 to 27 were verified before" in run("log", "verify", place).stdout
    assert "back it up with pg_dump" in run("backup", place, "copy.db").stderr
