"""Forty-odd mistakes of a first hour, and what is said about each:
tests/fixtures/mistakes.txt.

Each is tried in a folder of its own with the files below. With DITHER_UPDATE_MISTAKES=1
what is said is written to the fixture: read the diff, and ask of every message whether
it says what is wrong, where, and what to do.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import dither
from dither.cli import main
from dither.errors import DitherError

FIXTURE = Path(__file__).parent / "fixtures" / "mistakes.txt"
HEAD, BETWEEN = "=" * 20 + "\n", "\n" + "-" * 20 + "\n"
PYTHON, SHELL = ">>> ", "$ "
VISITS = (
    "patient_id,age,ward,weight,case\np1,30,A,61.5,1\np1,31,B,60.25,0\np2,52,A,88.0,1\n"
)
CATALOGUE = """name = "clinic"
unit = "patient_id"
population = 2500
[budget]
epsilon = 3.0
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
patient_id = "text"
ward = { type = "text", keys = ["A", "B"] }
age = { type = "integer", low = 0, high = 110 }
"""
FACTS: dict[str, Any] = {
    "unit": "patient_id",
    "bounds": {"age": (0, 110), "case": (0, 1)},
    "keys": {"ward": ["A", "B"]},
    "types": {"weight": "real"},
    "budget": 3.0,
}
DOES = re.compile(
    r"\b(pass|write|declare|name|choose|use|ask|leave|install|did you mean|open|save|say|state|convert|swap|change|add"
    r"|give|start|make|put|restore|thaw|group by|move)\b"
)


@dataclass(frozen=True)
class Mistake:
    """What somebody wanted, what they did, and what they were told."""

    title: str
    tried: tuple[str, ...]
    told: str


def read() -> list[Mistake]:
    _, _, text = FIXTURE.read_text(encoding="utf-8").partition(HEAD)
    return [_read(block) for block in text.strip("\n").split(BETWEEN)]


def _read(block: str) -> Mistake:
    title, *lines = block.splitlines()
    tried = [line for line in lines if line.startswith((PYTHON, SHELL))]
    return Mistake(title, tuple(tried), "\n".join(lines[len(tried) :]))


def written(mistakes: list[Mistake]) -> str:
    head, _, _ = FIXTURE.read_text(encoding="utf-8").partition(HEAD)
    blocks = ["\n".join((one.title, *one.tried, one.told)) for one in mistakes]
    return head + HEAD + BETWEEN.join(blocks) + "\n"


def told(tried: tuple[str, ...], folder: Path) -> str:
    """What is said at the end, in the words that are seen: the message of a command, or
    an error with its kind.
    """
    names: dict[str, Any] = {"dither": dither, "pandas": pd, "FACTS": FACTS}
    said = ""
    for line in tried:
        said = (
            _command(line[len(SHELL) :])
            if line.startswith(SHELL)
            else _statement(line[len(PYTHON) :], names)
        )
    for thing in names.values():
        if isinstance(thing, dither.Dataset):
            thing.close()
    return said.replace(f"{folder}/", "").rstrip("\n")


def _command(line: str) -> str:
    done = CliRunner().invoke(main, shlex.split(line)[1:], prog_name="dither")
    return done.stderr


def _statement(line: str, names: dict[str, Any]) -> str:
    try:
        exec(line, names)
    except DitherError as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("USER", "ana")
    monkeypatch.setenv("LOGNAME", "ana")
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    (tmp_path / "patients.csv").write_text(
        "id,born\np1,1990\np2,1971\n", encoding="utf-8"
    )
    (tmp_path / "wide.csv").write_text(VISITS, encoding="utf-16")
    (tmp_path / "visits.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "clinic.toml").write_text(CATALOGUE, encoding="utf-8")
    (tmp_path / "draft.toml").write_text(
        CATALOGUE.replace('"patient_id"\npop', '"?"\npop'), encoding="utf-8"
    )
    (tmp_path / "typo.toml").write_text(
        CATALOGUE.replace("population", "popluation"), encoding="utf-8"
    )
    (tmp_path / "broken.toml").write_text(
        CATALOGUE.replace("3.0", "3,0"), encoding="utf-8"
    )
    (tmp_path / "nodelta.toml").write_text(
        CATALOGUE.replace("population = 2500\n", "").replace(', keys = ["A", "B"]', ""),
        encoding="utf-8",
    )
    return tmp_path


MISTAKES = read()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: one.title)
def test_a_mistake_is_told_with_a_way_out(mistake: Mistake, folder: Path) -> None:
    found = told(mistake.tried, folder)
    if os.environ.get("DITHER_UPDATE_MISTAKES"):
        MISTAKES[MISTAKES.index(mistake)] = replace(mistake, told=found)
        FIXTURE.write_text(written(MISTAKES), encoding="utf-8")
    else:
        assert found == mistake.told
    assert DOES.search(found), "it does not say what to do"
    assert len(found) < 600
    assert not re.search(r"\bp[12]\b|61\.5|60\.25|Traceback|0x", found), (
        "it tells more than it should"
    )


def test_there_are_forty_and_no_two_are_alike() -> None:
    assert len({one.tried for one in MISTAKES}) == len(MISTAKES) >= 40
    assert FIXTURE.read_text(encoding="utf-8") == written(MISTAKES)
