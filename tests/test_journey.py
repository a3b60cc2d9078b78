"""A newcomer's first hour, from a wheel in an empty environment: every command works,
in order, and nothing warns.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.empty_environment import Installed, NoIndex, install

pytestmark = pytest.mark.full

COUNT = "SELECT COUNT(*) AS visits FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    try:
        return install(tmp_path_factory.mktemp("newcomer"))
    except NoIndex as problem:
        if os.environ.get("CI"):
            pytest.fail(f"CI must install the wheel: {problem}", pytrace=False)
        pytest.skip(
            f"the newcomer's journey is not tested, for no package index can be reached: {problem}"
        )


def works(who: Installed, *words: str) -> str:
    """What a command prints that does what it is told, without a word on standard
    error.
    """
    done = who.dither(*words)
    assert (done.returncode, done.stderr) == (0, ""), (
        f"dither {' '.join(words)}: {done.stdout}{done.stderr}"
    )
    return done.stdout


def refused(who: Installed, *words: str) -> str:
    done = who.dither(*words)
    assert (done.returncode, done.stdout) == (2, ""), (
        f"dither {' '.join(words)}: {done.stdout}{done.stderr}"
    )
    return done.stderr


def clinic(folder: Path) -> None:
    """Two CSV files about 400 people, as somebody may have them."""
    folder.mkdir()
    patients = [f"p{n},{n % 90}" for n in range(400)]
    (folder / "patients.csv").write_text(
        "\n".join(["patient_id,age", *patients, ""]), encoding="utf-8"
    )
    visits = [f"{n},p{n % 400},{'AB'[n % 2]},{n % 90}" for n in range(1000)]
    (folder / "visits.csv").write_text(
        "\n".join(["visit_id,patient_id,ward,age", *visits, ""]), encoding="utf-8"
    )


def declare(path: Path, *changes: tuple[str, str]) -> None:
    """Edit the catalogue as its comments say."""
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def test_the_demo(newcomer: Installed) -> None:
    shown = works(newcomer, "demo")
    assert "cardiology" in shown
    assert newcomer.run(
        str(newcomer.python), "-m", "dither", "--version"
    ).stdout.startswith("dither ")


def test_only_the_base_is_there(newcomer: Installed) -> None:
    found = json.loads(works(newcomer, "doctor", "--json"))
    assert None not in found["base"].values()
    assert not any(part["works"] for part in found["parts"] if part["name"] != "spark")


def test_the_first_hour(newcomer: Installed) -> None:
    folder = newcomer.folder
    clinic(folder / "data")

    said = works(newcomer, "init", "data", "--population", "400", "--rows", "visits=5")
    assert "wrote data.toml: patients, visits; unit: patient_id" in said
    catalogue = folder / "data.toml"
    assert "CHECK" in catalogue.read_text(encoding="utf-8")
    assert "visits: 1,000 rows" in works(newcomer, "doctor", "--data", "data.toml")
    declare(
        catalogue,
        (
            'ward = "text"',
            'ward = { type = "text", keys = ["A", "B"], by = "the floor plan" }',
        ),
    )
    assert "keys A, B" in works(newcomer, "tables", "data.toml")

    assert "of the account" in works(
        newcomer, "preview", "data.toml", COUNT, "--epsilon", "0.5"
    )
    assert "of the account" in works(
        newcomer, "preview", "data.toml", BY_WARD, "--epsilon", "0.5"
    )
    asked = works(newcomer, "query", "data.toml", COUNT, "--epsilon", "0.5")
    assert "receipt" in asked
    assert "data" in works(newcomer, "budget", "data.toml")
    assert "this is the stored answer" in works(
        newcomer, "query", "data.toml", COUNT, "--epsilon", "0.5"
    )

    assert "Nothing was spent" in refused(
        newcomer, "query", "data.toml", BY_WARD, "--epsilon", "0.9"
    )
    said = works(
        newcomer, "amend", "data.toml", "--epsilon", "2", "--reason", "the board agreed"
    )
    assert "from now on" in said
    declare(catalogue, ("epsilon = 1.0 ", "epsilon = 2.0 "))
    assert "A" in works(newcomer, "query", "data.toml", BY_WARD, "--epsilon", "0.9")

    assert "this is the stored answer" in works(
        newcomer, "query", "data.toml", BY_WARD, "--epsilon", "0.9"
    )

    assert "at least the lines up to" in works(
        newcomer, "backup", "data.toml", "copy.db"
    )
    exported = works(newcomer, "log", "export", "data.toml").splitlines()
    assert len(exported) >= 4
    assert all(json.loads(line) for line in exported)
    assert "is unchanged" in works(newcomer, "log", "verify", "data.toml", "--whole")
    assert "COUNT(*)" in works(newcomer, "log", "data.toml")
    assert "in plain words" in works(newcomer, "explain", "0.5")
    # A false alarm: once in 1e9
    audit = [
        "audit",
        "--self",
        "--only",
        "dither.",
        "--draws",
        "2000",
        "--confidence",
        "0.999999999",
    ]
    assert "is refuted. This is not a proof" in works(newcomer, *audit)


PYTHON = """
import dither
public = {"bounds": {"age": (0, 110)}, "keys": {"ward": ["A", "B"]}, "rows": 5, "population": 1000}
visits = dither.open("mine.csv", unit="patient_id", budget=3.0, **public)
print(visits.preview("SELECT ward, COUNT(*), AVG(age) FROM mine GROUP BY ward", epsilon=0.5))
print(visits.sql("SELECT ward, COUNT(*), AVG(age) FROM mine GROUP BY ward", epsilon=0.5))
print(visits.account)
visits.close()
"""


def test_a_few_lines_of_python(newcomer: Installed) -> None:
    (newcomer.folder / "mine.csv").write_text(
        "patient_id,ward,age\np1,A,30\np2,B,40\n", encoding="utf-8"
    )
    done = newcomer.run(str(newcomer.python), "-c", PYTHON)
    assert (done.returncode, done.stderr) == (0, "")
    assert "receipt" in done.stdout
