"""What a shell offers: file names, tables and columns, from declarations and schemas
alone; and never a traceback.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from click.shell_completion import ShellComplete

import dither
from dither.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("clinic.toml").write_text(CLINIC, encoding="utf-8")
    Path("visits.csv").write_text(
        'patient_id,ward,"a cost"\np1,A,1\n', encoding="utf-8"
    )
    with duckdb.connect("clinic.duckdb") as made:
        made.execute(
            "CREATE TABLE stays (id BIGINT, days INTEGER); CREATE TABLE staff (id BIGINT)"
        )
    return tmp_path


CLINIC = """
unit = "patient_id"
[budget]
epsilon = 1.0
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
patient_id = "text"
ward = "text"
[tables.wards]
source = "wards.csv"
public = true
[tables.wards.columns]
ward = "text"
beds = "integer"
"""


def offered(*words: str) -> list[str]:
    """What is offered for the last word."""
    *before, last = words
    found = ShellComplete(main, {}, "dither", "_DITHER_COMPLETE").get_completions(
        before, last
    )
    return [item.type if item.type != "plain" else item.value for item in found]


@pytest.mark.parametrize(
    "words",
    [
        ("query", "cli"),
        ("preview", ""),
        ("query", "visits.csv", "--ledger", "b"),
        ("tables", "cli"),
        ("budget", ""),
        ("log", "show", "b"),
        ("amend", "b"),
        ("share", "b"),
        ("backup", "b"),
        ("backup", "book.db", "c"),
        ("restore", "b"),
        ("init", "vis"),
        ("init", "visits.csv", "-o", "c"),
        ("doctor", "--data", "c"),
    ],
)
def test_files(words: tuple[str, ...]) -> None:
    assert offered(*words) == ["file"]


@pytest.mark.parametrize(
    ("sql", "then"),
    [
        ("SELECT wa", ["SELECT ward", "SELECT wards"]),
        ("SELECT COUNT(*) FROM v", ["SELECT COUNT(*) FROM visits"]),
        (
            "select count(*) from visits join w",
            ["select count(*) from visits join wards"],
        ),
        ("SELECT AVG(wards.b", ["SELECT AVG(wards.beds"]),
        ("SELECT AVG(w.BE", ["SELECT AVG(w.beds"]),
        ("SELECT nothing", []),
    ],
)
def test_tables_and_columns(sql: str, then: list[str]) -> None:
    assert offered("query", "clinic.toml", sql) == then
    assert offered("preview", "clinic.toml", sql) == then


def test_columns_of_a_file_that_is_not_declared() -> None:
    assert offered("query", "visits.csv", "SELECT AVG(") == [
        f"SELECT AVG({x}" for x in ("patient_id", "ward", "visits")
    ]
    assert offered("query", "visits.csv", "--unit", "pa") == ["patient_id"]
    assert offered("query", "visits.csv", "--keys", "w") == ["ward="]


def test_tables_of_a_database() -> None:
    assert offered("query", "clinic.duckdb", "--table", "sta") == ["staff", "stays"]
    assert offered("query", "clinic.duckdb", "--table", "stays", "SELECT AVG(d") == [
        "SELECT AVG(days"
    ]
    assert offered("query", "visits.csv", "--table", "") == []


def test_accounts() -> None:
    with dither.Ledger.open("book.db") as ledger:
        ledger.account("clinic", epsilon=1)
    assert offered("amend", "book.db", "--account", "c") == ["clinic"]
    assert offered("budget", "--account", "") == ["clinic"]
    assert offered("log", "show", "nowhere.db", "--account", "") == []
    assert not Path("nowhere.db").exists()


@pytest.mark.parametrize(
    "source", ["nowhere.toml", "nowhere.csv", "postgresql://nowhere/x", ""]
)
def test_what_cannot_be_known_offers_nothing(source: str) -> None:
    assert offered("query", source, "SELECT ") == []
    assert offered("query", source, "--table", "") == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_gets_the_whole_word(folder: Path) -> None:
    """The script that `dither completion` prints, as bash would call it for an open
    quotation mark.
    """
    command = folder / "bin" / "dither"
    command.parent.mkdir()
    command.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m dither "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    script = """
        eval "$(dither completion bash)"
        COMP_WORDS=(dither query clinic.toml '"SELECT COUNT(*) FROM vi') COMP_CWORD=3
        _dither_completion dither
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    environment = os.environ | {"PATH": f"{command.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.stdout == "SELECT COUNT(*) FROM visits\n"
