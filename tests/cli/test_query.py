"""`dither query`: what it prints, where, and that it spends nothing on what it cannot
show.
"""

from __future__ import annotations

import csv
import io
import json

import pytest
from click.testing import CliRunner, Result

from dither.cli import main

from .conftest import Fake

SQL = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["query", *words])


def test_a_table_then_cost_and_remaining_budget(database: Fake) -> None:
    done = run("clinic.toml", SQL, "--epsilon", "0.5")
    assert (done.exit_code, done.stderr) == (0, "")
    assert database.asked == [("sql", SQL, {"by": "login", "epsilon": 0.5})]
    assert database.opened == [("clinic.toml", {})]
    assert database.closed == 1
    for words in (
        "1,023 ±10",
        "ε = 0.5 (pure)",
        "receipt",
        "a note",
        "remaining: 75 %",
    ):
        assert words in done.stdout


def test_whoever_asks_has_a_name(database: Fake) -> None:
    run("clinic.toml", SQL, "--by", "ana")
    run("clinic.toml", SQL)
    assert [cost["by"] for _, _, cost in database.asked] == ["ana", "login"]


def test_the_remaining_budget_is_that_of_the_asker(database: Fake) -> None:
    database.account.share("ana", 0.5)
    assert (
        "remaining: 25 % of the account"
        in run("clinic.toml", SQL, "--by", "ana").stdout
    )


def test_values_are_shown_as_they_are(database: Fake) -> None:  # noqa: ARG001
    shown = run("clinic.toml", SQL).stdout
    assert "[bold]A[/bold]" in shown
    assert "[i]n" in shown
    assert "\x1b[31m" not in shown
    assert "B\\x1b[31m" in shown


def test_a_data_file_with_its_declarations(database: Fake) -> None:
    run(
        "visits.csv", SQL, "--unit", "patient_id", "--keys", "ward=A,B", "--budget", "3"
    )
    assert database.opened == [
        (
            "visits.csv",
            {"unit": "patient_id", "keys": {"ward": ["A", "B"]}, "budget": 3.0},
        )
    ]


def test_json_and_nothing_else(database: Fake) -> None:  # noqa: ARG001
    done = run("clinic.toml", SQL, "--json", "--confidence", "0.99")
    found = json.loads(done.stdout)
    assert (found["schema"], found["confidence"]) == ("dither.release/1", 0.99)
    assert found["rows"][0] == {
        "values": ["[bold]A[/bold]", 1023],
        "low": [None, 1003],
        "high": [None, 1043],
    }
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_csv_and_nothing_else(database: Fake) -> None:  # noqa: ARG001
    done = run("clinic.toml", SQL, "--csv")
    assert list(csv.reader(io.StringIO(done.stdout))) == [
        ["ward", "[i]n", "[i]n_low", "[i]n_high"],
        ["[bold]A[/bold]", "1023", "1013", "1033"],
        ["B\x1b[31m", "7", "-3", "17"],
    ]
    assert done.stderr == ""


def test_explain_is_a_preview(database: Fake) -> None:
    done = run("clinic.toml", f"EXPLAIN {SQL}", "--json")
    assert json.loads(done.stdout)["schema"] == "dither.preview/1"
    assert "±12" in run("clinic.toml", f"EXPLAIN {SQL}").stdout
    as_csv = run("clinic.toml", f"EXPLAIN {SQL}", "--csv")
    assert (as_csv.exit_code, as_csv.stdout) == (2, "")
    assert database.account.spent == 0


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "--csv"],
        ["--confidence", "1"],
        ["--confidence", "nan"],
        ["--epsilon", "much"],
        ["--nonsense"],
    ],
)
def test_bad_options_spend_nothing(database: Fake, words: list[str]) -> None:
    done = run("clinic.toml", SQL, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert database.asked == []


def test_a_bad_question_shows_its_place(database: Fake) -> None:  # noqa: ARG001
    done = run("clinic.toml", "SELEKT 1")
    assert (done.exit_code, done.stdout) == (2, "")
    assert (
        done.stderr
        == "Error: SELEKT is not understood; write SELECT\n  SELEKT 1\n  ^\n"
    )
