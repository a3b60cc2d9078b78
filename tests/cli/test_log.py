"""`dither budget` and `dither log`: what they show, and how they end."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from dither.cli import log
from dither.ledger import Ledger
from dither.ledger.entry import Entry
from dither.privacy import PureDP, Relation, Unit
from tests.cli.support import filled, run


@pytest.fixture(autouse=True)
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    return filled(tmp_path / "book.db")


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
    assert "earlier lines are not shown; pass --all" in run("log").stdout
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
        "lines 1 to 25 were verified before (--whole checks them again); no line was added since"
        in again
    )
    longer(book, 2)
    assert "lines 26 to 27 were checked now" in run("log", "verify").stdout
    assert "all lines were checked" in run("log", "verify", "--whole").stdout


def test_checks_as_data() -> None:
    for before in (0, 25):
        found = json.loads(run("log", "verify", "--json").stdout)
        assert (found["lines"], found["verified_before"]) == (25, before)
        assert found["head"] in run("log").stdout
    exported = run("log", "export").stdout
    totals = json.loads(run("log", "recheck", "-", "--json", text=exported).stdout)
    by_name = {one["account"]: one for one in totals}
    assert all(one["fits"] for one in totals)
    assert (by_name["survey"]["recomputed"], by_name["survey"]["epsilon"]) == (0.5, 1)


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
    assert changed.stderr.startswith("Error: book.db: the log does not match the table")


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


def test_log_repeats_exact_facts(book: Path) -> None:
    people = Unit("person", Relation.REPLACE, ("total of each state",))
    told = PureDP(0.25, unit=people)
    with Ledger.open(book) as ledger:
        census = ledger.account("census", epsilon=1, unit=people)
        census.charge(told, by="ana", purpose="ages")
        census.charge_disjoint([told, told])
    shown = run("log", "--account", "census").stdout
    facts = 'given the exact ["total of each state"]'
    assert f"ε = 0.25 (pure), {facts}, by ana: ages" in shown
    assert shown.count(facts) == 2
    assert 'relation replace given ["total of each state"]' in shown
    assert facts not in run("log", "--account", "survey").stdout
