"""`dither attack`: a list, words, data and a picture."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dither.audit.attacks.listed import ATTACKS
from dither.cli import main
from dither.cli.attack import known


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["attack", *words], env={"COLUMNS": "200"})


def test_all_attacks_are_listed() -> None:
    done = run()
    assert (done.exit_code, done.stderr) == (0, "")
    for name, one in ATTACKS.items():
        assert name in done.stdout
        assert one.words in done.stdout


def test_the_list_as_data() -> None:
    found = json.loads(run("--json").stdout)
    assert [one["name"] for one in found] == list(ATTACKS)
    assert found[-1]["options"] == ["tries"]


def test_one_runs_and_is_told_in_words() -> None:
    done = run("differencing", "--tries", "200", "--epsilon", "0.5")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Differencing of two counts" in done.stdout
    assert "two counts with ε = 0.5" in done.stdout
    assert "Not stopped by differential privacy" in done.stdout


def test_as_data_and_as_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "attack.svg"
    done = run("low-bits", "--tries", "100", "--json", "--svg", str(path))
    assert json.loads(done.stdout)["attack"] == "low-bits"
    Xml.fromstring(path.read_text(encoding="utf-8"))
    Xml.fromstring(run("low-bits", "--tries", "100", "--svg", "-").stdout)


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    lines = "".join(f"{20 + n},{'fm'[n % 2]},{'ab'[n % 3 == 0]}\n" for n in range(30))
    path.write_text("age,sex,ill\n" + lines, encoding="utf-8")
    done = run("linkage", "--table", str(path), "--columns", "age,sex", "--json")
    assert json.loads(done.stdout)["rates"][0]["share"] == 1
    given = ("--table", str(path), "--columns", "age, sex", "--secret", "ill")
    done = run("homogeneity", *given, "--k", "4", "--edges", "age=20:50:10", "--json")
    assert json.loads(done.stdout)["k"] == 4


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["magic"], "'magic' is not an attack; name one of: homogeneity"),
        (["timing", "--k", "3"], "--k is not an argument of timing"),
        (["linkage", "--table", "nobody.csv"], "is not a file"),
        (["linkage", "--columns", "postcode"], "'postcode' is not a column"),
        (
            ["homogeneity", "--k", "100000"],
            "must be at most 2,060, the number of people",
        ),
        (["homogeneity", "--edges", "age"], "write it like age=0:110:10"),
        (["homogeneity", "--edges", "age=5:1:1"], "write it like age=0:110:10"),
        (["differencing", "--epsilon", "0"], "--epsilon must be above 0"),
        (["low-bits", "--json", "--svg", "-"], "pass either --json or --svg -"),
    ],
)
def test_refusals(words: list[str], problem: str) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert problem in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_names_are_completed() -> None:
    assert known(None, None, "ho") == ["homogeneity"]  # type: ignore[arg-type]
