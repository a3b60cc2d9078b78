"""`dither budget`: what it shows, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path
from subprocess import PIPE
from typing import IO

import pytest

from dither.cli import budget
from dither.ledger import Ledger
from dither.privacy import GaussianDP, PureDP, Relation, Unit
from tests.cli.support import filled, run
from tests.clock import PATIENCE


@pytest.fixture(autouse=True)
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setattr(budget, "PAUSE", 0.01)
    return filled(tmp_path / "book.db")


def test_budget_shows_every_account() -> None:
    shown = run("budget")
    assert shown.exit_code == 0
    words = (
        "clinic",
        "survey",
        "curve",
        "closed",
        "ε = 3, δ = 1e-06",
        "counts of units within ±10",
        "█",
        "budget is spent",
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
    assert found["clinic"]["remaining"] == left.share
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
    assert "one Laplace answer at ε = 0.4" in shown
    assert "one Gaussian answer at ρ = 0.15" in shown


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
    assert (found["bob"]["remaining"], found["bob"]["largest_epsilon"]) == (
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
        found[name]
        for name in ("may_ask", "remaining", "largest_epsilon", "largest_rho")
    ] == [False, 0, 0, 0]
    assert (
        "one Laplace answer at ε = 0.5"
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


def test_a_burn_down_is_never_wider_than_its_column() -> None:
    for many in (1, 2, 24, 25, 1000):
        line = budget.over_time([1 - k / many for k in range(many + 1)])
        assert 0 < len(line) <= budget.WIDTH
        assert line[-1] == " "


def test_budget_shows_exact_facts(book: Path) -> None:
    people = Unit("person", Relation.REPLACE, ("total of each state",))
    with Ledger.open(book) as ledger:
        ledger.account("census", epsilon=1, unit=people)
    shown = " ".join(
        run("budget", "--account", "census").stdout.replace("│", "").split()
    )
    assert "given the exact" in shown
    assert "total of each state" in shown
    (data,) = json.loads(run("budget", "--account", "census", "--json").stdout)
    assert data["given"] == ["total of each state"]
    (other,) = json.loads(run("budget", "--account", "survey", "--json").stdout)
    assert other["given"] == []
