"""`dither init`: from any source to a catalogue that opens as it is, and nothing is
overwritten.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither.cli import main
from dither.query.catalogue.types import Type
from dither.query.load import load_catalogue


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/visits.csv").write_text(
        "visit_id,patient_id,ward,age,cost\n1,p,A,30,5\n", encoding="utf-8"
    )
    Path("data/regions.csv").write_text("region,beds\nnorth,7\n", encoding="utf-8")
    return tmp_path


def run(*words: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(main, ["init", *words], input=typed)


def test_it_is_named_after_the_first_source() -> None:
    done = run("data/visits.csv", "data/regions.csv")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "wrote visits.toml: visits; unit: patient_id",
        "not open yet: regions; comments in visits.toml explain why",
        'guessed, so check them in visits.toml: unit = "patient_id", visits.visit_id, visits.age, visits.cost',
        "next: dither doctor --data visits.toml    checks the data (for you only)",
        "      dither preview visits.toml 'SELECT COUNT(*) FROM visits' --epsilon 0.1",
    ]
    assert load_catalogue("visits.toml").name == "visits"


def test_as_data() -> None:
    done = run("data", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["catalogue"], found["unit"]) == ("data.toml", "patient_id")
    assert (found["tables"], found["closed"]) == (["visits"], ["regions"])
    for words in (["-o", "-"], ["--ask"]):
        refused = run("data/visits.csv", *words, "--json")
        assert (refused.exit_code, refused.stdout) == (2, "")


def test_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("data").stdout.startswith("wrote data.toml: visits;")
    assert load_catalogue("data.toml").tables[0].source == str(
        folder / "data" / "visits.csv"
    )
    monkeypatch.chdir(folder / "data")
    assert run(".").stdout.startswith("wrote data.toml: visits;")
    assert load_catalogue("data.toml").tables[0].source == str(
        folder / "data" / "visits.csv"
    )


def test_another_name_or_none() -> None:
    assert run("data/visits.csv", "-o", "clinic.toml").exit_code == 0
    assert Path("clinic.toml").is_file()
    assert "[tables.visits]" in run("data/visits.csv", "-o", "-").stdout
    assert not Path("visits.toml").exists()


def test_a_catalogue_elsewhere_still_finds_its_files(folder: Path) -> None:
    (folder / "other").mkdir()
    assert run("data/visits.csv", "-o", "other/clinic.toml").exit_code == 0
    assert load_catalogue("other/clinic.toml").tables[0].source == str(
        folder / "data" / "visits.csv"
    )
    assert run("data/visits.csv", "-o", str(folder / "here.toml")).exit_code == 0
    assert 'source = "data/visits.csv"' in Path("here.toml").read_text(encoding="utf-8")


def test_what_is_stated_needs_no_question() -> None:
    words = [
        "--unit",
        "patient_id",
        "--budget",
        "2",
        "--population",
        "5000",
        "--rows",
        "visits=40",
    ]
    done = run("data/visits.csv", *words)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "unit =" not in done.stdout
    found = load_catalogue("visits.toml")
    assert (found.epsilon, found.population, found.delta, found.tables[0].rows) == (
        2.0,
        5000,
        1e-7,
        40,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rows", "visit=40"], "'visit' is not a table of the draft"),
        (["--rows", "visits=0.5"], "must be a whole number"),
        (["--unit", "row", "--rows", "visits=4"], "needs a unit other than the row"),
        (["--budget", "0"], "--budget"),
        (["--unit", "patient"], "no table has a column 'patient'"),
    ],
)
def test_nonsense_writes_nothing(words: list[str], said: str) -> None:
    done = run("data/visits.csv", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert not Path("visits.toml").exists()


def test_nobody_is_guessed_where_no_name_tells() -> None:
    done = run("data/regions.csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "or --unit row if each row is" in done.stderr
    assert run("data/regions.csv", "--unit", "row").exit_code == 0


def test_nothing_is_overwritten() -> None:
    Path("visits.toml").write_text("declared with care", encoding="utf-8")
    done = run("data/visits.csv")
    assert (done.exit_code, done.stdout) == (2, "")
    assert (
        done.stderr == "Error: visits.toml already exists; pass another file with -o\n"
    )
    assert Path("visits.toml").read_text(encoding="utf-8") == "declared with care"


def test_a_place_that_cannot_be_written() -> None:
    done = run("data/visits.csv", "-o", "nowhere/clinic.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "nowhere/clinic.toml cannot be written" in done.stderr


def test_a_source_is_needed() -> None:
    assert run().exit_code == 2


ANSWERS = """
2,500
3
y
40
the price list
-


