"""The commands on real files, from a first draft to the log: nothing here is a
stand-in.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither.cli import main

SQL = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"
DECLARED = [
    "--unit",
    "patient_id",
    "--bounds",
    "age=0:110",
    "--keys",
    "ward=A,B",
    "--budget",
    "3",
    "--delta",
    "1e-6",
]


@pytest.fixture(autouse=True)
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    lines = [f"p{n % 400},{'AB'[n % 2]},{n % 90}" for n in range(1000)]
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(["patient_id,ward,age", *lines, ""]), encoding="utf-8")
    return path


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_a_data_file_from_preview_to_log() -> None:
    before = run("preview", "visits.csv", SQL, *DECLARED, "--epsilon", "1")
    assert (before.exit_code, before.stderr) == (0, "")
    assert "ε = 1 at δ = 1e-06" in before.stdout
    asked = run("query", "visits.csv", SQL, *DECLARED, "--epsilon", "1")
    assert (asked.exit_code, asked.stderr) == (0, "")
    assert "receipt 3 (visits.dither.db)" in asked.stdout
    again = run("query", "visits.csv", SQL, *DECLARED, "--epsilon", "1")
    assert "this is the stored answer of receipt 3" in again.stdout
    assert asked.stdout.splitlines()[:7] == again.stdout.splitlines()[:7]
    assert (
        "cost: nothing"
        in run("preview", "visits.csv", SQL, *DECLARED, "--epsilon", "1").stdout
    )
    assert "charges: 1" in run("budget", "visits.csv").stdout
    assert "AVG(age)" in run("log", "visits.csv").stdout
    assert "is unchanged" in run("log", "verify", "visits.csv").stdout


def test_a_question_counts_for_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "login")
    ask = ["query", "visits.csv", "SELECT COUNT(*) AS n FROM visits", *DECLARED]
    assert run(*ask, "--epsilon", "0.1").exit_code == 0
    assert "by login: SELECT COUNT(*)" in run("log", "visits.csv").stdout
    assert run("share", "visits.csv", "ana", "0.5").exit_code == 0
    refused = run(*ask, "--epsilon", "0.2")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "login does not have a share of the account visits" in refused.stderr
    assert "pass --by" in refused.stderr
    assert run(*ask, "--epsilon", "0.2", "--by", "ana").exit_code == 0
    assert "ana" in run("budget", "visits.csv", "--analysts").stdout


def test_data_for_machines() -> None:
    done = run(
        "query",
        "visits.csv",
        "SELECT COUNT(DISTINCT patient_id) AS n FROM visits",
        *DECLARED,
        "--rho",
        "0.05",
        "--json",
    )
    found = json.loads(done.stdout)
    (row,) = found["rows"]
    assert row["low"][0] <= row["values"][0] <= row["high"][0]
    assert row["values"][0] == pytest.approx(400, abs=60)
    assert found["receipt"]["account"] == "visits"


def test_a_catalogue_from_draft_to_answer() -> None:
    assert (
        run("init", "visits.csv", "--population", "400", "--rows", "visits=5").exit_code
        == 0
    )
    assert (
        run(
            "preview", "visits.toml", "SELECT AVG(age) FROM visits", "--epsilon", "1"
        ).exit_code
        == 0
    )
    text = Path("visits.toml").read_text(encoding="utf-8")
    declared = text.replace(
        'ward = "text"', 'ward = { type = "text", keys = ["A", "B"] }'
    )
    Path("visits.toml").write_text(declared, encoding="utf-8")
    done = run("query", "visits.toml", SQL, "--share", "0.2")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "remaining: 80 %" in done.stdout or "remaining: 79.9 %" in done.stdout
    assert "visits" in run("budget", "visits.toml").stdout


@pytest.mark.parametrize(
    ("sql", "words", "said"),
    [
        ("SELECT COUNT(*) FROM visit", ["--epsilon", "1"], "did you mean visits?"),
        (
            "SELECT\n  AVG(agee) FROM visits",
            ["--epsilon", "1"],
            "\n    AVG(agee) FROM visits\n        ^\n",
        ),
        ("SELECT COUNT(*) FROM visits", ["--epsilon", "50"], "Nothing was spent."),
        (
            "SELECT COUNT(*) FROM visits",
            [],
            "pass exactly one of --epsilon, --rho, --share or --error",
        ),
        ("SELECT * FROM visits", ["--epsilon", "1"], "cannot be released"),
        ("", ["--epsilon", "1"], "is empty"),
    ],
)
def test_refusals_spend_nothing(sql: str, words: list[str], said: str) -> None:
    done = run("query", "visits.csv", sql, *DECLARED, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "no account yet" in run("budget", "visits.csv").stdout


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    for source in ("nowhere.csv", "nowhere.toml"):
        done = run("query", source, SQL, "--epsilon", "1")
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]


def test_a_forgotten_unit_is_refused_with_a_suggestion() -> None:
    done = run("query", "visits.csv", SQL, *DECLARED[2:], "--epsilon", "1")
    assert done.exit_code == 2
    assert (
        "--unit is missing; pass the column with a person's id, such as --unit patient_id"
        in done.stderr
    )
    assert "or --unit row if each row is" in done.stderr
    assert not Path("visits.dither.db").exists()


CATALOGUE = """
name = "visits"
unit = "patient_id"
{population}
[budget]
epsilon = 3.0

[tables.visits]
source = "visits.csv"
[tables.visits.columns]
patient_id = "text"
ward = "text"
"""


def test_a_preview_promises_nothing_and_amend_changes_what_can_be_changed() -> None:
    """Preview, learn that a δ is needed, declare a population, ask; then amend, and
    hear what cannot be amended.
    """
    sql = [
        "visits.toml",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "--epsilon",
        "1",
    ]
    Path("visits.toml").write_text(CATALOGUE.format(population=""), encoding="utf-8")
    refused = run("preview", *sql)
    assert "δ" in refused.stderr
    assert "population" in refused.stderr
    for act in (
        ["budget", "visits.toml"],
        ["amend", "visits.toml", "--epsilon", "5", "--reason", "more"],
    ):
        assert "no account yet" in run(*act).output
    Path("visits.toml").write_text(
        CATALOGUE.format(population="population = 2500"), encoding="utf-8"
    )
    shown = run("preview", *sql)
    assert (shown.exit_code, "remaining after: " in shown.stdout) == (0, True)
    assert run("query", *sql).exit_code == 0
    amended = run("amend", "visits.toml", "--delta", "1e-8", "--reason", "smaller")
    assert "from now on it is ε = 3, δ = 1e-08" in amended.stdout
    mismatch = run("preview", *sql)
    assert mismatch.exit_code == 2
    assert "dither.db: the account visits has ε = 3" in mismatch.stderr
    by_size = run(
        "amend", "visits.toml", "--population", "25000", "--reason", "more people"
    )
    assert "from now on it is ε = 3, δ = 1e-08" in by_size.stdout
    twice = run(
        "amend",
        "visits.toml",
        "--population",
        "25000",
        "--delta",
        "1e-8",
        "--reason",
        "both",
    )
    assert "pass either --delta or --population" in twice.stderr
    fixed = run("amend", "visits.toml", "--delta", "0", "--reason", "none")
    assert "visits.dither.db: the account visits cannot give up its δ" in fixed.stderr
