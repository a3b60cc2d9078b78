"""`dither init`: where the draft goes, and that nothing is overwritten."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from dither.cli import main


@pytest.fixture(autouse=True)
def drafted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What was drafted from."""
    found: list[list[str]] = []

    def draft(sources: list[str]) -> str:
        found.append(sources)
        return "# größer\n"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "dither.query.draft", SimpleNamespace(draft=draft))  # type: ignore[arg-type]
    return found


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["init", *words])


def test_it_is_named_after_the_first_source(drafted: list[list[str]]) -> None:
    done = run("data/visits.csv", "patients.parquet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("wrote visits.toml")
    assert Path("visits.toml").read_text(encoding="utf-8") == "# größer\n"
    assert drafted == [["data/visits.csv", "patients.parquet"]]


def test_another_name_or_none() -> None:
    assert run("visits.csv", "-o", "clinic.toml").exit_code == 0
    assert Path("clinic.toml").is_file()
    assert run("visits.csv", "-o", "-").stdout == "# größer\n"
    assert not Path("visits.toml").exists()


def test_a_catalogue_elsewhere_still_finds_its_files(drafted: list[list[str]], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    assert run("visits.csv", "-o", "other/clinic.toml").exit_code == 0
    assert run("visits.csv", "-o", str(tmp_path / "here.toml")).exit_code == 0
    assert drafted == [[str(tmp_path / "visits.csv")], ["visits.csv"]]


def test_nothing_is_overwritten(drafted: list[list[str]]) -> None:
    Path("visits.toml").write_text("declared with care", encoding="utf-8")
    done = run("visits.csv")
    assert (done.exit_code, done.stdout, drafted) == (2, "", [])
    assert done.stderr == "Error: output: visits.toml is there already; name another file with -o\n"
    assert Path("visits.toml").read_text(encoding="utf-8") == "declared with care"


def test_a_place_that_cannot_be_written() -> None:
    done = run("visits.csv", "-o", "nowhere/clinic.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "nowhere/clinic.toml cannot be written" in done.stderr


def test_a_source_is_needed() -> None:
    assert run().exit_code == 2