= A, B
0..110
0..20000 euros
"""


def test_questions() -> None:
    done = run("data", "--ask", typed=ANSWERS)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Column with the id of the person to protect [patient_id]" in done.stdout
    assert "visits.age [integer 0..120 years]" in done.stdout
    found = load_catalogue("data.toml")
    assert (found.unit.name, found.population, found.epsilon) == (
        "patient_id",
        2500,
        3.0,
    )
    assert found.table("regions").public
    visits = found.table("visits")
    assert visits.rows == 40
    assert visits.field("ward").keys == ("A", "B")
    cost = visits.field("cost")
    assert (cost.type, cost.range.high, cost.provenance) == (
        Type.REAL,
        20000,
        "the price list, in euros",
    )
    assert visits.field("age").provenance == "the price list, in years"
    assert [field.name for field in found.table("regions").fields] == ["beds"]


def test_an_answer_that_is_not_understood_is_asked_for_again() -> None:
    typed = "nobody\npatient_id\nmany\n\n-1\n1\nsome\n\nme\nperhaps\n.\n"
    done = run("data/visits.csv", "--ask", typed=typed)
    assert (done.exit_code, done.stderr) == (0, "")
    for said in (
        "no table has a column 'nobody'",
        "population must be a whole number",
        "epsilon must be a positive number",
        "rows must be a whole number",
        "the answer is not understood; type bounds such as 0..120 years",
    ):
        assert said in done.stdout
    assert "visits.age" in done.stdout.partition("guessed, so check")[2]


def test_questions_are_asked_on_a_terminal_only(folder: Path) -> None:
    """With a terminal on both sides the command asks; without one it never waits."""
    pty = pytest.importorskip("pty")
    command = [sys.executable, "-m", "dither.cli", "init", "data/visits.csv"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder
    ) as asked:
        os.close(theirs)
        os.write(ours, b"\n\n\n\n\n.\n")
        shown = b""
        while chunk := read(ours):
            shown += chunk
        assert asked.wait(60) == 0
    os.close(ours)
    assert b"Column with the id of the person to protect" in shown
    assert b"wrote visits.toml" in shown


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is closed
        return b""


ODD = (
    "patient_id,age,code,day\n1,34,007,1/2/2024\n2,90+,012,\n" + "3,5,1,1/3/2024\n" * 9
)
FACTS = [
    "visits.day: the values look like dates in another format; write them as 2024-12-31",
    "visits.age: 1 values are not of type integer and are read as NULL",
    "visits.age: missing values are written as NA and read as NULL",
]


def test_what_does_not_fit_is_shown_and_not_written() -> None:
    Path("visits.csv").write_text(f"{ODD}4,NA,1,1/4/2024\n", encoding="utf-8")
    shown = run("visits.csv").stdout
    assert "exact facts about private rows, for you only:\n  " in shown
    assert [line.strip() for line in shown.splitlines() if line[:2] == "  "][
        :3
    ] == FACTS
    written = Path("visits.toml").read_text(encoding="utf-8")
    assert "NA" not in written.replace("NAME", "")
    assert "90" not in written
    assert {
        one.name: one.type for one in load_catalogue("visits.toml").tables[0].fields
    } == {
        "patient_id": Type.INTEGER,
        "age": Type.INTEGER,
        "code": Type.TEXT,
        "day": Type.TEXT,
    }
    Path("visits.toml").unlink()
    assert json.loads(run("visits.csv", "--json").stdout)["facts"] == FACTS
