"""`dither explain`: words, data and a picture."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither import explain
from dither.cli import main


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["explain", *words], env={"COLUMNS": "200"})


def test_in_plain_words() -> None:
    done = run("0.5")
    assert (done.exit_code, done.stderr) == (0, "")
    found = explain.epsilon(0.5)
    for words in (found.title, *found.sentences, *found.notes):
        assert words in " ".join(done.stdout.split())
    assert all(cell.strip() in done.stdout for row in found.rows for cell in row)


def test_with_delta_prior_and_group() -> None:
    done = run("1", "--delta", "1e-6", "--prior", "0.01", "--group", "3")
    assert (
        explain.epsilon(1, delta=1e-6, prior=0.01, group=3).sentences[0] in done.stdout
    )


def test_for_neighbours_that_replace() -> None:
    done = run("0.5", "--relation", "replace")
    assert explain.epsilon(0.5, relation="replace").sentences[0] in " ".join(
        done.stdout.split()
    )


def test_perfect_privacy() -> None:
    assert "Perfect privacy" in run("0").stdout


def test_a_narrow_terminal_cuts_nothing() -> None:
    done = CliRunner().invoke(main, ["explain", "0.5"], env={"COLUMNS": "40"})
    assert "".join(explain.epsilon(0.5).sentences[0].split()) in "".join(
        done.stdout.split()
    )
    assert max(map(len, done.stdout.splitlines())) <= 40


def test_as_data() -> None:
    done = run("1", "--delta", "1e-6", "--json")
    assert json.loads(done.stdout) == json.loads(
        explain.epsilon(1, delta=1e-6).to_json()
    )


def test_the_picture(tmp_path: Path) -> None:
    done = run("0.5", "--svg", str(tmp_path / "epsilon.svg"))
    assert "in plain words" in done.stdout
    assert (tmp_path / "epsilon.svg").read_text(encoding="utf-8") == explain.epsilon(
        0.5
    ).svg() + "\n"
    Xml.fromstring(run("0.5", "--svg", "-").stdout)
    done = run("0.5", "--json", "--svg", str(tmp_path / "other.svg"))
    assert json.loads(done.stdout)["epsilon"] == 0.5
    assert (tmp_path / "other.svg").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--", "-1"], "epsilon must be 0 or more"),
        (["nan"], "epsilon must be a finite number"),
        (["inf"], "epsilon must be a finite number"),
        (["much"], "must be a number, not 'much'"),
        (["1", "--delta", "1"], "delta must lie in [0, 1)"),
        (["1", "--prior", "0"], "prior must lie strictly between 0 and 1"),
        (["1", "--group", "0"], "group must be at least 1"),
        (["1", "--relation", "other"], "--relation cannot be 'other'; pass one of"),
        (["1", "--json", "--svg", "-"], "pass either --json or --svg -"),
        ([], "EPSILON is missing; write dither explain epsilon"),
    ],
)
def test_refusals(words: list[str], problem: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert problem in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_refused_question_writes_no_picture(tmp_path: Path) -> None:
    assert run("1", "--prior", "2", "--svg", str(tmp_path / "no.svg")).exit_code == 2
    assert not (tmp_path / "no.svg").exists()
    done = run("1", "--svg", str(tmp_path / "nowhere" / "no.svg"))
    assert done.exit_code != 0
    assert "no.svg" in done.stderr


def test_a_plan() -> None:
    words = ["plan", "--error", "3%", "--n", "200", "--questions", "50"]
    done = run(*words, "--delta", "1e-6")
    found = explain.plan("count", error=0.03, n=200, questions=50, delta=1e-6)
    assert (done.exit_code, done.stderr) == (0, "")
    for sentence in (found.title, *found.sentences):
        assert sentence in " ".join(done.stdout.split())
    as_data = run(*words, "--json")
    assert json.loads(as_data.stdout)["solved"] == "epsilon"


def test_a_plan_on_devices() -> None:
    done = run(
        *("plan", "mean", "--local", "--error", "±5 %", "--epsilon", "2"),
        *("--questions", "1", "--bounds", "0:110", "--json"),
    )
    found = explain.plan(
        "mean", error=0.05, epsilon=2, questions=1, bounds=(0, 110), model="local"
    )
    assert json.loads(done.stdout)["n"] == found.n


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan"], "exactly three"),
        (["plan", "--error", "much"], "is not a share"),
        (["plan", "--error", "1e"], "is not a share"),
        (["plan", "mean", "--bounds", "0"], "write it like 0:110"),
        (
            ["plan", "mode", "--error", "3%", "--n", "9", "--epsilon", "1"],
            "pass one of count, sum",
        ),
    ],
)
def test_plans_that_are_none(words: list[str], said: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_deployments(tmp_path: Path) -> None:
    done = run("deployments", "0.5")
    assert explain.deployments(0.5).sentences[0] in " ".join(done.stdout.split())
    run("deployments", "--svg", str(tmp_path / "d.svg"))
    assert Xml.parse(tmp_path / "d.svg").getroot().get("role") == "img"
