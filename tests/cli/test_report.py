"""`dither report`: by number, from a file, of an account; and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import run
from tests.explain.report.support import SQL, clinic


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a question was asked and its answer written."""
    monkeypatch.chdir(tmp_path)
    with clinic(tmp_path) as visits:
        release = visits.sql(SQL, epsilon=0.5)
    (tmp_path / "answer.json").write_text(release.to_json(), "utf-8")
    return tmp_path


def test_by_number(folder: Path) -> None:
    done = run("report", "3", "visits.csv")
    assert (done.exit_code, done.output) == (0, "report-on-receipt-3.html\n")
    assert SQL in (folder / "report-on-receipt-3.html").read_text("utf-8")


def test_from_a_file(folder: Path) -> None:
    done = run("report", "answer.json", "--out", "page.html")
    assert (done.exit_code, done.output) == (0, "page.html\n")
    assert "Laplace" in (folder / "page.html").read_text("utf-8")
    again = run("report", "answer.json", "visits.dither.db", "--out", "-")
    assert again.output.startswith("<!doctype html>")
    assert "Laplace" in again.output


def test_as_data(folder: Path) -> None:
    done = run("report", "answer.json", "--json")
    found = json.loads(done.output)
    assert found["sections"]["promise"]["data"]["pair"] == [0.5, 0.0]
    assert run("report", "answer.json", "--out", "r.json").exit_code == 0
    assert json.loads((folder / "r.json").read_text("utf-8")) == found


def test_of_an_account(folder: Path) -> None:
    done = run("report", "account", "visits.csv")
    assert done.output == "report-on-the-account-visits.html\n"
    assert (
        "Remaining budget over time"
        in (folder / "report-on-the-account-visits.html").read_text()
    )
    named = run("report", "account", "visits.csv", "--account", "visits", "--json")
    assert json.loads(named.output)["about"] == "account"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["99", "visits.csv"], "does not have a charge with receipt 99"),
        (["3"], "there is no ledger at book.db"),
        ([f"3:{'0' * 64}", "visits.csv"], "another hash"),
        (["nothing.json"], "neither the number of a receipt nor a file"),
        (["visits.csv"], "is not a release"),
        (["3", "visits.csv", "--out", "page.pdf"], "must end in .html or .json"),
        (["account", "visits.csv", "--account", "other"], "does not exist in"),
        (["3", "visits.csv", "--account", "visits"], "needs `dither report account`"),
    ],
)
def test_what_it_refuses(words: list[str], said: str) -> None:
    done = run("report", *words)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert "Traceback" not in done.output
