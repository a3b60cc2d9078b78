"""`dither doctor`: what is installed, and what it finds in the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from dither import __version__
from dither.cli import doctor, main
from tests.cli.support import run_alone


def test_doctor_as_data() -> None:
    found = json.loads(run_alone("doctor", "--json").stdout)
    assert found["dither"] == __version__
    assert None not in found["base"].values()
    assert [part["name"] for part in found["parts"]] == list(doctor.EXTRAS)
    for part in found["parts"]:
        assert part["works"] == (part["missing"] == [])
        assert part["works"] or part["install"] or "Java 17+" in part["missing"]


CATALOGUE = """
unit = "id"
[budget]
epsilon = 1.0
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
id = "text"
cost = "real"
day = "date"
"""


VISITS = b"""id,cost,day
P1,1.5,2024-12-31
P1,1.5,2024-12-31
P2,"1,5",12/31/2024
P3,2,"oops
P\xe9,3,2024-01-01
"""


def test_doctor_looks_at_the_data(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(CATALOGUE, encoding="utf-8")
    (tmp_path / "visits.csv").write_bytes(VISITS)
    said = run_alone("doctor", "--data", str(tmp_path / "c.toml")).stdout
    for fact in (
        "visits: 4 rows",
        "visits: 1 lines have a quotation mark inside a field",
        "visits: 1 lines hold text that is not UTF-8",
        "visits.cost: 1 of these have a comma",
        "visits.day: 1 of these are dates in another form",
        "visits: 1 rows are exact copies",
        "visits: 1 rows have no owner",
    ):
        assert fact in said


def test_doctor_says_what_is_published_exactly(tmp_path: Path) -> None:
    given = 'relation = "replace"\ngiven = ["visits of each day"]\n'
    (tmp_path / "c.toml").write_text(given + CATALOGUE, encoding="utf-8")
    (tmp_path / "visits.csv").write_bytes(VISITS)
    first, second, *_ = looked(tmp_path / "c.toml").splitlines()
    assert first == "published exactly, and not protected: visits of each day"
    assert second == "visits: 4 rows"


def looked(source: Path) -> str:
    done = CliRunner().invoke(main, ["doctor", "--data", str(source)])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def test_doctor_looks_at_any_source(tmp_path: Path) -> None:
    """Also before there is a catalogue: a file, a folder, a database."""
    (tmp_path / "visits.csv").write_bytes(VISITS)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as made:
        made.execute(
            "CREATE TABLE stays (patient_id TEXT, age INT); INSERT INTO stays VALUES ('p', 200), (NULL, 5)"
        )
    assert "visits: 1 lines have a quotation mark" in looked(tmp_path / "visits.csv")
    (tmp_path / "days.csv").write_text("id,seen\n1,1/31/2024\n", encoding="utf-8")
    assert looked(tmp_path / "days.csv").splitlines()[-1] == (
        "days.seen: the values look like dates in another format; "
        "write them as 2024-12-31"
    )
    (tmp_path / "days.csv").unlink()
    assert "visits: 4 rows" in looked(tmp_path)
    for source in (tmp_path, tmp_path / "clinic.duckdb"):
        said = looked(source)
        assert "stays.age: 1 values are above the bounds" in said
        assert "stays: 1 rows have no owner" in said


@pytest.mark.engine("postgres")
def test_doctor_looks_at_a_server(tmp_path: Path) -> None:
    from tests.query.engines.postgres.test_engine import ROWS, made

    address = made(ROWS)
    text = CATALOGUE.replace("visits.csv", address).replace(
        'cost = "real"\nday = "date"', 'cost = "integer"'
    )
    (tmp_path / "c.toml").write_text(text, encoding="utf-8")
    for source in (str(tmp_path / "c.toml"), address):
        done = CliRunner().invoke(main, ["doctor", "--data", source])
        assert (done.exit_code, done.stderr) == (0, "")
        assert "visits: 200 rows" in done.stdout


@pytest.mark.engine("postgres")
def test_doctor_uses_the_password_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drafted catalogue leaves it out, but the look itself needs it."""
    from dither.query.engines.choice import maker
    from tests.query.engines.postgres.test_engine import ROWS, made

    used: list[str] = []

    def watched(name: str) -> Any:
        def make(catalogue: Any, sources: Any) -> Any:
            used.extend(address for address, _ in sources.values())
            return maker(name)(catalogue, sources)

        return make

    monkeypatch.setattr("dither.query.engines.choice.maker", watched)
    address = made(ROWS)
    secret = address + ("&" if "?" in address else "?") + "password=secret"
    assert CliRunner().invoke(main, ["doctor", "--data", secret]).exit_code == 0
    assert used == [secret]


def test_doctor_as_a_table() -> None:
    done = run_alone("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(
        name in done.stdout
        for name in ("base", "duckdb", "AES-256-CTR", *doctor.EXTRAS)
    )


def test_doctor_says_how_to_get_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        doctor,
        "version_of",
        lambda distribution, module: None if module == "ibis" else "1.0",
    )
    shown = CliRunner().invoke(main, ["doctor"])
    assert "pip install '.[ibis]'" in shown.output
    assert "pip install '.[postgres]'" not in shown.output
    assert "in the checkout of Dither" in shown.output


def test_doctor_fails_where_the_base_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        doctor,
        "version_of",
        lambda distribution, module: None if module == "numpy" else "1.0",
    )
    assert CliRunner().invoke(main, ["doctor", "--json"]).exit_code == 1


@pytest.mark.parametrize("java", [None, 11, 17, 21])
def test_spark_needs_java(monkeypatch: pytest.MonkeyPatch, java: int | None) -> None:
    monkeypatch.setattr(doctor, "version_of", lambda *_: "4.0")
    monkeypatch.setattr(doctor, "java_version", lambda: java)
    part = doctor.optional_part("spark")
    assert part.works is (java is not None and java >= 17)
    assert (part.install, doctor.advice(part)) == (
        None,
        "" if part.works else "install Java 17+",
    )


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_281"', 8),
        ('openjdk version "21"', 21),
        ("no Java here", None),
    ],
)
def test_java_versions_are_understood(text: str, version: int | None) -> None:
    assert doctor.parse_java(text) == version


def test_a_java_that_does_not_start_is_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert doctor.java_version() is None


def test_a_module_without_metadata_still_counts() -> None:
    assert doctor.version_of("no-such-distribution", "json") == "unknown version"
    assert doctor.version_of("no-such-distribution", "no_such_module") is None
