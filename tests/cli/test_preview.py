"""`dither preview`: cost and error, as a table or as data."""

from __future__ import annotations

import json

from click.testing import CliRunner, Result

from dither.cli import main

from .conftest import Fake

SQL = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["preview", *words])


def test_a_table_and_the_cost(database: Fake) -> None:
    done = run("clinic.toml", SQL, "--share", "0.25")
    assert (done.exit_code, done.stderr) == (0, "")
    assert database.asked == [("preview", SQL, {"by": "login", "share": 0.25})]
    assert database.account.spent == 0
    for words in (
        "[i]n",
        "±12",
        "± at 95 %",
        "rows: 2",
        "25 % of the account",
        "remaining after: all of it",
        "a note",
    ):
        assert words in done.stdout


def test_a_login_name_without_a_share_is_told_what_to_do(database: Fake) -> None:
    database.account.share("ana", 0.5)
    done = run("clinic.toml", SQL, "--json")
    assert json.loads(done.stdout)
    assert (
        "You ask as login, your login name, which has no share: pass --by"
        in done.stderr
    )
    assert run("clinic.toml", SQL, "--by", "ana").stderr == ""


def test_as_data(database: Fake) -> None:
    done = run("clinic.toml", SQL, "--json")
    assert json.loads(done.stdout)["columns"][1]["errors"] == [
        {"when": "", "width": 12.0}
    ]
    assert database.closed == 1
